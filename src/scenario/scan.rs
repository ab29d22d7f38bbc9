//! Reads over the text once before the KDL parser does, in linear time and constant depth.
//!
//! It holds the file to its limits, finds what is left open, and knows the slips that KDL refuses
//! without saying why: `true` for `#true`, `10s` and `session/new` without quotes, a comma between
//! values. Such a slip is reported here and written over, byte for byte, so that the parser goes
//! on and everything else that is wrong is reported along with it.

mod word;

use super::Diagnostic;
use super::diagnostic::Reporter;
use super::limits::{MAX_BYTES, MAX_DEPTH, MAX_LINES};
use super::source::Span;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The text for the parser: as long as the file's, slips written over.
    pub(super) text: String,
    /// Where slips were: values here are reported already.
    pub(super) slips: Vec<Span>,
    /// The parser must not see it.
    pub(super) hopeless: bool,
}

/// Scans the text of one document. `base` is where it begins in its file.
pub(super) fn scan(text: &str, base: usize, at: Reporter<'_>) -> Scan {
    if text.len() > MAX_BYTES {
        at.put(Diagnostic::too_long(at.file, text.len()));
        return Scan { hopeless: true, ..Scan::default() };
    }
    let scanner = Scanner {
        text,
        base,
        at,
        offset: 0,
        open: Vec::new(),
        line_begins: true,
        lines: 0,
        indent: indent(text),
        lacks_a_brace: text.matches('{').count() > text.matches('}').count(),
        out: Scan { text: text.to_owned(), ..Scan::default() },
    };
    scanner.run()
}

/// A `{` that is not closed yet.
struct Open {
    at: usize,
    /// It is commented out by a `/-` right before it.
    dashed: bool,
    /// How far the line that it stands on is indented.
    indent: usize,
}

struct Scanner<'a> {
    text: &'a str,
    base: usize,
    at: Reporter<'a>,
    offset: usize,
    open: Vec<Open>,
    line_begins: bool,
    lines: usize,
    /// How far the line that is read is indented.
    indent: usize,
    /// At a glance, more blocks are opened than closed.
    lacks_a_brace: bool,
    out: Scan,
}

impl Scanner<'_> {
    fn run(mut self) -> Scan {
        let mut dash = None;
        while let Some(letter) = self.peek() {
            let start = self.offset;
            let was_dash = dash;
            self.token(letter, was_dash.is_some());
            dash = match &self.text[start..self.offset] {
                "/-" => Some(start),
                space if space.trim().is_empty() => was_dash,
                comment if comment.starts_with("/*") || comment.starts_with("//") => was_dash,
                _ => None,
            };
            if self.out.hopeless && self.open.len() > MAX_DEPTH {
                return self.out;
            }
        }
        self.finish()
    }

    fn token(&mut self, letter: char, after_dash: bool) {
        let rest = &self.text[self.offset..];
        match letter {
            _ if rest.starts_with("//") => self.skip_to_newline(),
            _ if rest.starts_with("/*") => self.block_comment(),
            _ if rest.starts_with("/-") => self.offset += 2,
            '"' => self.quoted(0),
            '#' if raw_hashes(rest).is_some() => self.quoted(raw_hashes(rest).unwrap_or(0)),
            '{' => self.opens(after_dash),
            '}' => self.closes(),
            ';' => {
                self.offset += 1;
                self.line_begins = true;
            }
            '\\' => self.continues_line(),
            _ if is_newline(letter) => self.newline(letter),
            _ if is_space(letter) || matches!(letter, '(' | ')' | '=') => {
                self.offset += letter.len_utf8();
            }
            _ => self.word(),
        }
    }

    fn finish(mut self) -> Scan {
        if let Some(open) = self.open.last() {
            let span = self.span(open.at, open.at + 1);
            self.hopeless(span, "a block is not closed", "opened here", "write the missing `}`");
        }
        if self.lines > MAX_LINES {
            let span = self.span(0, 1.min(self.text.len()));
            let title = format!("the file has {} lines of scenario", self.lines);
            let help = format!("a file holds at most {MAX_LINES}; split it into several files");
            self.hopeless(span, title, "too many", help);
        }
        self.out
    }

    fn peek(&self) -> Option<char> {
        self.text[self.offset..].chars().next()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(start, end).shifted(self.base)
    }

    fn hopeless(
        &mut self,
        span: Span,
        title: impl Into<String>,
        label: &str,
        help: impl Into<String>,
    ) {
        self.out.hopeless = true;
        self.at.error(span, title, label, help);
    }

    fn skip_to_newline(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset += rest.find(is_newline).unwrap_or(rest.len());
    }

    fn newline(&mut self, letter: char) {
        self.offset += letter.len_utf8();
        self.line_begins = true;
        self.indent = indent(&self.text[self.offset..]);
    }

    /// A `\` carries the line over the next newline.
    fn continues_line(&mut self) {
        self.offset += 1;
        while let Some(letter) = self.peek().filter(|letter| is_space(*letter)) {
            self.offset += letter.len_utf8();
        }
        if self.text[self.offset..].starts_with("//") {
            self.skip_to_newline();
        }
        if let Some(newline) = self.peek().filter(|letter| is_newline(*letter)) {
            self.offset += newline.len_utf8();
        }
    }

    fn begins_line(&mut self) {
        self.lines += usize::from(self.line_begins);
        self.line_begins = false;
    }

    fn block_comment(&mut self) {
        let start = self.offset;
        let mut depth = 0_usize;
        while self.offset < self.text.len() {
            let rest = &self.text[self.offset..];
            if rest.starts_with("/*") {
                depth += 1;
                self.offset += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.offset += 2;
            } else {
                self.offset += rest.chars().next().map_or(1, char::len_utf8);
            }
            if depth == 0 {
                return;
            }
            if depth > MAX_DEPTH {
                self.too_deep(start);
                self.offset = self.text.len();
                return;
            }
        }
        let span = self.span(start, start + 2);
        self.hopeless(span, "a comment is not closed", "opened here", "write the missing `*/`");
    }

    fn too_deep(&mut self, at: usize) {
        let span = self.span(at, at + 1);
        let title = format!("blocks nest more than {MAX_DEPTH} deep");
        self.hopeless(span, title, "one level too deep", "a scenario needs seven levels at most");
    }

    /// A text: plain, of several lines, or raw with so many `#`.
    fn quoted(&mut self, hashes: usize) {
        self.begins_line();
        let start = self.offset;
        self.offset += hashes;
        let long = self.text[self.offset..].starts_with("\"\"\"");
        let quote = if long { "\"\"\"" } else { "\"" };
        self.offset += quote.len();
        let end = format!("{quote}{}", "#".repeat(hashes));
        if !self.skip_text(&end, hashes > 0, long) {
            let span = self.span(start, start + hashes + quote.len());
            let title = "a text is not closed";
            let help = format!("write the missing `{end}`");
            self.hopeless(span, title, "opened here", help);
        }
        self.comma();
    }

    /// Goes behind the end of a text; `false` when it has none.
    fn skip_text(&mut self, end: &str, raw: bool, long: bool) -> bool {
        while let Some(letter) = self.peek() {
            if self.text[self.offset..].starts_with(end) {
                self.offset += end.len();
                return true;
            }
            if !long && is_newline(letter) {
                return false;
            }
            self.offset += letter.len_utf8();
            if letter == '\\' && !raw && !self.skip_escaped() {
                return false;
            }
        }
        false
    }

    /// Goes behind an escaped letter, or behind all the space that a `\` swallows.
    fn skip_escaped(&mut self) -> bool {
        let Some(letter) = self.peek() else { return false };
        if !is_space(letter) && !is_newline(letter) {
            self.offset += letter.len_utf8();
            return true;
        }
        let rest = &self.text[self.offset..];
        let blank = |letter: char| is_space(letter) || is_newline(letter);
        self.offset += rest.find(|letter| !blank(letter)).unwrap_or(rest.len());
        true
    }

    /// Writes over a comma between values.
    fn comma(&mut self) {
        if self.peek() == Some(',') {
            let span = self.span(self.offset, self.offset + 1);
            let help = "values are separated by spaces; remove the comma";
            self.at.error(span, "a comma between values", "not wanted", help);
            self.out.text.replace_range(self.offset..=self.offset, " ");
            self.offset += 1;
        }
    }

    fn opens(&mut self, dashed: bool) {
        let (at, indent) = (self.offset, self.indent);
        self.offset += 1;
        self.line_begins = true;
        // The parser reads a block after `/-` twice, and so doubles its time with each level.
        if dashed && self.open.iter().any(|open| open.dashed) {
            let span = self.span(at, at + 1);
            let title = "a commented-out block inside a commented-out block";
            self.hopeless(span, title, "the inner one", "remove the inner `/-`, or use `//`");
        }
        self.open.push(Open { at, dashed, indent });
        if self.open.len() > MAX_DEPTH {
            self.too_deep(at);
        }
    }

    fn closes(&mut self) {
        let at = self.offset;
        self.offset += 1;
        self.line_begins = true;
        let Some(open) = self.open.pop() else {
            let span = self.span(at, at + 1);
            let help = "remove it, or open a block before it";
            return self.hopeless(span, "a `}` closes nothing", "no block is open here", help);
        };
        self.suspect(&open, at);
    }

    /// A `}` that is indented less than the line it closes probably closes a block further out.
    /// Only worth saying when something is left open in the end.
    fn suspect(&mut self, open: &Open, at: usize) {
        if self.lacks_a_brace && self.indent < open.indent {
            let (span, at) = (self.span(open.at, open.at + 1), self.span(at, at + 1));
            let fault = self.at.fault(span, "a block is not closed").label("opened here");
            let fault = fault.other(at, "this `}` belongs to a block further out");
            self.at.put(fault.help("write the missing `}`"));
            self.out.hopeless = true;
            self.open.clear();
            self.offset = self.text.len();
        }
    }
}

/// How far the first line of a text is indented.
fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(is_space).len()
}

/// How many `#` stand before the quote of a raw text.
fn raw_hashes(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    (hashes > 0 && rest[hashes..].starts_with('"')).then_some(hashes)
}

fn is_newline(letter: char) -> bool {
    matches!(letter, '\r' | '\n' | '\u{85}' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}')
}

fn is_space(letter: char) -> bool {
    letter == '\u{feff}' || (letter.is_whitespace() && !is_newline(letter))
}
