//! The flow of an agent process's life: start, `initialize`, frames, death, restart (H-22, H-57).

use skep_mutant::Mutant;
use skep_store::{StoreAnswer, StoreOp};
use skep_trace::{Answer, Frame, RpcError, RpcId};

use crate::agent::{FIRST_STARTS, State};
use crate::book::Live;
use crate::disk::Reason;
use crate::effect::{HarnessEffect, Out};
use crate::harness::Harness;
use crate::timer::Slot;
use crate::turn::Stage;

impl Harness {
    pub(crate) fn start_agent(&mut self, out: &mut Out<'_>) {
        self.agent.state = State::Starting;
        out.push(HarnessEffect::StartAgent);
    }

    pub(crate) fn on_agent_started(&mut self, out: &mut Out<'_>) {
        let frame = self.agent.initialize();
        out.tell_agent(frame);
        self.timers.set(Slot::Initialize, self.config.settings.request_timeout_ms, out);
    }

    pub(crate) fn on_agent_silent_at_start(&mut self, out: &mut Out<'_>) {
        self.replace_agent("it did not answer initialize", out);
    }

    fn on_initialized(&mut self, outcome: &Result<Answer, RpcError>, out: &mut Out<'_>) {
        self.timers.cancel(Slot::Initialize, out);
        match outcome {
            Ok(answer) => {
                let first = !self.agent.came_up;
                self.agent.initialized(answer, self.config.mutants);
                out.log(|| "agent ready".to_owned());
                if first {
                    self.connect(out);
                }
            }
            Err(error) => self.replace_agent(&format!("initialize failed: {}", error.message), out),
        }
    }

    /// Kills the process, if it still lives, and has another started in a while. Nothing that was
    /// live on it is live any more; what is stored stays.
    pub(crate) fn replace_agent(&mut self, why: &str, out: &mut Out<'_>) {
        out.push(HarnessEffect::KillAgent);
        self.timers.cancel(Slot::Initialize, out);
        let lost = self.book.agent_died();
        if self.config.mutants.has(Mutant::DeathForgets) {
            for key in lost.keys().filter_map(|scope| scope.key()) {
                self.disk.ask(StoreOp::Remove { key: key.clone() }, Reason::Nobody, out);
            }
        }
        let wait_ms = self.agent.died(out.now_ms);
        if !self.agent.came_up && self.agent.deaths() >= FIRST_STARTS {
            out.log(|| format!("no agent could be started: {why}"));
            return self.exit(1, out);
        }
        out.log(|| format!("the agent is replaced in {wait_ms} ms: {why}"));
        self.timers.set(Slot::Respawn, wait_ms, out);
    }

    /// The agent's output ended. Whatever it was asked is not answered any more.
    pub(crate) fn on_agent_ended(&mut self, out: &mut Out<'_>) {
        if self.agent.state == State::Down {
            return;
        }
        // The turn ends first: it must not find a session in the book that died with the agent.
        self.on_turn_orphaned(out);
        self.replace_agent("its output ended", out);
    }

    pub(crate) fn on_agent_frame(&mut self, frame: &Frame, out: &mut Out<'_>) {
        if !matches!(frame, Frame::Garbage(_)) {
            self.hear(out.now_ms);
        }
        match frame {
            Frame::Response { id: RpcId::Number(id), outcome } => {
                self.on_response(*id, outcome, out);
            }
            Frame::Request { id, call } => self.on_agent_request(id, call, out),
            Frame::Notification(call) => self.on_notification(call, out),
            Frame::Response { .. } => {}
            Frame::Garbage(line) => out.log(|| format!("the agent wrote no message: {line}")),
        }
    }

    /// A sign of life: a prompt's silence counts from here.
    fn hear(&mut self, now_ms: u64) {
        if let Some(turn) = &mut self.turn
            && let Stage::Prompting { heard_ms, .. } | Stage::Cancelling { heard_ms, .. } =
                &mut turn.stage
        {
            *heard_ms = now_ms;
        }
    }

    /// An answer that nobody waits for (any more) changes nothing (H-7).
    fn on_response(&mut self, id: i64, outcome: &Result<Answer, RpcError>, out: &mut Out<'_>) {
        if self.agent.state == State::Initializing(id) {
            return self.on_initialized(outcome, out);
        }
        if let Some((scope, session)) = self.late.take(id).filter(|_| outcome.is_ok()) {
            self.book.insert(scope, Live::restored(session, true, out.now_ms));
        }
        let Some(turn) = self.turn.as_ref().filter(|turn| turn.awaited() == Some(id)) else {
            return;
        };
        match turn.stage {
            Stage::Loading(_) => self.on_load_answer(outcome, out),
            Stage::Opening { .. } => self.on_new_answer(outcome, out),
            Stage::Configuring { .. } => self.on_wish_answer(outcome.is_ok(), out),
            Stage::Prompting { .. } => self.on_prompt_answer(outcome, out),
            Stage::Cancelling { why, .. } => self.on_cancel_answer(why, outcome, out),
            Stage::Looking { .. }
            | Stage::Quiet { .. }
            | Stage::Forgetting { .. }
            | Stage::Recording { .. } => {}
        }
    }

    /// The store answered what the turn waits for; an answer to an earlier turn is nobody's.
    pub(crate) fn on_turn_stored(&mut self, ticket: u32, answer: StoreAnswer, out: &mut Out<'_>) {
        let Some(turn) = &self.turn else { return };
        if turn.awaited_store() != Some(ticket) {
            return;
        }
        match turn.stage {
            Stage::Looking { .. } => self.on_looked_up(answer, out),
            Stage::Forgetting { .. } => self.on_forgotten(&answer, out),
            Stage::Recording { .. } => self.on_recorded(&answer, out),
            _ => {}
        }
    }
}
