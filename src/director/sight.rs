//! What cannot be seen of a harness: a store of a format that skep does not read, and what a harness
//! says of its store in words of its own.
//!
//! A scenario that puts receipts into such a store does not apply; one that only looks into it does,
//! without the lines that look.

use skep_check::expectation::Wanted;
use skep_check::verdict::{Subject, Verdict};
use skep_plan::{Cast, Given};
use skep_trace::Text;

use super::play::worst;
use crate::outcome::TestOutcome;
use crate::profile::{HarnessProfile, READABLE};
use crate::scenario::Scenario;

/// What the scenario needs: what it says, and what its lines take for granted.
pub fn needs(scenario: &Scenario, cast: &Cast) -> Vec<Text> {
    let mut needs: Vec<Text> = scenario.needs.iter().map(|need| need.value.clone()).collect();
    let formed = |given: &Given| match given {
        Given::Receipt(_) => true,
        Given::File(file) => file.path.is_none(),
    };
    if cast.given.iter().any(formed) {
        needs.push(READABLE.into());
    }
    needs
}

/// Sets the lines aside that nobody could judge.
pub fn set_aside(scenario: &Scenario, profile: &HarnessProfile, outcome: &mut TestOutcome) {
    let line = |step: usize, index: usize| {
        scenario.steps.get(step).and_then(|step| step.expectations.get(index))
    };
    for judgement in &mut outcome.judgements {
        let Subject::Expectation { step, index } = judgement.subject else { continue };
        let unseen = match line(step, index).map(|line| &line.value.wanted) {
            Some(Wanted::Receipt(_)) => !profile.has.contains(READABLE),
            Some(Wanted::StoreTrouble { .. }) => !profile.settles.reports,
            _ => false,
        };
        if unseen {
            judgement.verdict = Verdict::NotApplicable;
            judgement.blame = None;
            judgement.label = format!("the profile `{}` does not let it be seen", profile.name);
        }
    }
    if !outcome.judgements.is_empty() {
        outcome.verdict = worst(&outcome.judgements, outcome.verdict);
    }
}
