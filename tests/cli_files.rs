//! Which files are read, and what is said about those that cannot be.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

const SCENARIO: i32 = 4;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        write(&path, text.as_bytes());
    }
    folder
}

#[expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]
fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("a file");
}

fn scenario(name: &str) -> String {
    format!(
        "// What it says. And more.\nscenario \"{name}\" {{\n    agent \"a\"\n    harness \"h\" agent=\"a\"\n    \
         step \"one\" {{\n        mention channel=\"general\"\n        expect \"session/new\"\n    }}\n}}\n"
    )
}

/// The names of the scenarios in these paths.
fn listed(folder: &Path, paths: &[&str]) -> Vec<String> {
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(folder).args(["list", "scenarios", "--format", "json"]).args(paths);
    let output = command.assert().code(0).get_output().clone();
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let scenarios = document["scenarios"].as_array().expect("a list").iter();
    scenarios.map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
}

fn refused(folder: &Path, paths: &[&str], code: i32) -> String {
    let mut command = cargo_bin_cmd!("skep");
    let output =
        command.current_dir(folder).arg("run").args(paths).assert().code(code).get_output().clone();
    String::from_utf8(output.stderr).expect("errors are text")
}

#[test]
fn a_folder_means_its_scenario_files_in_order() {
    let folder = folder(&[
        ("b.kdl", &scenario("second")),
        ("a/deep/x.kdl", &scenario("first")),
        ("notes.txt", "nothing"),
        (".hidden/y.kdl", &scenario("hidden")),
        ("cast.kdl", "agent \"a\"\n"),
        ("readme.md", "no blocks here\n"),
    ]);
    assert_eq!(listed(folder.path(), &["."]), ["first", "second"]);
}

#[test]
fn a_file_that_is_named_twice_is_meant_once() {
    let folder = folder(&[("a.kdl", &scenario("only"))]);
    assert_eq!(listed(folder.path(), &["a.kdl", "a.kdl"]), ["only"]);
}

#[test]
fn markdown_holds_scenarios_in_its_blocks() {
    let text = format!("# A bug\n\n```kdl\n{}```\n", scenario("from-a-report"));
    let folder = folder(&[("issue.md", &text), ("empty.md", "# Nothing\n")]);
    assert_eq!(listed(folder.path(), &["issue.md"]), ["from-a-report"]);
    let error = refused(folder.path(), &["empty.md"], SCENARIO);
    assert!(error.contains("there is no scenario in `empty.md`"), "{error}");
    assert!(error.contains("```kdl"), "{error}");
}

#[test]
fn a_shared_cast_is_found_beside_the_file_that_uses_it() {
    let using =
        "use \"cast.kdl\"\n".to_owned() + &scenario("shared").replace("    agent \"a\"\n", "");
    let folder = folder(&[("x/one.kdl", &using), ("x/cast.kdl", "agent \"a\"\n")]);
    assert_eq!(listed(folder.path(), &["x/one.kdl"]), ["shared"]);
    let skep = |words: &[&str]| {
        cargo_bin_cmd!("skep").args(words).current_dir(folder.path()).assert().success();
    };
    skep(&["run", "x/one.kdl", "--trace", "traces"]);
    fs::remove_file(folder.path().join("x/cast.kdl")).unwrap();
    let error = refused(folder.path(), &["x/one.kdl"], SCENARIO);
    assert!(error.contains("`cast.kdl` cannot be used"), "{error}");
    // A trace holds all that it needs to be judged again.
    skep(&["replay", "traces/shared.jsonl"]);
}

#[test]
fn all_mistakes_of_all_files_are_told_and_nothing_is_played() {
    let folder = folder(&[
        ("a.kdl", &scenario("one").replace("mention", "mentoin")),
        (
            "b.kdl",
            &scenario("two")
                .replace("step", "kills \"store/no-lok\"\n    rules \"H-999\"\n    step"),
        ),
        ("c.kdl", &scenario("three")),
    ]);
    let error = refused(folder.path(), &["."], SCENARIO);
    for said in
        ["`mention`?", "`store/no-lock`?", "no rule `H-999`", "3 mistakes; nothing was played"]
    {
        assert!(error.contains(said), "{said} is missing in\n{error}");
    }
}

#[test]
fn hostile_files_cost_neither_time_nor_memory() {
    let deep = "a {\n".repeat(10_000);
    let folder = folder(&[
        ("huge.kdl", &"x".repeat(10 * 1024 * 1024)),
        ("deep.kdl", &deep),
        ("many.kdl", &"step \"x\" {}\n".repeat(20_000)),
    ]);
    write(&folder.path().join("latin.kdl"), b"scenario \"\xff\"");
    let begun = clock();
    for file in ["huge.kdl", "deep.kdl", "many.kdl", "latin.kdl"] {
        refused(folder.path(), &[file], SCENARIO);
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[expect(clippy::disallowed_methods, reason = "this test is about real time")]
fn clock() -> Instant {
    Instant::now()
}

#[test]
fn an_empty_folder_is_told_as_such() {
    let folder = folder(&[("notes.txt", "nothing")]);
    let error = refused(folder.path(), &["."], 1);
    assert!(error.contains("there is no scenario in `.`"), "{error}");
}

#[test]
fn a_link_to_its_own_folder_is_not_followed() {
    let folder = folder(&[("a.kdl", &scenario("only"))]);
    std::os::unix::fs::symlink(".", folder.path().join("loop")).unwrap();
    assert_eq!(listed(folder.path(), &["."]), ["only"]);
}

#[test]
fn a_scenario_shows_no_file_that_is_none() {
    let using = "use \"secret.txt\"\n".to_owned() + &scenario("curious");
    let folder = folder(&[("one.kdl", &using), ("secret.txt", "token abc123\n")]);
    let error = refused(folder.path(), &["one.kdl"], SCENARIO);
    assert!(error.contains("`secret.txt` cannot be used") && !error.contains("abc123"), "{error}");
    let path = folder.path().join("cast.kdl");
    write(&path, b"agent \"a\"\n");
    let using = format!("use \"{}\"\n", path.display()) + &scenario("curious");
    write(&folder.path().join("two.kdl"), using.as_bytes());
    assert!(refused(folder.path(), &["two.kdl"], SCENARIO).contains("beside this one"));
}
