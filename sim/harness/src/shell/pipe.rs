//! The agent process and its pipes.

use std::collections::VecDeque;
use std::future;
use std::sync::Arc;
use std::time::Duration;

use skep_trace::Frame;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep_until};

use super::lines::LineReader;
use super::ports::{Agents, Process};
use super::status::AgentStatus;
use crate::event::HarnessEvent;

/// Bytes that wait for an agent that does not read. Beyond that it is given up: it is as good as
/// dead, and a harness must not grow with it.
const MOST_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// How long the output of a process that has exited is still read: something it started may hold
/// the pipe open for ever.
const AFTERLIFE: Duration = Duration::from_secs(1);

/// One agent process. What it says after it was given up is never read.
pub(super) struct Pipe<A: Agents> {
    stdin: A::Stdin,
    stdout: LineReader<A::Stdout>,
    process: A::Process,
    waiting: VecDeque<u8>,
    /// It has exited; its output is read until then at most.
    exited: Option<Instant>,
    over: bool,
    written: u64,
    read: u64,
}

/// What a pipe waits for.
enum Ready {
    Line(String),
    Written(usize),
    Exited,
    Over,
}

impl<A: Agents> Pipe<A> {
    pub(super) fn start(agents: &mut A) -> std::io::Result<Self> {
        let started = agents.start()?;
        Ok(Self {
            stdin: started.stdin,
            stdout: LineReader::new(started.stdout),
            process: started.process,
            waiting: VecDeque::new(),
            exited: None,
            over: false,
            written: 0,
            read: 0,
        })
    }

    /// Writes a line as soon as the agent takes it.
    pub(super) fn write(&mut self, frame: &Frame) {
        self.written += 1;
        self.waiting.extend(frame.to_line().bytes());
        self.waiting.push_back(b'\n');
    }

    /// Bytes wait for the agent.
    pub(super) fn is_writing(&self) -> bool {
        !self.over && !self.waiting.is_empty()
    }

    pub(super) fn kill(&mut self) {
        self.process.kill();
    }

    /// What was exchanged with the agent, until its end was told.
    pub(super) fn status(&self) -> Option<AgentStatus> {
        let (written, read) = (self.written, self.read);
        (!self.over).then(|| AgentStatus { pid: self.process.id(), written, read })
    }

    /// The next thing that the agent says, or its end, told once; `None` when it has taken all
    /// that was written to it. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<HarnessEvent> {
        loop {
            match self.ready().await {
                Ready::Line(line) if line.trim().is_empty() => {}
                Ready::Line(line) => {
                    self.read += 1;
                    let frame = Frame::from_line(&line);
                    return Some(HarnessEvent::AgentFrame(Arc::new(frame)));
                }
                Ready::Written(count) => {
                    self.waiting.drain(..count);
                    if self.waiting.is_empty() {
                        return None;
                    }
                }
                Ready::Exited => {
                    self.process.kill();
                    self.exited = Some(Instant::now() + AFTERLIFE);
                }
                Ready::Over => {
                    self.over = true;
                    return Some(HarnessEvent::AgentEnded);
                }
            }
        }
    }

    async fn ready(&mut self) -> Ready {
        if self.over {
            return future::pending().await;
        }
        if self.waiting.len() > MOST_WAITING_BYTES {
            return Ready::Over;
        }
        let waiting = self.waiting.as_slices().0;
        tokio::select! {
            // The order is fixed: two runs of one seed must not differ.
            biased;
            line = self.stdout.next() => match line {
                Ok(Some(line)) => Ready::Line(line),
                Ok(None) | Err(_) => Ready::Over,
            },
            written = self.stdin.write(waiting), if !waiting.is_empty() => match written {
                Ok(count) if count > 0 => Ready::Written(count),
                Ok(_) | Err(_) => Ready::Over,
            },
            () = self.process.exited(), if self.exited.is_none() => Ready::Exited,
            () = until(self.exited) => Ready::Over,
        }
    }
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => future::pending().await,
    }
}
