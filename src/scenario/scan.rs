//! Reads over the text once before the KDL parser does, in linear time and constant depth.
//!
//! The parser is exact about what is KDL and terse about what is not: one mistake ends the
//! understanding of everything around it. So this scanner holds the file to its limits, finds
//! what is left open, checks how each line is put together, and knows the slips that people make
//! (`true` for `#true`, `10s` without quotes, a comma between values). What it complains about it
//! writes over, byte for byte, so that the parser understands the rest of the file and everything
//! else that is wrong is reported along with it.
//!
//! - `grammar`: how one line is put together.
//! - `word`: bare words and the slips among them.
//! - `text`: quoted texts.
//! - `block`: braces and block comments.

mod block;
mod grammar;
mod text;
mod word;

use super::Diagnostic;
use super::diagnostic::Reporter;
use super::limits::{MAX_BYTES, MAX_LINES};
use super::source::Span;
use block::Open;
use grammar::Grammar;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The text for the parser: as long as the file's, mistakes written over.
    pub(super) text: String,
    /// Where mistakes were, in order: words and values here are reported already.
    pub(super) slips: Vec<Span>,
    /// The parser must not see it.
    pub(super) hopeless: bool,
}

/// Scans the text of one document. `base` is where it begins in its file.
pub(super) fn scan(text: &str, base: usize, at: Reporter<'_>) -> Scan {
    if text.len() > MAX_BYTES {
        at.put(Diagnostic::too_long(at.file));
        return Scan { hopeless: true, ..Scan::default() };
    }
    let scanner = Scanner {
        text,
        base,
        at,
        offset: 0,
        open: Vec::new(),
        dash: None,
        grammar: Grammar::default(),
        lines: 0,
        indent: indent(text),
        lacks_a_brace: text.matches('{').count() > text.matches('}').count(),
        out: Scan { text: text.to_owned(), ..Scan::default() },
    };
    scanner.run()
}

struct Scanner<'a> {
    text: &'a str,
    base: usize,
    at: Reporter<'a>,
    offset: usize,
    open: Vec<Open>,
    /// A `/-` that nothing followed yet.
    dash: Option<usize>,
    grammar: Grammar,
    lines: usize,
    /// How far the line that is read is indented.
    indent: usize,
    /// At a glance, more blocks are opened than closed.
    lacks_a_brace: bool,
    out: Scan,
}

impl Scanner<'_> {
    fn run(mut self) -> Scan {
        self.refuse_hidden_letters();
        while let Some(letter) = self.peek() {
            self.token(letter);
        }
        self.finish()
    }

    fn token(&mut self, letter: char) {
        let rest = &self.text[self.offset..];
        match letter {
            _ if rest.starts_with("//") => self.skip_to_newline(),
            _ if rest.starts_with("/*") => self.block_comment(),
            _ if rest.starts_with("/-") => self.slashdash(),
            '"' => self.quoted(0),
            '#' if raw_hashes(rest) > 0 => self.quoted(raw_hashes(rest)),
            '{' => self.opens(),
            '}' => self.closes(),
            ';' => self.semicolon(),
            '\\' => self.continues_line(),
            '=' => self.equals(),
            '(' => self.annotation(),
            ')' => self.stray(")", "remove it; a text with a parenthesis in it is quoted"),
            _ if is_newline(letter) => self.newline(letter),
            _ if is_space(letter) => {
                self.offset += letter.len_utf8();
                self.grammar.spaced = true;
            }
            _ => self.word(),
        }
    }

    fn finish(mut self) -> Scan {
        self.line_ends();
        if let (Some(dash), false) = (self.dash, self.out.hopeless) {
            self.nothing_commented_out(dash);
        }
        self.nothing_left_open();
        if self.lines > MAX_LINES {
            let span = self.span(0, 1.min(self.text.len()));
            let title = format!("the file has {} lines of scenario", self.lines);
            let help = format!("a file holds at most {MAX_LINES}; split it into several files");
            self.hopeless(span, title, "too many", help);
        }
        self.out.slips.sort_unstable();
        self.out
    }

    fn peek(&self) -> Option<char> {
        self.text[self.offset..].chars().next()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(start, end).shifted(self.base)
    }

    /// Complains about something that leaves no sense in the rest.
    fn hopeless(
        &mut self,
        span: Span,
        title: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.out.hopeless = true;
        self.at.error(span, title, label, help);
    }

    /// Writes over a stretch of what the parser will see.
    fn cover(&mut self, start: usize, end: usize, with: &str) {
        self.out.text.replace_range(start..end, &with.repeat(end - start));
    }

    fn skip_to_newline(&mut self) {
        let rest = &self.text[self.offset..];
        self.offset += rest.find(is_newline).unwrap_or(rest.len());
    }

    fn newline(&mut self, letter: char) {
        // What a `/-` comments out may stand on the next line.
        if self.dash.is_none() {
            self.line_ends();
        }
        self.offset += letter.len_utf8();
        self.grammar.spaced = true;
        self.indent = indent(&self.text[self.offset..]);
    }

    fn semicolon(&mut self) {
        if self.grammar.is_empty() && self.dash.is_none() {
            let span = self.span(self.offset, self.offset + 1);
            self.at.error(span, "a `;` ends nothing", "no line before it", "remove it");
            self.cover(self.offset, self.offset + 1, " ");
        }
        self.line_ends();
        self.offset += 1;
    }

    fn slashdash(&mut self) {
        self.dash = Some(self.offset);
        self.offset += 2;
        self.grammar.spaced = true;
    }

    fn nothing_commented_out(&mut self, dash: usize) {
        let span = self.span(dash, dash + 2);
        let help = "put it right before what it comments out, or use `//`";
        self.hopeless(span, "a `/-` before nothing", "comments out nothing", help);
    }

    /// A `\` carries the line over the next newline.
    fn continues_line(&mut self) {
        let start = self.offset;
        self.offset += 1;
        self.grammar.spaced = true;
        while let Some(letter) = self.peek().filter(|letter| is_space(*letter)) {
            self.offset += letter.len_utf8();
        }
        if self.text[self.offset..].starts_with("//") {
            self.skip_to_newline();
        }
        match self.peek() {
            Some(letter) if is_newline(letter) => self.offset += letter.len_utf8(),
            None => {}
            Some(_) => {
                let help = "end the line after it, or put the text into quotes";
                self.fault(start, start + 1, "a `\\` within a line", "carries nothing over", help);
            }
        }
    }

    /// Letters that one cannot see, and that make a text look other than it is.
    fn refuse_hidden_letters(&mut self) {
        for (at, letter) in self.text.char_indices().filter(|(at, c)| is_hidden(*at, *c)) {
            let span = self.span(at, at + letter.len_utf8());
            let title = format!("the file holds the letter U+{:04X}", u32::from(letter));
            let help = format!("write `\\u{{{:x}}}` in a text, or remove it", u32::from(letter));
            self.hopeless(span, title, "cannot be seen", help);
        }
    }
}

/// How far the first line of a text is indented.
fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(is_space).len()
}

/// How many `#` stand before the quote of a raw text; none when it is no raw text.
fn raw_hashes(rest: &str) -> usize {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    if rest[hashes..].starts_with('"') { hashes } else { 0 }
}

fn is_newline(letter: char) -> bool {
    matches!(letter, '\r' | '\n' | '\u{85}' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}')
}

fn is_space(letter: char) -> bool {
    letter == '\u{feff}' || (letter.is_whitespace() && !is_newline(letter))
}

/// KDL does not allow it as itself.
fn is_hidden(at: usize, letter: char) -> bool {
    match letter {
        '\u{feff}' => at > 0,
        '\0'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{7f}' => true,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}
