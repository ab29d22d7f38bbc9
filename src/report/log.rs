//! The end of a harness's log, where nothing else says what it did instead.

use std::fmt::Write as _;

use skep_check::verdict::{Judgement, Subject};
use skep_trace::{Record, What};

use super::clean::{COLUMNS, clean, fit};
use super::paint::{Paint, Tone};
use crate::outcome::{TestOutcome, WorldName};

/// So many lines are shown.
const LINES: usize = 6;

/// The last lines of the harness that lived last, in the live world. What a test was waiting for
/// in vain is often said there.
pub(super) fn tail(test: &TestOutcome, judgement: &Judgement, paint: Paint) -> String {
    let forbids = matches!(judgement.subject, Subject::Expectation { .. })
        && test.line(judgement).is_some_and(|line| line.code.starts_with("never/"));
    if test.world != WorldName::Live || forbids {
        return String::new();
    }
    let records = &test.trace.records;
    let Some(life) = records.iter().rev().find_map(started) else { return String::new() };
    let lines = records.iter().rev().filter_map(|record| said(record, &life));
    let mut lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).take(LINES).collect();
    lines.reverse();
    if lines.is_empty() {
        return String::new();
    }
    let mut text = format!("  the end of the log of {life}:\n");
    for line in lines {
        let line = paint.paint(Tone::Faint, fit(&clean(line.trim()), COLUMNS - 4));
        writeln!(text, "    {line}").expect("a string takes all");
    }
    text
}

fn started(record: &Record) -> Option<String> {
    match &record.what {
        What::HarnessStarted(life) => Some(life.to_string()),
        _ => None,
    }
}

fn said<'r>(record: &'r Record, life: &str) -> Option<&'r str> {
    match &record.what {
        What::Log { actor, line } if &**actor == life => Some(line),
        _ => None,
    }
}
