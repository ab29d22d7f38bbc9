//! Every test against every mutant: does each fault of ours turn something red, and can each test
//! fail at all?

use skep_check::verdict::{Blame, Verdict};
use skep_mutant::{Mutant, Mutants};

use super::play::{Job, play};
use crate::matrix::{Breadth, Cell, Row};
use crate::outcome::{TestOutcome, WorldName};
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
        let job = Job { mutants: Mutants::only(*mutant), ..job.clone() };
        let noticed = (0..tries(job.world)).any(|_| blames_the_harness(&play(scenario, &job)));
        if noticed { Cell::Killed } else { Cell::Survived }
    };
    let cells = mutants.iter().map(cell).collect();
    Row { test: scenario.name.clone(), baseline, declared, cells }
}

/// How often a mutant is tried. Processes race: one that takes no lock gets away with it at times.
fn tries(world: WorldName) -> u32 {
    if world == WorldName::Live { 5 } else { 1 }
}

/// All these faults are the harness's or its store's: a test that blames another for one has not
/// noticed it.
fn blames_the_harness(outcome: &TestOutcome) -> bool {
    let told = outcome.judged(Verdict::Violated);
    told.first().is_some_and(|judgement| judgement.blame == Some(Blame::Harness))
}
