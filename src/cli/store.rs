//! `skep store`: the S-rules against any store that speaks the line protocol.

use std::ffi::OsString;
use std::num::NonZeroU8;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::console::Console;
use super::interrupt::Interrupt;
use super::options::{Format, OutputOptions, parse_instant, parse_mutant};
use super::trouble::Trouble;
use super::{engine, help, select, suite};
use crate::exit_code::ExitCode;
use crate::report::clean::{clean, fit};
use crate::report::store as report;
use crate::store::{self, Examination, Order, Row, Standing};
use skep_mutant::Mutant;

/// How long an answer may take, in milliseconds: longer than any wait for a lock that a person would
/// sit through.
const ANSWER_MS: u64 = 20_000;

/// `skep store`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::STORE)]
pub struct StoreArguments {
    /// Only checks of such rules (`S-10`) or with such names; `*` stands for any run of letters.
    #[arg(long, value_name = "RULE|GLOB")]
    pub only: Vec<String>,
    /// Also kill the store at every write, sync and rename of a put, and make each of them fail.
    /// Needs `strace`.
    #[arg(long)]
    pub crash_points: bool,
    /// The seed of races and of the moments of kills.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// How long an answer may take; the default is 20s.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub answer: Option<u64>,
    /// How many checks run at once; the default is two for each processor.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroU8>,
    /// The store's command, after `--`: the program with its arguments.
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<OsString>,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// What the reference store's process is told.
#[derive(Clone, Debug, Args)]
pub struct ReferenceStoreArguments {
    /// The fault that is switched on.
    #[arg(long, value_name = "MUTANT", value_parser = parse_mutant)]
    pub mutant: Option<Mutant>,
}

/// Examines a store.
///
/// # Errors
/// When its program is not there, or no check fits.
pub fn store(arguments: &StoreArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let order = order(arguments)?;
    check_names(arguments)?;
    let wanted = |rule: &str, name: &str| is_wanted(&arguments.only, rule, name);
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let progress = Progress::new(console);
    let tell = |row: &Row| progress.tell(row);
    let examined = store::examine(&order, &wanted, &tell, &|| interrupt.is_wanted());
    progress.bar.finish_and_clear();
    let examination = examined.map_err(|error| {
        Trouble::usage(format!("there is no room for temporary files: {error}"))
    })?;
    let shown = match console.format {
        Format::Json => report::document(&examination).to_string() + "\n",
        Format::Text => report::text(&examination, console.quiet, console.columns, console.paint),
    };
    console.say(&shown)?;
    Ok(if interrupt.is_wanted() { ExitCode::Interrupted } else { exit_code(&examination) })
}

/// The reference store's process, until its input ends.
///
/// # Errors
/// Never: whoever started it is told nothing but answers.
pub fn reference(arguments: &ReferenceStoreArguments) -> Result<ExitCode, Trouble> {
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    match store::reference::serve(input, output, arguments.mutant) {
        Ok(()) => Ok(ExitCode::Held),
        Err(_) => Ok(ExitCode::Inconclusive),
    }
}

fn order(arguments: &StoreArguments) -> Result<Order, Trouble> {
    let command = anchored(&arguments.command)?;
    let program = command[0].to_string_lossy();
    if !engine::on_path(&program) {
        let title = format!("there is no program `{program}`");
        return Err(Trouble::usage(title).help("write the store's command after `--`"));
    }
    let strace = engine::found_on_path("strace");
    if arguments.crash_points && strace.is_none() {
        return Err(Trouble::usage("`--crash-points` needs `strace`, which is not installed")
            .help("install it, or leave `--crash-points` out: kills at random moments remain"));
    }
    Ok(Order {
        command,
        said: arguments.command.clone(),
        seed: arguments.seed,
        answer: Duration::from_millis(arguments.answer.unwrap_or(ANSWER_MS)),
        jobs: arguments.jobs.map_or_else(|| 2 * suite::jobs(None), |jobs| jobs.get().into()),
        strace,
        crash_points: arguments.crash_points,
    })
}

/// Words that name files from where the user stands: the store runs in a folder of its own.
fn anchored(command: &[OsString]) -> Result<Vec<OsString>, Trouble> {
    let here = engine::current_dir()?;
    let mut words = engine::anchored(command)?;
    for word in words.iter_mut().skip(1) {
        let path = PathBuf::from(&*word);
        if path.is_relative() && path.is_file() {
            *word = here.join(path).into_os_string();
        }
    }
    Ok(words)
}

/// A pattern that nothing fits is a slip, and must not look like a store that holds.
fn check_names(arguments: &StoreArguments) -> Result<(), Trouble> {
    let names = store::names();
    for pattern in &arguments.only {
        let fits =
            |(rule, name): &(&str, &str)| is_wanted(std::slice::from_ref(pattern), rule, name);
        if !names.iter().any(fits) {
            return Err(Trouble::usage(format!("no check of stores fits `{pattern}`"))
                .help("rules are named `S-1` to `S-50`; `skep list rules` tells them"));
        }
    }
    Ok(())
}

fn is_wanted(only: &[String], rule: &str, name: &str) -> bool {
    let fits = |pattern: &String| store::named(rule, name, &|text| select::fits(pattern, text));
    only.is_empty() || only.iter().any(fits)
}

/// Violated outweighs what could not be looked at; where nothing was, nothing held.
fn exit_code(examination: &Examination) -> ExitCode {
    // That the store can be talked to says nothing about its rules.
    let rules = || examination.rows.iter().filter(|row| row.rule != store::PROTOCOL_ROW);
    if examination.count(Standing::Violated) > 0 {
        ExitCode::Violated
    } else if examination.count(Standing::Inconclusive) > 0
        || !rules().any(|row| row.standing == Standing::Held)
    {
        ExitCode::Inconclusive
    } else {
        ExitCode::Held
    }
}

/// A line that says what ended last: on a terminal only.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(console: &Console) -> Self {
        let shown = console.watched && !console.quiet;
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{elapsed:.dim} {pos} checks · {msg:.dim}");
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style.expect("the template is ours"));
        Self { bar }
    }

    fn tell(&self, row: &Row) {
        let name = row.name.replace('_', " ");
        self.bar.set_message(fit(&clean(&format!("{} {name}", row.rule)), 60));
        self.bar.inc(1);
    }
}
