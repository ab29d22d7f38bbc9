//! The story of a test that did not hold: what went wrong, where, on the wire, on the disk, against
//! which rule, through whom, and how to see it again.
//!
//! The earliest broken line is told in full. What broke beside it usually follows from it and gets
//! a line each.

use std::fmt::Write as _;

use skep_check::rule;
use skep_check::verdict::{Cause, Judgement, Subject, Verdict};

use super::clean::{COLUMNS, clean, fit};
use super::names::Names;
use super::paint::{Paint, Tone};
use super::wire::{self, moment::moment};
use super::{again, disk, excerpt, instant, log, pointer, silence};
use crate::outcome::TestOutcome;

/// More than this, and the list of what else broke says nothing.
const MOST_BESIDES: usize = 5;

/// The story of a test; empty for one that holds or does not apply.
pub fn story(test: &TestOutcome, paint: Paint) -> String {
    if !matches!(test.verdict, Verdict::Violated | Verdict::Inconclusive) {
        return String::new();
    }
    let judged = test.judged(test.verdict);
    let Some((told, besides)) = judged.split_first() else {
        return untold(test, paint);
    };
    let mut text = headline(test, Some(told), &told.title, paint);
    text.push_str(&indented(&excerpt::excerpt(
        &test.file,
        &test.source,
        &pointer::labels(test, told),
        paint,
    )));
    text.push_str(&evidence(test, told, paint));
    text.push_str(&log::tail(test, told, paint));
    text.push_str(&besides_text(test, besides, paint));
    text.push_str(&references(test, Some(told), paint));
    text
}

/// A test that ended without a judgement to tell: it could not be observed.
fn untold(test: &TestOutcome, paint: Paint) -> String {
    let reason = test.reason.as_deref().unwrap_or("nobody said why");
    headline(test, None, reason, paint) + &references(test, None, paint)
}

fn headline(
    test: &TestOutcome,
    judgement: Option<&Judgement>,
    title: &str,
    paint: Paint,
) -> String {
    let code = judgement.map_or_else(|| "run".to_owned(), |judgement| code(test, judgement));
    let name = paint.paint(Tone::Strong, clean(&test.test));
    let step = match judgement.map(|judgement| judgement.subject) {
        Some(Subject::Expectation { step, .. }) => format!(", step {}", step + 1),
        _ => String::new(),
    };
    let sign = if test.verdict == Verdict::Violated { "×" } else { "?" };
    let title = format!("{sign} {}", clean(title));
    format!("{code} in {name}{step}\n\n  {}\n", paint.paint(Tone::of(test.verdict), title))
}

/// What was judged, as one word: `never/session-new`, `always/H-13`.
pub fn code(test: &TestOutcome, judgement: &Judgement) -> String {
    match judgement.subject {
        Subject::Invariant(rule) => format!("always/{rule}"),
        Subject::Run => "run".to_owned(),
        Subject::Expectation { step, index } => match test.line(judgement) {
            Some(line) => clean(&line.code),
            None => format!("step {} line {}", step + 1, index + 1),
        },
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!(" {line}\n")).collect()
}

/// The wire around the moment, the disk's difference, and causes that stand in neither.
fn evidence(test: &TestOutcome, judgement: &Judgement, paint: Paint) -> String {
    let names = Names::new(&test.trace, &test.bound);
    let lines = wire::lines(&test.trace, &names);
    let on_wire = |cause: &&Cause| lines.get(cause.record).is_some_and(Option::is_some);
    let unplaced = pointer::unplaced(test, judgement);
    let (causes, others): (Vec<_>, Vec<_>) = unplaced.into_iter().partition(on_wire);
    let mut text = String::new();
    for cause in others {
        writeln!(text, "  because: {}", clean(&cause.label)).expect("a string takes all");
    }
    text.push_str(&moment(&test.trace, &lines, judgement, &causes, paint));
    text.push_str(&disk::difference(test, judgement, &names, paint));
    text
}

fn besides_text(test: &TestOutcome, besides: &[&Judgement], paint: Paint) -> String {
    if besides.is_empty() {
        return String::new();
    }
    let mut text = format!("  also {}:\n", test.verdict);
    for judgement in besides.iter().take(MOST_BESIDES) {
        let at = judgement.record.and_then(|record| test.trace.records.get(record));
        let at = at.map(|record| format!(", at {}", instant::show(record.at_ms)));
        let line = format!(
            "{}: {}{}",
            code(test, judgement),
            clean(&judgement.title),
            at.unwrap_or_default()
        );
        writeln!(text, "    {}", fit(&line, COLUMNS - 4)).expect("a string takes all");
    }
    if besides.len() > MOST_BESIDES {
        let more = format!("    ⋮ {} more", besides.len() - MOST_BESIDES);
        writeln!(text, "{}", paint.paint(Tone::Faint, more)).expect("a string takes all");
    }
    text
}

/// The rule, where it comes from, who broke it, and the command.
fn references(test: &TestOutcome, judgement: Option<&Judgement>, paint: Paint) -> String {
    let mut text = String::new();
    let mut push = |key: &str, value: &str| {
        let key = paint.paint(Tone::Faint, format!("{key:<7}"));
        writeln!(text, "  {key}{value}").expect("a string takes all");
    };
    for id in judgement.map(|judgement| test.rules_of(judgement)).unwrap_or_default() {
        let meaning = rule(id).map_or("no rule of ours", |rule| rule.meaning);
        push("rule:", &fit(&format!("{:<4} {meaning}", clean(id)), COLUMNS - 9));
    }
    if let Some(note) = silence::note(test) {
        push("rests:", &note);
    }
    if !test.cites.is_empty() {
        let cites: Vec<_> = test.cites.iter().map(|cite| clean(cite)).collect();
        push("cites:", &cites.join(" · "));
    }
    if let Some(mutant) = test.mutant {
        push("fault:", &format!("{mutant}, switched on: {}", mutant.what()));
    }
    if let Some(blame) = judgement.and_then(|judgement| judgement.blame) {
        push("blame:", &paint.paint(Tone::Strong, blame));
    }
    for remark in &test.remarks {
        push("note:", &fit(&clean(remark), COLUMNS - 9));
    }
    let record = judgement.and_then(|judgement| test.trace.records.get(judgement.record?));
    push("again:", &again::command(test, record.map(|record| record.at_ms)));
    text
}
