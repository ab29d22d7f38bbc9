//! One seed, played twice: the row of the proof that holds the simulator to its own promise.

use skep_check::verdict::Verdict;
use skep_mutant::{Mutant, Mutants};
use skep_trace::jsonl;

use super::parallel::in_parallel;
use super::play::{Job, play};
use crate::matrix::{Cell, Row};
use crate::scenario::Scenario;

/// The row that plays every scenario twice and compares the traces, against the mutants that
/// make them differ.
pub fn row(
    scenarios: &[&Scenario],
    job: &Job,
    mutants: &[Mutant],
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Row {
    let differ = |mutants: Mutants| {
        let job = Job { mutants, ..job.clone() };
        let pairs = in_parallel(scenarios, jobs, stop, &|scenario| differs(scenario, &job));
        pairs.into_iter().flatten().any(|differs| differs)
    };
    let breaks = |mutant: &Mutant| mutant.rule() == "W-1";
    let baseline = if differ(Mutants::NONE) { Verdict::Violated } else { Verdict::Held };
    let cell = |mutant: &Mutant| match breaks(mutant) && baseline == Verdict::Held {
        true if differ(Mutants::only(*mutant)) => Cell::Killed,
        true => Cell::Survived,
        false => Cell::Skipped,
    };
    Row {
        test: "one-seed-one-trace".into(),
        baseline,
        declared: mutants.iter().copied().filter(breaks).collect(),
        cells: mutants.iter().map(cell).collect(),
    }
}

fn differs(scenario: &Scenario, job: &Job) -> bool {
    let trace = || jsonl::write(&play(scenario, job).trace);
    trace() != trace()
}
