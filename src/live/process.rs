//! One child process: started in a group of its own, its log read to the end, its end seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// Held while a program is written and while one is started. A child has every file of ours open
/// until it begins, and a program that is open for writing cannot be started: the harness would be
/// refused its agent, and be blamed.
static PROGRAMS: Mutex<()> = Mutex::new(());

/// A longer log line is cut here.
const LONGEST_LINE: usize = 64 * 1024;

/// A process that writes more than this to its log is still read, so that it does not stall, but
/// no longer listened to.
const MOST_LOG_BYTES: usize = 8 * 1024 * 1024;

/// How long the output of a process that has ended is still read: something it started may hold
/// it open.
const AFTERLIFE: Duration = Duration::from_millis(500);

/// What is to be started, and with what.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub(super) env: BTreeMap<OsString, OsString>,
    /// Where it stands.
    pub(super) cwd: PathBuf,
}

/// A running child. Its end is waited for; whoever started it kills its group.
pub(super) struct Running {
    child: Child,
    stdout: JoinHandle<()>,
}

/// Nothing is started, and no other program written, while this is held.
pub(super) fn programs() -> MutexGuard<'static, ()> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Exit(i32),
    Signal(i32),
}

impl Running {
    /// Starts a process and says its id; `on_line` hears every line of its output and its log.
    /// Must be called within a local set.
    ///
    /// # Errors
    /// When the program cannot be started, in words for a person.
    pub(super) fn start(
        launch: &Launch,
        on_line: impl Fn(&str) + Clone + 'static,
    ) -> Result<(Self, u32), String> {
        let (program, arguments) = launch.command.split_first().ok_or("the command is empty")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&launch.env).current_dir(&launch.cwd);
        command.process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let starting = programs();
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", program.to_string_lossy()))?;
        drop(starting);
        let pid = child.id().ok_or("the process was gone before it could be watched")?;
        let missing = "the process has no output";
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let stdout = read_lines(stdout.ok_or(missing)?, on_line.clone());
        // Its agents may hold the log open as long as they live: it is not waited for.
        tokio::task::spawn_local(read_lines(stderr.ok_or(missing)?, on_line));
        Ok((Self { child, stdout: tokio::task::spawn_local(stdout) }, pid))
    }

    /// Waits for its end, then reads its output to the end.
    pub(super) async fn ended(mut self) -> Last {
        let status = self.child.wait().await;
        let _late = tokio::time::timeout(AFTERLIFE, &mut self.stdout).await;
        self.stdout.abort();
        match status {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Last::Exit(code),
                (None, signal) => Last::Signal(signal.unwrap_or_default()),
            },
            Err(_) => Last::Exit(-1),
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
