//! The same seed gives the same trace, byte for byte, in another process, folder and environment.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]
#![expect(clippy::disallowed_methods, reason = "the test reads the traces that skep wrote")]

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;
use sha2::Digest as _;

/// Plays the built-in corpus in a folder of its own and gives every trace by its name.
fn traces(gear: &str, seed: &str, mark: &str) -> BTreeMap<String, Vec<u8>> {
    written(&["--gear", gear, "--seed", seed], mark)
}

/// The traces that a run writes, by their names.
fn written(arguments: &[&str], mark: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    cargo_bin_cmd!("skep")
        .args(["run", "--trace", "traces", "--quiet"])
        .args(arguments)
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

/// On every machine, and for as long as nothing that a run does is changed on purpose.
fn hash(gear: &str) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/one-seed.kdl");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("one-seed.kdl");
    std::fs::copy(file, &copy).unwrap();
    let mut traces = written(&[copy.to_str().unwrap(), "--gear", gear, "--seed", "7"], "");
    let trace = String::from_utf8(traces.pop_first().unwrap().1).unwrap();
    // Its first line names the file, wherever that is.
    let (_, records) = trace.split_once('\n').unwrap();
    sha2::Sha256::digest(records).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_seed_means_the_same_everywhere_in_the_event_gear() {
    insta::assert_snapshot!(hash("event"), @"b33c5875cd381c8bdf501e22c979a8ad1529cd1f346b86a6395ac383f0e1e4a8");
}

#[test]
fn a_seed_means_the_same_everywhere_in_the_wire_gear() {
    insta::assert_snapshot!(hash("wire"), @"7503061445e5c7e068f8910629ada274d786829b0410c7ba4dee8bca28d690d1");
}

#[test]
fn the_canary_sings_where_hashing_decides() {
    let song =
        || written(&["--mutant", "world/hash-order", "--gear", "event", "--only", "a-*"], "");
    assert_ne!(song(), song());
}
