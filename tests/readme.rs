//! What the README shows is what happens.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]
#![expect(clippy::disallowed_methods, reason = "the test writes the file that the README asks for")]

use assert_cmd::cargo::cargo_bin_cmd;

const README: &str = include_str!("../README.md");

/// The first block of that kind.
fn block(kind: &str) -> &'static str {
    let (_, after) = README.split_once(&format!("```{kind}\n")).unwrap();
    after.split_once("```").unwrap().0
}

/// Plays a text as the reader would, and gives what is printed.
fn played(text: &str, code: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.kdl"), text).unwrap();
    let mut skep = cargo_bin_cmd!("skep");
    let run = skep.args(["run", "mine.kdl"]).current_dir(folder.path()).assert().code(code);
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

#[test]
fn the_first_scenario_fails_as_it_is_shown() {
    let printed = played(block("kdl"), 2);
    for line in block("text").lines() {
        assert!(printed.contains(line), "the README shows {line:?}, printed is\n{printed}");
    }
}

#[test]
fn the_first_scenario_is_green_as_it_is_mended() {
    let (before, last) = block("kdl").rsplit_once("expect \"session/new\" count=1").unwrap();
    let mended = "never \"session/new\"\nexpect \"session/load\" count=1 session=\"s1\"";
    assert!(README.contains(
        "Write `never \"session/new\"` and `expect \"session/load\" count=1 session=\"s1\"`"
    ));
    played(&format!("{before}{mended}{last}"), 0);
}
