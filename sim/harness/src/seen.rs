//! Which events were already taken, so that one that is delivered twice is handled once (H-81).

use std::collections::BTreeSet;

use skep_trace::Hex32;

/// How many ids one generation holds. Two are kept: an id is remembered for at least so many
/// others, which is far beyond what a reconnect delivers again, and memory stays bounded.
const GENERATION: usize = 6_000;

/// The ids of the last events.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    young: BTreeSet<Hex32>,
    old: BTreeSet<Hex32>,
}

impl Seen {
    /// Remembers an id; says whether it is new.
    pub(crate) fn insert(&mut self, id: Hex32) -> bool {
        if self.old.contains(&id) || !self.young.insert(id) {
            return false;
        }
        if self.young.len() > GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> Hex32 {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        Hex32(bytes)
    }

    #[test]
    fn an_id_is_new_once() {
        let mut seen = Seen::default();
        assert!(seen.insert(id(1)));
        assert!(!seen.insert(id(1)));
    }

    #[test]
    fn an_id_outlives_a_generation_and_memory_stays_bounded() {
        let mut seen = Seen::default();
        for number in 0..3 * GENERATION {
            assert!(seen.insert(id(number)));
            assert!(seen.young.len() + seen.old.len() <= 2 * GENERATION + 2);
        }
        assert!(!seen.insert(id(3 * GENERATION - GENERATION)));
    }
}
