//! `skep prove --harness`: can the scenarios fail on a harness that is not ours?

use std::ffi::OsString;
use std::sync::Arc;

use skep_mutant::Mutants;

use super::console::Console;
use super::discover::Test;
use super::options::Format;
use super::progress::Progress;
use super::prove::ProveArguments;
use super::suite::{self, Clock};
use super::trouble::Trouble;
use super::{engine, interrupt::Interrupt, select, subject};
use crate::director::teeth::{Zeal, bite};
use crate::director::{self, parallel::in_parallel};
use crate::exit_code::ExitCode;
use crate::live::Tested;
use crate::outcome::WorldName;
use crate::report::teeth as report;
use crate::tampering::Tampering;
use crate::teeth::Teeth;

/// Scenarios on a harness that is tampered with mostly wait for what does not come: so many tests
/// run at once for each processor.
const WAITING: usize = 4;

/// Plays the tests on the harness as it is and tampered with, and shows what was noticed.
///
/// # Errors
/// When they cannot be played as they stand.
pub fn prove(
    arguments: &ProveArguments,
    mut tests: Vec<Test>,
    console: &Console,
) -> Result<ExitCode, Trouble> {
    let subject = arguments.subject();
    let (command, profile) = subject::tested(&subject)?;
    tests.retain(|test| arguments.slow || !test.scenario.slow);
    let teeth = Teeth {
        harness: arguments.harness.clone().unwrap_or_else(|| "the reference".to_owned()),
        profile: profile.name.clone(),
        tamperings: tamperings(&arguments.tamperings)?,
        tests: Vec::new(),
        interrupted: false,
        wall_ms: 0,
    };
    let words = |words: Vec<String>| words.into_iter().map(OsString::from).collect();
    let tested =
        Tested { command: command.map(words), profile: Arc::new(profile), tampering: None };
    let job = director::Job {
        world: WorldName::Live,
        seed: arguments.seed,
        mutants: Mutants::NONE,
        tested,
    };
    let teeth = play(&tests, &job, arguments, teeth, console)?;
    console.say(&match console.format {
        Format::Json => report::document(&teeth).to_string() + "\n",
        Format::Text => report::text(&teeth, console.quiet, console.paint),
    })?;
    Ok(teeth.exit_code())
}

fn play(
    tests: &[Test],
    job: &director::Job,
    arguments: &ProveArguments,
    teeth: Teeth,
    console: &Console,
) -> Result<Teeth, Trouble> {
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let progress = Progress::new(console, tests.len());
    let clock = Clock::start();
    let zeal = if arguments.every { Zeal::Fitting } else { Zeal::First };
    let jobs = match arguments.jobs {
        None => suite::jobs(None) * WAITING,
        wanted => suite::jobs(wanted),
    };
    let stop = || interrupt.is_wanted();
    let bites = in_parallel(tests, jobs, &stop, &|test| {
        let bite = bite(&test.scenario, job, &teeth.tamperings, zeal, &stop);
        progress.ended(&bite.test, bite.baseline);
        bite
    });
    progress.finish();
    Ok(Teeth {
        tests: bites.into_iter().flatten().collect(),
        interrupted: interrupt.is_wanted(),
        wall_ms: clock.passed_ms(),
        ..teeth
    })
}

/// The tamperings that fit one of the patterns.
fn tamperings(patterns: &[String]) -> Result<Vec<Tampering>, Trouble> {
    let fits = |tampering: &&Tampering| {
        patterns.is_empty() || patterns.iter().any(|it| select::fits(it, tampering.id()))
    };
    let tamperings: Vec<Tampering> = Tampering::ALL.iter().filter(fits).copied().collect();
    if tamperings.is_empty() {
        let title = format!("no tampering fits `{}`", patterns.join(" "));
        let ids: Vec<&str> = Tampering::ALL.iter().map(|tampering| tampering.id()).collect();
        return Err(Trouble::usage(title).help(format!("there is {}", ids.join(", "))));
    }
    Ok(tamperings)
}
