//! Choices from a seed: which moment a kill falls on, who does what in a race.

/// `SplitMix64`: small, well mixed, and the same everywhere.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of `ways`, from 0.
    pub(super) fn throw(&mut self, ways: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = u32::try_from((mixed ^ (mixed >> 31)) >> 32).expect("it has 32 bits");
        high % ways.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_all_and_every_side_comes_up() {
        let throws = |seed| {
            let mut dice = Dice::new(seed);
            (0..200).map(|_| dice.throw(6)).collect::<Vec<_>>()
        };
        assert_eq!(throws(1), throws(1));
        assert_ne!(throws(1), throws(2));
        assert!((0..6).all(|side| throws(1).contains(&side)));
    }
}
