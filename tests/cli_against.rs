//! `skep run --against`: two builds side by side, and what is kept of a run.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]

use std::fs;
use std::path::Path;

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use serde_json::Value;

/// The reference, as a program of somebody else's.
fn reference() -> String {
    format!("{} reference-harness", cargo_bin!("skep").display())
}

/// The reference with a fault of ours, which it reads from its environment.
fn faulty() -> String {
    format!("env SKEP_MUTANT=store/forgets-on-restart {}", reference())
}

fn run(folder: &Path, words: &[&str], code: i32) -> String {
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(folder).env_remove("GITHUB_ACTIONS").arg("run").args(words);
    command.args(["--harness-profile", "reference", "--only", "restart-resumes-the-session"]);
    let output = command.assert().code(code).get_output().clone();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_build_that_is_worse_is_told_with_the_frame_at_which_they_part() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--harness", &faulty(), "--against", &reference(), "--format", "json"];
    let document: Value = serde_json::from_str(&run(folder.path(), &words, 2)).unwrap();
    let schema = serde_json::from_str(include_str!("../docs/report.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<_> = schema.iter_errors(&document).map(|fault| fault.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    let pair = &document["against"]["tests"][0];
    assert_eq!((&pair["before"], &pair["verdict"]), (&"held".into(), &"violated".into()));
    assert_eq!(pair["change"], "worse");
    let now = pair["parting"]["now"]["frame"].as_str().unwrap();
    let before = pair["parting"]["before"]["frame"].as_str().unwrap();
    assert!(now.contains("session/new") && before.contains("session/load"), "{pair}");
}

#[test]
fn a_build_that_is_better_or_the_same_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    let text = run(folder.path(), &["--harness", &reference(), "--against", &faulty()], 0);
    assert!(text.contains("violated → held, better"), "{text}");
    let text = run(folder.path(), &["--harness", &reference(), "--against", &reference()], 0);
    assert!(!text.contains("restart-resumes-the-session"), "what is the same is no news: {text}");
    let words = ["--harness", &reference(), "--against", &reference(), "--unchanged"];
    assert!(run(folder.path(), &words, 0).contains("✓ restart-resumes-the-session  held"));
}

#[test]
fn everything_of_a_run_stands_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["--harness", &reference(), "--artifacts", "gate/out"], 0);
    let out = folder.path().join("gate/out");
    for name in ["report.json", "junit.xml", "summary.md"] {
        assert!(fs::metadata(out.join(name)).unwrap().len() > 0, "{name}");
    }
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    assert!(read("traces/restart-resumes-the-session.jsonl").lines().count() > 10);
    assert!(read("logs/restart-resumes-the-session.log").contains("h#2  turn complete"));
}

#[test]
fn inside_actions_the_lines_and_the_page_come_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "before\n").unwrap();
    let mut command = cargo_bin_cmd!("skep");
    command.args(["run", "--gear", "event", "--mutant", "store/forgets-on-restart"]);
    command.args(["--only", "restart-resumes-the-session"]);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary);
    let output = command.assert().code(2).get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("::error file=scenarios/restart.kdl,line="), "{text}");
    let page = fs::read_to_string(summary).unwrap();
    assert!(page.starts_with("before\n## skep: violated"), "{page}");
}
