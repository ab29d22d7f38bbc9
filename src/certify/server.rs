//! The servers that a session brings along: a stub that tells when it is started.
//!
//! An agent starts the stub as a process of its own. The stub calls a socket of ours, says its
//! name, and then answers as the smallest server does until its input ends.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skep_trace::{Process, Sighting};

use super::tape::{Tape, now};

/// The verb by which skep plays a server.
pub const VERB: &str = "certify-server";

/// Where servers call, and what they said.
#[derive(Debug)]
pub(super) struct Servers {
    socket: PathBuf,
    program: PathBuf,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whom a server is counted to: the process that runs now.
    agent: Mutex<Option<Process>>,
    started: Mutex<BTreeSet<String>>,
    changed: Condvar,
}

impl Servers {
    /// Listens at a path until the program ends.
    pub(super) fn listen(socket: &Path, program: &Path, tape: &Arc<Tape>) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let state = Arc::new(State::default());
        let (own, tape) = (Arc::clone(&state), Arc::clone(tape));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                own.take(stream, &tape);
            }
        });
        Ok(Self { socket: socket.to_owned(), program: program.to_owned(), state })
    }

    /// Counts what is started from now on to this process.
    pub(super) fn serve(&self, agent: &Process) {
        *lock(&self.state.agent) = Some(agent.clone());
    }

    /// A server as a session brings it along.
    pub(super) fn setup(&self, name: &str) -> Value {
        json!({
            "name": name, "command": self.program.to_string_lossy(),
            "args": [VERB, "--socket", self.socket.to_string_lossy(), "--name", name], "env": [],
        })
    }

    /// Waits for a server to be started; false when that takes longer.
    pub(super) fn await_start(&self, name: &str, within: Duration) -> bool {
        let deadline = now() + within;
        let mut started = lock(&self.state.started);
        while !started.contains(name) {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return false;
            }
            started = self
                .state
                .changed
                .wait_timeout(started, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}

impl State {
    /// One call is one name; a caller that says more is cut short.
    fn take(&self, stream: UnixStream, tape: &Tape) {
        const MOST_BYTES: u64 = 100;
        const PATIENCE: Duration = Duration::from_secs(1);
        let mut name = String::new();
        let bounded = stream.set_read_timeout(Some(PATIENCE));
        if bounded.is_err() || stream.take(MOST_BYTES).read_to_string(&mut name).is_err() {
            return;
        }
        if let Some(agent) = &*lock(&self.agent) {
            tape.saw(agent, Sighting::ServerStarted { server: name.as_str().into() });
        }
        lock(&self.started).insert(name);
        self.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stub itself: says its name, then answers until its input ends.
///
/// # Errors
/// When nobody listens at the socket, or its output is closed.
pub fn play(socket: &Path, name: &str) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(name.as_bytes())?;
    drop(stream);
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        if let Some(answer) = answer(&message) {
            let mut out = io::stdout().lock();
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// As a server without tools answers.
fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message.get("method")?.as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "skep", "version": env!("CARGO_PKG_VERSION")},
        }),
        "tools/list" => json!({"tools": []}),
        "resources/list" => json!({"resources": []}),
        "prompts/list" => json!({"prompts": []}),
        "ping" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": "there is no such method"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}
