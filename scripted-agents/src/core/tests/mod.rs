//! The agent's behaviour, one file a subject, over a rig that speaks to one process at a time.

mod actions;
mod cancelling;
mod counting;
mod faults;
mod persistence;
mod replaying;
mod well_behaved;

use std::sync::Arc;

use serde_json::{Value, json};
use skep_plan::{Action, AgentCast, Rule};
use skep_trace::{Answer, Call, Frame, RpcError, RpcId, Setup, Text, Update};

use super::{Agent, AgentDisk, AgentEffect, AgentEvent};

/// A harness's end of one agent process, and the disk below it.
struct Rig {
    agent: Agent,
    disk: AgentDisk,
    next: i64,
}

impl Rig {
    /// A process that is initialized already.
    fn new(cast: AgentCast) -> Self {
        Self::over(cast, AgentDisk::new("a", 7), 1)
    }

    fn scripted(method: &str, actions: Vec<Action>) -> Self {
        Self::new(cast(vec![rule(method, actions)]))
    }

    fn over(cast: AgentCast, disk: AgentDisk, process: u32) -> Self {
        let mut rig = Self { agent: Agent::new(Arc::new(cast), process), disk, next: 0 };
        rig.ask(Call::Initialize(Arc::new(json!({"protocolVersion": 2}))));
        rig
    }

    /// The agent's next process, over the same disk.
    fn restarted(self, cast: AgentCast) -> Self {
        let process = self.agent.process() + 1;
        Self::over(cast, self.disk, process)
    }

    fn event(&mut self, event: AgentEvent) -> Vec<AgentEffect> {
        let mut out = Vec::new();
        self.agent.step(event, &mut self.disk, &mut out);
        out
    }

    fn ask(&mut self, call: Call) -> Vec<AgentEffect> {
        self.next += 1;
        let id = RpcId::Number(self.next);
        self.event(AgentEvent::Frame(Arc::new(Frame::Request { id, call })))
    }

    fn tell(&mut self, call: Call) -> Vec<AgentEffect> {
        self.event(AgentEvent::Frame(Arc::new(Frame::Notification(call))))
    }

    fn open(&mut self) -> Text {
        let effects = self.ask(new());
        answer(&effects).expect("a new session").session_id.expect("its id")
    }

    fn prompt(&mut self, session: &Text, text: &str) -> Vec<AgentEffect> {
        self.ask(prompt(session, text))
    }

    /// Runs out every timer, oldest first, up to a bound; says what was done and how long it took.
    fn run_out(&mut self, effects: Vec<AgentEffect>) -> (Vec<AgentEffect>, u64) {
        let (mut done, mut queue, mut elapsed_ms) = (Vec::new(), effects, 0);
        for _ in 0..100 {
            let timers = queue.iter().filter_map(|effect| match effect {
                AgentEffect::SetTimer { timer, after_ms } => Some((*timer, *after_ms)),
                _ => None,
            });
            let timers: Vec<_> = timers.collect();
            queue.retain(|effect| !matches!(effect, AgentEffect::SetTimer { .. }));
            done.append(&mut queue);
            for (timer, after_ms) in timers {
                elapsed_ms += after_ms;
                queue.extend(self.event(AgentEvent::Timer(timer)));
            }
        }
        assert!(queue.is_empty(), "still going on: {queue:?}");
        (done, elapsed_ms)
    }
}

fn cast(rules: Vec<Rule>) -> AgentCast {
    let mut cast = AgentCast::new("a");
    cast.script.rules = rules;
    cast
}

fn rule(method: &str, actions: Vec<Action>) -> Rule {
    Rule { method: method.into(), nth: None, from: None, process: None, actions }
}

fn setup() -> Setup {
    Setup { cwd: "/w".into(), mcp_servers: Arc::new(json!([])), meta: None, extra: None }
}

fn new() -> Call {
    Call::SessionNew(setup())
}

fn load(session: &Text) -> Call {
    Call::SessionLoad { session_id: session.clone(), setup: setup() }
}

fn prompt(session: &Text, text: &str) -> Call {
    Call::SessionPrompt { session_id: session.clone(), prompt: [text.into()].into() }
}

fn cancel(session: &Text) -> Call {
    Call::SessionCancel { session_id: session.clone() }
}

fn other(method: &str, params: Value) -> Call {
    Call::Other { method: method.into(), params: Arc::new(params) }
}

/// The outcome of the only response among these effects.
fn answer(effects: &[AgentEffect]) -> Result<Answer, RpcError> {
    let mut found = outcomes(effects);
    assert_eq!(found.len(), 1, "one answer in {effects:?}");
    found.remove(0)
}

fn outcomes(effects: &[AgentEffect]) -> Vec<Result<Answer, RpcError>> {
    frames(effects)
        .filter_map(|frame| match frame {
            Frame::Response { outcome, .. } => Some(outcome.clone()),
            _ => None,
        })
        .collect()
}

fn frames(effects: &[AgentEffect]) -> impl Iterator<Item = &Frame> {
    effects.iter().filter_map(|effect| match effect {
        AgentEffect::Send(frame) => Some(&**frame),
        _ => None,
    })
}

/// The updates among these effects, each as `session kind text`.
fn updates(effects: &[AgentEffect]) -> Vec<String> {
    frames(effects).filter_map(|frame| told(frame.call()?)).collect()
}

fn told(call: &Call) -> Option<String> {
    let Call::SessionUpdate { session_id, update } = call else { return None };
    let role = match update {
        Update::UserMessageChunk(_) => "user",
        Update::AgentMessageChunk(_) => "agent",
        other => other.kind(),
    };
    Some(format!("{session_id} {role} {}", update.text().unwrap_or("")))
}

fn code(outcome: Result<Answer, RpcError>) -> i64 {
    outcome.expect_err("an error").code
}

fn stop_reason(effects: &[AgentEffect]) -> Text {
    answer(effects).expect("a result").stop_reason.expect("a stop reason")
}
