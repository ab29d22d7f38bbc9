//! Complaints as a person reads them: the only module that knows the `miette` crate.

use std::fmt::{self, Display};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource};

use super::diagnostic::Diagnostic;

/// How wide a line of help may get. Source lines are shown as they are.
const WIDTH: usize = 100;

/// Renders complaints one below the other, each with its lines of the file.
pub fn render(diagnostics: &[Diagnostic], colour: bool) -> String {
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false);
    let mut out = String::new();
    for diagnostic in diagnostics {
        let shown = Shown::new(diagnostic);
        handler.render_report(&mut out, &shown).expect("writing into a string does not fail");
    }
    out
}

/// A complaint in the shape that `miette` takes.
#[derive(Debug)]
struct Shown<'a> {
    diagnostic: &'a Diagnostic,
    source: NamedSource<String>,
}

impl<'a> Shown<'a> {
    fn new(diagnostic: &'a Diagnostic) -> Self {
        let file = &diagnostic.file;
        let source = NamedSource::new(&file.name, file.text.to_string());
        Self { diagnostic, source }
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.title)
    }
}

impl std::error::Error for Shown<'_> {}

impl miette::Diagnostic for Shown<'_> {
    fn help<'b>(&'b self) -> Option<Box<dyn Display + 'b>> {
        let help = &self.diagnostic.help;
        (!help.is_empty()).then(|| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let Diagnostic { span, label, others, .. } = self.diagnostic;
        let at = (span.start, span.len());
        let primary = LabeledSpan::new_primary_with_span(Some(label.clone()), at);
        let others = others.iter().map(|other| {
            let at = (other.span.start, other.span.len());
            LabeledSpan::new_with_span(Some(other.text.clone()), at)
        });
        Some(Box::new(std::iter::once(primary).chain(others)))
    }
}
