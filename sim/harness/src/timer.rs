//! The timers that run, by what they are for.
//!
//! Every start of a timer has a fresh number: one that fires although it was stopped or started
//! again at the same instant is recognised and ignored, whoever keeps the time.

use crate::effect::{HarnessEffect, Out};

/// What a timer is for. At most one runs for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The relay must speak, or answer the authentication.
    Handshake,
    /// The next attempt to connect.
    Reconnect,
    /// The relay's refusal to be talked to ends.
    RateGate,
    /// The next attempt at a channel's closed subscription.
    Resubscribe,
    /// The next attempt at a failed HTTP call.
    Http,
    /// Presence is shown again.
    Presence,
    /// Typing is shown again.
    Typing,
    /// The agent must answer `initialize`.
    Initialize,
    /// The agent is started again.
    Respawn,
    /// The deadline of the turn's stage.
    Turn,
    /// The next scope whose failed turn may be tried again.
    Retry,
    /// The next attempt at a discard that is not yet durable.
    Owed,
    /// Observer frames that wait are published.
    Observer,
    /// The next heartbeat turn.
    Heartbeat,
}

/// How many slots there are.
const SLOTS: usize = Slot::Heartbeat as usize + 1;

impl Slot {
    const ALL: [Self; SLOTS] = [
        Self::Handshake,
        Self::Reconnect,
        Self::RateGate,
        Self::Resubscribe,
        Self::Http,
        Self::Presence,
        Self::Typing,
        Self::Initialize,
        Self::Respawn,
        Self::Turn,
        Self::Retry,
        Self::Owed,
        Self::Observer,
        Self::Heartbeat,
    ];

    /// Its firing never changes anything that a check can see.
    fn idle(self) -> bool {
        matches!(self, Self::Presence | Self::Typing)
    }
}

/// The timers that run. A number of 0 stands for none.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    running: [u32; SLOTS],
    last: u32,
}

impl Timers {
    /// Starts a timer, instead of the one that may run in its slot.
    pub(crate) fn set(&mut self, slot: Slot, after_ms: u64, out: &mut Out<'_>) {
        self.cancel(slot, out);
        self.last = self.last.wrapping_add(1).max(1);
        self.running[slot as usize] = self.last;
        out.push(HarnessEffect::SetTimer { timer: self.last, after_ms, idle: slot.idle() });
    }

    /// Starts a timer unless one runs in its slot.
    pub(crate) fn ensure(&mut self, slot: Slot, after_ms: u64, out: &mut Out<'_>) {
        if !self.is_set(slot) {
            self.set(slot, after_ms, out);
        }
    }

    /// Stops a timer, if it runs.
    pub(crate) fn cancel(&mut self, slot: Slot, out: &mut Out<'_>) {
        let timer = std::mem::take(&mut self.running[slot as usize]);
        if timer != 0 {
            out.push(HarnessEffect::CancelTimer(timer));
        }
    }

    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        self.running[slot as usize] != 0
    }

    /// What the timer that fired is for; `None` when it was given up.
    pub(crate) fn fired(&mut self, timer: u32) -> Option<Slot> {
        let at = self.running.iter().position(|running| *running == timer && timer != 0)?;
        self.running[at] = 0;
        Some(Slot::ALL[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_stand_in_their_order() {
        for (at, slot) in Slot::ALL.iter().enumerate() {
            assert_eq!(*slot as usize, at);
        }
    }

    #[test]
    fn a_timer_that_was_started_again_fires_once() {
        let mut effects = Vec::new();
        let mut out = Out { now_ms: 0, date_s: 0, logs: false, effects: &mut effects };
        let mut timers = Timers::default();
        timers.set(Slot::Turn, 10, &mut out);
        timers.set(Slot::Turn, 20, &mut out);
        assert_eq!(timers.fired(1), None);
        assert_eq!(timers.fired(2), Some(Slot::Turn));
        assert_eq!(timers.fired(2), None);
        assert_eq!(effects[1], HarnessEffect::CancelTimer(1));
    }
}
