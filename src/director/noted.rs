//! What a trace says besides its verdict: on what it rests, and what else was noticed.

use std::collections::BTreeSet;

use skep_check::verdict::{Blame, Subject, Verdict};
use skep_mutant::Mutants;
use skep_trace::{Settled, Text, Trace, What};

use super::Job;
use crate::outcome::{Silence, TestOutcome};

/// What a reader does not know who sees the harness blamed.
const OUR_OWN: &str =
    "this is skep's own reference harness; the scenario may ask for what no rule does";

/// More remarks than anybody reads.
const MOST: usize = 20;

/// Puts it into the outcome.
pub fn note(trace: &Trace, outcome: &mut TestOutcome) {
    outcome.silences = silences(trace);
    outcome.remarks = remarks(trace);
}

/// An expectation that our own harness does not meet, with no fault switched on, may well ask for
/// what no rule does: `skep prove` holds that harness to be right.
pub fn of_our_own(job: &Job, outcome: &mut TestOutcome) {
    let told = outcome.judged(Verdict::Violated);
    let asked_for = told.first().is_some_and(|first| {
        matches!(first.subject, Subject::Expectation { .. }) && first.blame == Some(Blame::Harness)
    });
    if asked_for && job.tested.command.is_none() && job.mutants == Mutants::NONE {
        outcome.remarks.push(OUR_OWN.into());
    }
}

fn silences(trace: &Trace) -> Vec<Silence> {
    let silent = trace.records.iter().filter_map(|record| match record.what {
        What::Settled { step, how: Settled::Quiet(ms) } => Some(Silence { step, ms }),
        _ => None,
    });
    silent.collect()
}

/// What was noticed of harnesses; frames that a schema does not allow are the agents' business and
/// stand in the trace.
fn remarks(trace: &Trace) -> Vec<Text> {
    let mut lives: BTreeSet<String> = BTreeSet::new();
    let mut remarks: Vec<Text> = Vec::new();
    for record in &trace.records {
        match &record.what {
            What::HarnessStarted(life) => {
                lives.insert(life.to_string());
            }
            What::Finding { actor, text } if lives.contains(&**actor) => {
                let remark: Text = format!("{actor}: {text}").into();
                if !remarks.contains(&remark) && remarks.len() < MOST {
                    remarks.push(remark);
                }
            }
            _ => {}
        }
    }
    remarks
}
