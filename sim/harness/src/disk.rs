//! What this process asks of its store: one operation after the other, so that they take effect
//! in the order of the decisions behind them; and the discards that are not yet durable (H-25).

use std::collections::{BTreeMap, VecDeque};

use skep_store::{Key, StoreOp};

use crate::effect::{HarnessEffect, Out};

/// What an operation was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A turn that waits for the answer.
    Turn,
    /// A discard of this key.
    Discard(Key),
    /// Nobody waits.
    Nobody,
}

/// A discard whose durable half has not succeeded yet.
#[derive(Clone, Debug)]
pub(crate) struct Owed {
    op: StoreOp,
    attempts: u32,
}

/// How long the first new attempt waits, in milliseconds; each further one twice as long. A full
/// disk or a held lock seldom clears sooner.
const RETRY_MS: u64 = 5_000;

/// The longest wait between two attempts.
const RETRY_CAP_MS: u64 = 60_000;

/// The store operations under way and those that are owed.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    waiting: VecDeque<(u32, StoreOp, Reason)>,
    under_way: Option<(u32, Reason)>,
    last: u32,
    owed: BTreeMap<Key, Owed>,
}

impl Disk {
    /// Asks the store, after everything that was asked before; the number is the answer's.
    pub(crate) fn ask(&mut self, op: StoreOp, reason: Reason, out: &mut Out<'_>) -> u32 {
        self.last += 1;
        self.waiting.push_back((self.last, op, reason));
        self.go_on(out);
        self.last
    }

    fn go_on(&mut self, out: &mut Out<'_>) {
        if self.under_way.is_none()
            && let Some((ticket, op, reason)) = self.waiting.pop_front()
        {
            out.push(HarnessEffect::Store(ticket, op));
            self.under_way = Some((ticket, reason));
        }
    }

    /// The operation with this number was answered; `None` when none such is under way.
    pub(crate) fn answered(&mut self, ticket: u32, out: &mut Out<'_>) -> Option<Reason> {
        let (_, reason) = self.under_way.take_if(|(under_way, _)| *under_way == ticket)?;
        self.go_on(out);
        Some(reason)
    }

    /// A discard of the key begins: until it is durable, whatever stands there is not to be used.
    pub(crate) fn owe(&mut self, key: Key, op: StoreOp) {
        self.owed.insert(key, Owed { op, attempts: 0 });
    }

    /// A discard of the key, or of its whole channel, is not yet durable.
    pub(crate) fn owes(&self, key: &Key) -> bool {
        let covers = |owed: &Owed| match &owed.op {
            StoreOp::RemoveChannel { channel } => *channel == key.channel,
            _ => false,
        };
        self.owed.contains_key(key) || self.owed.values().any(covers)
    }

    /// The discard is durable, or something newer is about to take the place of what it removes.
    pub(crate) fn settle(&mut self, key: &Key) -> Option<Owed> {
        self.owed.remove(key)
    }

    /// What was to take the place of a discarded receipt did not: the discard is owed again.
    pub(crate) fn owe_again(&mut self, key: Key, owed: Owed) {
        self.owed.entry(key).or_insert(owed);
    }

    /// An attempt failed: how many that makes. None when it is not owed any more.
    pub(crate) fn discard_failed(&mut self, key: &Key) -> u32 {
        let Some(owed) = self.owed.get_mut(key) else { return 0 };
        owed.attempts += 1;
        owed.attempts
    }

    /// Asks again for everything that is owed.
    pub(crate) fn retry(&mut self, out: &mut Out<'_>) {
        let again: Vec<_> =
            self.owed.iter().map(|(key, owed)| (key.clone(), owed.op.clone())).collect();
        for (key, op) in again {
            self.ask(op, Reason::Discard(key), out);
        }
    }

    /// Nothing is under way, waits or is owed.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_none() && self.owed.is_empty()
    }

    /// How long the next attempt at what has failed waits; `None` where nothing has.
    pub(crate) fn retry_in_ms(&self) -> Option<u64> {
        let failed = self.owed.values().map(|owed| owed.attempts).filter(|attempts| *attempts > 0);
        let attempts = failed.min()?;
        Some((RETRY_MS << (attempts - 1).min(8)).min(RETRY_CAP_MS))
    }
}

#[cfg(test)]
mod tests {
    use skep_trace::Hex32;

    use super::*;

    fn remove(channel: &str) -> StoreOp {
        StoreOp::Remove { key: Key { channel: channel.into(), root: None } }
    }

    #[test]
    fn operations_run_one_after_the_other() {
        let mut effects = Vec::new();
        let mut out = Out { now_ms: 0, date_s: 0, logs: false, effects: &mut effects };
        let mut disk = Disk::default();
        disk.ask(remove("a"), Reason::Nobody, &mut out);
        disk.ask(remove("b"), Reason::Turn, &mut out);
        assert_eq!(out.effects.len(), 1);
        assert_eq!(disk.answered(2, &mut out), None);
        assert_eq!(disk.answered(1, &mut out), Some(Reason::Nobody));
        assert_eq!(effects[1], HarnessEffect::Store(2, remove("b")));
    }

    #[test]
    fn an_owed_channel_covers_its_threads() {
        let thread = |channel: &str| Key { channel: channel.into(), root: Some(Hex32([1; 32])) };
        let mut disk = Disk::default();
        let whole = Key { channel: "a".into(), root: None };
        disk.owe(whole, StoreOp::RemoveChannel { channel: "a".into() });
        assert!(disk.owes(&thread("a")));
        assert!(!disk.owes(&thread("b")));
    }

    #[test]
    fn attempts_at_an_owed_discard_come_ever_later() {
        let key = Key { channel: "a".into(), root: None };
        let mut disk = Disk::default();
        disk.owe(key.clone(), remove("a"));
        assert_eq!(disk.retry_in_ms(), None);
        let mut wait = || {
            disk.discard_failed(&key);
            disk.retry_in_ms()
        };
        let waits = [5_000, 10_000, 20_000, 40_000, 60_000, 60_000].map(Some);
        assert_eq!(std::array::from_fn(|_| wait()), waits);
        disk.settle(&key);
        assert!(!disk.owes(&key));
        assert_eq!(disk.retry_in_ms(), None);
    }
}
