//! Two builds side by side: for people, and for the report's document.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::clean::{COLUMNS, clean, fit};
use super::names::Names;
use super::paint::{Paint, Tone};
use super::wire::moment::mark;
use super::{instant, story, wire};
use crate::against::parting::Parting;
use crate::against::{Against, Change, Pair};
use crate::outcome::TestOutcome;

/// Every test that changed, the stories of those that are worse, and a summary; with `all`, tests
/// that came to the same are listed as well.
pub fn text(against: &Against, all: bool, paint: Paint) -> String {
    let pairs = against.pairs();
    let mut text = String::new();
    for pair in pairs.iter().filter(|pair| all || pair.change != Change::Same) {
        text.push_str(&line(pair, paint));
        if pair.change != Change::Same {
            text.push_str(&parting_text(pair, paint));
        }
    }
    for pair in pairs.iter().filter(|pair| pair.change == Change::Worse) {
        let story = story::story(pair.tested, paint);
        text.push_str(&if story.is_empty() { String::new() } else { format!("\n{story}") });
    }
    text.push_str(if text.is_empty() { "" } else { "\n" });
    text + &super::known::complaints(&against.tested, paint) + &summary(against, &pairs, paint)
}

fn tone(change: Change) -> Tone {
    match change {
        Change::Same => Tone::Faint,
        Change::Better => Tone::Good,
        Change::Other => Tone::Doubt,
        Change::Worse => Tone::Bad,
    }
}

/// `✗ restart-resumes-the-session  held → violated, worse`
fn line(pair: &Pair<'_>, paint: Paint) -> String {
    let tone = tone(pair.change);
    let what = match (pair.before == pair.verdict, pair.change) {
        (true, Change::Same) => pair.verdict.to_string(),
        (true, change) => format!("{} by other lines, {}", pair.verdict, change.word()),
        (false, change) => format!("{} → {}, {}", pair.before, pair.verdict, change.word()),
    };
    let sign = paint.paint(tone, mark(pair.verdict));
    format!("  {sign} {}  {}\n", clean(&pair.tested.test), paint.paint(tone, what))
}

/// The two frames, one below the other.
fn parting_text(pair: &Pair<'_>, paint: Paint) -> String {
    let Some(parting) = pair.parting() else {
        let why = "no frame differs; what does is on the disk, or in their timing";
        return format!("      {}\n", paint.paint(Tone::Faint, why));
    };
    let place = match parting.place.as_str() {
        "" => String::new(),
        place => format!(", at {}", clean(place)),
    };
    let head = format!("they part at {}{place}", clean(&parting.between));
    let mut text = format!("      {}\n", paint.paint(Tone::Faint, fit(&head, COLUMNS - 6)));
    let sides = [("before", pair.other, parting.other), ("now", pair.tested, parting.tested)];
    for (word, test, record) in sides {
        let shown = frame(test, record).unwrap_or_else(|| "nothing more".to_owned());
        writeln!(text, "      {word:<7}{}", fit(&shown, COLUMNS - 13)).expect("a string takes all");
    }
    text
}

fn frame(test: &TestOutcome, record: Option<usize>) -> Option<String> {
    let names = Names::new(&test.trace, &test.bound);
    let line = wire::lines(&test.trace, &names).into_iter().nth(record?)??;
    Some(format!("{}  {}", instant::show(line.at_ms), line.text))
}

/// `against ./b · 40 same · 1 better · 2 worse · in live, 61.0 s`
fn summary(against: &Against, pairs: &[Pair<'_>], paint: Paint) -> String {
    let mut parts = vec![format!("against {}", clean(&against.named))];
    for change in [Change::Same, Change::Better, Change::Other, Change::Worse] {
        let count = count(pairs, change);
        if count > 0 {
            parts.push(paint.paint(tone(change), format!("{count} {}", change.word())));
        }
    }
    if against.tested.interrupted || against.other.interrupted {
        parts.push(paint.paint(Tone::Doubt, "interrupted"));
    }
    let wall_ms = against.tested.wall_ms + against.other.wall_ms;
    let place = format!("in {}, {}", against.tested.world, super::terminal::seconds(wall_ms));
    parts.push(paint.paint(Tone::Faint, place));
    parts.join(&paint.paint(Tone::Faint, " · ")) + "\n"
}

fn count(pairs: &[Pair<'_>], change: Change) -> usize {
    pairs.iter().filter(|pair| pair.change == change).count()
}

/// What the report's document says of it, beside the tested build's own results.
pub fn document(against: &Against) -> Value {
    let pairs = against.pairs();
    let all = [Change::Same, Change::Better, Change::Other, Change::Worse];
    let counts: Value = all
        .into_iter()
        .map(|change| (change.word().to_owned(), Value::from(count(&pairs, change))))
        .collect();
    let tests: Vec<Value> = pairs.iter().map(pair_json).collect();
    json!({"harness": against.named, "counts": counts, "tests": tests})
}

fn pair_json(pair: &Pair<'_>) -> Value {
    let parting = pair.parting().filter(|_| pair.change != Change::Same);
    json!({
        "test": &*pair.tested.test,
        "file": &*pair.tested.file,
        "verdict": pair.verdict.to_string(),
        "before": pair.before.to_string(),
        "change": pair.change.word(),
        "parting": parting.map(|parting| parting_json(pair, &parting)),
    })
}

fn parting_json(pair: &Pair<'_>, parting: &Parting) -> Value {
    let side = |test: &TestOutcome, record: Option<usize>| {
        let at_ms = test.trace.records.get(record?).map(|record| record.at_ms);
        Some(json!({"at_ms": at_ms, "frame": frame(test, record)}))
    };
    json!({
        "between": parting.between,
        "place": parting.place,
        "now": side(pair.tested, parting.tested),
        "before": side(pair.other, parting.other),
    })
}
