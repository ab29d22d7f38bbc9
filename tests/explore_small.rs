//! What is left of a failure: small, red with its fault, green without, and the same each time.

use skep::cli::engine::reference_job;
use skep::director::play;
use skep::explore::seek::read;
use skep::explore::source::Source;
use skep_check::verdict::Verdict;
use skep_mutant::Mutant;

/// Ten faults of all parts, each with a seed that shows it.
const PLANTED: [&str; 10] = [
    "harness/never-loads",
    "harness/rotate-memory-only",
    "harness/cancel-keeps-session",
    "harness/max-tokens-keeps",
    "harness/drops-on-error",
    "harness/no-dedup",
    "harness/root-case-matters",
    "store/forgets-on-restart",
    "store/swallows-write-errors",
    "store/umask-mode",
];

/// The longest scenario that a person reads at a glance.
const MOST_LINES: usize = 12;

/// The most seeds that one of these faults takes.
const MOST_SEEDS: u64 = 200;

/// Lines as the language counts them: braces and empty lines are none.
fn lines(text: &str) -> usize {
    text.lines().filter(|line| !matches!(line.trim(), "" | "}")).count()
}

fn small(mutant: Mutant) -> (String, String) {
    let job = reference_job(Some(mutant));
    let found = (0..MOST_SEEDS).find_map(|seed| {
        let played = Source::Workload.play(seed, &job).expect("our own scenarios are right")?;
        Some((seed, played.failure?))
    });
    let (seed, failure) = found.expect("one of these seeds shows it");
    let small = Source::Workload.shrink(seed, &job, &failure).expect("it fails again");
    (Source::Workload.name(seed), small.text)
}

#[test]
fn ten_planted_faults_are_told_in_twelve_lines_each() {
    for id in PLANTED {
        let mutant = Mutant::parse(id).expect("it is in the list");
        let (name, text) = small(mutant);
        assert!(lines(&text) <= MOST_LINES, "{id} takes {} lines:\n{text}", lines(&text));
        let scenario = read(&name, &text).expect("it is a scenario");
        let verdict = |mutant| play(&scenario, &reference_job(mutant)).verdict;
        assert_eq!(verdict(Some(mutant)), Verdict::Violated, "{id}:\n{text}");
        assert_eq!(verdict(None), Verdict::Held, "{id}:\n{text}");
    }
}

#[test]
fn a_seed_is_made_small_to_the_same_bytes_again() {
    let mutant = Mutant::parse("harness/rotate-memory-only").expect("it is in the list");
    assert_eq!(small(mutant), small(mutant));
}

#[test]
fn the_reference_breaks_nothing_in_many_workloads() {
    let job = reference_job(None);
    for seed in 0..150 {
        let played = Source::Workload.play(seed, &job).expect("our own scenarios are right");
        if let Some(failure) = played.as_ref().and_then(|played| played.failure.as_ref()) {
            let text = &played.as_ref().expect("it failed").text;
            panic!("seed {seed} fails {failure}:\n{text}");
        }
    }
}
