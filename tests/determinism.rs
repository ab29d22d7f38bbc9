//! The same seed gives the same trace, byte for byte, in another process, folder and environment.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]
#![expect(clippy::disallowed_methods, reason = "the test reads the traces that skep wrote")]

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;

/// Plays the built-in corpus in a folder of its own and gives every trace by its name.
fn traces(gear: &str, seed: &str, mark: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    cargo_bin_cmd!("skep")
        .args(["run", "--gear", gear, "--seed", seed, "--trace", "traces", "--quiet"])
        .env("SKEP_TEST_MARK", mark)
        .current_dir(folder.path())
        .assert()
        .success();
    read(&folder.path().join("traces"))
}

fn read(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = |path: std::path::PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap())
    };
    entries.map(file).collect()
}

fn check(gear: &str) {
    let (one, other) = (traces(gear, "7", "one"), traces(gear, "7", "a longer other"));
    assert!(one.len() > 100, "the corpus wrote {} traces", one.len());
    for (name, bytes) in &one {
        assert!(other.get(name) == Some(bytes), "{name} differs between two runs of one seed");
    }
    assert_ne!(one, traces(gear, "8", "one"), "another seed gives other traces");
}

#[test]
fn two_processes_write_the_same_traces_in_the_event_gear() {
    check("event");
}

#[test]
fn two_processes_write_the_same_traces_in_the_wire_gear() {
    check("wire");
}
