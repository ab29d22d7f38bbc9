//! A file as it was read, and places in it.

use std::sync::Arc;

use skep_trace::Text;

use super::diagnostic::Diagnostic;
use super::limits::MAX_BYTES;

/// A scenario file, or a Markdown file with scenarios in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name as the user knows it.
    pub name: Text,
    /// Its whole text.
    pub text: Text,
}

/// A stretch of a file, in bytes: from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A place as editors count it: both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl SourceFile {
    /// A file with this text.
    pub fn new(name: &str, text: &str) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// A file with these bytes.
    ///
    /// # Errors
    /// When they are too many, or no UTF-8. Neither costs more than the bytes themselves.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Arc<Self>, Diagnostic> {
        if bytes.len() > MAX_BYTES {
            let file = Self::new(name, "");
            return Err(Diagnostic::too_long(&file));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(name, text)),
            Err(error) => Err(Diagnostic::not_utf8(name, bytes, error.valid_up_to())),
        }
    }

    /// It is Markdown, by its name: only its `kdl` blocks are read.
    pub fn is_markdown(&self) -> bool {
        let (_, ending) = self.name.rsplit_once('.').unwrap_or_default();
        ending.eq_ignore_ascii_case("md") || ending.eq_ignore_ascii_case("markdown")
    }

    /// Where a byte stands, as editors count.
    pub fn position(&self, offset: usize) -> Position {
        let before = &self.text[..self.floor(offset)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The text of a span, cut to what the file has.
    pub fn slice(&self, span: Span) -> &str {
        let start = self.floor(span.start);
        &self.text[start..self.floor(span.end).max(start)]
    }

    /// The last character boundary that is not after an offset.
    pub(super) fn floor(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }
}

impl Span {
    /// From one byte to another.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// How many bytes.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// It covers nothing.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// From the start of this one to the end of another.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.end) }
    }

    /// The same stretch, so many bytes later.
    pub(super) fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let file = SourceFile::new("a.kdl", "é x\nün y\n");
        assert_eq!(file.position(0), Position { line: 1, column: 1 });
        assert_eq!(file.position(3), Position { line: 1, column: 3 });
        assert_eq!(file.position(9), Position { line: 2, column: 4 });
        assert_eq!(file.position(999), Position { line: 3, column: 1 });
    }

    #[test]
    fn markdown_is_told_by_the_ending() {
        assert!(SourceFile::new("issue.MD", "").is_markdown());
        assert!(!SourceFile::new("md.kdl", "").is_markdown());
        assert!(!SourceFile::new("md", "").is_markdown());
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        let error = SourceFile::from_bytes("a.kdl", b"scenario \"\xff\"").unwrap_err();
        assert_eq!(error.span.start, 10);
    }
}
