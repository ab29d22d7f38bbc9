//! The store's exploration: figures and a table for people, a document for programs.

mod document;

pub use document::document;

use std::fmt::Write as _;

use skep_store::explore::{Extent, Figures, Question};
use skep_store::suite::{Failure, Verdict};

use super::clean::{COLUMNS, clean, fit, pad, wrap};
use super::paint::{Paint, Tone};
use super::terminal::seconds;
use crate::exit_code::ExitCode;
use crate::explore_store::{CheckName, Explored, Standing, exit_code, faults_told};

/// The legend, below the table.
const LEGEND: &str = "· holds   ✗ broken, as the contract says that it must be   ○ broken, explained \
                      below\n! broken, and no list says so   ? listed as broken, and holds   \
                      - not applicable";

/// Between the checks' names and the marks.
const NAME_COLUMNS: usize = 56;

/// The whole for people; when `quiet` only what is not as it is listed.
pub fn text(
    explored: &[Explored],
    wall_ms: u64,
    interrupted: bool,
    quiet: bool,
    paint: Paint,
) -> String {
    let mut text = String::new();
    if !quiet {
        for (at, one) in explored.iter().enumerate() {
            text.push_str(&figures(at, one, paint));
        }
        text.push_str(&table(explored, paint));
        explored.iter().for_each(|one| text.push_str(&reasons(one, paint)));
    }
    text.push_str(&surprises(explored, paint));
    let code = exit_code(explored, interrupted);
    if !quiet || code != ExitCode::Held {
        text.push_str(&summary(explored, wall_ms, code, paint));
    }
    text
}

/// A store's questions, one a line.
fn figures(at: usize, explored: &Explored, paint: Paint) -> String {
    let head = format!("{} {}", at + 1, explored.store.id());
    let mut text = paint.paint(Tone::Strong, head) + "\n";
    for (question, asked) in &explored.questions {
        let line = match asked {
            None => format!("{}: not asked", question.what),
            Some(Err(Failure::Violated(why) | Failure::NotApplicable(why))) => {
                format!("{}: {}", question.what, clean(why))
            }
            Some(Ok(figures)) => sentence(question, figures),
        };
        let sound = matches!(asked, Some(Ok(figures)) if figures.is_sound());
        let line = if sound { line } else { paint.paint(Tone::Bad, line) };
        writeln!(text, "  {line}").expect("a string takes all");
    }
    text + "\n"
}

/// `2 writers × 1 put each: 74 interleavings, complete; 1540 crash points, 2574 disks: 0 lost, 0 torn`
pub fn sentence(question: &Question, figures: &Figures) -> String {
    let within = match (figures.complete, question.extent) {
        (false, _) => "not complete".to_owned(),
        (true, Extent::Complete) => "complete".to_owned(),
        (true, Extent::Preemptions(most)) => format!("all with at most {most} preemptions"),
    };
    let crashes = match figures.crash_points {
        0 => String::new(),
        points => {
            format!("; {}, {}", counted(points, "crash point"), counted(figures.disks, "disk"))
        }
    };
    let interleavings = counted(figures.interleavings, "interleaving");
    format!("{}: {interleavings}, {within}{crashes}: {}", question.what, faults_told(figures))
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn table(explored: &[Explored], paint: Paint) -> String {
    let Some(first) = explored.first() else { return String::new() };
    let numbers: Vec<String> = (1..=explored.len()).map(|number| number.to_string()).collect();
    let head = format!("{:<6}{}{}", "rule", pad("check", NAME_COLUMNS), numbers.join(" "));
    let mut text = paint.paint(Tone::Faint, head) + "\n";
    for (at, (check, _)) in first.checks.iter().enumerate() {
        let marks: Vec<String> = explored.iter().map(|one| mark(one, at, paint)).collect();
        let name = pad(&check.name.replace('_', " "), NAME_COLUMNS);
        writeln!(text, "{:<6}{name}{}", check.rule, marks.join(" ")).expect("a string takes all");
    }
    text + &paint.paint(Tone::Faint, LEGEND) + "\n\n"
}

fn mark(explored: &Explored, at: usize, paint: Paint) -> String {
    let Some((check, verdict)) = explored.checks.get(at) else { return " ".to_owned() };
    match explored.standing(*check, verdict.as_ref()) {
        Standing::Holds => paint.paint(Tone::Faint, "·"),
        Standing::Expected => paint.paint(Tone::Bad, "✗"),
        Standing::Explained => paint.paint(Tone::Doubt, "○"),
        Standing::Unlisted => paint.paint(Tone::Bad, "!"),
        Standing::Vain => paint.paint(Tone::Bad, "?"),
        Standing::NotApplicable => paint.paint(Tone::Faint, "-"),
        Standing::Unknown => " ".to_owned(),
    }
}

/// Why a model breaks what it breaks, each reason once.
fn reasons(explored: &Explored, paint: Paint) -> String {
    let store = explored.store;
    if store.breaks().is_empty() {
        return String::new();
    }
    let head = format!("why {} breaks what it breaks", store.id());
    let mut text = paint.paint(Tone::Strong, head) + "\n";
    let mut whys: Vec<&str> = Vec::new();
    for one in store.breaks() {
        if !whys.contains(&one.why) {
            whys.push(one.why);
        }
    }
    for why in whys {
        let with = store.breaks().iter().filter(|one| one.why == why);
        let mut rules: Vec<&str> = with.filter_map(|one| rule(explored, one.check)).collect();
        rules.dedup();
        text.push_str(&paragraph(&format!("{}: {why}", rules.join(", "))));
    }
    for beyond in store.beyond() {
        text.push_str(&paragraph(&format!(
            "{} is not for a store to break: {}",
            beyond.rule, beyond.why
        )));
    }
    text + "\n"
}

fn rule(explored: &Explored, name: &str) -> Option<&'static str> {
    let mut checks = explored.checks.iter();
    checks.find(|(check, _)| check.name == name).map(|(check, _)| check.rule)
}

/// A paragraph, its later lines set in.
fn paragraph(text: &str) -> String {
    format!("  {}\n", wrap(text, COLUMNS - 4).join("\n    "))
}

/// What is not as it is listed.
fn surprises(explored: &[Explored], paint: Paint) -> String {
    let mut text = String::new();
    for one in explored {
        for (check, verdict) in &one.checks {
            if let Some(line) = surprise(one, *check, verdict.as_ref()) {
                let line = fit(&clean(&line), COLUMNS);
                writeln!(text, "{}", paint.paint(Tone::Bad, line)).expect("a string takes all");
            }
        }
    }
    if text.is_empty() { text } else { text + "\n" }
}

fn surprise(explored: &Explored, check: CheckName, verdict: Option<&Verdict>) -> Option<String> {
    let CheckName { rule, name } = check;
    let store = explored.store.id();
    match (explored.standing(check, verdict), verdict) {
        (Standing::Unlisted, Some(Err(Failure::Violated(how)))) => {
            Some(format!("{store} breaks {rule} {name}, which is not listed: {how}"))
        }
        (Standing::Vain, _) => {
            Some(format!("{store} is listed to break {rule} {name}, and does not"))
        }
        _ => None,
    }
}

fn summary(explored: &[Explored], wall_ms: u64, code: ExitCode, paint: Paint) -> String {
    let asked = |one: &Explored| -> (u64, u64) {
        let figures = one.questions.iter().filter_map(|(_, asked)| asked.as_ref()?.as_ref().ok());
        figures.fold((0, 0), |(schedules, disks), one| {
            (schedules + one.interleavings, disks + one.disks)
        })
    };
    let (schedules, disks) =
        explored.iter().map(asked).fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let (tone, word) = match code {
        ExitCode::Held => (Tone::Good, "everything is as it is listed"),
        ExitCode::Interrupted => (Tone::Doubt, "interrupted"),
        ExitCode::Inconclusive => (Tone::Doubt, "not complete"),
        _ => (Tone::Bad, "something is not as it is listed"),
    };
    let stores = counted(explored.len() as u64, "store");
    let (schedules, disks) = (counted(schedules, "interleaving"), counted(disks, "disk"));
    let place = paint.paint(Tone::Faint, seconds(wall_ms));
    format!("{} · {stores} · {schedules}, {disks} · {place}\n", paint.paint(tone, word))
}
