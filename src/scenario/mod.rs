//! The scenario language: KDL text into [`Scenario`]s, and every mistake of a file at once.
//!
//! Start here: [`parse`] reads a file, [`render`] shows what is wrong with it.
//!
//! It knows no protocol beyond the names of its methods, does no I/O, and knows neither mutants
//! nor which profiles there are: that `kills` and `needs` name something is the caller's to check.
//!
//! From text to scenarios, in this order:
//!
//! - `source`, `diagnostic`, `render`: a file, a complaint about it, and how that is shown.
//! - `markdown`: the blocks of a Markdown file that hold scenarios.
//! - `limits`, `scan`: what is refused, and slips that are known, before KDL is parsed.
//! - `syntax`, `tree`: KDL into lines with places.
//! - `uses`, `matrix`: shared casts, and one scenario into its cells.
//! - `line`, `value`, `verb`, `scope`: how a line is read, and the names it may use.
//! - `read`, `meta`, `cast`, `script`, `step`, `act`, `expectation`, `method`: the words
//!   themselves, one row and one small function each.
//! - `model`, `list`: what comes out.
//! - `profile`, `agent_profile`, `known`, `store_play`: files about a harness, an agent, known
//!   failures and a store, in the same language; `single`: what those of one line have in common.

mod act;
mod agent_profile;
mod cast;
mod diagnostic;
mod expectation;
mod known;
mod limits;
mod line;
mod list;
mod markdown;
mod matrix;
mod meta;
mod method;
mod model;
mod profile;
mod read;
mod render;
mod scan;
mod scope;
mod script;
mod single;
mod source;
mod step;
mod store_play;
mod suggest;
mod syntax;
mod tree;
mod uses;
mod value;
mod verb;

use std::sync::Arc;

pub use agent_profile::parse_agent_profile;
pub use diagnostic::{Diagnostic, Label, MAX_DIAGNOSTICS};
pub use known::parse_known;
pub use limits::{MAX_BYTES, MAX_CELLS, MAX_DEPTH, MAX_LINES, MAX_USES};
pub use list::{Listed, list};
pub use model::{Explore, Placed, Scenario, Step};
pub use profile::{capability_fault, parse_profile};
pub use render::render;
pub use source::{Position, SourceFile, Span};
pub use store_play::{StorePlay, parse_store_play};
pub use uses::Loader;

use diagnostic::{Findings, Reporter};
use line::Line;
use read::Reading;

/// Reads a file that uses no other.
pub fn parse(file: &Arc<SourceFile>) -> (Vec<Scenario>, Vec<Diagnostic>) {
    parse_with(file, &mut |_| Err("no other file can be read here".to_owned()))
}

/// Reads a file; `loader` finds the files that it uses, by the names that it gives them.
///
/// Scenarios that something is wrong with are left out. When nothing is wrong, the second list is
/// empty; both are in the order of the file.
pub fn parse_with(
    file: &Arc<SourceFile>,
    loader: &mut Loader<'_>,
) -> (Vec<Scenario>, Vec<Diagnostic>) {
    let findings = Findings::default();
    let found = scenarios(file, &findings, loader);
    (found, findings.into_sorted())
}

fn scenarios(
    file: &Arc<SourceFile>,
    findings: &Findings,
    loader: &mut Loader<'_>,
) -> Vec<Scenario> {
    let at = Reporter { file, findings };
    if file.text.len() > MAX_BYTES {
        at.put(Diagnostic::too_long(file));
        return Vec::new();
    }
    let mut reading = Reading::new(at, loader);
    if file.is_markdown() {
        for block in markdown::blocks(&file.text) {
            reading.document(&file.text[block.start..block.end], block.start);
        }
    } else {
        reading.document(&file.text, 0);
    }
    reading.found
}

/// Complains about a word that begins no line here: a slip, a word of another place, or nothing
/// that is known.
fn unknown<'w>(line: &Line<'_>, place: &str, words: impl IntoIterator<Item = &'w str>) {
    if line.node.reported {
        return;
    }
    let word = &line.node.name.text;
    let words: Vec<&str> = words.into_iter().collect();
    let shown = value::shortened(word);
    let span = line.node.name.span;
    if let Some(where_to) = read::elsewhere(word) {
        let title = format!("`{shown}` does not belong in {place}");
        let longer = words.iter().find(|known| known.starts_with(&format!("{word}-")));
        let longer = longer.map_or_else(String::new, |known| format!("; here there is `{known}`"));
        let help = format!("it belongs in {where_to}{longer}");
        return line.at.error(span, title, "not here", help);
    }
    let help = other_language(word).map(str::to_owned);
    let help = help.unwrap_or_else(|| suggest::instead(word, words));
    line.at.error(span, format!("`{shown}` is no word of {place}"), "unknown", help);
}

/// Words that people bring from elsewhere, and how the same is said here.
fn other_language(word: &str) -> Option<&'static str> {
    Some(match word {
        "reply-late" => "write `delay \"90s\"` and then `reply`",
        "clock" | "sleep" | "wait" | "advance" => "write `run-for \"10m\"`",
        "note" | "title" | "doc" | "description" => "write a comment: `// …`",
        "assert" | "should" | "must" => "write `expect …`",
        "forbid" | "not" | "unless" => "write `never …`",
        "send" | "message" | "post" => "write `mention channel=\"…\"`, or `say` without a mention",
        "let" | "var" | "const" => "names are made by `bind=` and `as=`; there are no variables",
        "for" | "if" | "repeat" | "while" | "each" => {
            "there are no loops and conditions; a `matrix` repeats a scenario over values"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::verb::{Verb, words};

    /// The fixture that `tests/scenario_good.rs` holds against what each of its words becomes.
    const EVERYTHING: &str = include_str!("../../tests/good-scenarios/everything.kdl");

    fn missing<T>(table: &[Verb<T>], before: &str) -> Vec<String> {
        let lines = words(table).map(|word| format!("{before}{word}"));
        let stands = |line: &String| {
            EVERYTHING.split(['\n', ';', '{']).any(|text| {
                let rest = text.trim_start().strip_prefix(line.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        lines.filter(|line| !stands(line)).collect()
    }

    #[test]
    fn every_verb_is_in_the_fixture_that_shows_what_verbs_become() {
        let missing = [
            missing(super::act::ACTS, ""),
            missing(super::act::FAULTS, "relay-fault "),
            missing(super::act::OPS, "disk "),
            missing(super::cast::CAST, ""),
            missing(super::cast::GIVEN, "given "),
            missing(super::expectation::WANTED, "expect "),
            missing(super::script::ACTIONS, ""),
            missing(super::meta::META, ""),
        ];
        assert_eq!(missing.concat(), Vec::<String>::new());
    }
}
