//! Stores that do not keep to the line protocol: each gets a verdict that says so, in bounded time,
//! and nothing of it is left.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the test looks at real processes")]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;

/// Longer than any of these may take on a loaded machine.
const BOUND: Duration = Duration::from_secs(40);

/// Answers as far as a look at the protocol goes.
const ANSWERS: &str = r#"while read -r line; do case $line in
    *'"get"'*) echo '{"ok":true,"session":null}';;
    *) echo '{"ok":true,"protocol":1}';;
esac; done"#;

/// What is said of a store that is this shell script.
fn said(script: &str) -> String {
    let mut command = Command::new(cargo_bin("skep"));
    command.args(["store", "--answer", "1s", "--", "sh", "-c", script]);
    let begun = Instant::now();
    let output = command.output().unwrap();
    assert!(begun.elapsed() < BOUND, "it took {:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 violated"), "nothing else is looked at: {text}");
    text
}

fn says(script: &str, expected: &str) {
    let text = said(script);
    assert!(text.contains(expected), "{expected}: {text}");
}

fn runs(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.into_iter().any(|line| {
        let words = line.split(|byte| *byte == 0);
        words.into_iter().any(|word| word == mark.as_bytes())
    })
}

#[test]
fn one_that_says_nothing() {
    says("cat >/dev/null", "it says nothing for 1.0 s");
}

#[test]
fn one_that_ends() {
    says("exit 3", "its process ended with exit code 3");
    says("kill -9 $$", "its process ended by signal 9");
}

#[test]
fn one_that_talks_nonsense() {
    says("read -r line; echo hello; cat >/dev/null", "since it is no JSON: `hello`");
    says("read -r line; echo '{}'; cat >/dev/null", "since it has no `ok` that is true or false");
    says(r#"read -r line; echo '{"ok":true,"protocol":9}'; cat"#, "since `protocol` is Some(9)");
    says(r"read -r line; printf '\377\n'; cat >/dev/null", "its line is no UTF-8");
}

#[test]
fn one_that_floods() {
    says("cat /dev/zero", "one line of it is longer than 16 MiB");
    says(r#"yes '{"ok":true,"protocol":1}'"#, "it says more than one line for one request");
    let noisy = format!("yes noise | head -c 3000000 >&2; {ANSWERS}");
    let mut command = Command::new(cargo_bin("skep"));
    command.args(["store", "--only", "S-6", "--answer", "5s", "--", "sh", "-c", &noisy]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("✓ line"), "a long log is read and dropped: {text}");
}

#[test]
fn one_that_goes_on_without_input() {
    let script = format!("trap '' TERM; {ANSWERS}; while :; do sleep 86431; done");
    says(&script, "it goes on when its standard input has ended, and on TERM as well");
    assert!(!runs("86431"), "its child is still there");
}

#[test]
fn one_that_leaves_a_process_behind() {
    let script = format!("sleep 86432 >/dev/null 2>&1 & {ANSWERS}");
    says(&script, "it ends and leaves processes behind");
    assert!(!runs("86432"), "what it left is still there");
}

#[test]
fn one_that_hangs_in_the_middle_of_a_check() {
    // It lists, and never answers a put.
    let script = r#"while read -r line; do case $line in
        *'"get"'*) echo '{"ok":true,"session":null}';;
        *'"put"'*) sleep 86433;;
        *) echo '{"ok":true,"protocol":1}';;
    esac; done"#;
    let mut command = Command::new(cargo_bin("skep"));
    command.args(["store", "--only", "S-2", "--answer", "1s", "--", "sh", "-c", script]);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("put a=1: no answer"), "{text}");
    assert!(text.contains("it says nothing for 1.0 s"), "{text}");
    assert!(!runs("86433"), "it is still there");
}

#[test]
fn a_command_line_that_means_nothing_is_usage() {
    let usage = |words: &[&str], expected: &str| {
        let output = Command::new(cargo_bin("skep")).arg("store").args(words).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(expected), "{text}");
    };
    usage(&["--", "no-such-store"], "there is no program `no-such-store`");
    usage(&["--only", "S-99", "--", "sh"], "no check of stores fits `S-99`");
    let output = Command::new(cargo_bin("skep")).arg("store").output().unwrap();
    assert_ne!(output.status.code(), Some(0), "a store must be named");
}
