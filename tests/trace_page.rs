//! The page about traces names whatever stands in them.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use skep::cli::{corpus, profiles};
use skep::director::{Job, play};
use skep::live::Tested;
use skep::outcome::WorldName;
use skep::scenario::parse;
use skep_mutant::Mutants;
use skep_trace::jsonl;

const PAGE: &str = include_str!("../docs/trace.md");

/// Every kind and field of the whole corpus's records, `kind.field`.
fn seen() -> BTreeSet<(String, String)> {
    let tested =
        Tested { command: None, profile: Arc::new(profiles::reference()), tampering: None };
    let job = Job { world: WorldName::SimEvent, seed: 7, mutants: Mutants::NONE, tested };
    let scenarios = corpus::files().into_iter().flat_map(|file| parse(&file).0);
    let traces = scenarios.map(|scenario| jsonl::write(&play(&scenario, &job).trace));
    let mut seen = BTreeSet::new();
    for line in traces.flat_map(|trace| trace.lines().map(str::to_owned).collect::<Vec<_>>()) {
        let record: Value = serde_json::from_str(&line).unwrap();
        let kind = record["kind"].as_str().unwrap_or("the first line").to_owned();
        let fields = record.as_object().unwrap().keys();
        seen.extend(fields.map(|field| (kind.clone(), field.clone())));
    }
    seen
}

/// The page's row of a kind; the whole page for the first line.
fn row(kind: &str) -> &'static str {
    let words = format!("`{kind}`");
    let found = PAGE.lines().find(|line| {
        let first = line.split('|').nth(1).unwrap_or_default();
        first.split(", ").any(|word| word.trim() == words)
    });
    found.unwrap_or_else(|| panic!("the page does not name the kind {kind}"))
}

#[test]
fn the_page_names_every_kind_and_its_fields() {
    for (kind, field) in seen() {
        let row = if kind == "the first line" { PAGE } else { row(&kind) };
        let common = matches!(&*field, "at" | "kind");
        // What belongs to a note or to the way of settling is told in words.
        let told = common || matches!(&*kind, "note" | "settled");
        assert!(told || row.contains(&format!("`{field}`")), "{kind} has a field {field}");
    }
}
