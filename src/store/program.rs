//! One process of a store: in a group of its own, asked line by line, within bounds.
//!
//! Its pipes are read by whoever asks, and never by a thread behind their back: what it wrote to
//! standard error before an answer has been read when the answer has.

use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use skep_trace::Text;

use super::trouble::Trouble;
use crate::live::groups::Group;

/// A longer line is no answer: ten thousand receipts have a fifth of this.
const MOST_LINE_BYTES: usize = 16 << 20;
/// The first so many bytes of standard error are kept; the rest is read and dropped.
const MOST_LOG_BYTES: usize = 64 << 10;
/// How long a process may take to end once its input has.
const ENDING: Duration = Duration::from_secs(3);
/// How long one that was sent TERM may take.
const TERMINATING: Duration = Duration::from_secs(1);
/// How long a killed one may take to be gone.
const DYING: Duration = Duration::from_secs(5);

/// How a process is started.
#[derive(Clone, Debug, Default)]
pub(super) struct Launch {
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// Where it stands.
    pub(super) cwd: PathBuf,
    /// Its umask, if not ours.
    pub(super) umask: Option<u32>,
    /// No file of it may become longer than so many blocks of 512 bytes.
    pub(super) file_blocks: Option<u64>,
}

/// A running process. Dropping it kills it with its group.
pub(super) struct Program {
    group: Group,
    child: Child,
    pid: Pid,
    /// Readable once it has ended.
    end: OwnedFd,
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: ChildStderr,
    /// What it wrote to its output and nobody has taken yet.
    heard: Vec<u8>,
    log: Vec<u8>,
    logged: usize,
    /// It may still write to its log.
    logs: bool,
}

impl Program {
    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be started.
    #[expect(clippy::disallowed_methods, reason = "stores are processes in groups of their own")]
    pub(super) fn start(launch: &Launch) -> Result<Self, Trouble> {
        let words = launch.words();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&launch.cwd).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let cannot = |error: std::io::Error| Trouble::NoStart(error.to_string());
        let mut child = command.spawn().map_err(cannot)?;
        let group = Group::led_by(child.id());
        let pid = Pid::from_child(&child);
        let end = pidfd_open(pid, PidfdFlags::empty()).map_err(|code| cannot(code.into()))?;
        let piped = "it was started with three pipes";
        let input = child.stdin.take().expect(piped);
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let (output, errors) = (output.expect(piped), errors.expect(piped));
        for pipe in [input.as_fd(), output.as_fd(), errors.as_fd()] {
            ioctl_fionbio(pipe, true).map_err(|code| cannot(code.into()))?;
        }
        let (heard, log, input) = (Vec::new(), Vec::new(), Some(input));
        Ok(Self {
            group,
            child,
            pid,
            end,
            input,
            output,
            errors,
            heard,
            log,
            logged: 0,
            logs: true,
        })
    }

    /// Its process id.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends one request.
    ///
    /// # Errors
    /// When it is gone, does not read, or has said something that nobody asked.
    pub(super) fn send(&mut self, line: &str, within: Duration) -> Result<(), Trouble> {
        self.take_output()?;
        if !self.heard.is_empty() {
            return Err(Trouble::Unasked(self.heard_text()));
        }
        let deadline = now() + within;
        let bytes = format!("{line}\n").into_bytes();
        let mut left = &bytes[..];
        while !left.is_empty() {
            let Some(input) = &mut self.input else { return Err(Trouble::Closed) };
            match input.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !self.wait(deadline, true)? {
                        return Err(Trouble::ReadsNothing(within));
                    }
                    self.take_output()?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.gone()),
            }
        }
        Ok(())
    }

    /// The next line that it says.
    ///
    /// # Errors
    /// When it says none in time, or more than is listened to.
    pub(super) fn hear(&mut self, within: Duration) -> Result<String, Trouble> {
        let deadline = now() + within;
        loop {
            if let Some(line) = self.next_line()? {
                self.take_log();
                return Ok(line);
            }
            if self.take_output()? {
                continue;
            }
            if !self.wait(deadline, false)? {
                return Err(Trouble::Silent(within));
            }
        }
    }

    fn next_line(&mut self) -> Result<Option<String>, Trouble> {
        let Some(at) = self.heard.iter().position(|byte| *byte == b'\n') else {
            if self.heard.len() > MOST_LINE_BYTES {
                return Err(Trouble::LongLine(MOST_LINE_BYTES));
            }
            return Ok(None);
        };
        let rest = self.heard.split_off(at + 1);
        let mut line = std::mem::replace(&mut self.heard, rest);
        line.pop();
        let shown = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        String::from_utf8(line).map(Some).map_err(|bad| Trouble::NoText(shown(bad.as_bytes())))
    }

    /// Reads what is there by now, in one portion; `false`: nothing.
    fn take_output(&mut self) -> Result<bool, Trouble> {
        self.take_log();
        let mut portion = [0; 64 << 10];
        match self.output.read(&mut portion) {
            Ok(0) => Err(self.gone()),
            Ok(count) => {
                self.heard.extend_from_slice(&portion[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
            Err(_) => Err(self.gone()),
        }
    }

    fn take_log(&mut self) {
        let mut portion = [0; 16 << 10];
        while let Ok(count) = self.errors.read(&mut portion) {
            if count == 0 {
                self.logs = false;
                return;
            }
            let room = MOST_LOG_BYTES.saturating_sub(self.log.len()).min(count);
            self.log.extend_from_slice(&portion[..room]);
        }
    }

    /// The lines that it wrote to standard error since the last call.
    pub(super) fn log(&mut self) -> Vec<Text> {
        self.take_log();
        let new = String::from_utf8_lossy(&self.log[self.logged..]).into_owned();
        self.logged = self.log.len();
        new.lines().filter(|line| !line.trim().is_empty()).map(Into::into).collect()
    }

    /// Waits until it says something (or, if it is to be written to, reads); `false`: the time is
    /// up.
    fn wait(&self, deadline: Instant, writes: bool) -> Result<bool, Trouble> {
        let left = deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Ok(false);
        }
        let mut ends = vec![PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
        if self.logs {
            ends.push(PollFd::from_borrowed_fd(self.errors.as_fd(), PollFlags::IN));
        }
        if let Some(input) = self.input.as_ref().filter(|_| writes) {
            ends.push(PollFd::from_borrowed_fd(input.as_fd(), PollFlags::OUT));
        }
        match poll(&mut ends, Some(&timespec(left))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(true),
            Err(code) => Err(Trouble::NoStart(code.to_string())),
        }
    }

    /// Its output has ended: how it came to its end.
    fn gone(&mut self) -> Trouble {
        self.take_log();
        match self.ended_within(TERMINATING) {
            Some(status) => Trouble::Ended(ended(status)),
            None => Trouble::Closed,
        }
    }

    /// Its end, if it comes in time.
    pub(super) fn ended_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = now() + time;
        loop {
            let mut end = [PollFd::from_borrowed_fd(self.end.as_fd(), PollFlags::IN)];
            let left = deadline.saturating_duration_since(now());
            let woken = poll(&mut end, Some(&timespec(left)));
            if woken.is_ok_and(|count| count > 0) {
                return self.child.wait().ok();
            }
            if left.is_zero() {
                return None;
            }
            // It may fill a pipe before it ends.
            self.take_log();
        }
    }

    /// Ends its input and demands that it ends, and that nothing is left of it.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn retire(mut self) -> Result<(), Trouble> {
        self.input = None;
        if self.ended_within(ENDING).is_none() {
            self.group.signal_all(Signal::TERM);
            let heeds_term = self.ended_within(TERMINATING).is_some();
            return Err(Trouble::OutlivesInput { heeds_term });
        }
        if self.group.lives() {
            return Err(Trouble::LeavesProcesses);
        }
        Ok(())
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.group.signal_all(signal);
    }

    /// Kills it with its group, and waits until it is gone.
    pub(super) fn kill(&mut self) {
        self.group.signal_all(Signal::KILL);
        let _gone = self.ended_within(DYING);
    }

    fn heard_text(&self) -> String {
        let start = &self.heard[..self.heard.len().min(200)];
        String::from_utf8_lossy(start).trim_end().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Launch {
    /// The words to start: a shell sets what only a process can set for itself, and becomes the
    /// program.
    fn words(&self) -> Vec<OsString> {
        let mut script = String::new();
        if let Some(blocks) = self.file_blocks {
            // A write that goes too far is to fail, and not to kill.
            script += &format!("trap '' XFSZ; ulimit -f {blocks}; ");
        }
        if let Some(umask) = self.umask {
            script += &format!("umask {umask:03o}; ");
        }
        if script.is_empty() {
            return self.command.clone();
        }
        script += "exec \"$@\"";
        let shell = ["sh", "-c", &script, "sh"].map(OsString::from);
        shell.into_iter().chain(self.command.iter().cloned()).collect()
    }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, signal) => format!("by signal {}", signal.unwrap_or_default()),
    }
}

fn timespec(time: Duration) -> Timespec {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: time.subsec_nanos().into() }
}

/// The one place where the examination of a store reads the clock.
#[expect(clippy::disallowed_methods, reason = "stores are real processes in real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}
