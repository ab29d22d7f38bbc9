//! Choices from a seed, wherever chance is wanted and a cryptographic one is not: how long a hop
//! takes, which trouble comes, which moment a kill falls on.

/// `SplitMix64`: small, well mixed, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, any of all.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// One of `ways`, from 0; of none, 0.
    pub fn throw(&mut self, ways: u32) -> u32 {
        let high = u32::try_from(self.draw() >> 32).expect("it has 32 bits");
        high % ways.max(1)
    }

    /// A place in a list of this length; 0 in an empty one.
    pub fn place(&mut self, length: usize) -> usize {
        let ways = u32::try_from(length).unwrap_or(u32::MAX);
        usize::try_from(self.throw(ways)).unwrap_or(0)
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
