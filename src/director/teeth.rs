//! One test against a harness as it is, and against the same harness tampered with.

use skep_check::verdict::{Blame, Verdict};
use skep_plan::Act;

use super::play::{Job, play};
use crate::live::Tested;
use crate::outcome::TestOutcome;
use crate::scenario::Scenario;
use crate::tampering::Tampering;
use crate::teeth::Bite;

/// How much is tried on one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeal {
    /// What fits, until something is noticed.
    First,
    /// All that fits.
    Fitting,
}

/// Tries the tamperings that fit a test; `stop` ends it early.
pub fn bite(
    scenario: &Scenario,
    job: &Job,
    tamperings: &[Tampering],
    zeal: Zeal,
    stop: &dyn Fn() -> bool,
) -> Bite {
    let baseline = play(scenario, job).verdict;
    let mut tried: Vec<(Tampering, bool)> = Vec::new();
    if baseline == Verdict::Held {
        for tampering in fitting(scenario, tamperings) {
            let enough = zeal == Zeal::First && tried.iter().any(|(_, noticed)| *noticed);
            if enough || stop() {
                break;
            }
            tried.push((tampering, noticed(&play(scenario, &tampered(job, tampering)))));
        }
    }
    Bite { test: scenario.name.clone(), baseline, tried }
}

/// The tamperings that may break what a scenario is about.
fn fitting(scenario: &Scenario, tamperings: &[Tampering]) -> Vec<Tampering> {
    let restarts = scenario
        .steps
        .iter()
        .flat_map(|step| &step.acts)
        .any(|act| matches!(act.value, Act::Restart { .. } | Act::Start(_) | Act::Together(_)));
    let fits = |tampering: &&Tampering| {
        tampering.fits(scenario.rules.iter().map(|rule| &*rule.value), restarts)
    };
    tamperings.iter().filter(fits).copied().collect()
}

fn tampered(job: &Job, tampering: Tampering) -> Job {
    let tested = Tested { tampering: Some(tampering), ..job.tested.clone() };
    Job { tested, ..job.clone() }
}

/// It counts where somebody who is tested is to blame. Whoever tampers stands beside the harness,
/// so what it does may also look like its agent's doing or the relay's.
fn noticed(outcome: &TestOutcome) -> bool {
    let told = outcome.judged(Verdict::Violated);
    let tested = |blame| matches!(blame, Some(Blame::Harness | Blame::Agent | Blame::Relay));
    told.first().is_some_and(|judgement| tested(judgement.blame))
}
