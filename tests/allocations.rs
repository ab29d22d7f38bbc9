//! What a run allocates: it does not jitter as times do, so a test can hold it.

use std::sync::Arc;

use skep::cli::{corpus, profiles};
use skep::director::{Job, play};
use skep::live::Tested;
use skep::outcome::WorldName;
use skep::scenario::{Scenario, parse};
use skep_check::verdict::Verdict;
use skep_mutant::Mutants;

/// A restart costs at most so many allocations: two lives of a harness, relay, agent, store and
/// every invariant. Whoever raises it says why.
const MOST: u64 = 1_100;

fn play_once(scenario: &Scenario, job: &Job) {
    assert_eq!(play(scenario, job).verdict, Verdict::Held);
}

#[test]
fn a_restart_in_the_event_gear_allocates_little() {
    let mut scenarios = corpus::files().into_iter().flat_map(|file| parse(&file).0);
    let restart = scenarios.find(|scenario| &*scenario.name == "restart-resumes-the-session");
    let restart = restart.expect("the corpus has its first scenario");
    let tested =
        Tested { command: None, profile: Arc::new(profiles::reference()), tampering: None };
    let job = Job { world: WorldName::SimEvent, seed: 7, mutants: Mutants::NONE, tested };
    play_once(&restart, &job);
    let counted = allocation_counter::measure(|| play_once(&restart, &job)).count_total;
    assert!(counted <= MOST, "{counted} allocations");
    assert!(counted > MOST / 2, "{counted} allocations: the bound is too lax");
}
