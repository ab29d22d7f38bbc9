//! One child process: started in a group of its own, its log read to the end, its end seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;
use skep_trace::End;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::groups::Group;

/// A longer log line is cut here.
const LONGEST_LINE: usize = 16 * 1024;

/// A process that writes more than this to its log is still read, so that it does not stall, but
/// no longer listened to.
const MOST_LOG_BYTES: usize = 8 * 1024 * 1024;

/// What is to be started, and with what.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub(crate) env: BTreeMap<OsString, OsString>,
    /// Where it stands.
    pub(crate) cwd: PathBuf,
}

/// A running child.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    group: Group,
    readers: Vec<JoinHandle<()>>,
}

impl Running {
    /// Starts a process; `on_line` hears every line of its output and its log.
    ///
    /// # Errors
    /// When the program cannot be started, in words for a person.
    pub(crate) fn start(
        launch: &Launch,
        on_line: impl Fn(&str) + Clone + Send + 'static,
    ) -> Result<Self, String> {
        let (program, arguments) = launch.command.split_first().ok_or("the command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&launch.env).current_dir(&launch.cwd);
        command.process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", program.to_string_lossy()))?;
        let pid = child.id().ok_or("the process was gone before it could be watched")?;
        let group = Group::led_by(pid);
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            readers.push(tokio::spawn(read_lines(stdout, on_line.clone())));
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(tokio::spawn(read_lines(stderr, on_line)));
        }
        Ok(Self { child, group, readers })
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _gone = rustix::process::kill_process(pid, signal);
        }
    }

    /// Sends a signal to everything in its group.
    pub(crate) fn signal_group(&self, signal: Signal) {
        self.group.signal(signal);
    }

    /// Waits for its end. Cancel-safe.
    pub(crate) async fn ended(&mut self, by_us: bool) -> End {
        use std::os::unix::process::ExitStatusExt as _;
        let Ok(status) = self.child.wait().await else { return End::Exit(-1) };
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit(code),
            (None, signal) => End::Signal { signal: signal.unwrap_or(0), by_us },
        }
    }

    /// Kills what is left of the group and reads the log to its end: a grandchild that keeps the
    /// pipe open is killed by then, unless it left the group, and is not waited for.
    pub(crate) async fn bury(self) {
        self.group.signal(Signal::KILL);
        for reader in self.readers {
            let patience = std::time::Duration::from_millis(500);
            let _late = tokio::time::timeout(patience, reader).await;
        }
    }
}

/// Hands over every line of a stream; bytes that are no UTF-8 are replaced.
async fn read_lines(mut stream: impl AsyncRead + Unpin, on_line: impl Fn(&str)) {
    let mut chunk = vec![0; 8 * 1024];
    let mut line = Vec::new();
    let mut total = 0;
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        total += count;
        if total > MOST_LOG_BYTES {
            if total - count <= MOST_LOG_BYTES {
                on_line("(the log is longer than 8 MiB; the rest of it was read and dropped)");
            }
            continue;
        }
        for byte in &chunk[..count] {
            if *byte == b'\n' {
                on_line(&String::from_utf8_lossy(&line));
                line.clear();
            } else if line.len() < LONGEST_LINE {
                line.push(*byte);
            }
        }
    }
    if !line.is_empty() {
        on_line(&String::from_utf8_lossy(&line));
    }
}
