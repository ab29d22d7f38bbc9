//! What other programs read after a run.

mod report_fixture;

use report_fixture as sample;
use serde_json::Value;
use skep::exit_code::ExitCode;
use skep::known::{KnownFailure, Standing};
use skep::outcome::{RunOutcome, WorldName};
use skep::report::json::{Mistake, refusal, report};
use skep::report::{excerpt, github, junit, markdown};

fn schema() -> jsonschema::Validator {
    let text = include_str!("../docs/report.schema.json");
    let schema = serde_json::from_str(text).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

fn faults(document: &Value) -> Vec<String> {
    schema().iter_errors(document).map(|error| error.to_string()).collect()
}

fn listed() -> KnownFailure {
    KnownFailure {
        file: "known.kdl".into(),
        source: "known-failure \"gone\" reason=\"x\"".into(),
        span: 14..20,
        test: "gone".into(),
        rule: None,
        reason: "x".into(),
        profile: None,
        standing: Standing::Missing,
    }
}

fn everything() -> RunOutcome {
    let mut run = sample::run();
    run.tests.extend([sample::readable_by_all(), sample::unseen()]);
    run.known = vec![listed()];
    run
}

#[test]
fn the_report_keeps_to_its_schema() {
    let nothing = Vec::<String>::new();
    assert_eq!(faults(&report(&everything(), false)), nothing);
    assert_eq!(faults(&report(&everything(), true)), nothing);
    let mistake = Mistake {
        file: Some("x.kdl".into()),
        place: Some(excerpt::Place { line: 2, column: 5 }),
        title: "there is no `expct`".into(),
        help: "write `expect`".into(),
    };
    assert_eq!(faults(&refusal(&[mistake], ExitCode::Scenario)), nothing);
}

#[test]
fn the_schema_refuses_what_it_does_not_know() {
    let mut document = report(&everything(), false);
    document["surprise"] = Value::Bool(true);
    assert_eq!(faults(&document).len(), 1);
    document = report(&everything(), false);
    document["tests"][1]["judgements"][1]["verdict"] = Value::from("green");
    assert!(!faults(&document).is_empty());
}

#[test]
fn the_report_says_what_the_terminal_says() {
    let document = report(&sample::run(), false);
    assert_eq!(document["exit_code"], 2);
    assert_eq!(document["counts"]["held"], 2);
    let judgement = &document["tests"][1]["judgements"][1];
    assert_eq!(judgement["code"], "never/session-new");
    assert_eq!(judgement["line"], 18);
    assert_eq!(judgement["at_ms"], 1004);
    assert_eq!(judgement["blame"], "harness");
}

#[test]
fn real_times_are_in_it_only_when_asked_for() {
    let run = everything();
    assert!(report(&run, false).get("wall_ms").is_none());
    assert_eq!(report(&run, true)["wall_ms"], 812);
    assert!(!junit::report(&run, false).contains("time="));
}

#[test]
fn live_repeats_that_differ_are_named() {
    let mut run = sample::run();
    run.world = WorldName::Live;
    run.tests = vec![sample::forked(), sample::fine("restart-resumes-the-session", "restart.kdl")];
    let document = report(&run, false);
    assert_eq!(document["exit_code"], 3);
    assert_eq!(document["unsteady"][0]["violated"], 1);
    assert_eq!(faults(&document), Vec::<String>::new());
}

#[test]
fn junit_has_a_suite_for_each_file() {
    insta::assert_snapshot!(junit::report(&sample::run(), false));
}

#[test]
fn github_shows_each_failure_at_its_line() {
    insta::assert_snapshot!(github::annotations(&everything()));
}

#[test]
fn the_summary_page_folds_its_stories() {
    let mut run = sample::run();
    run.tests.retain(|test| test.file.as_ref() != "load.kdl");
    insta::assert_snapshot!(markdown::page(&run, true));
}
