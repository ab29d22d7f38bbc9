//! An examined store: a line for each check, and the story of each that did not hold.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::again::shell_word;
use super::clean::{clean, fit, pad};
use super::paint::{Paint, Tone};
use crate::store::{Examination, Row, Standing};

/// The version of the document. A field that is added keeps it; anything else raises it.
pub const VERSION: u64 = 1;

/// The examination as text, so wide: all rows, or only what did not hold.
pub fn text(examination: &Examination, quiet: bool, columns: usize, paint: Paint) -> String {
    let mut text = String::new();
    if !quiet {
        for row in &examination.rows {
            text.push_str(&line(row, columns, paint));
        }
    }
    for row in examination.rows.iter().filter(|row| row.standing == Standing::Violated) {
        text.push_str(&story(examination, row, paint));
    }
    if !quiet {
        text.push_str(&summary(examination));
    }
    text
}

fn line(row: &Row, columns: usize, paint: Paint) -> String {
    let (sign, tone) = sign(row.standing);
    let sign = paint.paint(tone, sign);
    let rule = pad(row.rule, 5);
    let name = row.name.replace('_', " ");
    let name = pad(&fit(&name, 47), 47);
    let note = clean(&row.note);
    let note = paint.paint(Tone::Faint, fit(&note, columns.saturating_sub(58)));
    let line = format!("{sign} {rule} {name}  {note}");
    format!("{}\n", line.trim_end())
}

fn sign(standing: Standing) -> (&'static str, Tone) {
    match standing {
        Standing::Held => ("✓", Tone::Good),
        Standing::Violated => ("×", Tone::Bad),
        Standing::Inconclusive => ("?", Tone::Doubt),
        Standing::NotApplicable => ("–", Tone::Faint),
    }
}

fn story(examination: &Examination, row: &Row, paint: Paint) -> String {
    let mut text = String::new();
    let mut say = |line: String| writeln!(text, "{}", line.trim_end()).expect("a string takes all");
    let name = row.name.replace('_', " ");
    say(format!("\n{}  {name}", paint.paint(Tone::Strong, row.rule)));
    if let Some(rule) = skep_check::rule(row.rule) {
        say(format!("  {}", paint.paint(Tone::Faint, format!("it demands that {}", rule.meaning))));
    }
    say(format!("  {}", paint.paint(Tone::Bad, format!("× {}", fit(&clean(&row.note), 400)))));
    if row.left_out > 0 {
        say(format!("    … {} before", row.left_out));
    }
    for act in &row.acts {
        say(format!("    {act}"));
    }
    if !row.files.is_empty() {
        say(format!("  {}", paint.paint(Tone::Faint, "on the disk:")));
    }
    for (path, what) in &row.files {
        say(format!("    {what:<22}  {}", clean(path)));
    }
    let key = paint.paint(Tone::Faint, "again:");
    say(format!("  {key} {}", again(examination, row)));
    text
}

/// The command that does this again.
fn again(examination: &Examination, row: &Row) -> String {
    let words: Vec<_> =
        examination.command.iter().map(|word| shell_word(&word.to_string_lossy())).collect();
    let command = words.join(" ");
    if row.rule == crate::store::PROTOCOL_ROW {
        return format!("skep store -- {command}");
    }
    let points = if row.name.contains("every") { " --crash-points" } else { "" };
    let name = row.name.replace('_', "-");
    format!("skep store --only {name} --seed {}{points} -- {command}", examination.seed)
}

fn summary(examination: &Examination) -> String {
    let counts = Standing::ALL.into_iter().map(|one| (examination.count(one), one.word()));
    let counts: Vec<_> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let (seconds, tenth) = (examination.took_ms / 1000, examination.took_ms / 100 % 10);
    format!("\n{} · {seconds}.{tenth} s\n", counts.join(" · "))
}

/// The examination as one JSON document.
pub fn document(examination: &Examination) -> Value {
    let command: Vec<_> = examination.command.iter().map(|word| word.to_string_lossy()).collect();
    let rows: Vec<_> = examination.rows.iter().map(row).collect();
    let count = |standing| examination.count(standing);
    json!({
        "version": VERSION,
        "kind": "store",
        "command": command,
        "seed": examination.seed,
        "name": *examination.offers.name,
        "took_ms": examination.took_ms,
        "counts": {
            "held": count(Standing::Held),
            "violated": count(Standing::Violated),
            "inconclusive": count(Standing::Inconclusive),
            "not_applicable": count(Standing::NotApplicable),
        },
        "rows": rows,
    })
}

fn row(row: &Row) -> Value {
    json!({
        "rule": row.rule,
        "check": row.name,
        "verdict": row.standing.word(),
        "note": row.note,
        "acts": row.acts,
        "files": row.files,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Offers;

    #[test]
    fn a_violation_is_told_with_what_led_to_it_and_how_to_see_it_again() {
        let broken = Row {
            rule: "S-23",
            name: "temporary_names_are_unique",
            standing: Standing::Violated,
            note: "the temporary name x.tmp is used again".to_owned(),
            acts: vec!["process 0  put b=1: done".to_owned()],
            left_out: 3,
            files: [("state/x".to_owned(), "0600  12 bytes".to_owned())].into(),
        };
        let held = Row {
            rule: "S-1",
            name: "a_put_is_read_here_and_after_a_reopen",
            standing: Standing::Held,
            note: "8 keys".to_owned(),
            ..broken.clone()
        };
        let examination = Examination {
            command: vec!["node".into(), "my store.mjs".into()],
            seed: 7,
            offers: Offers::default(),
            rows: vec![held, broken],
            took_ms: 1_234,
        };
        let expected = "\
✓ S-1   a put is read here and after a reopen            8 keys
× S-23  temporary names are unique                       the temporary name x.tmp is used again

S-23  temporary names are unique
  it demands that a temporary name is unique and created exclusively
  × the temporary name x.tmp is used again
    … 3 before
    process 0  put b=1: done
  on the disk:
    0600  12 bytes          state/x
  again: skep store --only temporary-names-are-unique --seed 7 -- node 'my store.mjs'

1 violated · 1 held · 1.2 s
";
        assert_eq!(text(&examination, false, 100, Paint::PLAIN), expected);
    }
}
