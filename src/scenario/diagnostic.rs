//! A complaint about a scenario file: what is wrong, where, and what to write instead.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use super::limits::MAX_BYTES;
use super::source::{SourceFile, Span};

/// How many complaints of one file are reported. More than a reader wants to see at once, and a
/// bound on what a hostile file can make us write.
pub const MAX_DIAGNOSTICS: usize = 100;

/// One complaint. There are no warnings: a scenario either says what it means or is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub file: Arc<SourceFile>,
    /// What is wrong, in one line.
    pub title: String,
    /// The place.
    pub span: Span,
    /// What stands under the place.
    pub label: String,
    /// Earlier places that have to do with it.
    pub others: Vec<Label>,
    /// What to write instead.
    pub help: String,
}

/// A place that has to do with a complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What stands under it.
    pub text: String,
}

impl Diagnostic {
    /// A complaint with one place.
    pub fn new(file: &Arc<SourceFile>, span: Span, title: impl Into<String>) -> Self {
        Self {
            file: file.clone(),
            title: title.into(),
            span,
            label: "here".to_owned(),
            others: Vec::new(),
            help: String::new(),
        }
    }

    /// Says what stands under the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at an earlier place as well.
    #[must_use]
    pub fn other(mut self, span: Span, text: impl Into<String>) -> Self {
        self.others.push(Label { span, text: text.into() });
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    pub(super) fn too_long(file: &Arc<SourceFile>) -> Self {
        let end = file.floor(1.min(file.text.len()));
        Self::new(file, Span::new(0, end), format!("the file is longer than {MAX_BYTES} bytes"))
            .label(format!("more than {MAX_BYTES} bytes follow"))
            .help(format!(
                "a file has at most {} KiB; split it into several files",
                MAX_BYTES / 1024
            ))
    }

    pub(super) fn not_utf8(name: &str, bytes: &[u8], at: usize) -> Self {
        let file = SourceFile::new(name, &String::from_utf8_lossy(bytes));
        let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
        Self::new(&file, Span::new(at, end), "the file is not UTF-8")
            .label(format!("byte 0x{:02x} is no text", bytes[at]))
            .help("save the file as UTF-8; bytes for a state file go into `hex=\"…\"`")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.file.position(self.span.start);
        write!(f, "{}:{}:{}: {}", self.file.name, place.line, place.column, self.title)
    }
}

impl std::error::Error for Diagnostic {}

/// Where complaints are put down while a file is read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: RefCell<Vec<Diagnostic>>,
    said: Cell<usize>,
}

impl Findings {
    /// Puts one down, unless the same was said of the same place (by another cell of a matrix).
    fn push(&self, diagnostic: Diagnostic) {
        self.said.set(self.said.get() + 1);
        let mut list = self.list.borrow_mut();
        let said = |other: &Diagnostic| {
            other.span == diagnostic.span
                && other.title == diagnostic.title
                && other.file.name == diagnostic.file.name
        };
        if list.len() <= MAX_DIAGNOSTICS && !list.iter().any(said) {
            list.push(diagnostic);
        }
    }

    /// How often anything was said, repetitions included: whoever reads a part of a file knows by
    /// it whether something was wrong with that part.
    pub(super) fn count(&self) -> usize {
        self.said.get()
    }

    /// Something is said of a stretch of a file.
    pub(super) fn touch(&self, file: &SourceFile, span: Span) -> bool {
        let inside = |one: &Diagnostic| span.start <= one.span.start && one.span.start < span.end;
        self.list.borrow().iter().any(|one| one.file.name == file.name && inside(one))
    }

    /// All of them, in the order of the file.
    pub(super) fn into_sorted(self) -> Vec<Diagnostic> {
        let mut list = self.list.into_inner();
        let more = list.len() > MAX_DIAGNOSTICS;
        list.truncate(MAX_DIAGNOSTICS);
        list.sort_by_key(|diagnostic| (diagnostic.file.name.clone(), diagnostic.span));
        if let (true, Some(last)) = (more, list.last()) {
            let rest = Diagnostic::new(&last.file, last.span, "there are more mistakes than these")
                .label(format!("the {MAX_DIAGNOSTICS}th is reported"))
                .help("correct these first");
            list.push(rest);
        }
        list
    }
}

/// Puts down complaints about one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reporter<'a> {
    /// The file.
    pub(super) file: &'a Arc<SourceFile>,
    /// Where they go.
    pub(super) findings: &'a Findings,
}

impl Reporter<'_> {
    /// A complaint about this file, to be finished and put down.
    pub(super) fn fault(&self, span: Span, title: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, span, title)
    }

    /// Puts down a complaint.
    pub(super) fn put(&self, diagnostic: Diagnostic) {
        self.findings.push(diagnostic);
    }

    /// Puts down a complaint with one place.
    pub(super) fn error(
        &self,
        span: Span,
        title: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.put(self.fault(span, title).label(label).help(help));
    }
}
