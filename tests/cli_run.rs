//! `skep run` from end to end: what is played, what is printed, what the process ends with.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

const HELD: i32 = 0;
const VIOLATED: i32 = 2;
const SCENARIO: i32 = 4;

/// Holds on the reference.
const GREEN: &str = r#"
// A restart finds the conversation again.
scenario "it-is-found-again" {
    rules "H-1"
    cites "block/buzz#5342"

    agent "a" load-session=#true
    harness "h" agent="a"

    step "a first mention opens a session" {
        mention channel="general"
        expect "session/new" count=1 bind="s1"
        expect turn="done"
    }
    step "the next life loads it" {
        restart "h"
        mention channel="general"
        expect "session/load" count=1 session="s1"
        never "session/new"
    }
}
"#;

/// Asks for what a good harness does not do.
const RED: &str = r#"
scenario "it-is-opened-again" {
    agent "a" load-session=#true
    harness "h" agent="a"

    step "a first mention opens a session" {
        mention channel="general"
        expect "session/new" count=1 bind="s1"
    }
    step "the next life opens another" {
        restart "h"
        mention channel="general"
        expect "session/new" count=1
    }
}
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(&folder.path().join("green.kdl"), GREEN);
    write(&folder.path().join("red.kdl"), RED);
    folder
}

#[expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]
fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
}

#[expect(clippy::disallowed_methods, reason = "the user's files are what these tests are about")]
fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

fn skep(folder: &Path, words: &[&str]) -> Command {
    let mut command = cargo_bin_cmd!("skep");
    command.current_dir(folder).args(words).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn printed(folder: &Path, words: &[&str], code: i32) -> String {
    let output = skep(folder, words).assert().code(code).get_output().clone();
    String::from_utf8(output.stdout).expect("reports are text")
}

fn run(folder: &Path, words: &[&str], code: i32) -> String {
    printed(folder, &[&["run", "--gear", "event"], words].concat(), code)
}

#[test]
fn a_test_that_holds_is_a_line_and_a_sum() {
    let folder = folder();
    let text = run(folder.path(), &["green.kdl"], HELD);
    assert!(
        text.starts_with("green.kdl\n  ✓ it-is-found-again\n\n1 held · in sim/event, "),
        "{text}"
    );
    assert_eq!(run(folder.path(), &["green.kdl", "--quiet"], HELD), "");
}

#[test]
fn a_test_that_does_not_hold_tells_its_story() {
    let folder = folder();
    let text = run(folder.path(), &["red.kdl", "--quiet"], VIOLATED);
    for said in [
        "expect/session-new in it-is-opened-again, step 2",
        "╭─[red.kdl:13:9]",
        "the wire, from the start of h#2 on:",
        "session/load",
        "blame: harness",
        "again: skep run red.kdl --only it-is-opened-again --gear event --seed 0 --until",
        "1 violated",
    ] {
        assert!(text.contains(said), "{said} is missing in\n{text}");
    }
}

#[test]
fn the_command_of_a_story_shows_the_moment_again() {
    let folder = folder();
    let text = run(folder.path(), &["red.kdl"], VIOLATED);
    let again = text.lines().find_map(|line| line.trim().strip_prefix("again: skep ")).unwrap();
    let words: Vec<&str> = again.split(' ').collect();
    let shown = printed(folder.path(), &words, VIOLATED);
    assert!(shown.contains("step 2: the next life opens another"), "{shown}");
    assert!(shown.contains("▸ restart \"h\""), "{shown}");
    assert!(shown.contains("never/") || shown.contains("expect/session-new in"), "{shown}");
}

#[test]
fn equal_runs_print_equal_bytes() {
    let folder = folder();
    let words = ["red.kdl", "--format", "json", "--seed", "7"];
    let first = run(folder.path(), &words, VIOLATED);
    assert_eq!(first, run(folder.path(), &words, VIOLATED));
    let document: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(document["tests"][0]["seed"], 7);
    assert_eq!(document["tests"][0]["verdict"], "violated");
}

#[test]
fn a_fault_of_the_reference_turns_a_good_scenario_red() {
    let folder = folder();
    let words = ["green.kdl", "--mutant", "store/forgets-on-restart"];
    let text = run(folder.path(), &words, VIOLATED);
    assert!(text.contains("fault: store/forgets-on-restart, switched on"), "{text}");
    assert!(text.contains("--mutant store/forgets-on-restart --seed 0"), "{text}");
    assert!(!text.contains("reference harness"), "with a fault it is held to be wrong:\n{text}");
}

#[test]
fn the_reference_is_not_blamed_without_a_word_on_why_the_scenario_may_be_wrong() {
    let folder = folder();
    let text = run(folder.path(), &["red.kdl"], VIOLATED);
    let (_, after) = text.split_once("  blame: harness\n").expect("it blames the harness");
    assert!(after.starts_with("  note:  this is skep's own reference harness;"), "{text}");
    let listed = text.lines().find(|line| line.contains("✗ it-is-opened-again"));
    assert!(listed.is_some_and(|line| !line.contains("reference harness")), "{text}");
}

#[test]
fn what_only_ends_with_the_run_is_no_part_of_a_story() {
    let folder = folder();
    let lost =
        |words: &[&str]| run(folder.path(), words, VIOLATED).matches("lost its connection").count();
    assert_eq!(lost(&["red.kdl"]), 0);
    assert_eq!(lost(&["red.kdl", "--until", "1h"]), 1, "only the life that a step killed");
}

#[test]
fn nothing_to_damage_before_any_session_is_the_scenario_s_mistake() {
    let folder = folder();
    let text = r#"scenario "it-is-damaged" {
        agent "a"
        harness "h"
        step "at once" {
            disk corrupt
            mention channel="general"
            expect turn="done"
        }
    }"#;
    write(&folder.path().join("disk.kdl"), text);
    let told = run(folder.path(), &["disk.kdl"], SCENARIO);
    assert!(told.contains("blame: scenario"), "{told}");
    assert!(told.contains("before any session was there to be stored"), "{told}");
}

#[test]
fn a_harness_that_a_step_stopped_is_not_blamed_in_it_or_later() {
    let folder = folder();
    let text = r#"scenario "nobody-hears-it" {
        agent "a"
        harness "h"
        step "it is stopped" {
            stop "h"
            mention channel="general"
            expect turn="done"
        }
        step "and stays so" {
            mention channel="general"
            expect turn="done"
        }
    }"#;
    write(&folder.path().join("stop.kdl"), text);
    let told = run(folder.path(), &["stop.kdl"], SCENARIO);
    assert!(told.contains("h#1 was stopped and not started again"), "{told}");
    assert!(!told.contains("blame: harness"), "{told}");
}

#[test]
fn only_those_that_are_asked_for_are_played() {
    let folder = folder();
    let text = run(folder.path(), &[".", "--only", "*found*"], HELD);
    assert!(text.contains("1 held"), "{text}");
}

#[test]
fn repeats_are_one_line_with_the_seeds_after_the_first() {
    let folder = folder();
    let text = run(folder.path(), &["green.kdl", "--repeat", "3", "--seed", "5"], HELD);
    assert!(text.contains("✓ it-is-found-again  3 of 3 held"), "{text}");
    let words = ["green.kdl", "--repeat", "2", "--seed", "5", "--format", "json"];
    let document: Value = serde_json::from_str(&run(folder.path(), &words, HELD)).unwrap();
    assert_eq!([&document["tests"][0]["seed"], &document["tests"][1]["seed"]], [5, 6]);
}

#[test]
fn a_trace_is_judged_again_with_the_same_verdict() {
    let folder = folder();
    run(folder.path(), &[".", "--trace", "traces"], VIOLATED);
    let replayed = |name: &str, code| printed(folder.path(), &["replay", name], code);
    assert!(replayed("traces/it-is-found-again.jsonl", HELD).contains("1 held"));
    let story = replayed("traces/it-is-opened-again.jsonl", VIOLATED);
    assert!(story.contains("expect/session-new in it-is-opened-again, step 2"), "{story}");
    let words = ["replay", "traces/it-is-found-again.jsonl", "--until", "0s"];
    assert!(printed(folder.path(), &words, HELD).contains("the rest comes later"));
    let words = ["replay", "traces/it-is-found-again.jsonl", "--until", "1h"];
    assert!(printed(folder.path(), &words, HELD).contains("h: + sessions-"));
}

#[test]
fn reports_are_written_beside_the_terminals() {
    let folder = folder();
    let words =
        [".", "--report", "junit=out.xml", "--report", "markdown=out.md", "--report", "github=-"];
    let text = run(folder.path(), &words, VIOLATED);
    assert!(
        text.contains("::error file=red.kdl,line=13,col=9,title=it-is-opened-again::"),
        "{text}"
    );
    assert!(read(&folder.path().join("out.xml")).contains("<failure message="));
    assert!(read(&folder.path().join("out.md")).starts_with("## skep: violated"));
}

#[test]
fn tests_that_the_time_budget_leaves_over_are_inconclusive() {
    let folder = folder();
    let words = ["green.kdl", "--repeat", "2000", "--time-budget", "0s", "--jobs", "1"];
    let text = run(folder.path(), &words, 3);
    assert!(text.contains("the time budget was used up before it"), "{text}");
}

#[test]
fn a_scenario_of_ones_own_is_proved_by_what_it_notices() {
    let folder = folder();
    let mutants = ["--mutant", "harness/never-loads"];
    let words = [&["prove", "green.kdl"], &mutants[..]].concat();
    let text = printed(folder.path(), &words, HELD);
    assert!(text.contains("harness/never-loads H-1    1  ○"), "{text}");
    let claim = GREEN.replace("rules \"H-1\"", "kills \"store/no-lock\"");
    write(&folder.path().join("claim.kdl"), &claim);
    let text = printed(folder.path(), &["prove", "claim.kdl"], VIOLATED);
    assert!(text.contains("it-is-found-again  kills store/no-lock"), "{text}");
}
