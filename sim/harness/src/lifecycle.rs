//! The one seam through which a session ends: memory and disk together (H-20 to H-25).

use skep_mutant::Mutant;
use skep_store::{Key, StoreAnswer, StoreOp};
use skep_trace::{Call, Text};

use crate::disk::Reason;
use crate::effect::Out;
use crate::harness::Harness;
use crate::scope::Scope;
use crate::timer::Slot;
use crate::turn::Stage;

/// Why a session is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The owner rotates it; nothing runs in it.
    RotateIdle,
    /// The owner rotates it in mid-turn.
    RotateBusy,
    /// The owner switches the model; nothing runs in it.
    SwitchIdle,
    /// The owner switches the model in mid-turn.
    SwitchBusy,
    /// Its context is full.
    MaxTokens,
    /// Its turn made too many requests.
    MaxRequests,
    /// It had as many turns as a session may have.
    TurnLimit,
    /// Its turn was cancelled, and cancelled turns take their session with them.
    Cancel,
    /// Its cancelled turn never came to an end.
    FailedCleanup,
    /// The agent left the channel.
    Removed,
}

/// Which halves of a discard are carried out: both, unless a fault is switched on.
#[derive(Clone, Copy, Debug)]
struct Halves {
    memory: bool,
    disk: bool,
}

impl Why {
    fn halves(self, switched_on: Option<Mutant>) -> Halves {
        let both = Halves { memory: true, disk: true };
        let memory_only = Halves { disk: false, ..both };
        let disk_only = Halves { memory: false, ..both };
        let neither = Halves { memory: false, disk: false };
        match (self, switched_on) {
            (Self::RotateIdle, Some(Mutant::RotateMemoryOnly))
            | (Self::RotateBusy, Some(Mutant::BusyRotateKeepsReceipt))
            | (Self::MaxTokens, Some(Mutant::MaxTokensMemoryOnly))
            | (Self::TurnLimit, Some(Mutant::TurnLimitMemoryOnly))
            | (Self::SwitchIdle, Some(Mutant::ModelSwitchIdleKeeps))
            | (Self::SwitchBusy, Some(Mutant::ModelSwitchBusyKeeps))
            | (Self::Removed, Some(Mutant::RemovalKeepsReceipt)) => memory_only,
            (Self::RotateIdle, Some(Mutant::RotateDiskOnly)) => disk_only,
            (Self::MaxTokens, Some(Mutant::MaxTokensKeeps))
            | (Self::MaxRequests, Some(Mutant::MaxRequestsKeeps))
            | (Self::TurnLimit, Some(Mutant::TurnLimitIgnored))
            | (Self::Cancel, Some(Mutant::CancelKeepsSession)) => neither,
            _ => both,
        }
    }

    /// What the store is asked for the durable half.
    fn operation(self, key: &Key, session: Option<Text>) -> Option<StoreOp> {
        let whole = || StoreOp::Remove { key: key.clone() };
        match self {
            // The whole channel goes at once, with threads that only an earlier process knew.
            Self::Removed if key.root.is_some() => None,
            Self::Removed => Some(StoreOp::RemoveChannel { channel: key.channel.clone() }),
            // One session proved used up; a receipt that another process wrote since is not meant.
            Self::MaxTokens | Self::MaxRequests | Self::TurnLimit | Self::FailedCleanup => {
                let only = |expected| StoreOp::RemoveIf { key: key.clone(), expected };
                Some(session.map_or_else(whole, only))
            }
            // Somebody decided about the scope, whatever session it has.
            Self::RotateIdle
            | Self::RotateBusy
            | Self::SwitchIdle
            | Self::SwitchBusy
            | Self::Cancel => Some(whole()),
        }
    }
}

impl Harness {
    /// The scope's next turn must not go on with its session: not in this process, not after a
    /// restart. Every way to end a session comes through here.
    pub(crate) fn discard(&mut self, scope: &Scope, why: Why, out: &mut Out<'_>) {
        let switched_on = self.config.mutants.get();
        let halves = why.halves(switched_on);
        let session = self.session_of(scope);
        if halves.disk {
            self.discard_on_disk(scope, session, why, out);
        }
        if halves.memory {
            self.discard_in_memory(scope, out);
        }
        if let Some(turn) = &mut self.turn {
            turn.rotated |= why == Why::RotateBusy;
        }
        let rotated = matches!(why, Why::RotateIdle | Why::RotateBusy);
        if rotated && switched_on == Some(Mutant::RotateClearsAll) {
            self.discard_everything_else(scope, out);
        }
    }

    /// The session that the scope has, or is just being given.
    fn session_of(&self, scope: &Scope) -> Option<Text> {
        let live = self.book.live(scope).map(|live| live.session.clone());
        live.or_else(|| match &self.turn.as_ref().filter(|turn| turn.scope() == scope)?.stage {
            Stage::Loading(load) => Some(load.session.clone()),
            _ => None,
        })
    }

    fn discard_in_memory(&mut self, scope: &Scope, out: &mut Out<'_>) {
        let live = self.book.remove(scope);
        self.book.load_settled(scope);
        self.book.mark_fresh(scope.clone());
        let session = live.map(|live| live.session);
        match self.turn.as_mut().filter(|turn| turn.scope() == scope) {
            // The agent is at work in it: it is closed once the turn has left it.
            Some(turn) if turn.is_running() => turn.leftover = session,
            Some(turn) => turn.stale = true,
            None => {
                if let Some(session) = session {
                    self.end_session(session, out);
                }
            }
        }
    }

    fn discard_on_disk(
        &mut self,
        scope: &Scope,
        session: Option<Text>,
        why: Why,
        out: &mut Out<'_>,
    ) {
        if let Some(session) = &session {
            self.book.discard_id(session.clone());
        }
        let Some(key) = scope.key().filter(|_| self.config.settings.resume) else { return };
        if let Some(op) = why.operation(key, session) {
            self.disk.owe(key.clone(), op.clone());
            self.disk.ask(op, Reason::Discard(key.clone()), out);
        }
    }

    /// The fault in which a rotate hits every scope (H-23).
    fn discard_everything_else(&mut self, scope: &Scope, out: &mut Out<'_>) {
        let others: Vec<Scope> = self.book.scopes().filter(|it| *it != scope).cloned().collect();
        for other in others {
            self.discard_on_disk(&other, None, Why::RotateIdle, out);
            self.discard_in_memory(&other, out);
        }
    }

    /// The durable half of a discard was tried. Until it succeeds the owner knows, and it is tried
    /// again; the session is gone from memory either way (H-25).
    pub(crate) fn on_discard_stored(&mut self, key: &Key, answer: &StoreAnswer, out: &mut Out<'_>) {
        let StoreAnswer::Failed(why) = answer else {
            self.disk.settle(key);
            return self.wait_for_owed(out);
        };
        let attempts = self.disk.discard_failed(key);
        if attempts == 0 {
            return;
        }
        self.wait_for_owed(out);
        if attempts == 1 {
            let what = format!("the session could not be forgotten on disk yet: {why}");
            self.tell_owner(key, &what, out);
        }
    }

    /// Sees to it that what is owed to the disk is tried again.
    pub(crate) fn wait_for_owed(&mut self, out: &mut Out<'_>) {
        match self.disk.retry_in_ms() {
            Some(wait_ms) => self.timers.set(Slot::Owed, wait_ms, out),
            None => self.timers.cancel(Slot::Owed, out),
        }
    }

    /// Tells the agent that a session is over, as far as it wants to know (H-24). Nobody waits for
    /// the answers: an agent that never gives them must not hold anything up.
    pub(crate) fn end_session(&mut self, session: Text, out: &mut Out<'_>) {
        let offers = self.agent.offers;
        if offers.delete {
            self.close_session(session.clone(), out);
            self.tell_agent(Call::SessionDelete { session_id: session }, out);
        } else {
            self.close_session(session, out);
        }
    }

    /// Tells the agent that a session is not used for now; it may be loaded again.
    pub(crate) fn close_session(&mut self, session_id: Text, out: &mut Out<'_>) {
        if self.agent.offers.close {
            self.tell_agent(Call::SessionClose { session_id }, out);
        }
    }

    fn tell_agent(&mut self, call: Call, out: &mut Out<'_>) {
        if self.agent.is_ready() {
            let (_, frame) = self.agent.request(call);
            out.tell_agent(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Why; 10] = [
        Why::RotateIdle,
        Why::RotateBusy,
        Why::SwitchIdle,
        Why::SwitchBusy,
        Why::MaxTokens,
        Why::MaxRequests,
        Why::TurnLimit,
        Why::Cancel,
        Why::FailedCleanup,
        Why::Removed,
    ];

    #[test]
    fn every_discard_clears_memory_and_disk() {
        for why in ALL {
            let halves = why.halves(None);
            assert!(halves.memory && halves.disk, "{why:?}");
        }
    }

    #[test]
    fn a_fault_changes_one_kind_of_discard_only() {
        for mutant in Mutant::ALL {
            let changed = ALL.iter().filter(|why| {
                let halves = why.halves(Some(*mutant));
                !(halves.memory && halves.disk)
            });
            assert!(changed.count() <= 1, "{mutant}");
        }
    }
}
