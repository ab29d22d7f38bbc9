//! `skep crashes`: the reference harness survives what is done to its store, and faults show.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the test starts programs")]

use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

/// Names and verdicts; `None`: there is no `strace`, and nothing can be done.
fn crashes(options: &[&str]) -> Option<(i32, Vec<(String, String)>)> {
    let mut command = Command::new(cargo_bin("skep"));
    command.args(["crashes", "--format", "json"]).args(options);
    let output = command.output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("strace") {
        return None;
    }
    let tests = document["tests"].as_array().unwrap_or_else(|| panic!("{document:#}")).iter();
    let word = |test: &Value, name: &str| test[name].as_str().unwrap().to_owned();
    let tests = tests.map(|test| (word(test, "test"), word(test, "verdict"))).collect();
    Some((output.status.code().unwrap(), tests))
}

#[test]
fn the_reference_harness_survives_every_crash() {
    let Some((code, tests)) = crashes(&[]) else { return println!("skipped: no strace") };
    let violated: Vec<_> = tests.iter().filter(|(_, verdict)| verdict == "violated").collect();
    assert!(violated.is_empty(), "{tests:#?}");
    let killed = tests.iter().filter(|(name, _)| name.starts_with("killed-before-")).count();
    assert!(killed >= 4 && tests.len() >= 12, "{tests:#?}");
    assert!(code == 0 || code == 3, "{code}: {tests:#?}");
}

#[test]
fn a_store_that_writes_in_place_shows_at_a_kill() {
    let options = ["--only", "killed-before-write*", "--mutant", "store/writes-in-place"];
    let Some((code, tests)) = crashes(&options) else { return println!("skipped: no strace") };
    let killed = tests.iter().find(|(name, _)| name.starts_with("killed-before-write"));
    let (_, verdict) = killed.unwrap();
    assert_eq!((code, &**verdict), (2, "violated"), "{tests:#?}");
}

#[test]
fn a_failure_that_is_not_told_shows() {
    let options = ["--only", "eio-from-renameat-1", "--mutant", "store/swallows-write-errors"];
    let Some((code, tests)) = crashes(&options) else { return println!("skipped: no strace") };
    assert_eq!(code, 2, "{tests:#?}");
}
