//! Which of the named faults of the reference are found by random workloads alone, and how many
//! seeds that took.

use std::ops::Range;

use skep_check::verdict::Blame;
use skep_mutant::{Mutant, Mutants};

use super::source::Source;
use crate::director::Job;
use crate::director::parallel::in_parallel;

/// One fault that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hunted {
    /// The fault.
    pub mutant: Mutant,
    /// How many seeds were played until it was noticed; `None` when it never was.
    pub seeds: Option<u64>,
}

/// Looks for each fault until a seed of the range shows it.
pub fn hunt(
    mutants: &[Mutant],
    seeds: &Range<u64>,
    job: &Job,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    ended: &(dyn Fn(&Hunted) + Sync),
) -> Vec<Hunted> {
    let one = |mutant: &Mutant| {
        let job = Job { mutants: Mutants::only(*mutant), ..job.clone() };
        let mut tried = seeds.clone().take_while(|_| !stop());
        let found = tried.find(|seed| shows(*seed, &job));
        let hunted = Hunted { mutant: *mutant, seeds: found.map(|seed| seed - seeds.start + 1) };
        ended(&hunted);
        hunted
    };
    in_parallel(mutants, threads, stop, &one).into_iter().flatten().collect()
}

/// All these faults are the harness's or its store's: who blames another has not noticed it. Nor has
/// a seed that fails without the fault as well.
fn shows(seed: u64, job: &Job) -> bool {
    let failure = |job: &Job| {
        let played = Source::Workload.play(seed, job).ok().flatten();
        played.and_then(|played| played.failure)
    };
    failure(job).is_some_and(|failure| failure.blame == Some(Blame::Harness))
        && failure(&Job { mutants: Mutants::NONE, ..job.clone() }).is_none()
}
