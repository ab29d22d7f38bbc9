//! Annotations that GitHub shows beside the lines of a pull request.

use skep_check::rule;
use skep_check::verdict::{Judgement, Verdict};

use super::excerpt::place;
use super::{again, pointer, story};
use crate::outcome::{RunOutcome, TestOutcome};

/// One workflow command a line: an error for each test that is violated, a warning for each that
/// could not be observed.
pub fn annotations(outcome: &RunOutcome) -> String {
    outcome.told().into_iter().filter_map(annotation).map(|line| line + "\n").collect()
}

fn annotation(test: &TestOutcome) -> Option<String> {
    let level = match test.verdict {
        Verdict::Violated => "error",
        Verdict::Inconclusive => "warning",
        Verdict::Held | Verdict::NotApplicable => return None,
    };
    let judged = test.judged(test.verdict);
    let span = judged.first().and_then(|judgement| pointer::primary(test, judgement));
    let at = place(&test.source, span.unwrap_or_else(|| test.span.clone()).start);
    let message = match judged.first() {
        Some(judgement) => told(test, judgement),
        None => test.reason.as_deref().unwrap_or("inconclusive").to_owned(),
    };
    Some(format!(
        "::{level} file={},line={},col={},title={}::{}",
        property(&test.file),
        at.line,
        at.column,
        property(&test.test),
        data(&message),
    ))
}

fn told(test: &TestOutcome, judgement: &Judgement) -> String {
    let mut lines = vec![format!("{}: {}", judgement.title, judgement.label)];
    for id in story::rules(test, judgement) {
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
