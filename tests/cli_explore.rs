//! `skep explore`, as a user calls it.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

fn skep(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(folder).args(arguments).output().expect("it runs")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

#[expect(clippy::disallowed_methods, reason = "a test writes what it reads")]
fn write(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), bytes).expect("there is room");
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_reference_holds_and_what_never_came_up_is_told() {
    let folder = folder();
    let output = skep(folder.path(), &["explore", "--seeds", "30"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("kinds of things happened"));
    assert!(text(&output).contains("never:"));
    assert!(!folder.path().join("explored").exists(), "nothing failed, so nothing is written");
}

#[test]
fn a_fault_is_found_and_its_file_fails_on_its_own() {
    let folder = folder();
    let fault = ["--mutant", "store/forgets-on-restart"];
    let found = skep(folder.path(), &["explore", "--seeds", "12", fault[0], fault[1]]);
    assert_eq!(found.status.code(), Some(2), "{}", text(&found));
    assert!(text(&found).contains("blame: harness"));
    let written = fs::read_dir(folder.path().join("explored")).expect("a folder was made");
    let files: Vec<_> = written.map(|entry| entry.expect("it is listed").path()).collect();
    assert!(!files.is_empty());
    for file in files {
        let file = file.display().to_string();
        let red = skep(folder.path(), &["run", &file, "--gear", "event", fault[0], fault[1]]);
        assert_eq!(red.status.code(), Some(2), "{file}: {}", text(&red));
        let green = skep(folder.path(), &["run", &file, "--gear", "event"]);
        assert_eq!(green.status.code(), Some(0), "{file}: {}", text(&green));
    }
}

#[test]
fn shards_find_together_what_one_process_finds() {
    let folder = folder();
    let explore = |more: &[&str]| {
        let arguments = ["explore", "--seeds", "20", "--mutant", "harness/never-stores"];
        skep(folder.path(), &[&arguments[..], more].concat());
    };
    explore(&["--results", "whole.jsonl"]);
    explore(&["--results", "a.jsonl", "--shard", "0/2"]);
    explore(&["--results", "b.jsonl", "--shard", "1/2"]);
    let merged = |files: &[&str]| {
        let arguments = [&["explore", "--merge", "--format", "json"], files].concat();
        let output = skep(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{}", error(&output));
        let lines: Vec<Value> = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let plain = lines.into_iter().filter(|line| line["kind"] != "part").map(|mut line| {
            // Each part made its own seeds small.
            line.as_object_mut().expect("a line is an object").remove("scenario");
            line
        });
        plain.collect::<Vec<Value>>()
    };
    assert_eq!(merged(&["a.jsonl", "b.jsonl"]), merged(&["whole.jsonl"]));
    assert_eq!(merged(&["b.jsonl", "a.jsonl"]), merged(&["whole.jsonl"]));
    let twice = skep(folder.path(), &["explore", "--merge", "a.jsonl", "a.jsonl"]);
    assert_eq!(twice.status.code(), Some(1));
    assert!(error(&twice).contains("shard 0/2 of `workload` is there twice"), "{}", error(&twice));
}

#[test]
fn a_workload_can_be_read_and_played_as_a_scenario() {
    let folder = folder();
    let told = skep(folder.path(), &["explore", "--seeds", "7..8", "--tell"]);
    write(&folder, "seed.kdl", &told.stdout);
    let played = skep(folder.path(), &["run", "seed.kdl", "--gear", "event"]);
    assert_eq!(played.status.code(), Some(0), "{}", text(&played));
}

#[test]
fn a_scenario_is_played_under_schedules_and_troubles() {
    let folder = folder();
    let one = ["explore", "--only", "restart-resumes-the-session", "--seeds", "60"];
    let held = skep(folder.path(), &one);
    assert_eq!(held.status.code(), Some(0), "{}", text(&held));
    let fault = ["--mutant", "harness/no-dedup"];
    let found = skep(folder.path(), &[&one[..], &fault].concat());
    assert_eq!(found.status.code(), Some(2), "{}", text(&found));
    assert!(text(&found).contains("H-81"), "{}", text(&found));
}

#[test]
fn a_schedule_is_kept_by_the_event_gear_alone() {
    let folder = folder();
    let scenario = r#"scenario "late" {
        schedule seed=3 spread="50ms"
        agent "a"
        harness "h"
        step "a message" {
            mention channel="general"
            expect turn="done"
        }
    }"#;
    write(&folder, "late.kdl", scenario);
    let event = skep(folder.path(), &["run", "late.kdl", "--gear", "event"]);
    assert_eq!(event.status.code(), Some(0), "{}", text(&event));
    let wire = skep(folder.path(), &["run", "late.kdl"]);
    assert_eq!(wire.status.code(), Some(3), "{}", text(&wire));
    assert!(text(&wire).contains("only the event gear keeps a `schedule`"), "{}", text(&wire));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_write() {
    let folder = folder();
    let refused = |arguments: &[&str]| {
        let output = skep(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        error(&output)
    };
    assert!(refused(&["explore", "--shard", "4/4"]).contains("the first is 0"));
    assert!(refused(&["explore", "--seeds", "9..3"]).contains("1000..2000"));
    assert!(refused(&["explore", "--merge"]).contains("--results"));
    write(&folder, "no.jsonl", "{}\n");
    assert!(refused(&["explore", "--merge", "no.jsonl"]).contains("line 1"));
}
