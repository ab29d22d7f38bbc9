//! `skep replay`: a recorded trace, judged again or looked at.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use skep_trace::{Trace, jsonl};

use super::certify_reports::CertifyTarget;
use super::console::Console;
use super::options::{Format, OutputOptions, parse_instant};
use super::trouble::Trouble;
use super::{engine, help};
use crate::certify::{self, Certificate, Tier};
use crate::exit_code::ExitCode;
use crate::outcome::{RunOutcome, TestOutcome};
use crate::report::names::Names;
use crate::report::terminal::{self, Brevity};
use crate::report::{json, wire};

/// A larger trace is no trace of ours: an hour of wire takes a few megabytes.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// `skep replay`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::REPLAY)]
pub struct ReplayArguments {
    /// The trace: a file that `skep run --trace DIR` or `skep certify --trace PATH` wrote.
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Show the wire up to this instant instead of the verdict.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub until: Option<u64>,
    /// Of a certificate: show every row.
    #[arg(long)]
    pub all: bool,
    /// Of a certificate: also write a report, as `skep certify` does: `html=page.html`. May be given
    /// several times.
    #[arg(long, value_name = "KIND=PATH")]
    pub report: Vec<CertifyTarget>,
    /// How it is shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Judges a trace again.
///
/// # Errors
/// When it cannot be read, or holds no scenario that can be judged.
pub fn replay(arguments: &ReplayArguments, console: &Console) -> Result<ExitCode, Trouble> {
    arguments.report.iter().try_for_each(CertifyTarget::check)?;
    let trace = read(&arguments.trace)?;
    if let Some(until) = arguments.until {
        let names = Names::new(&trace, &[]);
        let listing = wire::listing::listing(&trace, &names, Some(until), console.paint);
        console.say(&listing)?;
        return Ok(ExitCode::Held);
    }
    if &*trace.header.world == certify::WORLD {
        let certificate = Certificate::of(trace);
        super::certify::show(&certificate, arguments.all, console)?;
        arguments.report.iter().try_for_each(|target| target.write(&certificate, console))?;
        return Ok(super::certify::exit_code(&certificate, Tier::Robust));
    }
    if arguments.all || !arguments.report.is_empty() {
        return Err(Trouble::usage("`--all` and `--report` are for the trace of a certificate")
            .help("`skep certify --trace PATH` writes one"));
    }
    let outcome = run_of(engine::judge_again(trace)?);
    let shown = match console.format {
        Format::Json => json::report(&outcome, false).to_string() + "\n",
        Format::Text => {
            let brevity = Brevity { quiet: console.quiet, timeless: true };
            terminal::run(&outcome, brevity, console.paint)
        }
    };
    console.say(&shown)?;
    Ok(outcome.exit_code())
}

/// One test as a run.
fn run_of(test: TestOutcome) -> RunOutcome {
    let (world, known) = (test.world, Vec::new());
    RunOutcome { world, wall_ms: 0, interrupted: false, known, tests: vec![test] }
}

#[expect(clippy::disallowed_methods, reason = "the command line reads the user's files")]
fn read(path: &Path) -> Result<Trace, Trouble> {
    let shown = path.display();
    let cannot = |error: std::io::Error| {
        Trouble::usage(format!("the trace `{shown}` cannot be read: {error}"))
            .help("`skep run --trace DIR` writes one file a test")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Trouble::usage(format!("`{shown}` is too long for a trace")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Trouble::usage(format!("`{shown}` is no trace: it is not UTF-8")))?;
    jsonl::read(&text).map_err(|error| Trouble::usage(format!("`{shown}` is no trace: {error}")))
}
