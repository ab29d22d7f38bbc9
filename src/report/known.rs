//! Known failures that are none: what is wrong with the list of them.

use std::fmt::Write as _;

use super::clean::clean;
use super::excerpt::{Label, excerpt};
use super::paint::{Paint, Tone};
use crate::known::KnownFailure;
use crate::outcome::RunOutcome;

/// Every entry that is not true, with its line; empty where all of them are.
pub fn complaints(outcome: &RunOutcome, paint: Paint) -> String {
    let told: Vec<String> = outcome.untrue().map(|entry| complaint(entry, paint)).collect();
    told.join("\n")
}

fn complaint(entry: &KnownFailure, paint: Paint) -> String {
    let label =
        Label { span: entry.span.clone(), text: entry.standing.word().to_owned(), primary: true };
    let title = paint.paint(Tone::Bad, format!("× {}", clean(&entry.complaint())));
    let mut text = format!("known failure\n\n  {title}\n");
    for line in excerpt(&entry.file, &entry.source, &[label], paint).lines() {
        writeln!(text, " {line}").expect("a string takes all");
    }
    writeln!(text, "  help: {}", entry.advice()).expect("a string takes all");
    text
}
