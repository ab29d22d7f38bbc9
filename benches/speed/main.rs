//! What a simulated run costs: `cargo bench --bench speed`.
//!
//! One run reports everything, each figure beside the one that it is to be held against. Times are
//! medians of several rounds on one core; ratios hold where absolute figures drift. A word after
//! `--` chooses one part: `restart`, `idle`, `memory` or
//! `workload`.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and its own memory")]
#![expect(clippy::expect_used, reason = "a bench that cannot run says why and ends")]

mod bare;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use skep::cli::{corpus, profiles};
use skep::director::{Job, play};
use skep::explore::source::Source;
use skep::explore::sweep::{Seeds, sweep};
use skep::live::Tested;
use skep::outcome::WorldName;
use skep::profile::HarnessProfile;
use skep::scenario::{Scenario, SourceFile, parse};
use skep_check::verdict::Verdict;
use skep_mutant::Mutants;

const ROUNDS: usize = 5;

fn main() {
    let restart = restart();
    let chosen = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let asked = |part| chosen.as_deref().is_none_or(|word| word == part);
    if asked("restart") {
        gears(&restart);
    }
    if asked("idle") {
        idle();
    }
    if asked("memory") {
        memory(&restart);
    }
    if asked("workload") {
        workload();
    }
}

/// What a whole scenario costs, beside the same messages without skep.
fn gears(restart: &Scenario) {
    let event = per_run(400, || run(restart, WorldName::SimEvent));
    let wire = per_run(40, || run(restart, WorldName::SimWire));
    let traffic = bare::Traffic::of(&play(restart, &job(WorldName::SimWire)).trace);
    let turmoil = per_run(40, || bare::hosts(&traffic));
    let channels = per_run(400, || bare::channels(traffic.messages()));
    println!("a restart: two lives of a harness, relay, agent, store, all invariants judged");
    line("event gear", event);
    line("as many messages over channels of a bare paused runtime", channels);
    println!("  event gear / bare runtime   {:.2}", ratio(event, channels));
    line("wire gear", wire);
    line("bare turmoil hosts, the same bytes through the same codecs", turmoil);
    println!("  wire gear / bare turmoil    {:.2}", ratio(wire, turmoil));
}

/// What ten idle minutes add to a run.
fn idle() {
    println!("ten idle minutes");
    for world in [WorldName::SimEvent, WorldName::SimWire] {
        let short = per_run(10, || run(&waiting("1s"), world));
        let long = per_run(10, || run(&waiting("601s"), world));
        println!("  {:<27} {:.3} ms", world.word(), ms(long.saturating_sub(short)));
    }
}

/// Whether many runs leave memory behind.
fn memory(restart: &Scenario) {
    let mut marks = Vec::new();
    for _ in 0..4 {
        (0..2_500).for_each(|_| run(restart, WorldName::SimEvent));
        marks.push(resident_kib());
    }
    println!("memory, every 2,500 runs in the event gear");
    println!("  resident, KiB               {marks:?}");
}

/// How fast random workloads are played, on one core and on two.
fn workload() {
    const SEEDS: u64 = 3_000;
    let sweep = |threads| {
        let start = Instant::now();
        let seeds = Seeds::all(0..SEEDS);
        let job = job(WorldName::SimEvent);
        let tally = sweep(&Source::Workload, &seeds, &job, threads, &|| false, &|_| ());
        assert!(tally.failures.is_empty(), "a bench of a broken run measures nothing");
        (start.elapsed(), tally.played)
    };
    let ((one, played), before) = (sweep(1), resident_kib());
    let (two, _) = sweep(2);
    println!("random workloads, drawn, told, parsed, played and judged");
    println!("  {:>9.0}/s  on one core", played as f64 / one.as_secs_f64());
    println!("  two cores / one core        {:.2}", ratio(one, two));
    println!("  resident, KiB               {:?}", [before, resident_kib()]);
}

fn line(what: &str, each: Duration) {
    println!("  {:>9.0}/s  {:>9.1} µs   {what}", 1.0 / each.as_secs_f64(), ms(each) * 1e3);
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The median over some rounds of what one of `count` runs takes.
fn per_run(count: u32, run: impl Fn()) -> Duration {
    run();
    let mut rounds: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            (0..count).for_each(|_| run());
            start.elapsed() / count
        })
        .collect();
    rounds.sort();
    rounds[ROUNDS / 2]
}

fn job(world: WorldName) -> Job {
    static REFERENCE: LazyLock<Arc<HarnessProfile>> =
        LazyLock::new(|| Arc::new(profiles::reference()));
    let tested = Tested { command: None, profile: REFERENCE.clone(), tampering: None };
    Job { world, seed: 7, mutants: Mutants::NONE, tested }
}

fn run(scenario: &Scenario, world: WorldName) {
    let outcome = play(scenario, &job(world));
    assert_eq!(outcome.verdict, Verdict::Held, "a bench of a broken run measures nothing");
}

fn restart() -> Scenario {
    let scenarios = corpus::files().into_iter().flat_map(|file| parse(&file).0);
    scenarios
        .into_iter()
        .find(|scenario| &*scenario.name == "restart-resumes-the-session")
        .expect("the corpus has its first scenario")
}

fn waiting(time: &str) -> Scenario {
    let text = format!(
        r#"scenario "waiting" {{
            rules "H-1"
            agent "a" load-session=#true
            harness "h" agent="a"
            step "time passes" {{
                mention channel="general"
                run-for "{time}"
                expect turn="done"
            }}
        }}"#
    );
    let (mut scenarios, diagnostics) = parse(&SourceFile::new("waiting.kdl", &text));
    assert!(diagnostics.is_empty(), "the bench's own scenario parses");
    scenarios.remove(0)
}

fn resident_kib() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4
}
