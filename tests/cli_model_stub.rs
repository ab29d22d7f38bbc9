//! The model stub by itself, and commands that are led to it.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(clippy::disallowed_methods, reason = "the test looks at real processes and files")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

const PROFILE: &str = r#"
agent "mine" {
    start "sh" "-c" "stat -c %a {home}/model; cat \"$HOME/model\"; echo \"$MODEL\"; exit 7"
    env "MODEL" "{url}/v1"
    file "model" mode="0600" "{key-end}\n"
}
"#;

/// A folder that stands for the system's temporary one.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn skep(&self) -> Command {
        let mut command = Command::new(cargo_bin("skep"));
        command.arg("model-stub").env("TMPDIR", self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn said(&self, words: &[&str]) -> Output {
        self.skep().args(words).output().unwrap()
    }

    fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().unwrap()).unwrap()
}

/// Asks a model what a client would ask it.
fn ask(url: &str, prompt: &str) -> String {
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    let body = format!(r#"{{"messages":[{{"role":"user","content":"{prompt}"}}]}}"#);
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn by_itself_it_prints_its_address_and_what_it_is_asked_until_a_signal() {
    let place = Place::new();
    let requests = place.0.path().join("asked.jsonl");
    let mut child = place.skep().arg("--requests").arg(&requests).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.next().unwrap();
    assert!(ask(&url, "Good morning.").contains("reply to Good morning."));
    let told = lines.next().unwrap();
    assert!(told.starts_with("anthropic           1 said   0 tools  \"Good morning.\" "), "{told}");
    assert!(told.ends_with("→ reply to Good morning."), "{told}");
    kill_process(pid(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let asked: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(requests).unwrap()).unwrap();
    assert_eq!(asked["body"]["messages"][0]["content"], "Good morning.");
}

#[test]
fn a_port_in_use_is_told() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = place.said(&["--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("without `--port`"), "{}", text(&output.stderr));
}

#[test]
fn a_profile_makes_a_home_and_its_command_ends_it() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("mine.kdl");
    fs::write(&profile, PROFILE).unwrap();
    let output = place.said(&["--agent-profile", profile.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    let url = told.lines().next().unwrap().strip_prefix("model ").unwrap();
    assert_eq!(text(&output.stdout), format!("600\n123456789-0123456789\n{url}/v1\n"));
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_the_command_line_says_outweighs_the_profile() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("mine.kdl");
    fs::write(&profile, PROFILE).unwrap();
    let words = ["--agent-profile", profile.to_str().unwrap(), "--env", "MODEL=mine"];
    assert!(text(&place.said(&words).stdout).ends_with("\nmine\n"));
}

#[test]
fn a_home_is_kept_where_that_is_asked_for() {
    let place = Place::new();
    let output = place.said(&["--keep", "--", "sh", "-c", "echo hello > \"$HOME/diary\""]);
    assert_eq!(output.status.code(), Some(0));
    let told = text(&output.stderr);
    let home = told.lines().last().unwrap().strip_prefix("kept  ").unwrap();
    assert_eq!(fs::read_to_string(Path::new(home).join("diary")).unwrap(), "hello\n");
}

#[test]
fn input_and_output_are_the_commands_own_and_places_are_filled_in() {
    let place = Place::new();
    let script = "cat; echo $1; echo $URL; echo lost >&2";
    let words = ["--env", "URL={url}", "--", "sh", "-c", script, "sh", "{home}"];
    let mut child = place.skep().args(words).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a line\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let told = text(&output.stderr);
    let mut told = told.lines();
    let url = told.next().unwrap().strip_prefix("model ").unwrap();
    let home = told.next().unwrap().strip_prefix("home  ").unwrap();
    assert_eq!(text(&output.stdout), format!("a line\n{home}\n{url}\n"));
    assert_eq!(told.next(), Some("lost"));
}

#[test]
fn what_the_command_asks_its_model_does_not_disturb_its_output() {
    let place = Place::new();
    let (read, write) = std::io::pipe().unwrap();
    let words = ["--", "sh", "-c", "echo {url}; cat"];
    let mut command = place.skep();
    let mut child = command.args(words).stdin(read).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.next().unwrap();
    ask(&url, "skep:echo aside");
    drop((write, command));
    assert_eq!(lines.next(), None);
    let told = text(&child.wait_with_output().unwrap().stderr);
    assert!(told.contains("\"skep:echo aside\""), "{told}");
}

fn within(most: Duration, so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + most;
    while Instant::now() < until && !so() {
        std::thread::sleep(Duration::from_millis(20));
    }
    so()
}

#[test]
fn a_signal_ends_the_whole_group_and_the_home() {
    let place = Place::new();
    let script = "sleep 600 & echo $!; trap '' TERM; wait; wait";
    let mut child = place.skep().args(["--", "sh", "-c", script]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let sleeper = Pid::from_raw(lines.next().unwrap().parse().unwrap()).unwrap();
    kill_process(pid(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // What was killed is there until somebody has taken note of its end.
    assert!(within(Duration::from_secs(10), || test_kill_process(sleeper).is_err()));
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_started_is_told() {
    let place = Place::new();
    for (words, told) in [
        (&["--", "/nowhere/at-all"][..], "`/nowhere/at-all` cannot be started"),
        (&["--agent-profile", "generic"], "there is no command"),
        (&["--agent-profile", "nobody"], "there is no agent profile `nobody`"),
    ] {
        let output = place.said(words);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
    assert_eq!(place.left(), Vec::<PathBuf>::new());
}
