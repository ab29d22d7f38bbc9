//! The lines of a scenario file that a story is about, with labels under what they name.
//!
//! Only labelled lines are shown: their numbers tell what lies between them. Labels that name the
//! same place stand under one another; others on one line hang from it side by side.

use std::fmt::Write as _;
use std::ops::Range;

use super::clean::{COLUMNS, clean, fit, width};
use super::paint::{Paint, Tone};

/// What stands between a stem and its text: `╰── `.
const CORNER: usize = 4;

/// One label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The bytes of the source that it names.
    pub span: Range<usize>,
    /// What it says.
    pub text: String,
    /// It is what the story is about; others explain it.
    pub primary: bool,
}

/// A line and column, both from 1, columns counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Where a byte of the source stands.
pub fn place(source: &str, at: usize) -> Place {
    let before = &source[..floor(source, at)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    Place { line, column: before[start..].chars().count() + 1 }
}

/// The nearest letter's start at or before a byte, so that a bad span never cuts a letter.
fn floor(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The excerpt, each line ended; empty when there is nothing to label.
pub fn excerpt(file: &str, source: &str, labels: &[Label], paint: Paint) -> String {
    let mut marks: Vec<Mark> = labels.iter().map(|label| Mark::new(source, label)).collect();
    marks.sort_by_key(|mark| (mark.line, mark.from, !mark.primary));
    let Some(last) = marks.last() else {
        return String::new();
    };
    let gutter = last.line.to_string().len().max(2);
    let first = labels.iter().find(|label| label.primary).unwrap_or(&labels[0]);
    let at = place(source, first.span.start);
    let head = format!("{:gutter$}  ╭─[{}:{}:{}]", "", clean(file), at.line, at.column);
    let mut text = paint.paint(Tone::Faint, head) + "\n";
    for line in marks.chunk_by(|one, other| one.line == other.line) {
        push_line(&mut text, source, line, gutter, paint);
    }
    text + &paint.paint(Tone::Faint, format!("{:gutter$}  ╰────", "")) + "\n"
}

/// A label, by the columns of its line.
struct Mark<'a> {
    line: usize,
    from: usize,
    to: usize,
    text: &'a str,
    primary: bool,
}

impl<'a> Mark<'a> {
    /// A span over several lines names its first line only.
    fn new(source: &str, label: &'a Label) -> Self {
        let start = floor(source, label.span.start);
        let end = floor(source, label.span.end.max(start));
        let line_start = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let named = source[start..end].lines().next().unwrap_or("").trim_end();
        let from = width(&clean(&source[line_start..start]));
        Self {
            line: place(source, start).line,
            from,
            to: from + width(&clean(named)).max(1),
            text: &label.text,
            primary: label.primary,
        }
    }

    fn tone(&self) -> Tone {
        if self.primary { Tone::Bad } else { Tone::Cause }
    }

    /// The column from which the texts of a place hang: its middle, or further left where a text
    /// would not fit into the line.
    fn stem(place: &[Self], room: usize) -> usize {
        let Self { from, to, .. } = place[0];
        let longest = place.iter().map(|mark| width(&clean(mark.text))).max().unwrap_or(0);
        let middle = from + (to - from - 1) / 2;
        middle.min(room.saturating_sub(longest + CORNER)).max(from)
    }
}

fn push_line(text: &mut String, source: &str, marks: &[Mark], gutter: usize, paint: Paint) {
    let number = marks[0].line;
    let line = clean(source.lines().nth(number - 1).unwrap_or("").trim_end());
    let room = COLUMNS - gutter - 5;
    let number = paint.paint(Tone::Faint, format!("{number:>gutter$} │"));
    writeln!(text, " {number} {}", fit(&line, room)).expect("writing to a string cannot fail");
    let dots = paint.paint(Tone::Faint, format!("{:gutter$} ·", ""));
    for row in rows(marks, room, paint) {
        writeln!(text, " {dots} {row}").expect("writing to a string cannot fail");
    }
}

/// The rows below a line. Places that overlap cannot share a row and follow one another.
fn rows(marks: &[Mark], room: usize, paint: Paint) -> Vec<String> {
    let mut places: Vec<&[Mark]> = marks.chunk_by(|one, other| same_place(one, other)).collect();
    let mut rows = Vec::new();
    while !places.is_empty() {
        let (beside, later) = split_beside(places);
        rows.extend(rows_beside(&beside, room, paint));
        places = later;
    }
    rows
}

fn same_place(one: &Mark, other: &Mark) -> bool {
    (one.from, one.to) == (other.from, other.to)
}

/// Those that stand beside one another, and the rest.
fn split_beside<'m, 'a>(places: Vec<&'m [Mark<'a>]>) -> (Vec<&'m [Mark<'a>]>, Vec<&'m [Mark<'a>]>) {
    let mut end = 0;
    places.into_iter().partition(|place| {
        let beside = place[0].from >= end;
        if beside {
            end = place[0].to + 1;
        }
        beside
    })
}

fn rows_beside(places: &[&[Mark]], room: usize, paint: Paint) -> Vec<String> {
    let mut rows = vec![Row::default()];
    let stems: Vec<usize> = places.iter().map(|place| Mark::stem(place, room)).collect();
    for (place, stem) in places.iter().zip(&stems) {
        rows[0].put(place[0].from, &underline(&place[0], *stem), place[0].tone(), paint);
    }
    // The rightmost place speaks first, so that no stem crosses a text.
    for (left, place) in places.iter().enumerate().rev() {
        for (at, mark) in place.iter().enumerate() {
            let mut row = Row::default();
            for (other, stem) in places[..left].iter().zip(&stems) {
                row.put(*stem, "│", other[0].tone(), paint);
            }
            let corner = if at + 1 == place.len() { "╰──" } else { "├──" };
            let said = fit(&clean(mark.text), room.saturating_sub(stems[left] + CORNER).max(20));
            row.put(stems[left], &format!("{corner} {said}"), mark.tone(), paint);
            rows.push(row);
        }
    }
    rows.into_iter().map(|row| row.text).collect()
}

fn underline(mark: &Mark, stem: usize) -> String {
    let line = |columns: usize| "─".repeat(columns);
    format!("{}┬{}", line(stem - mark.from), line(mark.to - stem - 1))
}

/// A row that is written from left to right.
#[derive(Default)]
struct Row {
    text: String,
    columns: usize,
}

impl Row {
    fn put(&mut self, column: usize, said: &str, tone: Tone, paint: Paint) {
        let gap = column.saturating_sub(self.columns);
        self.text.push_str(&" ".repeat(gap));
        self.text.push_str(&paint.paint(tone, said));
        self.columns += gap + width(said);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "step \"x\" {\n    restart \"h\"\n    never \"session/new\"\n}\n";

    fn label(named: &str, text: &str, primary: bool) -> Label {
        let start = SOURCE.find(named).unwrap();
        Label { span: start..start + named.len(), text: text.to_owned(), primary }
    }

    #[test]
    fn labels_stand_under_what_they_name() {
        let labels = [
            label("never \"session/new\"", "violated once", true),
            label("restart \"h\"", "h#1 killed", false),
            label("restart \"h\"", "h#2 started", false),
        ];
        insta::assert_snapshot!(excerpt("x.kdl", SOURCE, &labels, Paint::PLAIN), @r#"
            ╭─[x.kdl:3:5]
          2 │     restart "h"
            ·     ─────┬─────
            ·          ├── h#1 killed
            ·          ╰── h#2 started
          3 │     never "session/new"
            ·     ─────────┬─────────
            ·              ╰── violated once
            ╰────
        "#);
    }

    #[test]
    fn labels_on_one_line_hang_side_by_side_or_follow_one_another() {
        let labels = [
            label("restart", "down", false),
            label("\"h\"", "up", true),
            label("restart \"h\"", "both", false),
        ];
        insta::assert_snapshot!(excerpt("x.kdl", SOURCE, &labels, Paint::PLAIN), @r#"
            ╭─[x.kdl:2:13]
          2 │     restart "h"
            ·     ───┬─── ─┬─
            ·        │     ╰── up
            ·        ╰── down
            ·     ─────┬─────
            ·          ╰── both
            ╰────
        "#);
    }

    #[test]
    fn a_span_outside_the_source_or_within_a_letter_harms_nobody() {
        let label = Label { span: 1..99, text: "odd".to_owned(), primary: true };
        assert!(excerpt("é.kdl", "é", &[label], Paint::PLAIN).contains("odd"));
        assert_eq!(place("é\nx", 1), Place { line: 1, column: 1 });
        assert_eq!(place("é\nx", 3), Place { line: 2, column: 1 });
    }
}
