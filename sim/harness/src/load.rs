//! The flow of a load: the request, its deadlines, its answer, the silence after it (H-1 to H-7,
//! H-12, H-14, H-43).

use std::sync::Arc;

use serde_json::json;
use skep_mutant::Mutant;
use skep_store::{StoreAnswer, StoreOp};
use skep_trace::policy::{ErrorClass, Indeterminate};
use skep_trace::{Answer, Call, RpcError, Setup, Text};

use crate::book::Live;
use crate::channel::mcp_servers;
use crate::disk::Reason;
use crate::effect::Out;
use crate::failure::{METHOD_NOT_FOUND, Silence, is_definitive};
use crate::harness::Harness;
use crate::retry::Failure;
use crate::timer::Slot;
use crate::turn::{Load, Stage};

/// How long an agent must have been silent after a load before it is prompted, in milliseconds:
/// faulty agents answer first and replay then, with gaps of about 100 ms.
pub(crate) const QUIET_MS: u64 = 250;

/// The longest wait for that silence; an agent that never stops is prompted all the same.
const QUIET_CAP_MS: u64 = 10_000;

impl Harness {
    /// Asks the agent to go on with a remembered session.
    pub(crate) fn load(&mut self, session: Text, out: &mut Out<'_>) {
        let setup = self.load_setup();
        let session_id = session.clone();
        let call = if self.agent.offers.load {
            Call::SessionLoad { session_id, setup }
        } else {
            Call::SessionResume { session_id, setup }
        };
        if self.config.mutants.has(Mutant::LoadsTwice) {
            let (_, frame) = self.agent.request(call.clone());
            out.tell_agent(frame);
        }
        let (request, frame) = self.agent.request(call);
        out.tell_agent(frame);
        out.log(|| format!("loading session {session}"));
        let now_ms = out.now_ms;
        let load = Load { request, session, since_ms: now_ms, heard_ms: now_ms, replayed: false };
        if self.config.mutants.has(Mutant::PromptsBeforeLoad) {
            return self.take_loaded(&load, Answer::empty(), out);
        }
        self.set_stage(Stage::Loading(load));
        self.wait_for_load(out);
    }

    /// What `session/new` would carry now (H-3).
    fn load_setup(&self) -> Setup {
        let mut setup = self.setup();
        let has = |mutant| self.config.mutants.has(mutant);
        if has(Mutant::LoadsOtherCwd) {
            setup.cwd = format!("{}/elsewhere", setup.cwd).into();
        }
        if has(Mutant::LoadsWithoutMcp) {
            setup.mcp_servers = Arc::new(json!([]));
        }
        if has(Mutant::NoOriginOnLoad) {
            setup.mcp_servers = Arc::new(mcp_servers(&self.config, None));
        }
        setup
    }

    /// When the load that runs is given up: after so much silence, and after so much time in all.
    fn load_deadline_ms(&self) -> Option<u64> {
        let Stage::Loading(load) = &self.turn.as_ref()?.stage else { return None };
        let settings = &self.config.settings;
        let silent = load.heard_ms + settings.load_timeout_ms;
        if self.config.mutants.has(Mutant::NoLoadCap) {
            return Some(silent);
        }
        Some(silent.min(load.since_ms + settings.load_cap_ms))
    }

    pub(crate) fn wait_for_load(&mut self, out: &mut Out<'_>) {
        let Some(deadline_ms) = self.load_deadline_ms() else { return };
        if deadline_ms <= out.now_ms {
            return self.on_load_unanswered(Silence::TimedOut, out);
        }
        self.timers.set(Slot::Turn, deadline_ms - out.now_ms, out);
    }

    pub(crate) fn on_load_answer(&mut self, outcome: &Result<Answer, RpcError>, out: &mut Out<'_>) {
        let Some(load) = self.loading() else { return };
        self.timers.cancel(Slot::Turn, out);
        match outcome {
            Ok(answer) if answer.null && self.config.mutants.has(Mutant::NullLoadFails) => {
                self.on_load_refused(&load, &RpcError::new(0, "the answer is null"), out);
            }
            // Null, an empty object, an object: all mean yes, whatever stands in it (H-12).
            Ok(answer) => self.take_loaded(&load, answer.clone(), out),
            Err(error) => self.on_load_refused(&load, error, out),
        }
    }

    fn loading(&self) -> Option<Load> {
        match &self.turn.as_ref()?.stage {
            Stage::Loading(load) => Some(load.clone()),
            _ => None,
        }
    }

    fn take_loaded(&mut self, load: &Load, answer: Answer, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let moved = answer.session_id.clone();
        let session = match moved {
            Some(other) if self.config.mutants.has(Mutant::FollowsAnswerId) => other,
            _ => load.session.clone(),
        };
        turn.session = Some(session.clone());
        let scope = turn.batch.scope.clone();
        if !self.config.mutants.has(Mutant::CountNeverResets) {
            self.book.load_settled(&scope);
        }
        self.book.insert(scope, Live::restored(session, load.replayed, out.now_ms));
        if self.overtaken(out) {
            return;
        }
        let impatient = [Mutant::NoQuietWait, Mutant::PromptsBeforeLoad];
        if impatient.iter().any(|mutant| self.config.mutants.has(*mutant)) {
            return self.configure(&answer, true, out);
        }
        let now_ms = out.now_ms;
        self.set_stage(Stage::Quiet { since_ms: now_ms, heard_ms: now_ms, answer });
        self.timers.set(Slot::Turn, QUIET_MS, out);
    }

    /// The agent may be quiet now.
    pub(crate) fn on_quiet(&mut self, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let Stage::Quiet { since_ms, heard_ms, answer } = &mut turn.stage else { return };
        let until_ms = (*heard_ms + QUIET_MS).min(*since_ms + QUIET_CAP_MS);
        if out.now_ms < until_ms {
            return self.timers.set(Slot::Turn, until_ms - out.now_ms, out);
        }
        let answer = std::mem::take(answer);
        if !self.overtaken(out) {
            self.configure(&answer, true, out);
        }
    }

    fn on_load_refused(&mut self, load: &Load, error: &RpcError, out: &mut Out<'_>) {
        out.log(|| format!("session {} could not be loaded: {}", load.session, error.message));
        self.window_stays_open();
        if self.overtaken(out) {
            return;
        }
        let class = self.config.settings.policies.error_class;
        if error.code == METHOD_NOT_FOUND && class != ErrorClass::Answered {
            // It does not offer what it advertised; that says nothing about the session.
            self.agent.offers.load = false;
            return self.find_session(out);
        }
        if self.config.mutants.has(Mutant::DefinitiveFailsTurn) {
            self.forget(&load.session, Reason::Nobody, out);
            return self.fail_turn("the session could not be loaded", Failure::Final, out);
        }
        if is_definitive(error, class) {
            return self.replace_session(&load.session, out);
        }
        let why = format!("the session could not be loaded now: {}", error.message);
        self.on_indeterminate(load, &why, false, out);
    }

    /// Nobody answered the load. The connection is not to be trusted any more: a late answer, or
    /// late replay, would be taken for something else (H-7).
    pub(crate) fn on_load_unanswered(&mut self, silence: Silence, out: &mut Out<'_>) {
        let Some(load) = self.loading() else { return };
        self.timers.cancel(Slot::Turn, out);
        self.window_stays_open();
        if silence == Silence::TimedOut && self.config.mutants.has(Mutant::LateAnswerCounts) {
            let Some(turn) = &self.turn else { return };
            self.late.wait(load.request, turn.scope().clone(), load.session.clone());
            return self.fail_turn(silence.words(), Failure::Unanswered, out);
        }
        if self.turn.as_ref().is_some_and(|turn| turn.stale || turn.dropped.is_some()) {
            self.retry_fresh(out);
        } else if silence.taken_for_answer(self.config.mutants) {
            self.forget(&load.session, Reason::Nobody, out);
            self.retry_fresh(out);
        } else {
            self.on_indeterminate(&load, silence.words(), true, out);
        }
        if silence == Silence::TimedOut {
            self.replace_agent(silence.words(), out);
        }
    }

    /// What a load without a proof means is the policy's to say (H-6).
    fn on_indeterminate(&mut self, load: &Load, why: &str, poisoned: bool, out: &mut Out<'_>) {
        let Some(scope) = self.turn.as_ref().map(|turn| turn.scope().clone()) else { return };
        let attempts = self.book.load_failed(&scope, &load.session);
        let mutants = self.config.mutants;
        let gives_up = match self.config.settings.policies.indeterminate {
            Indeterminate::Fork => true,
            Indeterminate::Retain => false,
            Indeterminate::Bounded(bound) => {
                attempts >= bound && !mutants.has(Mutant::NeverGivesUp)
            }
        };
        if mutants.has(Mutant::IndeterminateLosesMessage) {
            self.turn = None;
        } else if mutants.has(Mutant::CompetingSession) {
            self.book.discard_id(load.session.clone());
            self.go_on_fresh(poisoned, out);
        } else if !gives_up {
            self.fail_turn(why, Failure::Unanswered, out);
        } else if poisoned {
            self.book.load_settled(&scope);
            self.forget(&load.session, Reason::Nobody, out);
            self.retry_fresh(out);
        } else {
            self.replace_session(&load.session, out);
        }
    }

    fn go_on_fresh(&mut self, poisoned: bool, out: &mut Out<'_>) {
        if poisoned {
            self.retry_fresh(out);
        } else {
            self.open_session(out);
        }
    }

    /// The remembered session cannot be had: its receipt goes, and a fresh session takes its place
    /// in the same turn (H-5).
    pub(crate) fn replace_session(&mut self, session: &Text, out: &mut Out<'_>) {
        if let Some(turn) = &self.turn {
            let scope = turn.batch.scope.clone();
            self.book.load_settled(&scope);
        }
        match self.forget(session, Reason::Turn, out) {
            Some(ticket) => self.set_stage(Stage::Forgetting { ticket }),
            None => self.open_session(out),
        }
    }

    /// Removes the turn's receipt if it still names this session: another process may have written
    /// a better one (H-71). This process never names the session again either way.
    pub(crate) fn forget(
        &mut self,
        session: &Text,
        reason: Reason,
        out: &mut Out<'_>,
    ) -> Option<u32> {
        let key = self.turn.as_ref()?.scope().key()?.clone();
        if self.config.mutants.has(Mutant::StoresBeforeNew) {
            return None;
        }
        self.book.discard_id(session.clone());
        if !self.config.settings.resume {
            return None;
        }
        let op = if self.config.mutants.has(Mutant::KeyOnlyRemove) {
            StoreOp::Remove { key }
        } else {
            StoreOp::RemoveIf { key, expected: session.clone() }
        };
        Some(self.disk.ask(op, reason, out))
    }

    pub(crate) fn on_forgotten(&mut self, answer: &StoreAnswer, out: &mut Out<'_>) {
        if self.overtaken(out) {
            return;
        }
        match answer {
            // Somebody else's receipt stands there now: the conversation goes on in its session.
            StoreAnswer::Removed(false) => self.find_session(out),
            _ => self.open_session(out),
        }
    }

    fn window_stays_open(&mut self) {
        if self.config.mutants.has(Mutant::WindowStaysOpen) {
            self.observer.stuck = true;
        }
    }
}
