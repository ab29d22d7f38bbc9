//! The flow of a prompt: what is said, how it ends (H-13, H-20, H-81).

use skep_mutant::Mutant;
use skep_trace::{Answer, Call, Note, RpcError, SharedEvent, Text};

use crate::disk::Reason;
use crate::effect::Out;
use crate::failure::{Silence, is_not_found, wants_a_person};
use crate::harness::Harness;
use crate::lifecycle::Why;
use crate::prompt;
use crate::retry::Failure;
use crate::scope::Scope;
use crate::timer::Slot;
use crate::turn::{Cancelled, Stage, Turn};

/// The longest that a prompt may run, in milliseconds, however much it talks.
const TURN_CAP_MS: u64 = 2 * 3_600_000;

/// How long a prompt that was cancelled for its silence may go on being silent.
const SILENT_GRACE_MS: u64 = 30_000;

/// How often one turn replaces a session that the agent has lost: by loading it, then for good.
const RECOVERIES: u8 = 2;

impl Harness {
    /// Prompts the session in hand.
    pub(crate) fn prompt(&mut self, out: &mut Out<'_>) {
        if self.overtaken(out) {
            return;
        }
        let Some(turn) = &self.turn else { return };
        let Some(session_id) = turn.session.clone() else { return };
        let scope = turn.scope();
        let channel = scope.channel().and_then(|id| self.channels.get(id));
        let prompt = prompt::blocks(channel, &turn.batch.messages, &self.config);
        out.log(|| format!("turn starting in session {session_id}"));
        self.book.touch(&scope.clone(), out.now_ms);
        let (request, frame) = self.agent.request(Call::SessionPrompt { session_id, prompt });
        out.tell_agent(frame);
        let now_ms = out.now_ms;
        self.set_stage(Stage::Prompting { request, since_ms: now_ms, heard_ms: now_ms });
        self.timers.set(Slot::Turn, self.config.settings.idle_timeout_ms.min(TURN_CAP_MS), out);
        self.show_typing(out);
        self.react_prompted(out);
        self.observe_start(out);
    }

    /// The fault that prompts a session although its turn still runs (H-83). Says whether it did.
    pub(crate) fn overtake(
        &mut self,
        scope: &Scope,
        event: &SharedEvent,
        out: &mut Out<'_>,
    ) -> bool {
        let running = self.turn.as_ref().filter(|turn| turn.is_running() && turn.scope() == scope);
        let Some(session_id) = running.and_then(|turn| turn.session.clone()) else { return false };
        if self.inbox.push(scope.clone(), event.clone()).is_err() {
            return false;
        }
        let Some(batch) = self.inbox.take(u64::MAX) else { return false };
        let channel = scope.channel().and_then(|id| self.channels.get(id));
        let prompt = prompt::blocks(channel, &batch.messages, &self.config);
        let (_, frame) = self.agent.request(Call::SessionPrompt { session_id, prompt });
        out.tell_agent(frame);
        if let Some(turn) = &mut self.turn {
            turn.batch.messages.extend(batch.messages);
        }
        true
    }

    /// The stage took as long as it may.
    pub(crate) fn on_stage_deadline(&mut self, out: &mut Out<'_>) {
        let Some(turn) = &self.turn else { return };
        match turn.stage {
            Stage::Loading(_) => self.wait_for_load(out),
            Stage::Quiet { .. } => self.on_quiet(out),
            Stage::Opening { .. } => self.on_request_timeout("session/new", out),
            Stage::Configuring { .. } => self.on_request_timeout("a wish about the session", out),
            Stage::Prompting { since_ms, heard_ms, .. } => {
                self.on_prompt_deadline(since_ms, heard_ms, out);
            }
            Stage::Cancelling { why, heard_ms, .. } => self.on_cancel_deadline(why, heard_ms, out),
            Stage::Looking { .. } | Stage::Forgetting { .. } | Stage::Recording { .. } => {}
        }
    }

    fn on_request_timeout(&mut self, what: &str, out: &mut Out<'_>) {
        let why = format!("{what} was not answered in time");
        if self.turn.as_ref().is_some_and(|turn| turn.stale || turn.dropped.is_some()) {
            self.retry_fresh(out);
        } else {
            self.fail_turn(&why, Failure::Counted, out);
        }
        self.replace_agent(&why, out);
    }

    fn on_prompt_deadline(&mut self, since_ms: u64, heard_ms: u64, out: &mut Out<'_>) {
        let silent_ms = heard_ms + self.config.settings.idle_timeout_ms;
        let cap_ms = since_ms + TURN_CAP_MS;
        if out.now_ms >= cap_ms {
            self.fail_turn("the turn took too long", Failure::Counted, out);
            return self.replace_agent("its turn took too long", out);
        }
        if out.now_ms < silent_ms {
            return self.timers.set(Slot::Turn, silent_ms.min(cap_ms) - out.now_ms, out);
        }
        self.send_cancel(out);
        let Some(Turn { stage, .. }) = &mut self.turn else { return };
        if let Stage::Prompting { request, .. } = *stage {
            *stage = Stage::Cancelling { request, heard_ms: out.now_ms, why: Cancelled::Silent };
        }
        self.timers.set(Slot::Turn, SILENT_GRACE_MS, out);
    }

    fn on_cancel_deadline(&mut self, why: Cancelled, heard_ms: u64, out: &mut Out<'_>) {
        match why {
            Cancelled::Silent if out.now_ms < heard_ms + SILENT_GRACE_MS => {
                let wait_ms = heard_ms + SILENT_GRACE_MS - out.now_ms;
                self.timers.set(Slot::Turn, wait_ms, out);
            }
            Cancelled::Silent => {
                self.fail_turn("the agent was silent for too long", Failure::Counted, out);
                self.replace_agent("it was silent for too long", out);
            }
            Cancelled::Wanted(why) => {
                // What the agent makes of a session whose turn it never ended is anybody's guess.
                if let Some(scope) = self.turn.as_ref().map(|turn| turn.scope().clone()) {
                    self.discard(&scope, Why::FailedCleanup, out);
                }
                self.drop_turn(why, out);
                self.replace_agent("it did not stop its turn", out);
            }
        }
    }

    pub(crate) fn on_prompt_answer(
        &mut self,
        outcome: &Result<Answer, RpcError>,
        out: &mut Out<'_>,
    ) {
        self.timers.cancel(Slot::Turn, out);
        match outcome {
            Ok(answer) => self.on_stop(answer.stop_reason.as_deref(), out),
            Err(error) => self.on_prompt_refused(error, out),
        }
    }

    fn on_stop(&mut self, reason: Option<&str>, out: &mut Out<'_>) {
        let reason = reason.unwrap_or("").to_ascii_lowercase();
        match &*reason {
            "end_turn" => self.finish_turn(&reason, None, out),
            "max_tokens" => self.finish_turn(&reason, Some(Why::MaxTokens), out),
            "max_turn_requests" => self.finish_turn(&reason, Some(Why::MaxRequests), out),
            "refusal" if self.is_ghost() => self.recover(out),
            "refusal" => self.finish_turn(&reason, None, out),
            "cancelled" => self.fail_turn("the agent cancelled the turn", Failure::Counted, out),
            _ => {
                self.fail_turn("the turn ended for no known reason", Failure::Counted, out);
                self.replace_agent("it ended a turn for no known reason", out);
            }
        }
    }

    /// The refusal of a session that was loaded without a word of history and has never answered:
    /// the agent said yes to a session that it does not have.
    fn is_ghost(&self) -> bool {
        let Some(turn) = &self.turn else { return false };
        let live = self.book.live(turn.scope());
        let hollow = live.is_some_and(|live| live.loaded && !live.replayed && live.turns == 0);
        hollow && !turn.spoke && turn.recoveries == 0
    }

    fn on_prompt_refused(&mut self, error: &RpcError, out: &mut Out<'_>) {
        if self.config.mutants.has(Mutant::DropsOnError) {
            self.turn = None;
            return;
        }
        let lost = is_not_found(error);
        if lost && self.turn.as_ref().is_some_and(|turn| turn.recoveries < RECOVERIES) {
            return self.recover(out);
        }
        let failure = if wants_a_person(error) { Failure::Final } else { Failure::Counted };
        self.fail_turn(&format!("the agent answered: {}", error.message), failure, out);
    }

    /// The agent lost the session: it is loaded again, unless it was just loaded in vain; then a
    /// fresh one takes its place.
    fn recover(&mut self, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        turn.recoveries += 1;
        let scope = turn.batch.scope.clone();
        let session = turn.session.take();
        let live = self.book.remove(&scope);
        let in_vain = live.is_some_and(|live| live.loaded && live.turns == 0);
        out.log(|| "the agent lost the session".to_owned());
        match session {
            Some(session) if in_vain => self.replace_session(&session, out),
            _ => self.find_session(out),
        }
    }

    /// The turn ended well; perhaps its session has to go all the same.
    fn finish_turn(&mut self, reason: &str, why: Option<Why>, out: &mut Out<'_>) {
        self.observe_end(reason, out);
        let Some(turn) = self.end_stage(out) else { return };
        self.store_again(&turn, out);
        let messages = turn.batch.ids();
        let scope = turn.batch.scope;
        out.log(|| match scope.channel() {
            Some(channel) => format!("turn complete for channel {channel}: {reason}"),
            None => format!("heartbeat complete: {reason}"),
        });
        if !messages.is_empty() {
            out.note(Note::TurnDone { messages });
        }
        self.unreact(&turn.batch.messages, out);
        self.agent.proved_well();
        self.close_leftover(turn.leftover, out);
        let turns = self.count_turn(&scope, out.now_ms);
        let limit = self.config.settings.max_turns;
        let spent = (limit > 0 && turns >= limit).then_some(Why::TurnLimit);
        if let Some(why) = why.or(spent).filter(|_| turns > 0) {
            self.discard(&scope, why, out);
        }
    }

    /// Counts the turn in its session; 0 when the session was discarded meanwhile.
    fn count_turn(&mut self, scope: &Scope, now_ms: u64) -> u32 {
        self.book.touch(scope, now_ms);
        let Some(live) = self.book.live_mut(scope) else { return 0 };
        live.turns += 1;
        live.turns
    }

    /// A cancelled prompt was answered, whatever it says.
    pub(crate) fn on_cancel_answer(
        &mut self,
        why: Cancelled,
        outcome: &Result<Answer, RpcError>,
        out: &mut Out<'_>,
    ) {
        self.timers.cancel(Slot::Turn, out);
        let reason = outcome.as_ref().ok().and_then(|answer| answer.stop_reason.as_deref());
        // It was done before it heard of the cancel: then it is done.
        if reason.is_some_and(|reason| reason.eq_ignore_ascii_case("end_turn")) {
            return self.finish_turn("end_turn", None, out);
        }
        match why {
            Cancelled::Wanted(why) => self.drop_turn(why, out),
            Cancelled::Silent => {
                self.fail_turn("the agent was silent for too long", Failure::Counted, out);
                self.replace_agent("it was silent for too long", out);
            }
        }
    }

    /// The agent died under the turn.
    pub(crate) fn on_turn_orphaned(&mut self, out: &mut Out<'_>) {
        let Some(turn) = &self.turn else { return };
        match turn.stage {
            Stage::Loading(_) => return self.on_load_unanswered(Silence::Ended, out),
            Stage::Cancelling { why: Cancelled::Wanted(why), .. } => {
                return self.drop_turn(why, out);
            }
            _ => {}
        }
        if turn.stale || turn.dropped.is_some() {
            return self.retry_fresh(out);
        }
        if self.config.mutants.has(Mutant::DropsOnDeath) {
            self.turn = None;
            return;
        }
        self.fail_turn("the agent ended", Failure::Counted, out);
    }

    /// Takes the turn that has ended out of its stage.
    pub(crate) fn end_stage(&mut self, out: &mut Out<'_>) -> Option<Turn> {
        self.timers.cancel(Slot::Turn, out);
        self.timers.cancel(Slot::Typing, out);
        self.turn.take()
    }

    /// Ends the session that was discarded while the turn ran in it.
    pub(crate) fn close_leftover(&mut self, leftover: Option<Text>, out: &mut Out<'_>) {
        if let Some(session) = leftover {
            self.end_session(session, out);
        }
    }

    /// The fault in which the end of a rotated turn writes the receipt again (H-21).
    pub(crate) fn store_again(&mut self, turn: &Turn, out: &mut Out<'_>) {
        let (Some(key), Some(session)) = (turn.scope().key(), &turn.session) else { return };
        if turn.rotated && self.config.mutants.has(Mutant::BusyRotateStoredAgain) {
            let (key, session) = (key.clone(), session.clone());
            let config = turn.config.clone();
            let op = skep_store::StoreOp::Put { key, session, config };
            self.disk.ask(op, Reason::Nobody, out);
        }
    }
}
