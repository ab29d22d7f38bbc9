//! Hops that take longer than the shortest, as a schedule says.

use std::collections::BTreeMap;

use skep_plan::{Dice, Schedule};

/// What a hop belongs to: within one, nothing overtakes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// What a harness tells itself.
    Host(usize),
    /// From a relay, on a connection.
    Conn(u32),
    /// From an agent process.
    Output(usize),
    /// To an agent process.
    Input(usize),
    /// To a relay.
    Relay(usize),
    /// The volume operations of a store.
    Poll(usize),
}

/// The lengths of hops, drawn one after another.
#[derive(Debug)]
pub(super) struct Spread {
    dice: Dice,
    spread_ms: u64,
    /// When the last hop of each lane ends.
    last_ms: BTreeMap<Lane, u64>,
}

impl Spread {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self {
            dice: Dice::new(schedule.seed),
            spread_ms: schedule.spread_ms,
            last_ms: BTreeMap::new(),
        }
    }

    /// When a hop ends that could end at `soonest_ms`.
    pub(super) fn due(&mut self, lane: Lane, soonest_ms: u64) -> u64 {
        let longer_ms = self.dice.draw() % (self.spread_ms + 1);
        let last_ms = self.last_ms.entry(lane).or_default();
        *last_ms = (soonest_ms + longer_ms).max(*last_ms);
        *last_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overtakes_within_a_lane() {
        let mut spread = Spread::new(Schedule { seed: 7, spread_ms: 50 });
        let ends: Vec<u64> = (0..100).map(|now| spread.due(Lane::Conn(1), now)).collect();
        assert!(ends.is_sorted());
        assert!(ends.iter().zip(0..).any(|(end, now)| *end > now));
        assert!(ends.iter().zip(0..).all(|(end, now)| *end <= now + 50 || ends.contains(end)));
    }

    #[test]
    fn a_seed_draws_the_same_again_and_another_differs() {
        let ends = |seed| {
            let mut spread = Spread::new(Schedule { seed, spread_ms: 50 });
            (0..20).map(|now| spread.due(Lane::Host(0), now * 100)).collect::<Vec<u64>>()
        };
        assert_eq!(ends(1), ends(1));
        assert_ne!(ends(1), ends(2));
    }
}
