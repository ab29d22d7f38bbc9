//! The store suite as rows of the proof: one row a rule, against the mutants that break it.
//!
//! Some of what a store promises (a stuck lock, a planted temporary name, a file too large to
//! read) no scenario can bring about from outside; the suite does, on the simulated disk.

use skep_check::verdict::Verdict;
use skep_mutant::{Mutant, Mutants};
use skep_store::suite::{Check, Failure, LocalHost, Reference, SimGround, checks};

use super::parallel::in_parallel;
use crate::matrix::{Cell, Row};

type Host = LocalHost<Reference, SimGround>;

/// The rows of the store's rules, as far as one of these mutants breaks them.
pub fn rows(mutants: &[Mutant], jobs: usize, stop: &(dyn Fn() -> bool + Sync)) -> Vec<Row> {
    let store = mutants.iter().filter(|mutant| mutant.id().starts_with("store/"));
    let mut rules: Vec<&str> = store.map(|mutant| mutant.rule()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rows = in_parallel(&rules, jobs, stop, &|rule| row(rule, mutants));
    rows.into_iter().flatten().collect()
}

fn row(rule: &str, mutants: &[Mutant]) -> Row {
    let own: Vec<Check<Host>> = checks().into_iter().filter(|check| check.rule == rule).collect();
    let broken = |mutants: Mutants| {
        own.iter().any(|check| {
            let mut host = LocalHost::new(Reference { mutants }, SimGround::default());
            matches!((check.run)(&mut host), Err(Failure::Violated(_)))
        })
    };
    let baseline = if broken(Mutants::NONE) { Verdict::Violated } else { Verdict::Held };
    let breaks = |mutant: &Mutant| {
        mutant.rule() == rule && mutant.id().starts_with("store/") && baseline == Verdict::Held
    };
    let cell = |mutant: &Mutant| match breaks(mutant) {
        true if broken(Mutants::only(*mutant)) => Cell::Killed,
        true => Cell::Survived,
        false => Cell::Skipped,
    };
    Row {
        test: format!("store-suite/{rule}").into(),
        baseline,
        declared: mutants.iter().copied().filter(breaks).collect(),
        cells: mutants.iter().map(cell).collect(),
    }
}
