//! What the command line has done for it: the one place in `cli` that knows who does it.
//!
//! Every function takes what the user asked for as plain values and gives back what came out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use skep_check::verdict::{Blame, Judgement, Subject, Verdict};
use skep_mutant::{Mutant, Mutants};
use skep_plan::ChannelCast;
use skep_trace::{Text, Trace};

use super::console::Console;
use super::discover::Test;
use super::interrupt::Interrupt;
use super::profiles;
use super::progress::Progress;
use super::prove::Proof;
use super::relay::RelayArguments;
use super::suite::{self, Clock};
use super::trouble::Trouble;
use crate::director;
pub use crate::director::parallel::in_parallel;
use crate::exit_code::ExitCode;
use crate::live::{Tested, serve};
use crate::matrix::{Breadth, Matrix};
use crate::outcome::{TestOutcome, WorldName};
use crate::profile::HarnessProfile;

/// How the tests of one command are played.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In which world.
    pub world: WorldName,
    /// The fault of the reference that is switched on.
    pub mutant: Option<Mutant>,
    /// The foreign harness: a program and its arguments.
    pub harness: Option<Vec<String>>,
    /// How it is configured and what it can do.
    pub profile: Arc<HarnessProfile>,
    /// The profile's name or file and the claims, as the command line has them.
    pub said: Vec<(&'static str, String)>,
}

impl Plan {
    fn job(&self, seed: u64) -> director::Job {
        let mutants = self.mutant.map_or(Mutants::NONE, Mutants::only);
        let words = |words: &Vec<String>| words.iter().map(OsString::from).collect();
        director::Job {
            world: self.world,
            seed,
            mutants,
            tested: Tested {
                command: self.harness.as_ref().map(words),
                profile: self.profile.clone(),
                tampering: None,
            },
        }
    }

    /// What the command line must repeat besides the path, the test, the world and the seed.
    fn again(&self) -> Vec<Text> {
        let harness = self.harness.as_ref().map(|words| {
            let words: Vec<_> =
                words.iter().map(|word| crate::report::again::shell_word(word)).collect();
            ("--harness", words.join(" "))
        });
        let said = self.said.iter();
        let said = said.map(|(option, value)| (*option, crate::report::again::shell_word(value)));
        let pairs = harness.into_iter().chain(said);
        pairs.flat_map(|(option, value)| [option.into(), value.as_str().into()]).collect()
    }
}

/// Plays one test. A panic on the way is our own fault, is told as such, and costs this test only.
pub fn play(test: &Test, plan: &Plan, seed: u64) -> TestOutcome {
    let job = plan.job(seed);
    let played = panic::catch_unwind(AssertUnwindSafe(|| director::play(&test.scenario, &job)));
    let mut outcome = played.unwrap_or_else(|_| our_fault(blank(test, plan, seed)));
    outcome.builtin = test.builtin;
    outcome.again = plan.again();
    outcome
}

fn our_fault(mut outcome: TestOutcome) -> TestOutcome {
    outcome.verdict = Verdict::Violated;
    outcome.judgements = vec![Judgement {
        subject: Subject::Run,
        verdict: Verdict::Violated,
        blame: Some(Blame::Skep),
        title: "skep itself failed in this test".to_owned(),
        label: "the lines on standard error say where".to_owned(),
        record: None,
        causes: Vec::new(),
    }];
    outcome
}

/// The outcome of a test that was not played: inconclusive, because nothing was seen.
pub fn blank(test: &Test, plan: &Plan, seed: u64) -> TestOutcome {
    let outcome = director::outline::blank(&test.scenario, &plan.job(seed));
    TestOutcome { builtin: test.builtin, again: plan.again(), ..outcome }
}

/// Judges a recorded trace again, with the scenario that stands in it.
///
/// # Errors
/// When it holds no scenario that can be judged.
pub fn judge_again(trace: Trace) -> Result<TestOutcome, Trouble> {
    director::rejudge::rejudge(trace).map_err(Trouble::scenario)
}

/// Serves the simulated relay until the user stops it.
///
/// # Errors
/// When it cannot serve.
pub fn relay(arguments: &RelayArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let channels = arguments.channels.iter();
    let channels =
        channels.map(|(name, kind)| ChannelCast { name: name.as_str().into(), kind: *kind });
    let served = serve::Served {
        port: arguments.port,
        channels: channels.collect(),
        agent: arguments.agent.as_str().into(),
        owner: arguments.owner.as_str().into(),
    };
    let (lines, typed) = tokio::sync::mpsc::channel(1);
    // It ends with the process: nothing wakes who waits for a terminal.
    std::thread::spawn(move || {
        let lines_in = std::io::stdin().lines().map_while(Result::ok);
        lines_in.map_while(|line| lines.blocking_send(line).ok()).for_each(drop);
    });
    let listener = console.clone();
    // A reader that went away stops nothing: a harness may still be there.
    let say = Rc::new(move |line: &str| drop(listener.say(&format!("{line}\n"))));
    match serve::run(&served, typed, say) {
        Ok(()) => Ok(ExitCode::Interrupted),
        Err(error) => Err(Trouble::usage(format!("the relay cannot be served: {error}"))
            .help("without `--port` the system chooses a free one")),
    }
}

/// The process of a scripted agent.
///
/// # Errors
/// When it cannot run.
pub fn scripted_agent(arguments: &[OsString]) -> Result<ExitCode, Trouble> {
    let birthplace = current_dir()?;
    let arguments = skep_agent::StdioArgs::read(arguments, home(&birthplace), birthplace)
        .map_err(|error| Trouble::usage(error.to_string()))?;
    end_with(block_on(skep_agent::main(arguments))?)
}

/// The user's home; where none is named, the directory that we stand in.
#[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
fn home(otherwise: &Path) -> PathBuf {
    let named = std::env::var_os("HOME").filter(|home| !home.is_empty());
    named.map_or_else(|| otherwise.to_owned(), PathBuf::from)
}

/// The process of the reference harness.
///
/// # Errors
/// When it cannot run.
pub fn reference_harness(_arguments: &[OsString]) -> Result<ExitCode, Trouble> {
    // A variable that is no UTF-8 is none of those that it reads.
    let env = std::env::vars_os();
    let env =
        env.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let (env, cwd): (BTreeMap<String, String>, _) = (env.collect(), current_dir()?);
    if env.get("SKEP_REST").is_some_and(|rest| rest == "true") {
        die_with_director();
    }
    end_with(block_on(skep_harness::main(&env, &cwd.to_string_lossy()))?)
}

/// A harness whose director listens to it must not outlive it, even if that is killed and can
/// clean nothing up. Its agents then lose their director and end as well.
#[cfg(target_os = "linux")]
fn die_with_director() {
    // A kernel that refuses leaves the harness as it would be without this.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Elsewhere only a director that ends in good order takes its harness with it.
#[cfg(not(target_os = "linux"))]
fn die_with_director() {}

/// Runs one of our own programs on this thread.
fn block_on(program: impl Future<Output = i32>) -> Result<i32, Trouble> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::ours(format!("no runtime: {error}")))?;
    Ok(runtime.block_on(program))
}

#[expect(clippy::disallowed_methods, reason = "our own programs stand where they were started")]
pub(super) fn current_dir() -> Result<PathBuf, Trouble> {
    std::env::current_dir().map_err(|error| Trouble::ours(format!("no working directory: {error}")))
}

#[expect(
    clippy::exit,
    reason = "these programs have codes of their own, and a thread may hang in a full pipe"
)]
pub(super) fn end_with(code: i32) -> ! {
    std::process::exit(code)
}

/// Ends what the live world started, for a user who will not wait.
pub fn clean_up() {
    crate::live::groups::clean_up();
}

/// How the reference is played in the event gear, with or without a fault.
pub fn reference_job(mutant: Option<Mutant>) -> director::Job {
    let tested =
        Tested { command: None, profile: Arc::new(profiles::reference()), tampering: None };
    let mutants = mutant.map_or(Mutants::NONE, Mutants::only);
    director::Job { world: WorldName::SimEvent, seed: 0, mutants, tested }
}

/// Plays the scenarios of a text that is right.
pub fn play_text(file: &str, text: &str, job: &director::Job) -> Vec<TestOutcome> {
    let (scenarios, _) = crate::scenario::parse(&crate::scenario::SourceFile::new(file, text));
    scenarios.iter().map(|scenario| director::play(scenario, job)).collect()
}

/// The faults that show in what a harness does: those that the built-in scenarios declare. The
/// others are the store suite's and the simulator's own.
pub fn reachable() -> Vec<Mutant> {
    let files = super::corpus::files();
    let scenarios = files.iter().flat_map(|file| crate::scenario::parse(file).0);
    let kills: BTreeSet<Mutant> = scenarios
        .flat_map(|scenario| scenario.kills)
        .filter_map(|kill| Mutant::parse(&kill.value))
        .collect();
    kills.into_iter().collect()
}

/// Where a program of the user's is, if it is installed.
pub fn found_on_path(program: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Plays every test against every mutant.
///
/// # Errors
/// When nobody can listen for Ctrl-C.
pub fn prove(tests: &[Test], proof: &Proof, console: &Console) -> Result<Matrix, Trouble> {
    let interrupt = Interrupt::watch(clean_up)?;
    let progress = Progress::new(console, tests.len());
    let clock = Clock::start();
    let (world, seed) = (proof.world, proof.seed);
    let job = director::Job { world, seed, ..reference_job(None) };
    let stop = || interrupt.is_wanted();
    let rows = in_parallel(tests, suite::jobs(proof.jobs), &stop, &|test| {
        let row = director::prove::row(&test.scenario, &job, &proof.mutants, proof.breadth, &stop);
        progress.ended(&row.test, row.baseline);
        row
    });
    let mut rows: Vec<_> = rows.into_iter().flatten().collect();
    if proof.whole_corpus && proof.breadth == Breadth::Full && world != WorldName::Live {
        let jobs = suite::jobs(proof.jobs);
        let scenarios: Vec<_> = tests.iter().map(|test| &test.scenario).collect();
        rows.extend(director::suite::rows(&proof.mutants, jobs, &stop));
        rows.push(director::twice::row(&scenarios, &job, &proof.mutants, jobs, &stop));
    }
    progress.finish();
    Ok(Matrix {
        world: proof.world,
        seed: proof.seed,
        breadth: proof.breadth,
        whole_corpus: proof.whole_corpus,
        tests: rows,
        mutants: proof.mutants.clone(),
        interrupted: interrupt.is_wanted(),
        wall_ms: clock.passed_ms(),
    })
}

/// This very program, for verbs that it calls itself by.
///
/// # Errors
/// When the system does not say where it is.
pub fn executable() -> Result<PathBuf, Trouble> {
    std::env::current_exe()
        .map_err(|error| Trouble::ours(format!("this program cannot be found: {error}")))
}

/// A variable of the environment.
#[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// A command whose program is a path, as it is called from another directory.
///
/// # Errors
/// When nobody knows where we stand.
pub fn anchored(command: &[OsString]) -> Result<Vec<OsString>, Trouble> {
    let mut command = command.to_vec();
    let program = Path::new(&command[0]);
    if program.components().count() > 1 && program.is_relative() {
        command[0] = current_dir()?.join(program).into_os_string();
    }
    Ok(command)
}

/// Whether a program can be started by this name.
pub fn on_path(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).exists();
    }
    found_on_path(program).is_some()
}
