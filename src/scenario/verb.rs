//! Tables of verbs: one row and one small function a verb.

use super::line::Line;
use super::scope::Scope;
use super::suggest;
use super::tree::{Kind, Value};

/// One verb.
pub(super) struct Verb<T> {
    /// Its word.
    pub(super) word: &'static str,
    /// How many arguments it takes at most.
    pub(super) args: usize,
    /// The properties that it takes.
    pub(super) props: &'static [&'static str],
    /// It has lines in braces of its own.
    pub(super) block: bool,
    /// Only its own function knows what else its line takes, for a second word decides.
    pub(super) open: bool,
    /// Reads a line of it.
    pub(super) read: fn(&Line<'_>, &mut Scope) -> T,
}

/// Any number of arguments.
pub(super) const MANY: usize = usize::MAX;

impl<T> Verb<T> {
    /// A verb without a block.
    pub(super) const fn new(
        word: &'static str,
        args: usize,
        props: &'static [&'static str],
        read: fn(&Line<'_>, &mut Scope) -> T,
    ) -> Self {
        Self { word, args, props, block: false, open: false, read }
    }

    /// A verb whose lines it reads itself.
    pub(super) const fn with_block(self) -> Self {
        Self { block: true, ..self }
    }

    /// A verb whose second word decides what it takes.
    pub(super) const fn two_words(
        word: &'static str,
        read: fn(&Line<'_>, &mut Scope) -> T,
    ) -> Self {
        Self { open: true, ..Self::new(word, MANY, &[], read) }
    }

    /// Reads a line, after the checks that are the same for all.
    pub(super) fn read(&self, line: &Line<'_>, scope: &mut Scope) -> T {
        let line = &line.limited(self.args);
        if !self.open {
            line.takes(self.args, self.props);
        }
        if !self.open && !self.block {
            line.no_block();
        }
        (self.read)(line, scope)
    }
}

/// The row of a word.
pub(super) fn find<'t, T>(table: &'t [Verb<T>], word: &str) -> Option<&'t Verb<T>> {
    table.iter().find(|verb| verb.word == word)
}

/// The words of a table.
pub(super) fn words<T>(table: &[Verb<T>]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|verb| verb.word)
}

/// Reads a line whose verb has a second word (`relay-fault drop`): `what` is what it names.
pub(super) fn second_word<T>(
    table: &[Verb<T>],
    what: &str,
    line: &Line<'_>,
    scope: &mut Scope,
) -> Option<T> {
    let Some(value) = line.args().first() else {
        let words: Vec<&str> = words(table).collect();
        let title = format!("`{}` lacks its second word", line.verb());
        let help = format!("there is {}", suggest::listed(&words));
        line.at.error(line.node.span, title, "and then?", help);
        return None;
    };
    match value.text().map(|word| find(table, word)) {
        Some(Some(verb)) => Some(verb.read(&line.deeper(), scope)),
        _ => {
            unknown_second(value, what, &words(table).collect::<Vec<_>>(), line);
            None
        }
    }
}

fn unknown_second(value: &Value, what: &str, words: &[&str], line: &Line<'_>) {
    match &value.kind {
        Kind::Reported => {}
        Kind::Text(word) => {
            let title = format!("`{}` is {what}", super::value::shortened(word));
            line.at.error(
                value.span,
                title,
                "unknown",
                suggest::instead(word, words.iter().copied()),
            );
        }
        _ => {
            let title = format!("a second word belongs here, not {}", value.what());
            line.at.error(value.span, title, value.what(), format!("write `{}`", words[0]));
        }
    }
}
