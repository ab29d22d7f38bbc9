//! The flow of a session's beginning: opened, configured, recorded (H-5, H-9, H-30 to H-32, H-92).

use std::sync::Arc;

use serde_json::{Value, json};
use skep_mutant::Mutant;
use skep_store::{Config, Key, StoreAnswer, StoreOp};
use skep_trace::{Answer, Call, RpcError, Setup, Text};

use crate::book::Live;
use crate::channel::{mcp_servers, title};
use crate::disk::Reason;
use crate::effect::Out;
use crate::failure::wants_a_person;
use crate::harness::Harness;
use crate::retry::Failure;
use crate::scope::Scope;
use crate::timer::Slot;
use crate::turn::Stage;
use crate::wish::Wishes;

/// How long a wish about model or mode may stay unanswered, in milliseconds.
const WISH_MS: u64 = 5_000;

impl Harness {
    /// What a session of the turn's scope is set up with now.
    pub(crate) fn setup(&self) -> Setup {
        let channel = self.turn.as_ref().and_then(|turn| turn.scope().channel());
        let channel = channel.and_then(|id| self.channels.get(id));
        let (meta, mcp_servers) = match channel {
            Some(channel) => {
                let words = channel.words(&self.config);
                (words.meta.clone(), words.mcp.clone())
            }
            None => (self.bare_meta(), Arc::new(mcp_servers(&self.config, None))),
        };
        Setup { cwd: self.config.cwd.clone(), mcp_servers, meta, extra: None }
    }

    /// `_meta` of a session that belongs to no channel: a heartbeat's.
    fn bare_meta(&self) -> Option<Arc<Value>> {
        Some(Arc::new(json!({"sessionTitle": title(&self.config, "heartbeat")?})))
    }

    pub(crate) fn open_session(&mut self, out: &mut Out<'_>) {
        if self.overtaken(out) {
            return;
        }
        let Some(turn) = &self.turn else { return };
        let mut setup = self.setup();
        if self.book.is_fresh(turn.scope()) {
            // An agent that keeps its own state by channel would hand the old conversation back.
            let mut meta = setup.meta.map_or_else(|| json!({}), |meta| (*meta).clone());
            meta["freshSession"] = Value::Bool(true);
            setup.meta = Some(Arc::new(meta));
        }
        let (request, frame) = self.agent.request(Call::SessionNew(setup));
        out.tell_agent(frame);
        self.set_stage(Stage::Opening { request });
        self.timers.set(Slot::Turn, self.config.settings.request_timeout_ms, out);
    }

    pub(crate) fn on_new_answer(&mut self, outcome: &Result<Answer, RpcError>, out: &mut Out<'_>) {
        self.timers.cancel(Slot::Turn, out);
        let answer = match outcome {
            Ok(answer) => answer,
            Err(error) => return self.on_new_refused(error, out),
        };
        let Some(session) = answer.session_id.clone() else {
            self.fail_turn("the agent opened a session without an id", Failure::Counted, out);
            return self.replace_agent("it opened a session without an id", out);
        };
        let Some(turn) = &mut self.turn else { return };
        turn.session = Some(session.clone());
        let scope = turn.batch.scope.clone();
        out.log(|| match scope.channel() {
            Some(channel) => format!("opened session {session} for channel {channel}"),
            None => format!("opened session {session} for the heartbeat"),
        });
        self.book.insert(scope.clone(), Live::created(session, out.now_ms));
        if self.overtaken(out) {
            return;
        }
        self.book.fresh_opened(&scope);
        self.configure(answer, false, out);
    }

    fn on_new_refused(&mut self, error: &RpcError, out: &mut Out<'_>) {
        if self.overtaken(out) {
            return;
        }
        let failure = if wants_a_person(error) { Failure::Final } else { Failure::Counted };
        self.fail_turn(&format!("no session could be opened: {}", error.message), failure, out);
    }

    /// Sees to it that the session has the wished model and mode.
    pub(crate) fn configure(&mut self, answer: &Answer, loaded: bool, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let Some(session) = turn.session.clone() else { return };
        let scope = turn.batch.scope.clone();
        let wanted = self.wanted(&scope);
        let wishes = Wishes::new(&wanted, &session, answer, loaded);
        if let Some(turn) = &mut self.turn {
            turn.config = wanted;
        }
        self.wish_on(wishes, out);
    }

    fn wish_on(&mut self, mut wishes: Wishes, out: &mut Out<'_>) {
        let Some(call) = wishes.next() else {
            return self.record(wishes.accepted, out);
        };
        let (request, frame) = self.agent.request(call);
        out.tell_agent(frame);
        self.set_stage(Stage::Configuring { request, wishes });
        self.timers.set(Slot::Turn, WISH_MS, out);
    }

    pub(crate) fn on_wish_answer(&mut self, accepted: bool, out: &mut Out<'_>) {
        self.timers.cancel(Slot::Turn, out);
        let Some(turn) = &mut self.turn else { return };
        let Stage::Configuring { wishes, .. } = &mut turn.stage else { return };
        let mut wishes = std::mem::take(wishes);
        wishes.answered(accepted);
        if !self.overtaken(out) {
            self.wish_on(wishes, out);
        }
    }

    /// Writes the receipt before the prompt: a kill in mid-turn must not fork the conversation.
    fn record(&mut self, accepted: Config, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let scope = turn.batch.scope.clone();
        let loaded = self.book.live(&scope).is_some_and(|live| live.loaded);
        let known = loaded && accepted == turn.config;
        let wanted = turn.config.clone();
        self.grant(&scope, wanted, accepted.clone());
        let Some(turn) = &mut self.turn else { return };
        let config = if self.config.mutants.has(Mutant::RecordsWantedModel) {
            turn.config.clone()
        } else {
            accepted
        };
        let session = turn.session.clone();
        let (Some(key), Some(session)) = (self.receipt_key(&scope), session) else {
            return self.prompt(out);
        };
        if known {
            return self.prompt(out);
        }
        let ticket = self.write_receipt(key, session, config, out);
        self.set_stage(Stage::Recording { ticket });
    }

    /// Where the scope's receipt is kept. One that no restart could use is not written: it would
    /// only replace an older one that still can be, once the agent can load again.
    fn receipt_key(&self, scope: &Scope) -> Option<Key> {
        let has = |mutant| self.config.mutants.has(mutant);
        if *scope == Scope::Heartbeat && has(Mutant::StoresHeartbeat) {
            return Some(Key { channel: "heartbeat".into(), root: None });
        }
        let kept = self.config.settings.resume
            && self.agent.offers.can_restore()
            && !has(Mutant::NeverStores);
        scope.key().filter(|_| kept).cloned()
    }

    fn write_receipt(&mut self, key: Key, session: Text, config: Config, out: &mut Out<'_>) -> u32 {
        // The new receipt takes the place of the discarded one, whose removal is no longer owed.
        let owed = self.disk.settle(&key);
        if let Some(turn) = &mut self.turn {
            turn.owed = owed;
        }
        self.wait_for_owed(out);
        self.disk.ask(StoreOp::Put { key, session, config }, Reason::Turn, out)
    }

    /// The receipt is written, or could not be: either way the turn goes on (H-92).
    pub(crate) fn on_recorded(&mut self, answer: &StoreAnswer, out: &mut Out<'_>) {
        if let StoreAnswer::Failed(_) = answer {
            self.owe_again(out);
            if self.config.mutants.has(Mutant::StoreFailureFailsTurn) {
                return self.fail_turn("the receipt could not be written", Failure::Final, out);
            }
        }
        self.prompt(out);
    }

    fn owe_again(&mut self, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if let (Some(owed), Some(key)) = (turn.owed.take(), turn.batch.scope.key().cloned()) {
            self.disk.owe_again(key, owed);
            self.wait_for_owed(out);
        }
    }
}
