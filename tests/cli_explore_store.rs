//! `skep explore store`: the figures, the files, and what is said of a file that does not fit.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]

use std::fs;
use std::path::Path;

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

/// What is printed, and on standard error.
fn explore(folder: &Path, words: &[&str], code: i32) -> (String, String) {
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(folder).args(["explore", "store"]).args(words);
    let output = command.assert().code(code).get_output().clone();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn with_file(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("play.kdl"), text).unwrap();
    folder
}

/// Two writers of `snapshot-map`; the second has an old map.
const LOST: &str = r#"
store "snapshot-map" rule="S-10"

given "a" session="1"
process "one" { put "b" session="2"; }
process "two" { put "c" session="3"; }
schedule {
    one mkdir create write rename
    two rest
}
explained
"#;

#[test]
fn a_model_is_as_it_is_listed_and_each_of_its_files_breaks_again() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--store", "snapshot-map", "--out", "plays", "--format", "json"];
    let (document, _) = explore(folder.path(), &words, 0);
    let document: Value = serde_json::from_str(&document).unwrap();
    let schema: Value =
        serde_json::from_str(include_str!("../docs/explore-store.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema.iter_errors(&document).map(|one| one.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let store = &document["stores"][0];
    assert_eq!((&store["store"], &store["as_listed"]), (&"snapshot-map".into(), &true.into()));
    let asked = store["questions"].as_array().unwrap();
    let puts = asked.iter().find(|one| one["question"] == "puts").unwrap();
    assert!(puts["complete"] == true && puts["lost"].as_u64().unwrap() > 0, "{puts}");
    let files: Vec<_> = fs::read_dir(folder.path().join("plays")).unwrap().collect();
    assert_eq!(files.len(), 26);
    for file in files {
        let path = file.unwrap().path();
        let (shown, _) = explore(folder.path(), &[path.to_str().unwrap()], 2);
        assert!(shown.contains("snapshot-map breaks S-"), "{shown}");
    }
}

#[test]
fn a_file_is_shown_where_it_breaks() {
    let folder = with_file(LOST);
    let (shown, _) = explore(folder.path(), &["play.kdl"], 2);
    insta::assert_snapshot!(shown);
}

#[test]
fn a_file_can_be_played_on_another_store() {
    let folder = with_file(LOST);
    let (shown, _) = explore(folder.path(), &["play.kdl", "--store", "keyed-ttl"], 2);
    assert!(shown.contains("keyed-ttl breaks S-10"), "{shown}");
    let text = LOST.replace("one mkdir create write rename", "one rest");
    let folder = with_file(&text);
    let (shown, _) = explore(folder.path(), &["play.kdl", "--store", "reference"], 0);
    assert_eq!(shown, "reference keeps S-10: nothing in this play breaks it\n");
}

#[test]
fn a_file_that_does_not_fit_the_store_is_told_from_one_that_breaks() {
    let folder = with_file(LOST);
    let (_, told) = explore(folder.path(), &["play.kdl", "--store", "reference"], 4);
    assert!(told.contains("`one` does `lstat` next, not `mkdir`"), "{told}");
}

#[test]
fn a_file_with_mistakes_says_where_and_what_to_write() {
    let text = "store \"snapshot-mop\" rule=\"S-10\"\nproces \"one\"\ndo \"one\" { push \"a\"; }\n";
    let folder = with_file(text);
    let (_, told) = explore(folder.path(), &["play.kdl"], 4);
    for part in ["`snapshot-map`", "`process`", "`put`", "expects nothing", "4 mistakes"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_store_that_is_not_there_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let (_, told) = explore(folder.path(), &["--store", "binding-2"], 1);
    assert!(told.contains("did you mean `binding`?"), "{told}");
}
