//! Whatever ends a live run, nothing of it is left: no process, no folder, no port.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the test looks at real processes and files")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An agent that never answers, so that the run is still there when it is interrupted.
const STUCK: &str = r#"
scenario "stuck" {
    agent "a" load-session=#true { on "session/prompt" { hang } }
    harness "h" agent="a"
    step "waits" {
        mention channel="general"
        expect "session/prompt" count=1
        expect turn="done"
    }
}
"#;

/// A folder that stands for the system's temporary one, with a scenario in it.
struct Place(TempDir);

impl Place {
    fn new(scenario: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.scenario(), scenario).unwrap();
        fs::create_dir(place.tmp()).unwrap();
        place
    }

    fn scenario(&self) -> std::path::PathBuf {
        self.0.path().join("s.kdl")
    }

    fn tmp(&self) -> std::path::PathBuf {
        self.0.path().join("t")
    }

    fn skep(&self) -> Command {
        let mut command = Command::new(cargo_bin("skep"));
        command.args(["run", "--world", "live"]).arg(self.scenario()).env("TMPDIR", self.tmp());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A certificate of an agent that never answers, whose child leaves its group.
    fn certificate(&self) -> Command {
        let script = "setsid sleep 1000 < /dev/null > /dev/null 2>&1 & cat > /dev/null";
        let mut command = Command::new(cargo_bin("skep"));
        command.args(["certify", "--", "sh", "-c", script]).env("TMPDIR", self.tmp());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn is_clean(&self) -> bool {
        fs::read_dir(self.tmp()).unwrap().next().is_none() && processes(&self.tmp()).is_empty()
    }

    fn become_clean(&self) {
        assert!(
            within(Duration::from_secs(20), || self.is_clean()),
            "{:?}",
            processes(&self.tmp())
        );
    }
}

/// The processes that have to do with a folder: it stands in their command or environment.
fn processes(folder: &Path) -> Vec<u32> {
    let folder = folder.to_str().unwrap().as_bytes();
    let names = |file: String| {
        let text = fs::read(file).unwrap_or_default();
        text.windows(folder.len()).any(|part| part == folder)
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        names(format!("/proc/{pid}/cmdline")) || names(format!("/proc/{pid}/environ"))
    })
    .collect()
}

/// Looks again and again, for so long.
fn within(most: Duration, so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + most;
    while Instant::now() < until {
        if so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    so()
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Starts the run that is stuck, and waits until harness and agent are there.
fn stuck(place: &Place) -> Child {
    let child = place.skep().spawn().unwrap();
    // The run itself, its harness, its agent.
    assert!(within(Duration::from_secs(60), || processes(&place.tmp()).len() >= 3));
    child
}

/// Ends a stuck run as its user would: once, and as it is told then, once more.
fn ended_by(kind: Signal) {
    let place = Place::new(STUCK);
    let mut child = stuck(&place);
    signal(&child, kind);
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("once more ends them at once")));
    signal(&child, kind);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    place.become_clean();
}

#[test]
fn a_run_that_ends_leaves_nothing() {
    let place = Place::new(&STUCK.replace("{ on \"session/prompt\" { hang } }", ""));
    let output = place.skep().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(place.is_clean());
}

#[test]
fn ctrl_c_twice_leaves_nothing() {
    ended_by(Signal::INT);
}

#[test]
fn term_twice_leaves_nothing() {
    ended_by(Signal::TERM);
}

/// Who closes the terminal cannot ask twice.
#[test]
fn a_closed_terminal_leaves_nothing() {
    let place = Place::new(STUCK);
    let mut child = stuck(&place);
    signal(&child, Signal::HUP);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    place.become_clean();
}

/// Starts a certificate and waits until all lanes have their agents, and these their strays.
fn certificate(place: &Place) -> Child {
    let child = place.certificate().spawn().unwrap();
    let strays = || {
        let all = processes(&place.tmp()).into_iter();
        let command = |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        all.filter(|pid| command(pid) == b"sleep\x001000\0").count()
    };
    assert!(within(Duration::from_secs(60), || strays() == 3));
    child
}

#[test]
fn a_certificate_that_is_interrupted_leaves_nothing_not_even_what_left_its_group() {
    let place = Place::new(STUCK);
    let mut child = certificate(&place);
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(place.is_clean(), "{:?}", processes(&place.tmp()));
}

#[test]
fn a_certificate_whose_terminal_is_closed_leaves_nothing() {
    let place = Place::new(STUCK);
    let mut child = certificate(&place);
    signal(&child, Signal::HUP);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    place.become_clean();
}

/// Nobody can clean up after that but the processes themselves; the folder stays behind.
#[test]
fn a_run_that_is_killed_leaves_no_process() {
    let place = Place::new(STUCK);
    let mut child = stuck(&place);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    let gone = || processes(&place.tmp()).is_empty();
    assert!(within(Duration::from_secs(20), gone), "{:?}", processes(&place.tmp()));
}

fn harness(script: &str) -> (Place, i32, String) {
    let place = Place::new(&STUCK.replace("{ on \"session/prompt\" { hang } }", ""));
    let program = place.0.path().join("h.sh");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    let output = place.skep().arg("--harness").arg(format!("sh {}", program.display())).output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let code = output.status.code().unwrap();
    (place, code, text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_harness_that_dies_at_once_is_to_blame() {
    let (place, code, text) = harness("exit 3");
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("blame: harness"), "{text}");
    place.become_clean();
}

#[test]
fn a_harness_that_floods_its_output_and_dies_is_to_blame() {
    let (place, code, text) = harness("head -c 20000000 /dev/zero | tr '\\0' 'x'; exit 3");
    assert_eq!(code, 2, "{text}");
    place.become_clean();
}

#[test]
fn a_harness_that_does_not_exist_is_told_of() {
    let place = Place::new(STUCK);
    let output = place.skep().args(["--harness", "/nowhere/at-all"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("/nowhere/at-all"), "{text}");
    assert!(!output.status.success());
    assert!(place.is_clean());
}

#[test]
fn a_relay_by_itself_says_what_a_harness_needs_and_ends_when_it_is_asked() {
    let mut command = Command::new(cargo_bin("skep"));
    command.args(["relay", "--channel", "general"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let address = url.strip_prefix("BUZZ_RELAY_URL=ws://").unwrap();
    std::net::TcpStream::connect(address).unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(std::net::TcpStream::connect(address).is_err());
}
