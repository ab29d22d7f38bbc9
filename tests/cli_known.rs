//! `skep run --known-failures`: a list of failures that costs nothing while it is true.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]

use std::fs;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

/// One scenario that holds and one that asks for what a good harness does not do.
const SCENARIOS: &str = r#"
scenario "it-is-found-again" {
    rules "H-1"
    agent "a" load-session=#true
    harness "h" agent="a"
    step "a mention" {
        mention channel="general"
        expect "session/new" count=1
    }
}

scenario "it-is-opened-twice" {
    rules "H-1"
    agent "a" load-session=#true
    harness "h" agent="a"
    step "a mention" {
        mention channel="general"
        expect "session/new" count=2
    }
}
"#;

fn folder(known: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.kdl"), SCENARIOS).unwrap();
    fs::write(folder.path().join("known.kdl"), known).unwrap();
    folder
}

/// What is printed, and on standard error.
fn run(known: &str, more: &[&str], code: i32) -> (String, String) {
    let folder = folder(known);
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(&folder).args(["run", "s.kdl", "--gear", "event"]).args(more);
    let output =
        command.args(["--known-failures", "known.kdl"]).assert().code(code).get_output().clone();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

const TRUE: &str = r#"known-failure "it-is-opened-twice" rule="H-1" reason="see #7""#;
const STALE: &str = r#"
known-failure "it-is-opened-twice" reason="see #7"
known-failure "it-is-found-again" reason="see #8"
"#;

#[test]
fn a_known_failure_is_shown_and_costs_nothing() {
    let (text, _) = run(TRUE, &[], 0);
    assert!(text.contains("≈ it-is-opened-twice  known: see #7"), "{text}");
    assert!(text.contains("1 held · 1 known"), "{text}");
    assert!(!text.contains("again:"), "its story is no news: {text}");
}

#[test]
fn one_that_holds_is_an_error_at_its_line() {
    let (text, _) = run(STALE, &[], 2);
    assert!(text.contains("`it-is-found-again` is listed as a known failure and holds"), "{text}");
    assert!(text.contains("known.kdl:3:15"), "{text}");
    assert!(text.contains("1 wrongly known"), "{text}");
}

#[test]
fn one_that_was_not_selected_is_not_judged() {
    let (json, _) = run(STALE, &["--only", "it-is-opened-twice", "--format", "json"], 0);
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["verdict"], "held");
    assert_eq!(document["counts"]["known"], 1);
    assert_eq!(document["tests"][0]["known"], "see #7");
    assert_eq!(document["known_failures"][0]["standing"], "fails");
    assert_eq!(document["known_failures"][1]["standing"], "not judged");
}

#[test]
fn one_of_a_test_that_nobody_knows_is_an_error() {
    let corpus = r#"known-failure "restart-resumes-the-session" reason="of the corpus, not here""#;
    let gone = r#"known-failure "it-was-here-once" reason="gone""#;
    let (text, _) = run(&[TRUE, corpus, gone].join("\n"), &[], 2);
    assert!(text.contains("there is no test `it-was-here-once`"), "{text}");
    assert!(text.contains("known.kdl:3:15"), "{text}");
    assert!(!text.contains("`restart-resumes-the-session`"), "{text}");
}

#[test]
fn reports_say_it_in_their_own_words() {
    let kinds = ["junit=-", "github=-", "markdown=-"];
    let text: String = kinds.map(|kind| run(STALE, &["--report", kind, "-q"], 2).0).concat();
    assert!(text.contains(r#"<skipped message="known failure: see #7""#), "{text}");
    assert!(text.contains(r#"and holds" type="known-failure"/>"#), "{text}");
    assert!(text.contains("::notice file=s.kdl"), "{text}");
    assert!(text.contains("::error file=known.kdl,line=3,col=15"), "{text}");
    assert!(text.contains("<summary>known failures</summary>"), "{text}");
}

#[test]
fn a_mistake_in_the_list_keeps_the_run_from_beginning() {
    let (_, told) = run(r#"known-failure "it-is-opened-twice""#, &[], 4);
    assert!(told.contains("needs `reason=`") && told.contains("nothing was played"), "{told}");
}
