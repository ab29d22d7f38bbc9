//! What the agent says on its own: history while a session is being restored, output while a
//! prompt runs (H-40 to H-43).
//!
//! The window in which an update is history is kept by the turn's stage, for the session that is
//! being restored, so every way out of the stage closes it. Whether an update is history is never
//! judged by its text: people do say the same thing twice.

use serde_json::Value;
use skep_mutant::Mutant;
use skep_trace::{Call, Text, Update};

use crate::effect::Out;
use crate::harness::Harness;
use crate::turn::Stage;

/// What an update is to the turn that runs.
enum Meaning {
    /// History of the session that is being restored.
    Replay,
    /// Output of the prompt that runs.
    Live,
    /// Neither: another session's, or nobody's.
    Stray,
}

impl Harness {
    pub(crate) fn on_notification(&mut self, call: &Call, out: &mut Out<'_>) {
        if let Call::SessionUpdate { session_id, update } = call {
            match self.meaning(session_id, out.now_ms) {
                Meaning::Replay => self.on_replay(session_id, update, out),
                Meaning::Live => self.on_output(session_id, update, out),
                Meaning::Stray => {}
            }
        }
    }

    fn meaning(&mut self, session_id: &Text, now_ms: u64) -> Meaning {
        let Some(turn) = &mut self.turn else { return Meaning::Stray };
        match &mut turn.stage {
            Stage::Loading(load) if load.session == *session_id => {
                load.replayed = true;
                if !self.config.mutants.has(Mutant::TotalLoadTimeout) {
                    load.heard_ms = now_ms;
                }
                Meaning::Replay
            }
            Stage::Quiet { heard_ms, .. } if turn.session.as_ref() == Some(session_id) => {
                *heard_ms = now_ms;
                if let Some(live) = self.book.live_mut(&turn.batch.scope) {
                    live.replayed = true;
                }
                Meaning::Replay
            }
            Stage::Prompting { .. } | Stage::Cancelling { .. }
                if turn.session.as_ref() == Some(session_id) =>
            {
                Meaning::Live
            }
            _ => Meaning::Stray,
        }
    }

    /// History: nothing is done with it, unless a fault is switched on.
    fn on_replay(&mut self, session_id: &Text, update: &Update, out: &mut Out<'_>) {
        let has = |mutant| self.config.mutants.has(mutant);
        if has(Mutant::PublishesReplay) {
            self.observe_update(session_id, update, out);
        } else if has(Mutant::ReplayAsOutput) {
            self.add_output(update);
        } else if has(Mutant::EatsEqualText) {
            self.observer.remember(update);
        }
    }

    fn on_output(&mut self, session_id: &Text, update: &Update, out: &mut Out<'_>) {
        if self.observer.stuck || self.observer.eats(update) {
            return;
        }
        if let Some(turn) = &mut self.turn {
            turn.spoke |= matches!(update, Update::AgentMessageChunk(_));
        }
        self.add_output(update);
        self.add_usage(update);
        self.observe_update(session_id, update, out);
    }

    fn add_output(&mut self, update: &Update) {
        if self.observer.is_on()
            && let Some(turn) = &mut self.turn
            && let Update::AgentMessageChunk(text) = update
        {
            turn.add_output(text);
        }
    }

    /// What the agent says of its use counts from the first word on: what a restored session had
    /// used before was not ours (H-4).
    fn add_usage(&mut self, update: &Update) {
        let Update::Other(body) = update else { return };
        if update.kind() != "usage_update" {
            return;
        }
        let used = body.get("used").and_then(Value::as_u64);
        let Some(turn) = &mut self.turn else { return };
        let Some(live) = self.book.live_mut(&turn.batch.scope) else { return };
        if let (Some(used), Some(before)) = (used, live.used) {
            turn.used += used.saturating_sub(before);
        }
        live.used = used.or(live.used);
    }
}
