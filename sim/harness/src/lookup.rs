//! The flow from a batch to its session: live, remembered, or none (H-1, H-2, H-8, H-10).

use skep_mutant::Mutant;
use skep_store::{Lookup, StoreAnswer, StoreOp};
use skep_trace::Text;

use crate::book::Live;
use crate::disk::Reason;
use crate::effect::Out;
use crate::harness::Harness;
use crate::inbox::Batch;
use crate::turn::{Stage, Turn};

/// How often one turn looks a receipt up: once more after a load failed and another process had
/// written a newer receipt meanwhile, and once more after a live session proved lost.
const LOOKUPS: u8 = 3;

impl Harness {
    pub(crate) fn begin_turn(&mut self, batch: Batch, out: &mut Out<'_>) {
        let loadable = self.config.settings.resume && self.agent.offers.can_restore();
        for session in self.book.evict(&batch.scope, loadable, out.now_ms) {
            self.close_session(session, out);
        }
        self.turn = Some(Turn::new(batch));
        self.find_session(out);
    }

    /// Takes the live session, or looks for a remembered one, or opens one.
    pub(crate) fn find_session(&mut self, out: &mut Out<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(live) = self.book.live(turn.scope()) {
            turn.session = Some(live.session.clone());
            return self.prompt(out);
        }
        turn.lookups += 1;
        let may_look = !turn.fresh && turn.lookups <= LOOKUPS;
        let scope = turn.scope().clone();
        match scope.key() {
            Some(key) if may_look && self.remembers() => {
                let config = self.expected(&scope);
                self.set_turn_config(config.clone());
                let op = StoreOp::Get { key: key.clone(), config };
                let ticket = self.disk.ask(op, Reason::Turn, out);
                self.set_stage(Stage::Looking { ticket });
            }
            _ => self.open_session(out),
        }
    }

    /// Receipts are worth a look: they are kept, and this agent can go on with a session.
    fn remembers(&self) -> bool {
        let on = self.config.settings.resume || self.config.mutants.has(Mutant::ResumesWhenOff);
        on && self.agent.offers.can_restore() && !self.config.mutants.has(Mutant::NeverLoads)
    }

    pub(crate) fn on_looked_up(&mut self, answer: StoreAnswer, out: &mut Out<'_>) {
        if self.overtaken(out) {
            return;
        }
        match self.usable(answer) {
            Some(session) if self.config.mutants.has(Mutant::PromptsUnloaded) => {
                let Some(turn) = &mut self.turn else { return };
                turn.session = Some(session.clone());
                let live = Live::restored(session, true, out.now_ms);
                self.book.insert(turn.batch.scope.clone(), live);
                self.prompt(out);
            }
            Some(session) => self.load(session, out),
            None => self.open_session(out),
        }
    }

    /// The session that a lookup's answer lets us go on with. A store that cannot be read costs
    /// the memory, not the turn (H-92).
    fn usable(&self, answer: StoreAnswer) -> Option<Text> {
        let session = match answer {
            StoreAnswer::Got(Lookup::Found { session }) => session,
            StoreAnswer::Got(Lookup::Incompatible { session }) if self.ignores_config() => session,
            _ => return None,
        };
        let key = self.turn.as_ref()?.scope().key()?;
        let given_up = self.book.is_discarded(&session) || self.disk.owes(key);
        (!given_up).then_some(session)
    }

    /// The faults that take a receipt of another configuration. The store does not say in what it
    /// differs, so each takes it where its own half is wished for.
    fn ignores_config(&self) -> bool {
        let Some(config) = self.turn.as_ref().map(|turn| &turn.config) else { return false };
        let has = |mutant| self.config.mutants.has(mutant);
        has(Mutant::IgnoresModelOfReceipt) && config.model.is_some()
            || has(Mutant::IgnoresModeOfReceipt) && config.mode.is_some()
    }

    /// Something came while the stage ran after which the turn must not go on as it was: the
    /// messages are done with, or the session in hand is. Says whether it did.
    pub(crate) fn overtaken(&mut self, out: &mut Out<'_>) -> bool {
        let Some(turn) = &mut self.turn else { return true };
        if !turn.stale && turn.dropped.is_none() {
            return false;
        }
        if std::mem::take(&mut turn.stale) {
            turn.fresh = true;
            let (scope, session) = (turn.batch.scope.clone(), turn.session.take());
            self.book.remove(&scope);
            if let Some(session) = session {
                self.book.discard_id(session.clone());
                self.end_session(session, out);
            }
        }
        match self.turn.as_ref().and_then(|turn| turn.dropped) {
            Some(why) => self.drop_turn(why, out),
            None => self.open_session(out),
        }
        true
    }

    pub(crate) fn set_stage(&mut self, stage: Stage) {
        if let Some(turn) = &mut self.turn {
            turn.stage = stage;
        }
    }

    fn set_turn_config(&mut self, config: skep_store::Config) {
        if let Some(turn) = &mut self.turn {
            turn.config = config;
        }
    }
}
