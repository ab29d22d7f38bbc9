//! How long an entry lives, and how little a clock is believed (S-8).
//!
//! An entry that was not used for longer than the limit is forgotten. But a clock that stands
//! before the newest entry, or further than the limit behind it, proves nothing: it was set wrong,
//! or the machine was off. Then nothing is forgotten, and the next write moves the times of use so
//! that they make sense again and the entries keep their distances.

use super::format::{Entries, Entry};

/// The limit, and whether it is applied with care.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    pub(super) limit_ms: u64,
    /// The clock is believed whatever it says (a fault).
    pub(super) trusting: bool,
}

impl Life {
    /// Which entries are to be treated as forgotten now.
    pub(super) fn expired(self, entries: &Entries, now_ms: u64) -> impl Fn(&Entry) -> bool + use<> {
        let jumped = !self.trusting && self.has_jumped(entries, now_ms);
        move |entry| !jumped && now_ms.saturating_sub(entry.used_at_ms) > self.limit_ms
    }

    /// Forgets what is to be forgotten, or mends the times of use: before a write.
    pub(super) fn settle(self, entries: &mut Entries, now_ms: u64) {
        let newest = newest(entries);
        let expired = self.expired(entries, now_ms);
        entries.retain(|_, entry| !expired(entry));
        let ahead = now_ms.saturating_sub(newest);
        for entry in entries.values_mut() {
            if ahead > self.limit_ms {
                entry.used_at_ms += ahead;
            }
            entry.used_at_ms = entry.used_at_ms.min(now_ms);
        }
    }

    fn has_jumped(self, entries: &Entries, now_ms: u64) -> bool {
        let newest = newest(entries);
        now_ms < newest || now_ms - newest > self.limit_ms
    }
}

fn newest(entries: &Entries) -> u64 {
    entries.values().map(|entry| entry.used_at_ms).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::scope::EntryKey;

    const LIFE: Life = Life { limit_ms: 100, trusting: false };

    fn used_at(times: &[u64]) -> Entries {
        let entry = |(index, time): (usize, &u64)| {
            let key = EntryKey { relay: "r".into(), channel: index.to_string().into(), root: None };
            let config = crate::ops::Config::default();
            (key, Entry { session: "s".into(), config, used_at_ms: *time })
        };
        times.iter().enumerate().map(entry).collect()
    }

    fn after(times: &[u64], now_ms: u64) -> Vec<u64> {
        let mut entries = used_at(times);
        LIFE.settle(&mut entries, now_ms);
        entries.values().map(|entry| entry.used_at_ms).collect()
    }

    #[test]
    fn what_was_not_used_for_too_long_goes() {
        assert_eq!(after(&[1_000, 1_050], 1_101), [1_050]);
        assert_eq!(after(&[1_000, 1_050], 1_100), [1_000, 1_050]);
    }

    #[test]
    fn a_clock_that_jumps_forwards_takes_the_entries_along() {
        assert_eq!(after(&[1_000, 1_050], 9_000), [8_950, 9_000]);
    }

    #[test]
    fn a_clock_that_jumps_backwards_pulls_the_entries_back() {
        assert_eq!(after(&[1_000, 1_050], 1_020), [1_000, 1_020]);
        assert_eq!(after(&[1_000, 1_050], 3), [3, 3]);
    }

    #[test]
    fn what_a_jump_saved_is_not_lost_by_the_write_after_it() {
        let mut entries = used_at(&[1_000]);
        LIFE.settle(&mut entries, 9_000);
        let expired = LIFE.expired(&entries, 9_001);
        assert!(!entries.values().any(expired));
    }
}
