//! `skep prove --certify`: can each requirement of a certificate fail?

use std::fmt::Write as _;
use std::num::NonZeroU8;
use std::thread;

use serde_json::{Value, json};
use skep_agent::Defect;
use skep_check::verdict::Verdict;

use super::console::Console;
use super::interrupt::Interrupt;
use super::options::Format;
use super::progress::Progress;
use super::prove::ProveArguments;
use super::trouble::Trouble;
use super::{engine, select};
use crate::certify::proof::{self, Proven};
use crate::exit_code::ExitCode;
use crate::report::clean::pad;
use crate::report::paint::{Paint, Tone};

/// The version of the document. A field that is added keeps it; anything else raises it.
const VERSION: u64 = 1;

/// Certifies every broken agent and shows what each turned red.
///
/// # Errors
/// When no broken agent fits, or the result cannot be written.
pub fn prove(arguments: &ProveArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let defects = defects(&arguments.mutants)?;
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let progress = Progress::new(console, defects.len());
    let ended = |one: &Proven| {
        let verdict = if one.is_proof() { Verdict::Held } else { Verdict::Violated };
        progress.ended(one.defect.name(), verdict);
    };
    // Each of them waits most of the time.
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.map_or(processors * 2, |jobs: NonZeroU8| jobs.get().into());
    let skep = engine::executable()?;
    let proven = proof::prove(&skep, &defects, jobs, &|| interrupt.is_wanted(), &ended);
    progress.finish();
    if interrupt.is_wanted() {
        return Ok(ExitCode::Interrupted);
    }
    let proven: Vec<_> = proven.into_iter().flatten().collect();
    console.say(&match console.format {
        Format::Text => text(&proven, console.quiet, console.paint),
        Format::Json => document(&proven).to_string() + "\n",
    })?;
    let all = proven.iter().all(Proven::is_proof);
    Ok(if all { ExitCode::Held } else { ExitCode::Violated })
}

fn defects(patterns: &[String]) -> Result<Vec<Defect>, Trouble> {
    let fits = |defect: &&Defect| {
        patterns.is_empty() || patterns.iter().any(|pattern| select::fits(pattern, defect.name()))
    };
    let defects: Vec<_> = Defect::ALL.iter().filter(fits).copied().collect();
    if defects.is_empty() {
        let title = format!("no broken agent fits `{}`", patterns.join(" "));
        return Err(Trouble::usage(title).help("`skep list requirements` names them"));
    }
    Ok(defects)
}

fn text(proven: &[Proven], quiet: bool, paint: Paint) -> String {
    let longest = proven.iter().map(|one| one.defect.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in proven.iter().filter(|one| !quiet || !one.is_proof()) {
        let (sign, tone) = if one.is_proof() { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
        let id = format!("A-{}", one.defect.row());
        let name = pad(one.defect.name(), longest);
        let also = numbers(one.broken.iter().filter(|row| **row != one.defect.row()));
        let also = if also.is_empty() { also } else { format!("and {also}") };
        let wrong = match (one.unnoticed, one.strange.is_empty()) {
            (true, _) => " is not noticed".to_owned(),
            (false, false) => format!("; unforeseen: {}", numbers(one.strange.iter())),
            (false, true) => String::new(),
        };
        let sign = paint.paint(tone, sign);
        let also = paint.paint(Tone::Faint, also);
        let line = format!("{sign} {id:<6} {name}  {also}{wrong}");
        writeln!(text, "{}", line.trim_end()).expect("a string takes all");
    }
    let right = proven.iter().filter(|one| one.is_proof()).count();
    writeln!(text, "{right} of {} broken agents turn their row red, and no other", proven.len())
        .expect("a string takes all");
    text
}

fn numbers<'a>(rows: impl Iterator<Item = &'a u8>) -> String {
    rows.map(|row| format!("A-{row}")).collect::<Vec<_>>().join(" ")
}

fn document(proven: &[Proven]) -> Value {
    let one = |one: &Proven| {
        json!({
            "broken": one.defect.name(), "row": one.defect.row(), "red": one.broken,
            "unforeseen": one.strange, "noticed": !one.unnoticed,
        })
    };
    json!({"skep_certify_proof": VERSION, "agents": proven.iter().map(one).collect::<Value>()})
}
