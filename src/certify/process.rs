//! One process of an agent: in a group of its own, its output read to its end, its end seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, test_kill_process_group};
use skep_trace::{End, Process, Sighting, What};

use super::bounds::{MOST_LINE_BYTES, MOST_LINES, MOST_OUTPUT_BYTES};
use super::log;
use super::tape::{Tape, now};
use super::tenants::Tenants;
use crate::live::groups::Group;
use crate::live::strays::{self, Stray};

/// Lines that wait to be looked at; an agent that writes more waits for us.
const AHEAD: usize = 64;
/// How long a group that was killed is watched until it is empty.
const EMPTYING: Duration = Duration::from_secs(2);
/// How long those whom a process left behind may take to notice it.
const LINGERING: Duration = Duration::from_millis(300);
/// How long the output of a process that has ended is still read: something that it started may
/// hold it open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Between two looks at a group: the system tells nobody when one is empty.
const LOOK: Duration = Duration::from_millis(5);

/// What is to be started, and with what.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub(super) env: BTreeMap<OsString, OsString>,
    /// Where it stands.
    pub(super) cwd: PathBuf,
    /// What lives in its home.
    pub(super) tenants: Arc<Tenants>,
}

/// Something that a process does.
#[derive(Debug)]
pub(super) enum Heard {
    /// It wrote a line; false: with bytes that are no UTF-8.
    Line(String, bool),
    /// It wrote a line that is longer than what is read.
    LongLine,
    /// It wrote more than is read.
    Flood,
    /// Its output has ended.
    Silence,
    /// It is gone.
    Ended(ExitStatus),
}

/// A running process. Dropping it kills it with its group.
#[derive(Debug)]
pub(super) struct Running {
    name: Process,
    tape: Arc<Tape>,
    tenants: Arc<Tenants>,
    pid: u32,
    group: Option<Group>,
    input: Option<Sender<Vec<u8>>>,
    heard: Receiver<Heard>,
    /// Ends with the log.
    log: Option<Receiver<()>>,
    ended: bool,
    killed: bool,
}

impl Running {
    /// Starts a process.
    ///
    /// # Errors
    /// When the program cannot be started.
    #[expect(clippy::disallowed_methods, reason = "agents are processes in groups of their own")]
    pub(super) fn start(launch: &Launch, name: Process, tape: Arc<Tape>) -> io::Result<Self> {
        let (program, arguments) =
            launch.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&launch.env).current_dir(&launch.cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, group) = Group::start(&mut command)?;
        let (pid, tenants) = (child.id(), Arc::clone(&launch.tenants));
        tenants.enter();
        let (events, heard) = mpsc::sync_channel(AHEAD);
        let input = child.stdin.take().map(write_lines);
        if let Some(stdout) = child.stdout.take() {
            read_lines(stdout, events.clone());
        }
        let log = child.stderr.take().map(|stderr| log::read(stderr, &name, Arc::clone(&tape)));
        await_end(child, events);
        let group = Some(group);
        let (ended, killed) = (false, false);
        Ok(Self { name, tape, tenants, pid, group, input, heard, log, ended, killed })
    }

    /// Hands bytes to its standard input; it never waits for the process to read them.
    pub(super) fn write(&self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            // A process that is gone is noticed by its end.
            let _gone = input.send(bytes);
        }
    }

    /// The next thing that it does; `None` when that takes longer, or nothing more will come.
    pub(super) fn next(&mut self, within: Duration) -> Option<Heard> {
        if self.ended {
            return None;
        }
        match self.heard.recv_timeout(within) {
            Ok(Heard::Ended(status)) => {
                self.note_end(status);
                Some(Heard::Ended(status))
            }
            Ok(Heard::Flood) => {
                let bytes = u64::try_from(MOST_OUTPUT_BYTES).unwrap_or(u64::MAX);
                self.tape.saw(&self.name, Sighting::Flood { bytes });
                self.kill_group();
                Some(Heard::Flood)
            }
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// What it had said when it ended; nothing is waited for.
    pub(super) fn left(&mut self) -> Option<Heard> {
        self.heard.recv_timeout(LAST_WORDS).ok().filter(|heard| !matches!(heard, Heard::Silence))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Ends its standard input.
    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    pub(super) fn kill(&mut self) {
        self.killed = true;
        if let Some(group) = &self.group {
            group.signal(Signal::KILL);
        }
    }

    /// Kills everything that it started, in its group or out of it.
    pub(super) fn kill_group(&mut self) {
        self.killed = true;
        if let Some(group) = &self.group {
            group.signal_all(Signal::KILL);
        }
        self.kill_strays();
    }

    fn kill_strays(&self) {
        // What starts others while it is being killed is found in the next round.
        const ROUNDS: usize = 10;
        for _ in 0..ROUNDS {
            let strays = self.strays();
            if strays.is_empty() {
                return;
            }
            strays.iter().for_each(Stray::kill);
            for stray in &strays {
                let command = stray.command().into();
                self.tape.saw(&self.name, Sighting::Strayed { command });
            }
            strays::await_ends(&strays, EMPTYING);
        }
    }

    /// What it started and left its group. While another process of the home lives, nobody can
    /// say whose it is: then it is left to that one.
    fn strays(&self) -> Vec<Stray> {
        let mut strays = self.tenants.strays();
        let own = i32::try_from(self.pid).ok();
        strays.retain(|stray| Some(stray.group()) != own);
        strays
    }

    pub(super) fn terminate(&mut self) {
        if let Some(group) = &self.group {
            group.signal_all(Signal::TERM);
        }
    }

    fn note_end(&mut self, status: ExitStatus) {
        self.ended = true;
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit(code),
            (None, signal) => {
                End::Signal { signal: signal.unwrap_or_default(), by_us: self.killed }
            }
        };
        self.tape.note(What::AgentEnded { agent: self.name.clone(), end });
    }

    /// Makes sure that nothing of what it started is left, and says so where something was.
    pub(super) fn sweep(&mut self) {
        if self.ended && !self.is_alone_within(LINGERING) {
            self.tape.saw(&self.name, Sighting::Orphans);
        }
        self.kill_group();
        let deadline = now() + EMPTYING;
        while !self.ended && now() < deadline {
            if self.next(LOOK).is_none() && self.ended {
                break;
            }
        }
        // What is still there is about to die of a signal that cannot be refused.
        let _emptied = self.is_empty_within(EMPTYING);
        if let Some(log) = &self.log {
            // The reason for an end is the last thing that is written.
            let _read = log.recv_timeout(LAST_WORDS);
        }
        self.group = None;
        self.tenants.leave();
    }

    /// Nothing that it started is left, or nothing after so much time for each kind.
    fn is_alone_within(&self, time: Duration) -> bool {
        let empty = self.is_empty_within(time);
        strays::await_ends(&self.strays(), time) == 0 && empty
    }

    fn is_empty_within(&self, time: Duration) -> bool {
        let deadline = now() + time;
        loop {
            let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
            if pid.is_none_or(|pid| test_kill_process_group(pid).is_err()) {
                return true;
            }
            if now() >= deadline {
                return false;
            }
            thread::park_timeout(LOOK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.group.is_some() {
            self.sweep();
        }
    }
}

/// Writes in a thread of its own: an agent that does not read must not keep us from reading.
fn write_lines(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for bytes in receiver {
            if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

fn await_end(mut child: Child, events: SyncSender<Heard>) {
    thread::spawn(move || {
        if let Ok(status) = child.wait() {
            // Nobody may be interested any more.
            let _ = events.send(Heard::Ended(status));
        }
    });
}

fn read_lines(stdout: impl Read + Send + 'static, events: SyncSender<Heard>) {
    thread::spawn(move || {
        let mut lines = Lines::default();
        let sent = lines.read(stdout, &mut |heard| events.send(heard).is_ok());
        if sent {
            // Nobody may be interested any more.
            let _ = events.send(Heard::Silence);
        }
    });
}

/// Bytes to lines, in bounded memory.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    /// The line is too long already; the rest of it is passed over.
    skips: bool,
    total: usize,
    count: usize,
}

impl Lines {
    /// Reads to the end; false when nobody listens or too much was said.
    fn read(&mut self, mut from: impl Read, tell: &mut dyn FnMut(Heard) -> bool) -> bool {
        let mut portion = vec![0; 64 * 1024];
        loop {
            let count = from.read(&mut portion).unwrap_or(0);
            if count == 0 {
                return self.line.is_empty() || self.end_line(tell);
            }
            self.total += count;
            if self.total > MOST_OUTPUT_BYTES {
                tell(Heard::Flood);
                return false;
            }
            if !self.take(&portion[..count], tell) {
                return false;
            }
        }
    }

    fn take(&mut self, mut bytes: &[u8], tell: &mut dyn FnMut(Heard) -> bool) -> bool {
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            self.grow(&bytes[..at]);
            if !self.end_line(tell) {
                return false;
            }
            bytes = &bytes[at + 1..];
        }
        self.grow(bytes);
        true
    }

    fn grow(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > MOST_LINE_BYTES {
            self.skips = true;
            self.line = Vec::new();
        }
        if !self.skips {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self, tell: &mut dyn FnMut(Heard) -> bool) -> bool {
        self.count += 1;
        if self.count > MOST_LINES {
            tell(Heard::Flood);
            return false;
        }
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.skips) {
            return tell(Heard::LongLine);
        }
        match String::from_utf8(line) {
            Ok(line) => tell(Heard::Line(line, true)),
            Err(error) => {
                tell(Heard::Line(String::from_utf8_lossy(error.as_bytes()).into_owned(), false))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(bytes: &[u8]) -> Vec<String> {
        let mut heard = Vec::new();
        Lines::default().read(bytes, &mut |one| {
            heard.push(match one {
                Heard::Line(line, true) if line.len() < 10 => line,
                Heard::Line(line, utf8) => format!("{} {utf8}", line.len()),
                other => format!("{other:?}"),
            });
            true
        });
        heard
    }

    #[test]
    fn lines_are_read_in_bounded_memory() {
        assert_eq!(heard(b"a\n\nb\r\nc"), ["a", "", "b\r", "c"]);
        assert_eq!(heard(b"\xff\n"), ["3 false"]);
        let long = vec![b'x'; MOST_LINE_BYTES + 1];
        assert_eq!(heard(&[&long[..], b"\nb\n"].concat()), ["LongLine", "b"]);
        assert_eq!(heard(&vec![b'x'; MOST_OUTPUT_BYTES + 1]), ["Flood"]);
        assert_eq!(heard(&vec![b'\n'; MOST_LINES + 1]).pop().as_deref(), Some("Flood"));
    }
}
