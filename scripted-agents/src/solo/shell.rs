//! The process around the agent: its pipes, its timers, its servers.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Character;
use super::agent::{Effect, Event, Solo};
use super::folder::{self, Folder};
use super::ground::{Facts, Ground, Kept};

/// The exit code of an agent that cannot keep its sessions.
const NO_HOME: i32 = 74;
/// The exit code of an agent whose client has gone.
const NO_CLIENT: i32 = 0;

/// Runs the agent until its input ends, and says its exit code.
pub(super) fn run(home: &Path, birthplace: &Path, character: Character) -> i32 {
    let folder = match Folder::open(&home.join(folder::NAME)) {
        Ok(folder) => folder,
        Err(error) => {
            let text = format!("the folder {} cannot be used: {error}", folder::NAME);
            // One who is not listening misses nothing.
            let _ = writeln!(io::stderr(), "skep scripted-agent: {text}");
            return NO_HOME;
        }
    };
    let mut solo = Solo::new(folder.process(), character);
    let mut place = Place { folder, birthplace: birthplace.to_owned(), servers: Vec::new() };
    let (sender, receiver) = mpsc::channel();
    read_lines(sender.clone());
    let mut timers = Vec::new();
    loop {
        let event = next(&receiver, &mut timers);
        for effect in solo.step(event, &mut place) {
            match effect {
                Effect::Write(bytes) => {
                    if write(&bytes).is_err() {
                        return NO_CLIENT;
                    }
                }
                Effect::Timer { timer, after_ms } => {
                    timers.push((now() + Duration::from_millis(after_ms), timer));
                }
                Effect::Exit(code) => return code,
            }
        }
    }
}

/// The next line, or the timer that is due before it.
fn next(lines: &Receiver<Event>, timers: &mut Vec<(Instant, u64)>) -> Event {
    let due = timers.iter().enumerate().min_by_key(|(_, timer)| **timer).map(|(at, _)| at);
    let never = || Event::End;
    match due {
        None => lines.recv().unwrap_or_else(|_| never()),
        Some(at) => {
            let left = timers[at].0.saturating_duration_since(now());
            match lines.recv_timeout(left) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => Event::Timer(timers.remove(at).1),
                Err(RecvTimeoutError::Disconnected) => never(),
            }
        }
    }
}

/// Reads in a thread of its own, so that a client which writes without reading is served too.
fn read_lines(events: Sender<Event>) {
    thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if !line.trim().is_empty() && events.send(Event::Line(line)).is_err() {
                return;
            }
        }
        // The agent has ended already.
        let _ = events.send(Event::End);
        // An agent that outlives its input waits for more of it.
        thread::park();
    });
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

#[expect(clippy::disallowed_methods, reason = "the process is where real time enters")]
fn now() -> Instant {
    Instant::now()
}

/// What the agent stands on in a real process.
struct Place {
    folder: Folder,
    birthplace: PathBuf,
    servers: Vec<Server>,
}

/// A server of a session; it ends when its input does.
struct Server {
    child: Child,
    _input: Option<ChildStdin>,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Gone already is gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ground for Place {
    fn read(&self, id: &str) -> Option<Kept> {
        self.folder.read(id)
    }

    fn ids(&self) -> Vec<String> {
        self.folder.ids()
    }

    fn put(&mut self, id: &str, facts: &Facts) {
        self.folder.put(id, facts);
    }

    fn append(&mut self, id: &str, update: &Value) {
        self.folder.append(id, update);
    }

    fn remove(&mut self, id: &str) {
        self.folder.remove(id);
    }

    fn start(&mut self, server: &Value) -> bool {
        match started(server) {
            Some(server) => {
                self.servers.push(server);
                true
            }
            None => false,
        }
    }

    fn work(&mut self, cwd: &str) {
        let path = Path::new(cwd).join("skep-notes.txt");
        let file = OpenOptions::new().append(true).create(true).open(path);
        // A tool that fails is a tool that fails: the client looks at the file itself.
        let _ = file.and_then(|mut file| file.write_all(b"a note\n"));
    }

    fn birthplace(&self) -> String {
        self.birthplace.to_string_lossy().into_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "the process is where real time enters")]
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Starts a server and says hello to it; what it answers is not needed.
#[expect(clippy::disallowed_methods, reason = "an agent starts the servers that it is told to")]
fn started(server: &Value) -> Option<Server> {
    let words = server["args"].as_array()?.iter().filter_map(Value::as_str);
    let pairs = server["env"].as_array()?.iter();
    let pairs = pairs.filter_map(|pair| Some((pair["name"].as_str()?, pair["value"].as_str()?)));
    let mut command = Command::new(server["command"].as_str()?);
    command.args(words).envs(pairs).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut input = child.stdin.take();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "skep-agent", "version": "1"},
        },
    });
    if let Some(input) = &mut input {
        input.write_all(format!("{hello}\n").as_bytes()).ok()?;
    }
    Some(Server { child, _input: input })
}
