//! Complaints as a person reads them: the only module that knows the `miette` crate.

use std::fmt::{self, Display};
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    SourceCode, SourceSpan, SpanContents,
};

use super::diagnostic::Diagnostic;
use super::source::{Position, SourceFile, Span};

/// How wide a line of help may get.
const WIDTH: usize = 90;
/// How much of the file is shown at once. A file may be one line of 256 KiB.
const MAX_SHOWN: usize = 4096;
/// How much of it is shown on each side of a place, when not all can be.
const AROUND: usize = 80;

/// Renders complaints one below the other, each with its lines of the file.
pub fn render(diagnostics: &[Diagnostic], colour: bool) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_wrap_lines(false)
        .without_syntax_highlighting();
    let rendered = diagnostics.iter().map(|diagnostic| {
        let mut out = String::new();
        let file = readable(&diagnostic.file);
        let shown = Shown { diagnostic, file, help: wrapped(&diagnostic.help) };
        handler.render_report(&mut out, &shown).expect("writing into a string does not fail");
        out
    });
    rendered.collect::<Vec<_>>().join("\n")
}

/// The file as a terminal may be shown it: letters that steer one stand there as letters of the
/// same length that do not, so that every place stays where it is.
fn readable(file: &Arc<SourceFile>) -> Arc<SourceFile> {
    let steers = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if !file.text.contains(steers) {
        return file.clone();
    }
    let shown = |letter: char| match letter.len_utf8() {
        _ if !steers(letter) => letter,
        1 => '?',
        _ => '·',
    };
    SourceFile::new(&file.name, &file.text.chars().map(shown).collect::<String>())
}

/// Breaks lines at spaces only: a word that is cut in two cannot be copied.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDTH {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out
}

/// A complaint in the shape that `miette` takes.
#[derive(Debug)]
struct Shown<'a> {
    diagnostic: &'a Diagnostic,
    /// What is shown of its file.
    file: Arc<SourceFile>,
    help: String,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.title)
    }
}

impl std::error::Error for Shown<'_> {}

impl miette::Diagnostic for Shown<'_> {
    fn help<'b>(&'b self) -> Option<Box<dyn Display + 'b>> {
        (!self.help.is_empty()).then(|| Box::new(&self.help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.file)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let Diagnostic { span, label, others, .. } = self.diagnostic;
        let primary = LabeledSpan::new_primary_with_span(Some(label.clone()), place(*span));
        let near = others.iter().filter(|other| other.span.start.abs_diff(span.start) < MAX_SHOWN);
        let others = near
            .map(|other| LabeledSpan::new_with_span(Some(other.text.clone()), place(other.span)));
        Some(Box::new(std::iter::once(primary).chain(others)))
    }
}

/// A place, as long as can be underlined.
fn place(span: Span) -> SourceSpan {
    (span.start, span.len().min(2 * AROUND)).into()
}

impl SourceCode for SourceFile {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let lines = (*self.text).read_span(span, before, after)?;
        if lines.data().len() <= MAX_SHOWN {
            return Ok(self.named(lines.data(), *lines.span()));
        }
        let start = self.floor(span.offset().saturating_sub(AROUND));
        let end = self.floor(span.offset() + span.len() + AROUND);
        let (start, end) = self.within_lines(start, end, span);
        Ok(self.named(&self.text.as_bytes()[start..end], (start, end - start).into()))
    }
}

impl SourceFile {
    /// A stretch with the place of its start, counted as editors do: in characters.
    fn named<'a>(&self, data: &'a [u8], span: SourceSpan) -> Box<dyn SpanContents<'a> + 'a> {
        let Position { line, column } = self.position(span.offset());
        let (line, column) = (line - 1, column - 1);
        let lines = data.iter().filter(|byte| **byte == b'\n').count();
        let name = self.name.to_string();
        Box::new(MietteSpanContents::new_named(name, data, span, line, column, lines))
    }

    /// A stretch that is cut to the lines of a place.
    fn within_lines(&self, start: usize, end: usize, place: &SourceSpan) -> (usize, usize) {
        let offset = self.floor(place.offset());
        let place_end = self.floor(place.offset() + place.len()).max(offset);
        let start = self.text[start..offset].rfind('\n').map_or(start, |at| start + at + 1);
        let end = self.text[place_end..end].find('\n').map_or(end, |at| place_end + at);
        (start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_not_shown_as_such() {
        let file = SourceFile::new("x.kdl", "a \u{1b}[31m \u{9b}2J b\n");
        let fault = Diagnostic::new(&file, Span::new(2, 3), "seen").label("here");
        let text = render(&[fault], false);
        assert!(text.contains("a ?[31m ·2J b"), "{text}");
    }

    #[test]
    fn a_word_is_never_cut_in_two() {
        let help = wrapped(&"`load-timeout` ".repeat(20));
        assert!(help.lines().all(|line| line.len() <= WIDTH && line.matches('`').count() % 2 == 0));
        assert!(help.lines().count() > 2);
    }

    #[test]
    fn a_line_that_is_too_long_is_shown_around_the_place() {
        let text = format!("{}é<here>{}", "é".repeat(5000), "x".repeat(100_000));
        let file = SourceFile::new("long.kdl", &text);
        let at = text.find("<here>").unwrap();
        let fault = Diagnostic::new(&file, Span::new(at, at + 6), "a title").label("a label");
        let rendered = render(&[fault], false);
        assert!(rendered.contains("<here>") && rendered.contains("a label"), "{rendered}");
        assert!(rendered.contains("long.kdl:1:5002"), "{rendered}");
        assert!(rendered.len() < 2_000);
    }
}
