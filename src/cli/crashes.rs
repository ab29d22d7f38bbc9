//! `skep crashes`: a harness killed and failed at every call on its store.

use std::num::NonZeroU8;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use skep_check::verdict::Verdict;
use skep_mutant::Mutant;

use super::console::Console;
use super::discover::Test;
use super::engine::{self, Plan};
use super::interrupt::Interrupt;
use super::options::{Format, OutputOptions, parse_mutant};
use super::progress::Progress;
use super::subject::{Subject, tested};
use super::suite::{self, Clock};
use super::trouble::Trouble;
use super::{help, select};
use crate::crashes::{self, Crash};
use crate::exit_code::ExitCode;
use crate::live::groups::Folder;
use crate::outcome::{RunOutcome, TestOutcome, WorldName};
use crate::profile::HarnessProfile;
use crate::report::json;
use crate::report::terminal::{self, Brevity};
use crate::scenario::{self, SourceFile};

/// How often a crash is played until it hits the call that it means: which of a process's writes goes
/// to the store is not the same in every run.
const TRIES: usize = 16;

/// How often a log is looked at until it is complete: two seconds.
const LOOKS: usize = 400;

/// `skep crashes`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::CRASHES)]
pub struct CrashesArguments {
    /// Only crashes with such names; `*` stands for any run of letters.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// The harness: a program and its arguments; without it the reference harness is meant.
    #[arg(long, value_name = "CMD")]
    pub harness: Option<String>,
    /// How it is configured and what it can do: a profile's name or file.
    #[arg(long, value_name = "NAME|FILE")]
    pub harness_profile: Option<String>,
    /// Claim that the harness can do more than its profile says.
    #[arg(long, value_name = "CAPABILITY")]
    pub has: Vec<String>,
    /// Switch on a named fault of the reference harness.
    #[arg(long, value_name = "MUTANT", value_parser = parse_mutant, conflicts_with = "harness")]
    pub mutant: Option<Mutant>,
    /// The seed of ids and keys.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// How many crashes are played at once; the default is two for each processor.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroU8>,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Plays every crash and judges it.
///
/// # Errors
/// When there is no such harness, or no `strace`.
pub fn crashes(arguments: &CrashesArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let sweep = Sweep::new(arguments)?;
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let clock = Clock::start();
    let (undisturbed, log) = sweep.play(&Crash::none())?;
    let crashes = match undisturbed.verdict {
        Verdict::Held => chosen(arguments, Crash::all(&log))?,
        // What does not hold undisturbed says nothing of crashes.
        _ => Vec::new(),
    };
    if undisturbed.verdict == Verdict::Held && crashes.is_empty() {
        console.tell("the harness writes nothing to its state directory in its first turn");
        return Ok(ExitCode::Inconclusive);
    }
    let progress = Progress::new(console, crashes.len());
    let one = |crash: &Crash| {
        let played = sweep.play(crash);
        if let Ok((outcome, _)) = &played {
            progress.ended(&outcome.test, outcome.verdict);
        }
        played
    };
    let jobs = arguments.jobs.map_or_else(|| 2 * suite::jobs(None), |jobs| jobs.get().into());
    let played = engine::in_parallel(&crashes, jobs, &|| interrupt.is_wanted(), &one);
    progress.finish();
    let mut tests = vec![undisturbed];
    for played in played.into_iter().flatten() {
        tests.push(played?.0);
    }
    let outcome = RunOutcome {
        world: WorldName::Live,
        tests,
        known: Vec::new(),
        interrupted: interrupt.is_wanted(),
        wall_ms: clock.passed_ms(),
    };
    show(&outcome, console)?;
    Ok(outcome.exit_code())
}

fn show(outcome: &RunOutcome, console: &Console) -> Result<(), Trouble> {
    let brevity = Brevity { quiet: console.quiet, timeless: false };
    console.say(&match console.format {
        Format::Json => json::report(outcome, false).to_string() + "\n",
        Format::Text => terminal::run(outcome, brevity, console.paint),
    })
}

fn chosen(arguments: &CrashesArguments, crashes: Vec<Crash>) -> Result<Vec<Crash>, Trouble> {
    let fits = |crash: &Crash| {
        arguments.only.is_empty()
            || arguments.only.iter().any(|glob| select::fits(glob, &crash.name))
    };
    let names: Vec<_> = crashes.iter().map(|crash| crash.name.clone()).collect();
    let chosen: Vec<_> = crashes.into_iter().filter(fits).collect();
    if chosen.is_empty() && !names.is_empty() {
        let title = format!("no crash fits `--only {}`", arguments.only.join(" "));
        return Err(Trouble::usage(title).help(format!("there are {}", names.join(", "))));
    }
    Ok(chosen)
}

/// What every crash is played with.
struct Sweep {
    command: Vec<String>,
    profile: Arc<HarnessProfile>,
    strace: PathBuf,
    seed: u64,
    /// The options that a command line must repeat.
    said: Vec<(&'static str, String)>,
}

impl Sweep {
    fn new(arguments: &CrashesArguments) -> Result<Self, Trouble> {
        let (harness, profile) = tested(&Subject {
            harness: arguments.harness.as_deref(),
            profile: arguments.harness_profile.as_deref(),
            has: &arguments.has,
        })?;
        let strace = engine::found_on_path("strace").ok_or_else(|| {
            Trouble::usage("crash points need `strace`, which is not installed")
                .help("install it; `skep run` plays kills at named points without it")
        })?;
        let command = match harness {
            Some(command) => command,
            None => reference(arguments.mutant)?,
        };
        let mut said = Vec::new();
        let mut say = |option, value: Option<String>| said.extend(value.map(|one| (option, one)));
        say("--harness", arguments.harness.clone());
        say("--harness-profile", arguments.harness_profile.clone());
        say("--mutant", arguments.mutant.map(|mutant| mutant.id().to_owned()));
        arguments.has.iter().for_each(|claim| say("--has", Some(claim.clone())));
        Ok(Self { command, profile: Arc::new(profile), strace, seed: arguments.seed, said })
    }

    /// Plays one crash: what came of it, and what its first life asked of the system.
    fn play(&self, crash: &Crash) -> Result<(TestOutcome, String), Trouble> {
        let mut played = self.play_once(crash)?;
        for _ in 1..TRIES {
            if crash.hit(&played.1) {
                return Ok(played);
            }
            played = self.play_once(crash)?;
        }
        if !crash.hit(&played.1) {
            let why = format!("in {TRIES} runs another call was hit, or none");
            played.0.verdict = Verdict::Inconclusive;
            played.0.judgements.clear();
            played.0.reason = Some(why.as_str().into());
        }
        Ok(played)
    }

    fn play_once(&self, crash: &Crash) -> Result<(TestOutcome, String), Trouble> {
        let folder = Folder::new()
            .map_err(|error| Trouble::usage(format!("there are no temporary files: {error}")))?;
        let (mark, log) = (folder.path().join("begun"), folder.path().join("calls"));
        let inject = crash.inject.as_deref();
        let command = crashes::first_life_traced(&self.command, &self.strace, &mark, &log, inject);
        let (mut found, _) = scenario::parse(&SourceFile::new(crashes::FILE, &crash.text));
        let test = Test { scenario: found.remove(0), builtin: true };
        let plan = Plan {
            world: WorldName::Live,
            mutant: None,
            harness: Some(command),
            profile: self.profile.clone(),
            said: Vec::new(),
        };
        let mut outcome = engine::play(&test, &plan, self.seed);
        let said = self.said.iter();
        outcome.again =
            said.flat_map(|(option, value)| [(*option).into(), value.as_str().into()]).collect();
        Ok((outcome, read(&log)))
    }
}

/// The reference harness, with a fault or without one.
fn reference(mutant: Option<Mutant>) -> Result<Vec<String>, Trouble> {
    let program = engine::executable()?.to_string_lossy().into_owned();
    let mut words = Vec::new();
    if let Some(mutant) = mutant {
        words.extend(["/usr/bin/env".to_owned(), format!("SKEP_MUTANT={}", mutant.id())]);
    }
    words.extend([program, "reference-harness".to_owned()]);
    Ok(words)
}

/// What `strace` told, once it has told the end of everybody. A log that is not there has nothing in
/// it: the harness did not get so far.
#[expect(clippy::disallowed_methods, reason = "strace tells in a file")]
fn read(log: &Path) -> String {
    let mut text = String::new();
    for _ in 0..LOOKS {
        text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
        if text.ends_with("+++\n") {
            break;
        }
        // Nobody tells when a process ends that is not ours.
        std::thread::park_timeout(Duration::from_millis(5));
    }
    text
}
