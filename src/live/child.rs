//! Agents: processes that a harness starts, directed from here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use skep_agent::{Agent, AgentLink, AgentPort, Between, Ended, Seen, Shell, Watch};
use skep_trace::{End, Frame, Life, Process, Side, What};
use skep_world::Points;
use tokio::sync::Notify;

use super::groups::Group;
use super::shared::Shared;
use super::tamper::Interposer;

const SIGKILL: i32 = 9;

/// An agent process, as the director has it.
#[derive(Debug)]
pub(super) struct AgentState {
    pub(super) process: Process,
    /// Whose child it is.
    pub(super) harness: Life,
    pub(super) pid: u32,
    /// Until it has ended.
    group: Option<Group>,
    /// We killed it.
    by_us: bool,
    /// Lines that it got, and that it wrote.
    pub(super) received: u64,
    pub(super) sent: u64,
    /// It waits for others, or for its next timer.
    pub(super) quiet: bool,
    /// When that timer fires.
    pub(super) due: Option<Instant>,
    /// Nothing that it says is heard any more.
    pub(super) closed: bool,
    /// It knows that its harness is gone.
    pub(super) left: bool,
    gate: Arc<Notify>,
    /// Requests that wait at a gate.
    waiting: u32,
}

impl AgentState {
    pub(super) fn ended(&self) -> bool {
        self.group.is_none()
    }

    /// Kills it with everything that it started.
    pub(super) fn kill(&mut self) {
        if let Some(group) = &self.group {
            self.by_us = true;
            group.signal_all(Signal::KILL);
        }
    }

    /// Lets every request go on that waits at a gate.
    pub(super) fn release(&mut self) {
        if std::mem::take(&mut self.waiting) > 0 {
            self.quiet = false;
            self.gate.notify_one();
        }
    }
}

/// Takes agents' calls and directs each of them, until the run ends.
pub(super) async fn serve_agents(shared: Shared, mut port: AgentPort) {
    loop {
        match port.accept().await {
            Ok(link) => take(&shared, link),
            Err(error) => {
                let text = format!("agents cannot call any more: {error}").into();
                return shared.note(What::Finding { actor: "skep".into(), text });
            }
        }
    }
}

/// Whose agent a process is stands in its token; in which life, its parent tells.
fn take(shared: &Shared, link: AgentLink) {
    let host = link.token().parse::<usize>().ok().filter(|host| *host < shared.lanes());
    let Some(host) = host else { return };
    let name = shared.with_lane(host, |lane| lane.agent.clone());
    let Some(cast) = shared.cast(&name) else { return };
    let parent = shared.with_lane(host, |lane| lane.life_of(link.parent()));
    let harness = parent.unwrap_or_else(|| shared.life(host));
    let gate = Arc::new(Notify::new());
    let (place, process) = shared.with_agents(|agents| {
        let before = agents.iter().filter(|agent| agent.process.agent == name).count();
        let nth = u32::try_from(before + 1).expect("a run has few processes");
        let process = Process { agent: name.clone(), process: nth };
        agents.push(AgentState {
            process: process.clone(),
            harness: harness.clone(),
            pid: link.pid(),
            group: Some(Group::led_by(link.pid())),
            by_us: false,
            received: 0,
            sent: 0,
            quiet: false,
            due: None,
            closed: false,
            left: false,
            gate: gate.clone(),
            waiting: 0,
        });
        (agents.len() - 1, process)
    });
    shared.note(What::AgentStarted { agent: process.clone(), harness: harness.clone() });
    let agent = Agent::new(cast, process.process);
    let points = Points::default();
    let watcher = Watcher { shared: shared.clone(), host, place, harness, process, points };
    let ends = watcher.clone();
    let shell =
        Shell::new(agent, shared.disk(&name), watcher)
            .released_by(gate)
            .hastened(shared.clock().haste())
            .through(shared.tampering().map(|tampering| -> Box<dyn Between + Send> {
                Box::new(Interposer::new(tampering))
            }))
            .checking_schema();
    tokio::task::spawn_local(async move {
        let ended = shell.serve(link).await;
        ends.note_end(ended).await;
    });
}

/// Sees everything that an agent gets and does, in order, before it takes effect.
#[derive(Clone)]
struct Watcher {
    shared: Shared,
    host: usize,
    place: usize,
    harness: Life,
    process: Process,
    /// Where the conversation stands, for kills at a point.
    points: Points,
}

impl Watch for Watcher {
    async fn seen(&mut self, seen: Seen) {
        self.count(&seen);
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
            Seen::Finding(text) => {
                let actor = self.process.to_string().into();
                self.shared.note(What::Finding { actor, text });
            }
            Seen::Ended(_)
            | Seen::AtGate
            | Seen::Diverted { .. }
            | Seen::SendingBytes(_)
            | Seen::StdinEnded
            | Seen::ClosingStdin
            | Seen::ClosingStdout
            | Seen::Stderr { .. } => {}
        }
    }

    fn idle(&mut self, timer: Option<Duration>) {
        self.change(|agent| {
            agent.quiet = true;
            agent.due = timer.map(|timer| now() + timer);
        });
        self.shared.wake();
    }
}

#[expect(clippy::disallowed_methods, reason = "the live world is where real time enters")]
fn now() -> Instant {
    Instant::now()
}

impl Watcher {
    fn change<T>(&self, change: impl FnOnce(&mut AgentState) -> T) -> T {
        self.shared.with_agents(|agents| change(&mut agents[self.place]))
    }

    fn count(&self, seen: &Seen) {
        self.change(|agent| {
            agent.quiet = false;
            match seen {
                Seen::Received { .. } => agent.received += 1,
                Seen::Sending(_) => agent.sent += 1,
                Seen::SendingBytes(bytes) => {
                    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
                    agent.sent += u64::try_from(lines).unwrap_or(u64::MAX);
                }
                // The harness counts what it wrote and read itself.
                Seen::Diverted { received, sent } => {
                    agent.received = agent.received.saturating_add_signed(*received);
                    agent.sent = agent.sent.saturating_add_signed(*sent);
                }
                Seen::ClosingStdout => agent.closed = true,
                Seen::StdinEnded => agent.left = true,
                Seen::AtGate => agent.waiting += 1,
                _ => {}
            }
        });
    }

    fn note_frame(&self, from: Side, frame: &Arc<Frame>) {
        let (agent, harness) = (self.process.clone(), self.harness.clone());
        self.shared.note(What::Acp { agent, harness, from, frame: frame.clone(), raw: None });
    }

    /// An agent that ends because its harness was killed ends after it.
    async fn note_end(&self, ended: Ended) {
        let told = |shared: &Shared| {
            let lane = |lane: &mut super::lane::Lane| {
                let current = lane.life() == self.harness;
                !current || lane.running.as_ref().is_none_or(|running| !running.by_us)
            };
            shared.with_lane(self.host, lane)
        };
        // In time or not: it has ended.
        let _ = self.shared.wait(Duration::from_secs(2), told).await;
        let by_us = self.change(|agent| {
            agent.group = None;
            agent.quiet = true;
            agent.by_us
        });
        let end = match ended {
            Ended::Exit(code) => End::Exit(code),
            Ended::Signal(signal) => End::Signal { signal, by_us: false },
            Ended::Gone => End::Signal { signal: SIGKILL, by_us },
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
