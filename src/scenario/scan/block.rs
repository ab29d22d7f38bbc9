//! Braces and block comments.

use super::Scanner;
use crate::scenario::limits::MAX_DEPTH;

/// A `{` that is not closed yet.
pub(super) struct Open {
    at: usize,
    /// It is commented out by a `/-` right before it.
    dashed: bool,
    /// How far the line that it stands on is indented.
    indent: usize,
}

impl Scanner<'_> {
    pub(super) fn opens(&mut self) {
        let dashed = self.dash.take().is_some();
        self.head_ends(dashed);
        self.block_began();
        let at = self.offset;
        self.offset += 1;
        // The parser reads a block after `/-` twice, and so doubles its time with each level.
        if dashed && self.open.iter().any(|open| open.dashed) {
            let span = self.span(at, at + 1);
            let title = "a commented-out block inside a commented-out block";
            self.hopeless(span, title, "the inner one", "remove the inner `/-`, or use `//`");
        }
        self.open.push(Open { at, dashed, indent: self.indent });
        if self.open.len() > MAX_DEPTH {
            self.too_deep(at, "a scenario needs seven levels at most");
        }
    }

    pub(super) fn closes(&mut self) {
        if let Some(dash) = self.dash.take() {
            self.nothing_commented_out(dash);
        }
        self.line_ends();
        self.block_ended();
        let at = self.offset;
        self.offset += 1;
        match self.open.pop() {
            Some(open) => self.suspect(&open, at),
            None if self.out.hopeless => {}
            None => {
                let span = self.span(at, at + 1);
                let help = "remove it, or open a block before it";
                self.hopeless(span, "a `}` closes nothing", "no block is open here", help);
            }
        }
    }

    /// A `}` that is indented less than the line it closes probably closes a block further out.
    /// Only worth saying when something is left open in the end.
    fn suspect(&mut self, open: &Open, at: usize) {
        if self.lacks_a_brace && self.indent < open.indent {
            let (span, at) = (self.span(open.at, open.at + 1), self.span(at, at + 1));
            let fault = self.at.fault(span, "a block is not closed").label("opened here");
            let fault = fault.other(at, "this `}` belongs to a block further out");
            self.at.put(fault.help("write the missing `}`"));
            self.give_up();
        }
    }

    /// Complains about the innermost block that is open at the end of the file.
    pub(super) fn nothing_left_open(&mut self) {
        if let (Some(open), false) = (self.open.last(), self.out.hopeless) {
            let span = self.span(open.at, open.at + 1);
            self.hopeless(span, "a block is not closed", "opened here", "write the missing `}`");
        }
    }

    pub(super) fn block_comment(&mut self) {
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
                self.grammar.spaced = true;
                return;
            }
            if depth > MAX_DEPTH {
                return self.too_deep(start, "end one comment before the next begins");
            }
        }
        let span = self.span(start, start + 2);
        self.hopeless(span, "a comment is not closed", "opened here", "write the missing `*/`");
    }

    fn too_deep(&mut self, at: usize, help: &str) {
        let span = self.span(at, at + 1);
        let title = format!("blocks nest more than {MAX_DEPTH} deep");
        self.hopeless(span, title, "one level too deep", help);
        self.give_up();
    }

    /// What follows would only be misread.
    fn give_up(&mut self) {
        self.out.hopeless = true;
        self.open.clear();
        self.offset = self.text.len();
    }
}
