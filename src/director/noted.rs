//! What a trace says besides its verdict: on what it rests, and what else was noticed.

use std::collections::BTreeSet;

use skep_trace::{Settled, Text, Trace, What};

use crate::outcome::{Silence, TestOutcome};

/// More remarks than anybody reads.
const MOST: usize = 20;

/// Puts it into the outcome.
pub fn note(trace: &Trace, outcome: &mut TestOutcome) {
    outcome.silences = silences(trace);
    outcome.remarks = remarks(trace);
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
