//! What an exploration found, as a file.

use std::fmt::Write as _;

use super::words::operation;
use crate::explore::{NAMES, Outcome, Question, Shortest};
use crate::model::StoreName;
use crate::volume::Op;

/// How many steps stand on one line.
const A_LINE: usize = 8;

/// A schedule that goes wrong as a file that plays it again.
pub fn file(
    store: StoreName,
    rule: &str,
    why: &str,
    question: &Question,
    found: &Shortest,
    outcome: Outcome,
) -> String {
    let mut text = comment(&format!("{}: {}.", question.what, meaning(outcome)));
    text.push_str(&comment(&format!("Why: {why}.")));
    writeln!(text, "store \"{}\" rule=\"{rule}\"\n", store.id()).expect("a string takes all");
    for (channel, session) in question.given {
        writeln!(text, "given {channel:?} session={session:?}").expect("a string takes all");
    }
    for (name, op) in NAMES.iter().zip(&question.ops) {
        let op = operation(op);
        writeln!(text, "process \"{name}\" {{ {op} }}").expect("a string takes all");
    }
    text + &course(found) + &cut(found) + "explained\n"
}

fn meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Sound => "nothing goes wrong",
        Outcome::Lost => "something that was answered as done is undone",
        Outcome::Torn => "what is left is neither the old nor the new, or cannot be read",
        Outcome::Refused => "one fails because of the other",
        Outcome::Wrong => "the answers fit no order",
        Outcome::Stuck => "they wait for each other for ever",
    }
}

/// The turns, and the kills between them.
fn course(found: &Shortest) -> String {
    let mut text = "schedule {\n".to_owned();
    for turn in found
        .steps
        .chunk_by(|(one, did), (other, does)| one == other && did.is_some() && does.is_some())
    {
        let (at, first) = turn[0];
        if first.is_none() {
            let kill = format!("}}\nkill {:?}\nschedule {{\n", NAMES[at]);
            text.push_str(&kill);
            continue;
        }
        let steps: Vec<&str> = turn.iter().filter_map(|(_, op)| op.map(Op::word)).collect();
        for steps in steps.chunks(A_LINE) {
            writeln!(text, "    {} {}", NAMES[at], steps.join(" ")).expect("a string takes all");
        }
    }
    text + "}\n"
}

fn cut(found: &Shortest) -> String {
    let Some(chosen) = &found.cut else { return String::new() };
    let mut text = "power-cut {\n".to_owned();
    for doubt in chosen {
        let line = format!("    left {:?} {:?}\n", doubt.what, doubt.way);
        text.push_str(&line);
    }
    text + "}\n"
}

/// A text as lines of a comment.
pub fn comment(text: &str) -> String {
    wrapped(text).iter().map(|line| format!("// {line}\n")).collect()
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a last line");
        if last.len() + word.len() > 90 {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
