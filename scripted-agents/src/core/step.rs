//! What each event sets off.

use std::sync::Arc;

use skep_plan::Rule;
use skep_trace::{Call, Frame, RpcError, RpcId, Text};

use super::agent::Agent;
use super::answer::{INVALID_REQUEST, PARSE_ERROR};
use super::disk::AgentDisk;
use super::event::{AgentEffect, AgentEvent};
use super::task::{Refusal, Task, Waits};

/// An agent at work on one event.
pub(super) struct Step<'a> {
    pub(super) agent: &'a mut Agent,
    pub(super) disk: &'a mut AgentDisk,
    pub(super) out: &'a mut Vec<AgentEffect>,
}

impl Step<'_> {
    /// Serves what came while the agent was blocked, until it blocks again.
    pub(super) fn catch_up(&mut self) {
        while self.agent.blocked.is_none() {
            let Some(event) = self.agent.unread.pop_front() else { return };
            self.event(event);
        }
    }

    pub(super) fn event(&mut self, event: AgentEvent) {
        if self.agent.dead {
            return;
        }
        match event {
            AgentEvent::Frame(frame) => self.frame(&frame),
            AgentEvent::StdinClosed => self.stdin_closed(),
            AgentEvent::Timer(timer) => self.timer(timer),
            AgentEvent::Released => self.resume(Waits::Gate),
        }
    }

    /// A harness that closes the pipe is done with its agent. An agent that closed its own end
    /// does not see it.
    fn stdin_closed(&mut self) {
        if self.agent.listens {
            self.exit(0);
        }
    }

    pub(super) fn exit(&mut self, code: i32) {
        self.agent.dead = true;
        self.out.push(AgentEffect::Exit(code));
    }

    fn frame(&mut self, frame: &Arc<Frame>) {
        if !self.agent.listens {
            return;
        }
        match &**frame {
            Frame::Request { call, .. } | Frame::Notification(call) => {
                let task = self.admit(Arc::clone(frame), call);
                self.run(task);
            }
            Frame::Response { id, .. } => self.answered(id),
            Frame::Garbage(_) => self.garbage(),
        }
    }

    fn garbage(&mut self) {
        self.find("a line that is no JSON-RPC message");
        let outcome = Err(RpcError::new(PARSE_ERROR, "this line is no JSON-RPC message"));
        self.send(Frame::Response { id: RpcId::Null, outcome });
    }

    fn answered(&mut self, id: &RpcId) {
        match id {
            RpcId::Number(number) if (0..self.agent.asked).contains(number) => {
                self.resume(Waits::Answer(*number));
            }
            _ => self.find("an answer to nothing that was asked"),
        }
    }

    /// Lets the oldest task go on that waits for this.
    pub(super) fn resume(&mut self, waits: Waits) {
        if let Some(at) = self.agent.tasks.iter().position(|task| task.waits == waits) {
            let task = self.agent.tasks.remove(at);
            self.run(task);
        }
    }

    fn timer(&mut self, timer: u32) {
        if self.agent.blocked == Some(timer) {
            self.agent.blocked = None;
        }
        if !self.flow(timer) {
            self.resume(Waits::Timer(timer));
        }
    }

    pub(super) fn set_timer(&mut self, after_ms: u64) -> u32 {
        self.agent.timers += 1;
        let timer = self.agent.timers;
        self.out.push(AgentEffect::SetTimer { timer, after_ms });
        timer
    }

    /// Counts a call, finds its rule, and opens the turn of a prompt.
    fn admit(&mut self, frame: Arc<Frame>, call: &Call) -> Task {
        let method = call.method();
        let ever = self.disk.requests.add(method);
        let here = self.agent.counts.add(method);
        let process = self.agent.process;
        let fits = |rule: &Rule| &*rule.method == method && applies(rule, process, here, ever);
        let mut task = Task::new(frame, self.agent.cast.script.rules.iter().position(fits));
        if let Call::SessionPrompt { session_id, prompt } = call {
            match self.refusal(session_id) {
                Some(refusal) => task.refusal = Some(refusal),
                None => task.turn = self.open_turn(session_id, prompt),
            }
        }
        task
    }

    fn refusal(&self, session: &Text) -> Option<Refusal> {
        if self.agent.tasks.iter().any(|task| task.prompts(session)) {
            Some(Refusal::Busy)
        } else if self.agent.open.contains(session) {
            None
        } else if self.agent.tasks.iter().any(|task| task.restores(session)) {
            Some(Refusal::Loading)
        } else {
            Some(Refusal::Unknown)
        }
    }

    pub(super) fn send(&mut self, frame: Frame) {
        if self.agent.speaks {
            self.out.push(AgentEffect::Send(Arc::new(frame)));
        }
    }

    pub(super) fn find(&mut self, text: &str) {
        self.out.push(AgentEffect::Finding(text.into()));
    }

    /// A call that came before `initialize` is refused, and remarked on.
    pub(super) fn too_early(&mut self, call: &Call) -> Option<RpcError> {
        if self.agent.initialized {
            return None;
        }
        self.find(&format!("`{}` before `initialize`", call.method()));
        Some(RpcError::new(INVALID_REQUEST, "the connection is not initialized"))
    }
}

/// `nth` and `from` count within the process when the rule names a process, else over all.
fn applies(rule: &Rule, process: u32, here: u32, ever: u32) -> bool {
    let count = if rule.process.is_some() { here } else { ever };
    rule.process.is_none_or(|wanted| wanted == process)
        && rule.nth.is_none_or(|nth| nth == count)
        && rule.from.is_none_or(|from| count >= from)
}
