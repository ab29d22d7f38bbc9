//! Annotations that GitHub shows beside the lines of a pull request.

use skep_check::rule;
use skep_check::verdict::{Judgement, Verdict};

use super::excerpt::{Place, place};
use super::{again, pointer};
use crate::known::KnownFailure;
use crate::outcome::{RunOutcome, TestOutcome};

/// One workflow command a line: an error for each test that is violated, a warning for each that
/// could not be observed, a notice for each whose failure was known.
pub fn annotations(outcome: &RunOutcome) -> String {
    let unsteady = outcome.unsteady();
    let tests = outcome.told().into_iter();
    let tests = tests.filter_map(|test| annotation(test, unsteady.get(&test.test).copied()));
    tests.chain(outcome.untrue().map(untrue)).map(|line| line + "\n").collect()
}

/// A known failure that is none, at its line of the list.
fn untrue(entry: &KnownFailure) -> String {
    let at = place(&entry.source, entry.span.start);
    let message = format!("{}\n{}", entry.complaint(), entry.advice());
    command("error", &entry.file, at, &entry.test, &message)
}

/// `unsteady` is how many of how many repeats were violated, where they differ.
fn annotation(test: &TestOutcome, unsteady: Option<(usize, usize)>) -> Option<String> {
    let level = match test.verdict {
        Verdict::Violated if unsteady.is_some() => "warning",
        Verdict::Violated if test.known.is_some() => "notice",
        Verdict::Violated => "error",
        Verdict::Inconclusive => "warning",
        Verdict::Held | Verdict::NotApplicable => return None,
    };
    let judged = test.judged(test.verdict);
    let span = judged.first().and_then(|judgement| pointer::primary(test, judgement));
    let at = place(&test.source, span.unwrap_or_else(|| test.span.clone()).start);
    let message = match (&test.known, judged.first()) {
        (Some(reason), _) => format!("known failure: {reason}"),
        (None, Some(judgement)) => told(test, judgement),
        (None, None) => test.reason.as_deref().unwrap_or("inconclusive").to_owned(),
    };
    let message = match unsteady {
        Some((violated, runs)) => format!("unsteady: {violated} of {runs} violated\n{message}"),
        None => message,
    };
    Some(command(level, &test.file, at, &test.test, &message))
}

fn command(level: &str, file: &str, at: Place, title: &str, message: &str) -> String {
    format!(
        "::{level} file={},line={},col={},title={}::{}",
        property(file),
        at.line,
        at.column,
        property(title),
        data(message),
    )
}

fn told(test: &TestOutcome, judgement: &Judgement) -> String {
    let mut lines = vec![format!("{}: {}", judgement.title, judgement.label)];
    for id in test.rules_of(judgement) {
        lines.push(format!("{id} {}", rule(id).map_or("", |rule| rule.meaning)));
    }
    lines.extend(judgement.blame.map(|blame| format!("blame: {blame}")));
    lines.push(format!("again: {}", again::command(test, None)));
    lines.join("\n")
}

/// What GitHub reads as the end of a command or of a line is written as it asks for.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The same, and what ends a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_ends_a_command_early() {
        assert_eq!(property("a,b:c\n::error::x"), "a%2Cb%3Ac%0A%3A%3Aerror%3A%3Ax");
        assert_eq!(data("100%\r"), "100%25%0D");
    }
}
