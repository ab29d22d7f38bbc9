//! `skep run --against`: two builds side by side.

use super::console::Console;
use super::discover::Test;
use super::engine::Plan;
use super::known::KnownFailures;
use super::options::Format;
use super::run::RunArguments;
use super::suite::{self, Bounds};
use super::targets::Kind;
use super::trouble::Trouble;
use crate::against::Against;
use crate::exit_code::ExitCode;
use crate::report::{against, json};

/// Plays the tests on both builds and shows what changed.
///
/// # Errors
/// When they cannot be played as they stand.
pub fn compare(
    arguments: &RunArguments,
    tests: &[Test],
    (plan, other): (&Plan, &Plan),
    known: Option<KnownFailures>,
    console: &Console,
) -> Result<ExitCode, Trouble> {
    let bounds = Bounds { keep_traces: true, ..arguments.bounds()? };
    let traces = arguments.trace_folder("tested")?;
    let mut tested = suite::play_all(tests, plan, &bounds, traces.as_ref(), console)?;
    if let Some(known) = known {
        known.account(&mut tested, &plan.profile.name);
    }
    // Whoever stops the first does not want the second.
    let rest = if tested.interrupted { &[] } else { tests };
    let traces = arguments.trace_folder("against")?;
    let other_run = suite::play_all(rest, other, &bounds, traces.as_ref(), console)?;
    let named = arguments.against.clone().unwrap_or_default();
    let against = Against { tested, other: other_run, named };
    let mut document = json::report(&against.tested, arguments.times);
    document["against"] = against::document(&against);
    document["exit_code"] = against.exit_code().number().into();
    console.say(&match console.format {
        Format::Json => document.to_string() + "\n",
        Format::Text => against::text(&against, arguments.unchanged, console.paint),
    })?;
    for report in arguments.targets(console.format) {
        match report.kind() {
            Kind::Json => report.put(&(document.to_string() + "\n"), console)?,
            _ => report.write(&against.tested, arguments.times, console)?,
        }
    }
    Ok(against.exit_code())
}
