//! The matrix of a proof: at a glance for people, as a document for programs.
//!
//! A row is a mutant, a column is a scenario with all its cells. What the eye should find are the
//! rows without a mark.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skep_check::verdict::Verdict;
use skep_mutant::Mutant;
use skep_trace::Text;

use super::clean::{COLUMNS, clean, fit, pad};
use super::paint::{Paint, Tone};
use super::terminal::seconds;
use crate::exit_code::ExitCode;
use crate::matrix::{Breadth, Cell, Matrix, Row, Shortfall, scenario};

/// The version of the document. A field that is added keeps it; anything else raises it.
pub const VERSION: u64 = 1;

/// The legend, below the picture.
const LEGEND: &str =
    "● noticed, as declared   ○ noticed   ✗ declared and not noticed   · not noticed";

/// What stands in a row before its marks, besides the mutant: its rule, how many notice it.
const RULE_COLUMNS: usize = 11;

/// How wide the longest of the mutants is.
fn id_columns(mutants: &[Mutant]) -> usize {
    mutants.iter().map(|mutant| mutant.id().len()).max().unwrap_or(0)
}

/// The whole proof for people, its picture in so many columns; of a flawless one nothing when
/// `quiet`.
pub fn text(matrix: &Matrix, quiet: bool, columns: usize, paint: Paint) -> String {
    let shortfall = matrix.shortfall();
    let mut text = String::new();
    if !quiet {
        text.push_str(&picture(matrix, columns, paint));
    }
    text.push_str(&shortfall_text(&shortfall, paint));
    if !quiet || matrix.exit_code() != ExitCode::Held {
        text.push_str(&summary(matrix, &shortfall, paint));
    }
    text
}

/// A scenario's column: what its tests together said to each mutant.
struct Column {
    name: Text,
    marks: Vec<Mark>,
}

/// What a scenario said to a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Declared,
    Noticed,
    Missed,
    Passed,
    Untried,
}

impl Mark {
    fn sign(self, paint: Paint) -> String {
        match self {
            Self::Declared => paint.paint(Tone::Good, "●"),
            Self::Noticed => paint.paint(Tone::Good, "○"),
            Self::Missed => paint.paint(Tone::Bad, "✗"),
            Self::Passed => paint.paint(Tone::Faint, "·"),
            Self::Untried => " ".to_owned(),
        }
    }

    fn is_kill(self) -> bool {
        matches!(self, Self::Declared | Self::Noticed)
    }
}

fn columns(matrix: &Matrix) -> Vec<Column> {
    let mut rows: Vec<(Text, Vec<&Row>)> = Vec::new();
    for row in &matrix.tests {
        let name = scenario(&row.test);
        match rows.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(row),
            None => rows.push((name, vec![row])),
        }
    }
    let column = |(name, rows): (Text, Vec<&Row>)| {
        let marks = matrix.mutants.iter().enumerate().map(|(at, mutant)| mark(&rows, at, *mutant));
        Column { name, marks: marks.collect() }
    };
    rows.into_iter().map(column).collect()
}

fn mark(rows: &[&Row], at: usize, mutant: Mutant) -> Mark {
    let said = |wanted: Cell| rows.iter().any(|row| row.cells.get(at) == Some(&wanted));
    let declared = rows.iter().any(|row| row.declared.contains(&mutant));
    match (said(Cell::Killed), declared, said(Cell::Survived)) {
        (true, true, _) => Mark::Declared,
        (true, false, _) => Mark::Noticed,
        (false, true, true) => Mark::Missed,
        (false, false, true) => Mark::Passed,
        (false, _, false) => Mark::Untried,
    }
}

fn picture(matrix: &Matrix, width: usize, paint: Paint) -> String {
    let columns = columns(matrix);
    let rows = rows(matrix, &columns);
    let left_out = matrix.mutants.len() - rows.len();
    // More scenarios than fit side by side make another picture below.
    let most = width.saturating_sub(id_columns(&matrix.mutants) + RULE_COLUMNS).max(10);
    let mut text = String::new();
    for (panel, some) in columns.chunks(most).enumerate() {
        text.push_str(&panel_text(matrix, &rows, some, panel * most, paint));
        text.push('\n');
    }
    let mut legend = LEGEND.to_owned();
    if left_out > 0 {
        let others = "mutants that these scenarios neither declare nor notice";
        legend.push_str(&format!("\n{left_out} {others} are left out"));
    }
    text.push_str(&format!("{}\n\n", paint.paint(Tone::Faint, legend)));
    text.push_str(&names(&columns, paint));
    text
}

/// A mutant's row: its place, and how many scenarios notice it.
struct MutantRow {
    at: usize,
    kills: usize,
}

/// The rows to draw. Of a part of the corpus those that have a mark: the rest is none of its
/// business.
fn rows(matrix: &Matrix, columns: &[Column]) -> Vec<MutantRow> {
    let row = |at: usize| {
        let kills = columns.iter().filter(|column| column.marks[at].is_kill()).count();
        MutantRow { at, kills }
    };
    let is_marked = |row: &MutantRow| {
        let missed = columns.iter().any(|column| column.marks[row.at] == Mark::Missed);
        matrix.whole_corpus || row.kills > 0 || missed
    };
    (0..matrix.mutants.len()).map(row).filter(is_marked).collect()
}

/// The marks of some scenarios, under their numbers.
fn panel_text(
    matrix: &Matrix,
    rows: &[MutantRow],
    columns: &[Column],
    first: usize,
    paint: Paint,
) -> String {
    let numbers = first + 1..=first + columns.len();
    let tens: String = numbers.clone().map(|number| ten(number, first)).collect();
    let ones: String = numbers.map(|number| (number % 10).to_string()).collect();
    let ids = id_columns(&matrix.mutants);
    let before = ids + RULE_COLUMNS;
    let titles = format!("{} rule", pad("mutant", ids));
    let tens = format!("{:before$}{tens}", "");
    let head = format!("{}\n{}{ones}", tens.trim_end(), pad(&titles, before));
    let mut text = paint.paint(Tone::Faint, head.trim_start_matches('\n')) + "\n";
    for row in rows {
        let mutant = matrix.mutants[row.at];
        let id = pad(mutant.id(), ids);
        let id = if row.kills == 0 { paint.paint(Tone::Bad, id) } else { id };
        let rule = paint.paint(Tone::Faint, format!("{:<5}", mutant.rule()));
        let marks: String = columns.iter().map(|column| column.marks[row.at].sign(paint)).collect();
        writeln!(text, "{id} {rule}{:>3}  {}", row.kills, marks.trim_end())
            .expect("a string takes all");
    }
    text
}

/// The tens above the ones, where they change.
fn ten(number: usize, first: usize) -> String {
    if number.is_multiple_of(10) || number == first + 1 && number >= 10 {
        (number / 10 % 10).to_string()
    } else {
        " ".to_owned()
    }
}

/// Which scenario each number is, and how many mutants it notices.
fn names(columns: &[Column], paint: Paint) -> String {
    let mut text = String::new();
    for (at, column) in columns.iter().enumerate() {
        let kills = column.marks.iter().filter(|mark| mark.is_kill()).count();
        let name = clean(&column.name);
        let name = if kills == 0 { paint.paint(Tone::Bad, name) } else { name };
        let number = paint.paint(Tone::Faint, format!("{:>3}", at + 1));
        writeln!(text, "{number}  {kills:>3}  {name}").expect("a string takes all");
    }
    text + "\n"
}

fn shortfall_text(shortfall: &Shortfall, paint: Paint) -> String {
    let mut text = String::new();
    let mut block = |title: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        writeln!(text, "{}", paint.paint(Tone::Bad, title)).expect("a string takes all");
        for line in lines {
            writeln!(text, "  {}", fit(&clean(&line), COLUMNS - 2)).expect("a string takes all");
        }
        text.push('\n');
    };
    block(
        "these do not hold on the reference itself, and prove nothing until they do:",
        shortfall.red.iter().map(ToString::to_string).collect(),
    );
    let longest = id_columns(&shortfall.survivors);
    let survivor = |mutant: &Mutant| {
        format!("{}  {:<5} {}", pad(mutant.id(), longest), mutant.rule(), mutant.what())
    };
    block("nothing notices these mutants:", shortfall.survivors.iter().map(survivor).collect());
    let claim = |(scenario, mutant): &(Text, Mutant)| format!("{scenario}  kills {mutant}");
    block(
        "these declare a kill that does not happen:",
        shortfall.broken_claims.iter().map(claim).collect(),
    );
    block(
        "these scenarios notice no mutant, so that nothing shows that they can fail:",
        shortfall.idle.iter().map(ToString::to_string).collect(),
    );
    text
}

/// `91 mutants · 89 killed · 2 unnoticed · 41 scenarios, 64 tests · in sim/event, 12.3 s`
fn summary(matrix: &Matrix, shortfall: &Shortfall, paint: Paint) -> String {
    let killed = matrix.mutants.iter().filter(|mutant| matrix.is_killed(**mutant)).count();
    let mut parts = vec![
        counted(matrix.mutants.len(), "mutant"),
        paint.paint(Tone::Good, format!("{killed} killed")),
    ];
    let mut bad = |count: usize, what: &str| {
        if count > 0 {
            parts.push(paint.paint(Tone::Bad, format!("{count} {what}")));
        }
    };
    bad(shortfall.survivors.len(), "unnoticed");
    bad(shortfall.broken_claims.len(), "claimed in vain");
    bad(shortfall.idle.len(), "idle");
    bad(shortfall.red.len(), "red on the reference");
    if matrix.interrupted {
        parts.push(paint.paint(Tone::Doubt, "interrupted"));
    }
    let scenarios = counted(columns(matrix).len(), "scenario");
    parts.push(format!("{scenarios}, {}", counted(matrix.tests.len(), "test")));
    let place = format!("in {}, {}", matrix.world, seconds(matrix.wall_ms));
    parts.push(paint.paint(Tone::Faint, place));
    parts.join(&paint.paint(Tone::Faint, " · ")) + "\n"
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The whole proof for programs.
pub fn document(matrix: &Matrix) -> Value {
    let shortfall = matrix.shortfall();
    let claims = shortfall
        .broken_claims
        .iter()
        .map(|(scenario, mutant)| json!({"scenario": &**scenario, "mutant": mutant.id()}));
    json!({
        "skep_prove": VERSION,
        "world": matrix.world.word(),
        "seed": matrix.seed,
        "breadth": if matrix.breadth == Breadth::Full { "full" } else { "declared" },
        "whole_corpus": matrix.whole_corpus,
        "exit_code": matrix.exit_code().number(),
        "interrupted": matrix.interrupted,
        "mutants": matrix.mutants.iter().map(|mutant| mutant_json(matrix, *mutant)).collect::<Value>(),
        "tests": matrix.tests.iter().map(|row| test_json(matrix, row)).collect::<Value>(),
        "survivors": ids(&shortfall.survivors),
        "idle": texts(&shortfall.idle),
        "red": texts(&shortfall.red),
        "broken_claims": Value::from_iter(claims),
    })
}

fn mutant_json(matrix: &Matrix, mutant: Mutant) -> Value {
    let noticed = |row: &&Row| matrix.killed(row).any(|killed| killed == mutant);
    let killed_by = matrix.tests.iter().filter(noticed).map(|row| row.test.clone());
    json!({
        "id": mutant.id(),
        "rule": mutant.rule(),
        "what": mutant.what(),
        "killed_by": texts(&killed_by.collect::<Vec<_>>()),
    })
}

fn test_json(matrix: &Matrix, row: &Row) -> Value {
    json!({
        "test": &*row.test,
        "baseline": row.baseline.to_string(),
        "applied": row.baseline == Verdict::Held,
        "declared": ids(&row.declared),
        "killed": ids(&matrix.killed(row).collect::<Vec<_>>()),
    })
}

fn ids(mutants: &[Mutant]) -> Value {
    mutants.iter().map(|mutant| mutant.id()).collect()
}

fn texts(texts: &[Text]) -> Value {
    texts.iter().map(|text| &**text).collect()
}
