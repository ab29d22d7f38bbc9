//! A run on a terminal: one line a test, then the stories, then one line of summary.

use std::fmt::Write as _;

use skep_check::verdict::Verdict;

use super::clean::{COLUMNS, clean, fit, width};
use super::known;
use super::paint::{Paint, Tone};
use super::silence;
use super::story;
use super::wire::moment::mark;
use crate::outcome::{RunOutcome, TestOutcome};

/// The sign of a failure that was known, in every list.
const KNOWN: &str = "≈";

/// The sign of a test whose repeats differ.
const UNSTEADY: &str = "~";

/// What is left out for those who only want to know what is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brevity {
    /// Only what did not hold: no list of tests, and no summary of a run in which all of them did.
    pub quiet: bool,
    /// No real times, so that two runs print the same bytes.
    pub timeless: bool,
}

/// The whole report of a run.
pub fn run(outcome: &RunOutcome, brevity: Brevity, paint: Paint) -> String {
    let mut text = String::new();
    if !brevity.quiet {
        text.push_str(&listing(outcome, paint));
    }
    for test in outcome.told().into_iter().filter(|test| test.known.is_none()) {
        let story = story::story(test, paint);
        if !story.is_empty() {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&story);
        }
    }
    let complaints = known::complaints(outcome, paint);
    if !complaints.is_empty() {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&complaints);
    }
    if !brevity.quiet || outcome.exit_code() != crate::exit_code::ExitCode::Held {
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(&summary(outcome, brevity.timeless, paint));
    }
    text
}

/// One line a test, under the name of its file.
fn listing(outcome: &RunOutcome, paint: Paint) -> String {
    let mut text = String::new();
    for file in outcome.tests.chunk_by(|one, other| one.file == other.file) {
        writeln!(text, "{}", paint.paint(Tone::Faint, clean(&file[0].file)))
            .expect("a string takes all");
        for runs in file.chunk_by(|one, other| one.test == other.test) {
            text.push_str(&line(runs, outcome.unsteady().contains_key(&runs[0].test), paint));
        }
    }
    text
}

/// One test, with all its repeats, which may be `unsteady`.
fn line(runs: &[TestOutcome], unsteady: bool, paint: Paint) -> String {
    let worst = runs.iter().max_by_key(|run| run.verdict).expect("a chunk is never empty");
    let name = clean(&worst.test);
    let (sign, tone) = match (unsteady, worst.known.is_some()) {
        (true, _) => (UNSTEADY, Tone::Doubt),
        (false, true) => (KNOWN, Tone::Doubt),
        (false, false) => (mark(worst.verdict), Tone::of(worst.verdict)),
    };
    let mut line = format!("  {} ", paint.paint(tone, sign));
    line.push_str(&match worst.verdict {
        Verdict::Held => name.clone(),
        _ => paint.paint(tone, &name),
    });
    let mut notes = Vec::new();
    let like_worst = runs.iter().filter(|run| run.verdict == worst.verdict).count();
    if runs.len() > 1 {
        let word = if unsteady { "unsteady: " } else { "" };
        notes.push(format!("{word}{} of {} {}", like_worst, runs.len(), worst.verdict));
    }
    notes.extend(why(worst));
    notes.extend(silence::note(worst).map(|note| format!("rests on {note}")));
    // Of a test with a story, the story tells them.
    let remarks = worst.remarks.iter().filter(|_| worst.verdict != Verdict::Violated);
    notes.extend(remarks.take(1).map(|remark| clean(remark)));
    if !notes.is_empty() {
        let room = COLUMNS.saturating_sub(width(&name) + 6).max(20);
        let notes = fit(&notes.join(", "), room);
        line.push_str(&format!("  {}", paint.paint(Tone::Faint, notes)));
    }
    line + "\n"
}

/// Why a test did not hold, in a few words.
fn why(test: &TestOutcome) -> Option<String> {
    if let Some(reason) = &test.known {
        return Some(format!("known: {}", clean(reason)));
    }
    match test.verdict {
        Verdict::Held => None,
        Verdict::NotApplicable => Some(clean(test.reason.as_deref()?)),
        verdict => match test.judged(verdict).first() {
            Some(judgement) => Some(clean(&judgement.title)),
            None => Some(clean(test.reason.as_deref()?)),
        },
    }
}

/// `42 held · 1 violated · 3 not applicable · in sim/event, 0.8 s`
pub fn summary(outcome: &RunOutcome, timeless: bool, paint: Paint) -> String {
    let order = [Verdict::Held, Verdict::Violated, Verdict::Inconclusive, Verdict::NotApplicable];
    let counts = order.into_iter().filter_map(|verdict| {
        let mut count = outcome.count(verdict);
        if verdict == Verdict::Inconclusive {
            // These have a word of their own.
            count -= outcome.unsteady_runs();
        }
        let tone = Tone::of(verdict);
        (count > 0).then(|| paint.paint(tone, format!("{count} {verdict}")))
    });
    let mut parts: Vec<String> = counts.collect();
    let mut more = |count: usize, tone: Tone, what: &str| {
        if count > 0 {
            parts.push(paint.paint(tone, format!("{count} {what}")));
        }
    };
    more(outcome.unsteady().len(), Tone::Doubt, "unsteady");
    more(outcome.count_known(), Tone::Doubt, "known");
    more(outcome.untrue().count(), Tone::Bad, "wrongly known");
    if parts.is_empty() {
        parts.push("no test was run".to_owned());
    }
    if outcome.interrupted {
        parts.push(paint.paint(Tone::Doubt, "interrupted"));
    }
    let time = if timeless { String::new() } else { format!(", {}", seconds(outcome.wall_ms)) };
    parts.push(paint.paint(Tone::Faint, format!("in {}{time}", outcome.world)));
    parts.join(&paint.paint(Tone::Faint, " · ")) + "\n"
}

/// Real time, as precise as anyone cares for.
pub fn seconds(wall_ms: u64) -> String {
    match wall_ms {
        0..100 => format!("{wall_ms} ms"),
        100..60_000 => format!("{}.{} s", wall_ms / 1000, wall_ms / 100 % 10),
        _ => format!("{} min {} s", wall_ms / 60_000, wall_ms / 1000 % 60),
    }
}
