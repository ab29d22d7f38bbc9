//! What `skep` teaches about itself.

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;

fn skep() -> Command {
    let mut command = cargo_bin_cmd!("skep");
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn help(words: &[&str]) -> String {
    let output = skep().args(words).assert().code(0).get_output().clone();
    String::from_utf8(output.stdout).expect("help is text")
}

#[test]
fn help_begins_with_what_skep_is_and_ends_with_the_exit_codes() {
    insta::assert_snapshot!(help(&["--help"]));
}

const VERBS: &[&str] = &[
    "run",
    "certify",
    "prove",
    "explore",
    "store",
    "crashes",
    "list",
    "model-stub",
    "replay",
    "relay",
    "completions",
];

#[test]
fn every_command_has_examples() {
    for verb in VERBS {
        let text = help(&["help", verb]);
        assert!(text.contains("Examples:"), "{verb}");
        assert!(text.contains(&format!("\n  skep {verb}")), "{verb}");
    }
}

#[test]
fn run_explains_its_options_by_what_they_are_for() {
    insta::assert_snapshot!(help(&["run", "--help"]));
}

#[test]
fn no_line_of_help_is_wider_than_a_hundred_columns() {
    for verb in VERBS {
        for line in help(&["help", verb]).lines() {
            assert!(line.chars().count() <= 100, "{verb}: {line}");
        }
    }
}

#[test]
fn verbs_that_skep_calls_itself_by_are_not_shown() {
    let text = help(&["--help"]);
    assert!(!text.contains("scripted-agent") && !text.contains("reference-"));
}

#[test]
fn the_version_is_told() {
    assert!(help(&["--version"]).starts_with("skep "));
}

#[test]
fn every_shell_gets_a_script_that_knows_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = help(&["completions", shell]);
        assert!(script.contains("prove") && script.contains("time-budget"), "{shell}");
    }
}
