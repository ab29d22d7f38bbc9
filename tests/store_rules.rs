//! `skep store` on stores that keep the rules and on stores that do not.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the test starts programs and looks for them")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

/// Rows that need something of the machine: a disk to mount, a tracer, another user.
const NEED_THE_MACHINE: [&str; 9] = [
    "a_full_disk_keeps_the_old_content",
    "a_read_only_directory_keeps_the_old_content",
    "what_is_acknowledged_is_synced",
    "temporary_files_are_made_exclusively",
    "leftovers_are_ignored_and_go",
    "killed_at_every_call",
    "every_call_fails_once",
    "every_sync_lies",
    "a_stuck_holder_delays_others_only_so_long",
];

/// Rows that no adapter here can have applied.
const NEVER: [&str; 2] =
    ["a_taken_temporary_name_is_left_alone", "an_operation_costs_one_reading_and_one_writing"];

fn skep(options: &[&str], store: &[String]) -> (i32, Value) {
    let mut command = Command::new(cargo_bin("skep"));
    command.args(["store", "--format", "json"]).args(options).arg("--").args(store);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let document = serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), document)
}

fn reference(mutant: Option<&str>) -> Vec<String> {
    let mut words = vec![cargo_bin("skep").to_str().unwrap().to_owned(), "reference-store".into()];
    words.extend(mutant.into_iter().flat_map(|mutant| ["--mutant".to_owned(), mutant.to_owned()]));
    words
}

fn checks(document: &Value, verdict: &str) -> BTreeSet<String> {
    let rows = document["rows"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["verdict"] == verdict);
    rows.map(|row| row["check"].as_str().unwrap().to_owned()).collect()
}

fn rules(document: &Value, verdict: &str) -> BTreeSet<String> {
    let rows = document["rows"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["verdict"] == verdict);
    rows.map(|row| row["rule"].as_str().unwrap().to_owned()).collect()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn adapter(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("sim/store/adapters").join(path).to_str().unwrap().to_owned()
}

#[test]
fn the_reference_store_keeps_every_rule() {
    let mut options = vec!["--jobs", "8"];
    if is_installed("strace") {
        options.push("--crash-points");
    }
    let (code, document) = skep(&options, &reference(None));
    assert_eq!(checks(&document, "violated"), BTreeSet::new(), "{document:#}");
    assert_eq!(code, 0);
    for check in checks(&document, "not applicable") {
        let machine = NEED_THE_MACHINE.contains(&&*check) || NEVER.contains(&&*check);
        assert!(machine, "{check} must apply: {document:#}");
    }
}

/// One fault for each family of checks that only processes can be put to, and some of the suite's.
#[test]
fn faults_of_the_reference_turn_their_rules_red() {
    let mut faults = vec![
        ("store/forgets-on-restart", "a-put-is-read*", "S-1"),
        ("store/remove-if-ignores-id", "a-conditional-remove-decides*", "S-3"),
        ("store/rewrites-on-open", "looking*", "S-6"),
        ("store/no-lock", "racing-processes*", "S-10"),
        ("store/no-reread-under-lock", "two-first-writes*", "S-10"),
        ("store/fixed-temp-name", "temporary-names*", "S-23"),
        ("store/no-set-aside", "a-damaged-file-is-kept", "S-31"),
        ("store/swallows-write-errors", "a-file-size-limit*", "S-33"),
    ];
    if is_installed("strace") {
        faults.push(("store/no-file-sync", "what-is-acknowledged-is-synced", "S-21"));
        faults.push(("store/no-dir-sync", "what-is-acknowledged-is-synced", "S-21"));
        faults.push(("store/writes-in-place", "killed-at-every-call", "S-20"));
        faults.push(("store/leaves-temps", "leftovers*", "S-22"));
    }
    for (fault, only, rule) in faults {
        let mut options = vec!["--only", only];
        options.extend((only == "killed-at-every-call").then_some("--crash-points"));
        let (code, document) = skep(&options, &reference(Some(fault)));
        assert_eq!(rules(&document, "violated"), [rule.to_owned()].into(), "{fault}: {document:#}");
        assert_eq!(code, 2, "{fault}");
    }
}

#[test]
fn a_violation_has_a_story_with_the_entries_that_contradict_each_other() {
    let options = ["--only", "racing-processes*"];
    let (_, document) = skep(&options, &reference(Some("store/forgets-on-restart")));
    let rows = document["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["verdict"] == "violated").unwrap();
    let acts: Vec<_> = row["acts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(acts[0].contains("what contradicts itself"), "{acts:#?}");
    assert!(acts[1].contains("put") && acts[1].ends_with(": done"), "{acts:#?}");
    assert!(acts[2].ends_with("at the end, in a new process: nothing"), "{acts:#?}");
}

/// The interpreter itself: what stands in PATH may be a script that looks for it.
fn python() -> Option<String> {
    let ask = ["-c", "import sys; print(sys.executable)"];
    let output = Command::new("python3").args(ask).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|path| !path.is_empty())
}

#[test]
fn the_python_adapter_keeps_what_it_is_put_to() {
    let Some(python) = python() else {
        println!("skipped: there is no python3");
        return;
    };
    let mut options = vec!["--jobs", "8"];
    let few =
        ["a-conditional-remove*", "temporary*", "what-is-acknowledged*", "a-newer*", "*-linked*"];
    few.iter().for_each(|name| options.extend(["--only", name]));
    let (code, document) = skep(&options, &[python, adapter("python/store.py")]);
    assert_eq!(checks(&document, "violated"), BTreeSet::new(), "{document:#}");
    assert_eq!(code, 0);
}

#[test]
fn the_javascript_adapter_fails_where_the_contract_says() {
    if !is_installed("node") {
        println!("skipped: there is no node");
        return;
    }
    let mut options = vec!["--jobs", "8"];
    let mut expected = BTreeSet::new();
    let mut only = |name: &'static str, rule: &str| {
        options.extend(["--only", name]);
        expected.insert(rule.to_owned());
    };
    only("two-first-writes*", "S-10");
    only("temporary-names-are-unique", "S-23");
    only("a-damaged-file-is-kept", "S-31");
    only("a-closed-directory*", "S-33");
    if is_installed("strace") {
        only("what-is-acknowledged-is-synced", "S-21");
    }
    let store = ["node".to_owned(), adapter("javascript/keyed-ttl.mjs")];
    let (code, document) = skep(&options, &store);
    assert_eq!(rules(&document, "violated"), expected, "{document:#}");
    assert_eq!(code, 2);
    let rows = document["rows"].as_array().unwrap();
    let silent = rows.iter().find(|row| row["rule"] == "S-33").unwrap();
    let note = silent["note"].as_str().unwrap();
    assert!(note.contains("is not refused"), "{note}");
}

#[test]
fn nothing_is_left_in_the_folder_of_temporary_files() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(cargo_bin("skep"));
    command.env("TMPDIR", place.path()).args(["store", "--only", "S-2", "--only", "a-full-disk*"]);
    let status = command.arg("--").args(reference(None)).output().unwrap().status;
    assert_eq!(status.code(), Some(0));
    let left: Vec<PathBuf> =
        place.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}
