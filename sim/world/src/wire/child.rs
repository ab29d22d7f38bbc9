//! Agents as children of their harness: on pipes of bytes, watched at both ends.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use skep_agent::{Agent, Ended, Seen, Shell, Watch};
use skep_harness::shell::{Agents, Process, Started};
use skep_plan::AgentCast;
use skep_trace::{End, Frame, Life, Side, What};
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::shared::Shared;
use crate::points::Points;

/// What a pipe of the operating system holds.
const PIPE_BYTES: usize = 64 * 1024;

const SIGKILL: i32 = 9;

/// Starts agents for one life of a harness.
pub(super) struct Children {
    shared: Shared,
    host: usize,
    cast: Arc<AgentCast>,
}

impl Children {
    pub(super) fn new(shared: Shared, host: usize, cast: Arc<AgentCast>) -> Self {
        Self { shared, host, cast }
    }
}

/// A running agent.
pub(super) struct Child {
    task: JoinHandle<()>,
    shared: Shared,
    host: usize,
    process: skep_trace::Process,
}

impl Agents for Children {
    type Stdin = DuplexStream;
    type Stdout = DuplexStream;
    type Process = Child;

    fn start(&mut self) -> io::Result<Started<DuplexStream, DuplexStream, Child>> {
        let (shared, host) = (self.shared.clone(), self.host);
        let process = shared.next_process(&self.cast.name);
        let harness = shared.life(host);
        shared.note(What::AgentStarted { agent: process.clone(), harness: harness.clone() });
        shared.agent_started(host, process.clone());
        let gate = Arc::new(Notify::new());
        let watcher = Watcher {
            shared: shared.clone(),
            host,
            harness,
            process: process.clone(),
            gate: gate.clone(),
            points: Points::default(),
        };
        let agent = Agent::new(self.cast.clone(), process.process);
        let shell = Shell::new(agent, shared.disk(&self.cast.name), watcher).released_by(gate);
        let (stdin, agents_stdin) = tokio::io::duplex(PIPE_BYTES);
        let (agents_stdout, stdout) = tokio::io::duplex(PIPE_BYTES);
        let task = tokio::task::spawn_local(async move {
            shell.run(agents_stdin, agents_stdout).await;
        });
        let process = Child { task, shared, host, process };
        Ok(Started { stdin, stdout, process })
    }
}

impl Process for Child {
    fn kill(&mut self) {
        self.task.abort();
        if self.shared.agent_ended(self.host, &self.process) {
            let end = End::Signal { signal: SIGKILL, by_us: false };
            self.shared.note(What::AgentEnded { agent: self.process.clone(), end });
        }
    }

    async fn exited(&mut self) {
        // A task that was aborted or panicked is as dead as one that returned.
        let _ended = (&mut self.task).await;
    }
}

/// Sees everything that an agent gets and does, in order, before it takes effect.
struct Watcher {
    shared: Shared,
    host: usize,
    harness: Life,
    process: skep_trace::Process,
    gate: Arc<Notify>,
    /// Where the conversation stands, for kills at a point.
    points: Points,
}

impl Watch for Watcher {
    async fn seen(&mut self, seen: Seen) {
        match seen {
            Seen::Received { frame, .. } => {
                self.note_frame(Side::Harness, &frame);
                if self.dies_at_request(&frame) {
                    std::future::pending::<()>().await;
                }
            }
            Seen::Sending(frame) => {
                self.note_frame(Side::Agent, &frame);
                if self.dies_at_answer(&frame) {
                    std::future::pending::<()>().await;
                }
            }
            Seen::AtGate => self.shared.add_gate(self.host, &self.process.agent, self.gate.clone()),
            Seen::Finding(text) => {
                let actor = self.process.to_string().into();
                self.shared.note(What::Finding { actor, text });
            }
            Seen::Ended(ended) => self.note_end(ended),
            Seen::SendingBytes(_)
            | Seen::Diverted { .. }
            | Seen::StdinEnded
            | Seen::ClosingStdin
            | Seen::ClosingStdout
            | Seen::Stderr { .. } => {}
        }
    }

    fn idle(&mut self, timer: Option<Duration>) {
        self.shared.agent_idles(self.host, &self.process, timer.is_some());
    }
}

impl Watcher {
    fn note_frame(&self, from: Side, frame: &Arc<Frame>) {
        let (agent, harness) = (self.process.clone(), self.harness.clone());
        self.shared.note(What::Acp { agent, harness, from, frame: frame.clone(), raw: None });
    }

    fn note_end(&self, ended: Ended) {
        if !self.shared.agent_ended(self.host, &self.process) {
            return;
        }
        let end = match ended {
            Ended::Exit(code) => End::Exit(code),
            Ended::Signal(signal) => End::Signal { signal, by_us: false },
            Ended::Gone => End::Signal { signal: SIGKILL, by_us: false },
        };
        self.shared.note(What::AgentEnded { agent: self.process.clone(), end });
    }

    fn dies_at_request(&mut self, frame: &Frame) -> bool {
        let point = self.points.request(frame);
        point.is_some_and(|point| self.shared.reached(self.host, point))
    }

    /// The harness is killed when the answer reaches it: what is not written then never arrives,
    /// which to the world is the same.
    fn dies_at_answer(&self, frame: &Frame) -> bool {
        let point = self.points.answer(frame);
        point.is_some_and(|point| self.shared.reached(self.host, point))
    }
}
