//! Which scenario notices which tampering: for people, and as a document for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skep_check::verdict::Verdict;

use super::clean::{COLUMNS, clean, fit, pad};
use super::paint::{Paint, Tone};
use super::terminal::seconds;
use crate::tampering::Tampering;
use crate::teeth::{Bite, Teeth};

/// The version of the document. A field that is added keeps it; anything else raises it.
pub const VERSION: u64 = 1;

/// What stands for what in a row.
const LEGEND: &str = "● noticed   · not noticed   (blank) not tried";

/// The whole proof for people; only what has no teeth when `quiet`.
pub fn text(teeth: &Teeth, quiet: bool, paint: Paint) -> String {
    let mut text = String::new();
    if !quiet {
        text.push_str(&picture(teeth, paint));
        text.push_str(&tamperings(teeth, paint));
    }
    text.push_str(&block(
        "these do not hold on the harness as it is, and prove nothing:",
        teeth,
        |bite| matches!(bite.baseline, Verdict::Violated | Verdict::Inconclusive),
        paint,
    ));
    text.push_str(&block(
        "these are toothless here: nothing that was done turned them red:",
        teeth,
        Bite::is_toothless,
        paint,
    ));
    text + &summary(teeth, paint)
}

/// A row a test, a column a tampering.
fn picture(teeth: &Teeth, paint: Paint) -> String {
    let tests: Vec<&Bite> = teeth.tests.iter().filter(|bite| bite.applies()).collect();
    let longest = tests.iter().map(|bite| clean(&bite.test).chars().count()).max().unwrap_or(0);
    let names = longest.min(COLUMNS - teeth.tamperings.len() - 4);
    let numbers: Vec<String> =
        (1..=teeth.tamperings.len()).map(|at| (at % 10).to_string()).collect();
    let head = format!("{}  {}", pad("", names + 2), numbers.concat());
    let mut text = paint.paint(Tone::Faint, head) + "\n";
    for bite in tests {
        let tone = if bite.is_toothless() { Tone::Bad } else { Tone::Faint };
        let name = paint.paint(tone, pad(&fit(&clean(&bite.test), names), names));
        let signs: String = teeth.tamperings.iter().map(|it| sign(bite, *it, paint)).collect();
        writeln!(text, "  {name}  {}", signs.trim_end()).expect("a string takes all");
    }
    text + &format!("{}\n\n", paint.paint(Tone::Faint, LEGEND))
}

fn sign(bite: &Bite, tampering: Tampering, paint: Paint) -> String {
    match bite.tried.iter().find(|(tried, _)| *tried == tampering) {
        Some((_, true)) => paint.paint(Tone::Good, "●"),
        Some((_, false)) => paint.paint(Tone::Faint, "·"),
        None => " ".to_owned(),
    }
}

/// What each number stands for, and how many tests noticed it.
fn tamperings(teeth: &Teeth, paint: Paint) -> String {
    let mut text = String::new();
    for (at, tampering) in teeth.tamperings.iter().enumerate() {
        let (noticed, tried) = (teeth.noticing(*tampering), teeth.trying(*tampering));
        let number = paint.paint(Tone::Faint, format!("{:>3}", at + 1));
        let id = pad(tampering.id(), 22);
        let count = format!("{noticed:>3} of {tried:<3}");
        let what = fit(tampering.what(), COLUMNS - 39);
        writeln!(text, "{number}  {id}{count}  {what}").expect("a string takes all");
    }
    text + "\n"
}

fn block(title: &str, teeth: &Teeth, belongs: fn(&Bite) -> bool, paint: Paint) -> String {
    let tests: Vec<&Bite> = teeth.tests.iter().filter(|bite| belongs(bite)).collect();
    if tests.is_empty() {
        return String::new();
    }
    let mut text = paint.paint(Tone::Doubt, title) + "\n";
    for bite in tests {
        let tried: Vec<&str> = bite.tried.iter().map(|(tampering, _)| tampering.id()).collect();
        let tried = if tried.is_empty() { String::new() } else { format!("  {}", tried.join(" ")) };
        let line = fit(&format!("{}{tried}", clean(&bite.test)), COLUMNS - 2);
        writeln!(text, "  {line}").expect("a string takes all");
    }
    text + "\n"
}

/// `41 tests · 38 with teeth · 3 toothless · 12 not applicable · on ./h as buzz-acp, 2 min 3 s`
fn summary(teeth: &Teeth, paint: Paint) -> String {
    let count = |belongs: fn(&Bite) -> bool| teeth.tests.iter().filter(|it| belongs(it)).count();
    let toothless = count(Bite::is_toothless);
    let biting = count(Bite::applies) - toothless;
    let mut parts = vec![paint.paint(Tone::Good, format!("{biting} with teeth"))];
    let mut more = |count: usize, tone: Tone, what: &str| {
        if count > 0 {
            parts.push(paint.paint(tone, format!("{count} {what}")));
        }
    };
    more(toothless, Tone::Doubt, "toothless");
    let red = count(|it| matches!(it.baseline, Verdict::Violated | Verdict::Inconclusive));
    more(red, Tone::Bad, "not held");
    more(count(|it| it.baseline == Verdict::NotApplicable), Tone::Faint, "not applicable");
    more(usize::from(teeth.interrupted), Tone::Doubt, "interruption");
    let place = format!(
        "on {} as {}, {}",
        clean(&teeth.harness),
        clean(&teeth.profile),
        seconds(teeth.wall_ms)
    );
    parts.push(paint.paint(Tone::Faint, place));
    parts.join(&paint.paint(Tone::Faint, " · ")) + "\n"
}

/// The whole proof for programs.
pub fn document(teeth: &Teeth) -> Value {
    let tamperings: Vec<Value> =
        teeth.tamperings.iter().map(|it| tampering_json(teeth, *it)).collect();
    let tests: Vec<Value> = teeth.tests.iter().map(test_json).collect();
    let toothless = teeth.tests.iter().filter(|bite| bite.is_toothless());
    json!({
        "skep_teeth": VERSION,
        "harness": teeth.harness,
        "profile": &*teeth.profile,
        "exit_code": teeth.exit_code().number(),
        "interrupted": teeth.interrupted,
        "tamperings": tamperings,
        "tests": tests,
        "toothless": toothless.map(|bite| &*bite.test).collect::<Value>(),
    })
}

fn tampering_json(teeth: &Teeth, tampering: Tampering) -> Value {
    json!({
        "id": tampering.id(),
        "edge": tampering.edge().word(),
        "what": tampering.what(),
        "like": tampering.like(),
        "rules": tampering.rules(),
        "tried": teeth.trying(tampering),
        "noticed": teeth.noticing(tampering),
    })
}

fn test_json(bite: &Bite) -> Value {
    let ids = |wanted: bool| -> Value {
        let tried = bite.tried.iter().filter(|(_, noticed)| *noticed == wanted);
        tried.map(|(tampering, _)| tampering.id()).collect()
    };
    json!({
        "test": &*bite.test,
        "baseline": bite.baseline.to_string(),
        "noticed": ids(true),
        "unnoticed": ids(false),
    })
}
