//! Harnesses that do what no harness should: each gets a clear verdict in bounded time, and
//! nothing of it is left.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the test looks at real processes and files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

const SCENARIO: &str = r#"
scenario "a-mention-is-answered" {
    agent "a" load-session=#true
    harness "h" agent="a"
    step "it comes" {
        mention channel="general"
        expect turn="done"
    }
    step "and it goes" {
        stop "h"
        expect exit
    }
}
"#;

/// Short waits, so that a test of them is short; `MORE` is each test's own.
const PROFILE: &str = r#"
harness-profile "wild" {
    setting "relay-url" env="URL"
    setting "private-key" env="KEY"
    setting "agent-command" env="AGENT"
    setting "state-dir" env="STATE"
    env "PATH" "/usr/bin:/bin"
    quiet "300ms"
    wait "ready" "2s"
    wait "stop" "1s"
    wait "tick" "1s"
    wait "request" "1s"
    wait "cancel" "0s"
    wait "reconnect" "1s"
    memory-mib 48
    MORE
}
"#;

/// Longer than any of these may take on a loaded machine, and far below what a default would be.
const BOUND: Duration = Duration::from_secs(40);

struct Played {
    place: TempDir,
    code: i32,
    text: String,
}

impl Played {
    fn tmp(place: &TempDir) -> PathBuf {
        place.path().join("t")
    }

    /// The harness is a shell script.
    fn new(script: &str, more: &str) -> Self {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("s.kdl"), SCENARIO).unwrap();
        fs::write(at("p.kdl"), PROFILE.replace("MORE", more)).unwrap();
        fs::write(at("h.sh"), script).unwrap();
        fs::create_dir(Self::tmp(&place)).unwrap();
        let begun = Instant::now();
        let output = Command::new(cargo_bin("skep"))
            .args(["run", "--has", "owner-commands", "--harness"])
            .arg(format!("sh {}", at("h.sh").display()))
            .arg("--harness-profile")
            .arg(at("p.kdl"))
            .arg(at("s.kdl"))
            .env("TMPDIR", Self::tmp(&place))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(begun.elapsed() < BOUND, "{:?}\n{text}", begun.elapsed());
        Self { code: output.status.code().unwrap(), text, place }
    }

    fn is_blamed(&self, said: &[&str]) {
        assert_eq!(self.code, 2, "{}", self.text);
        assert!(self.text.contains("blame: harness"), "{}", self.text);
        self.says(said);
        self.left_nothing();
    }

    fn says(&self, said: &[&str]) {
        for said in said {
            assert!(self.text.contains(said), "{said} is missing in\n{}", self.text);
        }
    }

    fn left_nothing(&self) {
        let tmp = Self::tmp(&self.place);
        assert!(fs::read_dir(&tmp).unwrap().next().is_none());
        assert_eq!(processes(&tmp), Vec::<u32>::new());
    }
}

/// The processes that have a folder in their environment.
fn processes(folder: &Path) -> Vec<u32> {
    let folder = folder.to_str().unwrap().as_bytes();
    let names = |pid: &u32| {
        let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        env.windows(folder.len()).any(|part| part == folder)
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(names).collect()
}

#[test]
fn one_that_crashes_at_start_is_to_blame_and_its_last_words_are_told() {
    let played = Played::new("echo no such relay; exit 3", "ready \"presence\"");
    played.is_blamed(&["the end of the log of h#1:", "no such relay"]);
}

#[test]
fn one_that_prints_garbage_for_ever_is_told_what_was_awaited() {
    let script = "while :; do head -c 300 /dev/urandom; sleep 0.01; done";
    Played::new(script, "ready \"presence\"").is_blamed(&[
        "h#1 did not become ready",
        "to publish its presence",
        "it did not even connect",
    ]);
}

#[test]
fn one_that_never_becomes_ready_is_told_what_it_did_instead() {
    let script = "echo warming up; exec sleep 1000";
    Played::new(script, "ready log=\"listening\"").is_blamed(&[
        "h#1 did not become ready",
        "to log `listening`",
        "warming up",
    ]);
}

#[test]
fn children_do_not_outlive_the_run_even_out_of_their_group() {
    let script = "sleep 1000 & setsid sleep 1000 & echo listening; exec sleep 1000";
    let played = Played::new(script, "ready log=\"listening\"");
    played.is_blamed(&["processes hid from its end"]);
}

#[test]
fn one_that_eats_memory_is_stopped_and_told_so() {
    let script = "x=$(head -c 2000000 /dev/zero | tr '\\0' x); y=; \
                  while :; do y=\"$y$x\"; sleep 0.05; done";
    let played = Played::new(script, "ready \"presence\"; wait \"ready\" \"30s\"");
    played.is_blamed(&["more than the 48 that its profile allows"]);
}

#[test]
fn one_that_ignores_term_is_killed_and_told_so() {
    let script = "trap '' TERM; echo listening; while :; do sleep 0.1; done";
    let played = Played::new(script, "ready log=\"listening\"");
    played.is_blamed(&["it ignored TERM and was killed"]);
}

#[test]
fn one_that_says_that_it_is_ready_and_does_nothing_is_to_blame_after_its_own_waits() {
    let script = "echo listening; exec sleep 1000";
    let played = Played::new(script, "ready log=\"listening\"");
    played.is_blamed(&["of silence in step 1"]);
}
