//! The exploration for programs.

use serde_json::{Value, json};
use skep_store::explore::{Extent, Figures, Outcome, Question};
use skep_store::suite::{Failure, Verdict};

use crate::explore_store::{CheckName, Explored, Standing, exit_code};

/// The version of the document. A field that is added keeps it; anything else raises it.
const VERSION: u64 = 1;

/// The whole for programs.
pub fn document(explored: &[Explored], interrupted: bool) -> Value {
    json!({
        "skep_explore_store": VERSION,
        "exit_code": exit_code(explored, interrupted).number(),
        "interrupted": interrupted,
        "stores": explored.iter().map(store).collect::<Value>(),
    })
}

fn store(explored: &Explored) -> Value {
    let beyond = explored.store.beyond().iter();
    json!({
        "store": explored.store.id(),
        "as_listed": explored.is_as_listed(),
        "complete": explored.is_complete(),
        "questions": explored.questions.iter().map(|(one, asked)| question(one, asked.as_ref())).collect::<Value>(),
        "checks": explored.checks.iter().map(|(one, verdict)| check(explored, *one, verdict.as_ref())).collect::<Value>(),
        "beyond": beyond.map(|one| json!({"rule": one.rule, "why": one.why})).collect::<Value>(),
    })
}

fn question(question: &Question, asked: Option<&Result<Figures, Failure>>) -> Value {
    let preemptions = match question.extent {
        Extent::Complete => None,
        Extent::Preemptions(most) => Some(most),
    };
    let mut value =
        json!({"question": question.name, "what": question.what, "preemptions": preemptions});
    match asked {
        None => value["asked"] = false.into(),
        Some(Err(Failure::Violated(why) | Failure::NotApplicable(why))) => {
            value["failure"] = why.as_str().into();
        }
        Some(Ok(figures)) => {
            value["complete"] = figures.complete.into();
            value["interleavings"] = figures.interleavings.into();
            value["crash_points"] = figures.crash_points.into();
            value["disks"] = figures.disks.into();
            for fault in Outcome::FAULTS {
                value[fault.word()] = figures.of(fault).into();
            }
        }
    }
    value
}

fn check(explored: &Explored, check: CheckName, verdict: Option<&Verdict>) -> Value {
    let standing = match explored.standing(check, verdict) {
        Standing::Holds => "holds",
        Standing::Expected => "expected",
        Standing::Explained => "explained",
        Standing::Unlisted => "unlisted",
        Standing::Vain => "vain",
        Standing::NotApplicable => "not-applicable",
        Standing::Unknown => "unknown",
    };
    let listed = explored.store.breaks().iter().find(|one| one.check == check.name);
    let seen = verdict.map(|verdict| match verdict {
        Ok(seen) => seen.as_str(),
        Err(Failure::Violated(how) | Failure::NotApplicable(how)) => how.as_str(),
    });
    json!({
        "rule": check.rule,
        "check": check.name,
        "standing": standing,
        "why": listed.map(|one| one.why),
        "seen": seen,
    })
}
