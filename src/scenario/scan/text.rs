//! Quoted texts: plain, of several lines, and raw.

use super::{Scanner, is_newline, is_space};

impl Scanner<'_> {
    /// A text: plain, of several lines, or raw with so many `#`.
    pub(super) fn quoted(&mut self, hashes: usize) {
        let start = self.offset;
        self.offset += hashes;
        let long = self.text[self.offset..].starts_with("\"\"\"");
        let quote = if long { "\"\"\"" } else { "\"" };
        self.offset += quote.len();
        let body = self.offset;
        let end = format!("{quote}{}", "#".repeat(hashes));
        let closed = self.skip_text(&end, hashes > 0, long);
        if !closed {
            return self.text_not_closed(start, &end);
        }
        let body = body..self.offset - end.len();
        self.value_token(start, true);
        if long {
            self.long_text(start, body);
        }
        self.comma();
    }

    /// The rest of the line is lost; what else the file says is not, unless a block went with it.
    fn text_not_closed(&mut self, start: usize, end: &str) {
        let span = self.span(start, start + end.len());
        let help = format!("write the missing `{end}`");
        self.at.error(span, "a text is not closed", "opened here", help);
        self.grammar.spaced = true;
        self.value_token(start, true);
        self.mark_faulty();
        self.out.hopeless |= self.text[start..self.offset].contains('{');
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
            if letter == '\\' && !raw {
                self.escaped();
            }
        }
        false
    }

    /// Goes behind an escaped letter, or behind all the space that a `\` swallows.
    fn escaped(&mut self) {
        let start = self.offset - 1;
        let rest = &self.text[self.offset..];
        let Some(letter) = rest.chars().next() else { return };
        let blank = |letter: char| is_space(letter) || is_newline(letter);
        self.offset += match letter {
            _ if blank(letter) => rest.find(|letter| !blank(letter)).unwrap_or(rest.len()),
            'u' => return self.code_point(start),
            _ => letter.len_utf8(),
        };
        if !blank(letter) && !matches!(letter, 'n' | 'r' | 't' | '\\' | '"' | 'b' | 'f' | 's') {
            let title = format!("`\\{letter}` stands for nothing");
            let help = "write `\\\\` for a `\\`, or a raw text: `#\"…\"#`";
            self.fault(start, self.offset, &title, "unknown", help);
        }
    }

    /// `\u{…}`.
    fn code_point(&mut self, start: usize) {
        self.offset += 1;
        let rest = &self.text[self.offset..];
        // Six digits and two braces at most: no need to look further for the closing one.
        let rest = &rest[..rest.floor_char_boundary(8)];
        let digits = rest.strip_prefix('{').and_then(|rest| Some(&rest[..rest.find('}')?]));
        let letter = digits.filter(|digits| digits.len() <= 6 && !digits.starts_with('+'));
        let letter = letter.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if let (Some(digits), Some(_)) = (digits, letter.and_then(char::from_u32)) {
            self.offset += digits.len() + 2;
        } else {
            let help = "write one to six hex digits in braces: `\\u{2028}`";
            self.fault(start, self.offset, "`\\u` names no letter", "not understood", help);
        }
    }

    /// A long text stands on lines of its own, indented at least as its closing quotes are.
    fn long_text(&mut self, start: usize, body: std::ops::Range<usize>) {
        let text = &self.text[body.clone()];
        let last =
            text.rfind(is_newline).map_or(text, |at| text[at..].trim_start_matches(is_newline));
        let on_own_lines = text.starts_with(is_newline) && last.chars().all(is_space);
        let lines = text.split(is_newline).skip(1);
        let mut lines = lines.filter(|line| !line.chars().all(is_space));
        let indented = lines.all(|line| line.starts_with(last));
        if !on_own_lines {
            let help = "put a newline after the opening `\"\"\"` and before the closing one";
            self.fault(
                start,
                body.start,
                "a long text is not on lines of its own",
                "opened here",
                help,
            );
        } else if !indented {
            let help = "indent each line at least as far as the closing `\"\"\"`";
            self.fault(
                start,
                body.start,
                "a long text is not indented evenly",
                "in this text",
                help,
            );
        }
    }

    /// Writes over a comma that sticks to a text.
    fn comma(&mut self) {
        if self.peek() == Some(',') {
            let span = self.span(self.offset, self.offset + 1);
            let help = "values are separated by spaces; remove the comma";
            self.at.error(span, "a comma between values", "not wanted", help);
            self.cover(self.offset, self.offset + 1, " ");
            self.offset += 1;
            self.grammar.spaced = true;
        }
    }
}
