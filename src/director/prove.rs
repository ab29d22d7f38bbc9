//! Every test against every mutant: does each fault of ours turn something red, and can each test
//! fail at all?

use skep_check::verdict::Verdict;
use skep_mutant::{Mutant, Mutants};

use super::play::{Job, play};
use crate::matrix::{Breadth, Cell, Row};
use crate::scenario::Scenario;

/// Plays one test against the reference and against each mutant; `stop` ends it early, and what
/// was not tried by then counts as skipped.
pub fn row(
    scenario: &Scenario,
    job: &Job,
    mutants: &[Mutant],
    breadth: Breadth,
    stop: &dyn Fn() -> bool,
) -> Row {
    let declared: Vec<Mutant> =
        scenario.kills.iter().filter_map(|kill| Mutant::parse(&kill.value)).collect();
    let baseline = play(scenario, &Job { mutants: Mutants::NONE, ..job.clone() }).verdict;
    let cell = |mutant: &Mutant| {
        let wanted = breadth == Breadth::Full || declared.contains(mutant);
        if !wanted || baseline != Verdict::Held || stop() {
            return Cell::Skipped;
        }
        match play(scenario, &Job { mutants: Mutants::only(*mutant), ..job.clone() }).verdict {
            Verdict::Violated => Cell::Killed,
            _ => Cell::Survived,
        }
    };
    let cells = mutants.iter().map(cell).collect();
    Row { test: scenario.name.clone(), baseline, declared, cells }
}
