//! The gears and the live world give every test the same verdict, also when something is broken.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]

use std::collections::BTreeMap;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;

const EVENT: [&str; 2] = ["--gear", "event"];
const WIRE: [&str; 2] = ["--gear", "wire"];
const LIVE: [&str; 2] = ["--world", "live"];

/// The verdict of every test that applies there, with its blame and the rules that it broke.
fn verdicts(world: [&str; 2], more: &[&str]) -> BTreeMap<String, Value> {
    let output = cargo_bin_cmd!("skep")
        .args(["run", "--format", "json"])
        .args(world)
        .args(more)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tests = report["tests"].as_array().unwrap().iter();
    let applies = tests.filter(|test| test["verdict"] != "not applicable");
    applies.map(|test| (test["test"].as_str().unwrap().to_owned(), told(test))).collect()
}

fn told(test: &Value) -> Value {
    let judgements = test["judgements"].as_array().unwrap().iter();
    let blames: Vec<_> = judgements
        .filter(|judgement| judgement["verdict"] == "violated")
        .map(|judgement| &judgement["blame"])
        .take(1)
        .collect();
    serde_json::json!([test["verdict"], blames])
}

/// Compares two worlds over the tests that apply in both, and says how many those are.
fn agree(one: [&str; 2], other: [&str; 2], more: &[&str]) -> (usize, bool) {
    let (here, there) = (verdicts(one, more), verdicts(other, more));
    let shared = || here.iter().filter(|(test, _)| there.contains_key(*test));
    for (test, verdict) in shared() {
        assert_eq!(verdict, &there[test], "{test}: {one:?} beside {other:?} {more:?}");
    }
    (shared().count(), shared().any(|(_, verdict)| verdict[0] == "violated"))
}

#[test]
fn the_gears_agree_on_the_corpus() {
    let (shared, violated) = agree(EVENT, WIRE, &[]);
    assert!(shared > 150 && !violated, "{shared} tests apply in both");
}

#[test]
fn the_gears_agree_on_what_a_fault_breaks() {
    for mutant in ["harness/never-loads", "harness/rotate-memory-only", "harness/root-case-matters"]
    {
        let (_, violated) = agree(EVENT, WIRE, &["--mutant", mutant]);
        assert!(violated, "{mutant} breaks nothing");
    }
}

#[test]
fn processes_agree_with_the_simulator_on_the_corpus() {
    let (shared, violated) = agree(EVENT, LIVE, &[]);
    assert!(shared > 130 && !violated, "{shared} tests apply in both");
}

#[test]
fn processes_agree_with_the_simulator_on_what_a_fault_breaks() {
    let some = ["--mutant", "harness/never-loads", "--only", "restart-*"];
    assert!(agree(EVENT, LIVE, &some).1, "a harness that never loads passes everything");
}
