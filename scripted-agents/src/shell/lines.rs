//! Bytes to lines: ended by LF alone, at most 10 MB long.

use std::mem;

/// The longest line that an agent reads. Public harnesses have the same bound.
pub const MOST_LINE_BYTES: usize = 10_000_000;

/// Bytes that are taken in before they are wanted, so that a harness which writes without reading
/// does not stand against an agent that does the same.
const MOST_AHEAD_BYTES: usize = 16_000_000;

/// What is read at once: a pipe's usual portion.
const READ_BYTES: usize = 16_384;

/// What was read and is not yet a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    /// Where the first line that was not handed out begins.
    start: usize,
    /// Up to where no newline was found.
    searched: usize,
    ended: bool,
}

/// What stands in front.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// A line, its newline taken off.
    Line(String),
    /// More bytes than a line may have.
    TooLong,
    /// The end of the input. An unfinished line before it is none.
    End,
}

impl Lines {
    /// Where the next bytes go.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn wants_more(&self) -> bool {
        !self.ended && self.bytes.len() - self.start < MOST_AHEAD_BYTES
    }

    /// What stands in front, if anything whole does. Blank lines are passed over.
    pub(super) fn take(&mut self) -> Option<Front> {
        loop {
            let Some(length) = self.newline() else { return self.unfinished() };
            let line = &self.bytes[self.start..self.start + length];
            let text = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
            self.start += length + 1;
            self.searched = self.start;
            if length > MOST_LINE_BYTES {
                return Some(Front::TooLong);
            }
            if !text.trim().is_empty() {
                return Some(Front::Line(text));
            }
        }
    }

    fn newline(&mut self) -> Option<usize> {
        let from = mem::replace(&mut self.searched, self.bytes.len());
        let found = self.bytes[from..].iter().position(|byte| *byte == b'\n')?;
        Some(from + found - self.start)
    }

    fn unfinished(&self) -> Option<Front> {
        if self.bytes.len() - self.start > MOST_LINE_BYTES {
            return Some(Front::TooLong);
        }
        self.ended.then_some(Front::End)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(bytes: &[u8]) -> Lines {
        let mut lines = Lines::default();
        lines.room().extend_from_slice(bytes);
        lines
    }

    fn line(text: &str) -> Option<Front> {
        Some(Front::Line(text.into()))
    }

    #[test]
    fn a_line_is_whole_when_its_newline_is_there() {
        let mut lines = fed(b"one\ntw");
        assert_eq!(lines.take(), line("one"));
        assert_eq!(lines.take(), None);
        lines.room().extend_from_slice(b"o\n\n \r\nthree\r\n");
        assert_eq!(lines.take(), line("two"));
        assert_eq!(lines.take(), line("three"));
        assert_eq!(lines.take(), None);
    }

    #[test]
    fn only_a_line_feed_ends_a_line() {
        let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e";
        assert_eq!(fed(format!("{text}\n").as_bytes()).take(), line(text));
    }

    #[test]
    fn an_unfinished_last_line_is_none() {
        let mut lines = fed(b"one\ntwo");
        lines.end();
        assert_eq!(lines.take(), line("one"));
        assert_eq!(lines.take(), Some(Front::End));
    }

    #[test]
    fn a_line_over_the_bound_is_too_long_with_and_without_its_end() {
        let mut lines = fed(&vec![b'x'; MOST_LINE_BYTES]);
        assert_eq!(lines.take(), None);
        lines.room().push(b'x');
        assert_eq!(lines.take(), Some(Front::TooLong));
        lines.room().push(b'\n');
        assert_eq!(lines.take(), Some(Front::TooLong));
        let mut longest = vec![b'x'; MOST_LINE_BYTES];
        longest.push(b'\n');
        assert!(matches!(fed(&longest).take(), Some(Front::Line(_))));
    }

    #[test]
    fn bytes_that_are_no_text_make_a_line_all_the_same() {
        assert_eq!(fed(b"\xff\n").take(), line("\u{fffd}"));
    }
}
