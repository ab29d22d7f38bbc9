//! Many tests at once, within bounds, while somebody may watch or interrupt.

use std::num::NonZeroU8;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use skep_check::verdict::Verdict;
use skep_trace::Trace;

use super::console::Console;
use super::discover::Test;
use super::engine::{self, Plan};
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::traces::TraceFolder;
use super::trouble::Trouble;
use crate::outcome::{RunOutcome, TestOutcome, WorldName};

/// A harness in real time mostly waits, so more tests run at once than there are processors.
const WAITING: usize = 2;

/// How much is played, and for how long.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Each test is played with each of these seeds.
    pub seeds: RangeInclusive<u64>,
    /// How many run at once; `None` is one for each processor, and two with a harness of the user's.
    pub jobs: Option<NonZeroU8>,
    /// No test is begun after this time.
    pub time_budget_ms: Option<u64>,
    /// In the live world, tests that take minutes are played too.
    pub slow: bool,
    /// The traces of tests that hold are looked at afterwards.
    pub keep_traces: bool,
}

/// Plays every test with every seed. Results stand in the order of the tests, whichever ended
/// first.
///
/// # Errors
/// When the system does not let us listen for Ctrl-C, or a trace cannot be written.
pub fn play_all(
    tests: &[Test],
    plan: &Plan,
    bounds: &Bounds,
    traces: Option<&TraceFolder>,
    console: &Console,
) -> Result<RunOutcome, Trouble> {
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let runs: Vec<(&Test, u64)> =
        tests.iter().flat_map(|test| bounds.seeds.clone().map(move |seed| (test, seed))).collect();
    let progress = Progress::new(console, runs.len());
    let clock = Clock::start();
    let unwritten: Mutex<Option<Trouble>> = Mutex::new(None);
    let one = |(test, seed): &(&Test, u64)| {
        let mut outcome = play_one(test, *seed, plan, bounds, clock);
        progress.ended(&outcome.test, outcome.verdict);
        if let Some(Err(trouble)) =
            traces.map(|traces| traces.write(&outcome, runs.len() > tests.len()))
        {
            unwritten.lock().expect("no thread panics while it holds this").get_or_insert(trouble);
        }
        if outcome.verdict == Verdict::Held && !bounds.keep_traces {
            outcome.trace = Trace::default();
        }
        outcome
    };
    let jobs = match bounds.jobs {
        None if plan.harness.is_some() => jobs(None) * WAITING,
        wanted => jobs(wanted),
    };
    let played = engine::in_parallel(&runs, jobs, &|| interrupt.is_wanted(), &one);
    progress.finish();
    if let Some(trouble) = unwritten.into_inner().expect("all threads have ended") {
        return Err(trouble);
    }
    Ok(RunOutcome {
        world: plan.world,
        tests: played.into_iter().flatten().collect(),
        known: Vec::new(),
        interrupted: interrupt.is_wanted(),
        wall_ms: clock.passed_ms(),
    })
}

/// How many tests run at once: as many as the user says, else one for each processor.
pub fn jobs(wanted: Option<NonZeroU8>) -> usize {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    wanted.map_or_else(processors, |jobs| jobs.get().into())
}

fn play_one(test: &Test, seed: u64, plan: &Plan, bounds: &Bounds, clock: Clock) -> TestOutcome {
    let set_aside = |verdict, reason: String| TestOutcome {
        verdict,
        reason: Some(reason.as_str().into()),
        ..engine::blank(test, plan, seed)
    };
    if bounds.time_budget_ms.is_some_and(|budget| clock.passed_ms() > budget) {
        return set_aside(Verdict::Inconclusive, "the time budget was used up before it".into());
    }
    if test.scenario.slow && plan.world == WorldName::Live && !bounds.slow {
        return set_aside(Verdict::NotApplicable, "it takes minutes; `--slow` plays it".into());
    }
    let begun = clock.passed_ms();
    let mut outcome = engine::play(test, plan, seed);
    outcome.wall_ms = clock.passed_ms() - begun;
    outcome
}

/// Real time since a moment.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Now.
    #[expect(clippy::disallowed_methods, reason = "the command line tells how long a run took")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long that is ago.
    pub fn passed_ms(self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
