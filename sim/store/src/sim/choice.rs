//! Where a simulation has a choice: drawn from a seed, or every one in turn.

use skep_plan::Dice;

/// Makes choices. By convention the first way is the least that can have happened (nothing of it
/// reached the disk) and the last is the most.
pub trait Choose {
    /// One of `ways`, from 0; `ways` is at least 1.
    fn choose(&mut self, ways: usize) -> usize;

    /// The same, for whoever wants to know what it is about. Putting it into words costs more than
    /// the choice, so it is done on request only.
    fn choose_of(&mut self, ways: usize, doubt: &dyn Fn() -> Doubt) -> usize {
        let _ = doubt;
        self.choose(ways)
    }
}

/// What a power cut leaves open: something that may have reached the disk or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What it is about, with its path.
    pub what: String,
    /// What can have become of it, the least first; no two are the same.
    pub ways: Vec<String>,
}

/// Choices from a seed. One seed in four chooses the first way always, one in four the last: a
/// fair coin at each choice would hardly ever lose everything, which is what a real disk likes best.
#[derive(Clone, Debug)]
pub struct Seeded {
    dice: Dice,
    mood: Mood,
}

#[derive(Clone, Copy, Debug)]
enum Mood {
    First,
    Last,
    Mixed,
}

impl Seeded {
    /// The choices of this seed.
    pub fn new(seed: u64) -> Self {
        let mut seeded = Self { dice: Dice::new(seed), mood: Mood::Mixed };
        seeded.mood = match seeded.dice.draw() % 4 {
            0 => Mood::First,
            1 => Mood::Last,
            _ => Mood::Mixed,
        };
        seeded
    }
}

impl Choose for Seeded {
    fn choose(&mut self, ways: usize) -> usize {
        match self.mood {
            Mood::First => 0,
            Mood::Last => ways - 1,
            Mood::Mixed => (self.dice.draw() % ways as u64) as usize,
        }
    }
}

/// Every combination of choices, one a round, depth first: the last choice varies first.
///
/// A round must make the same choices as the one before for as long as it is answered the same.
#[derive(Clone, Debug, Default)]
pub struct Every {
    path: Vec<(usize, usize)>,
    at: usize,
    started: bool,
}

impl Every {
    /// Before the first round.
    pub fn new() -> Self {
        Self::default()
    }

    /// The choices of this round so far.
    pub fn ways(&self) -> Vec<usize> {
        self.path[..self.at].iter().map(|(way, _)| *way).collect()
    }

    /// So many choices at the beginning of this round are those of the round before, but for the
    /// last of them. To be asked before the first choice.
    pub fn repeated(&self) -> usize {
        self.path.len()
    }

    /// Begins the next round; `false` when every combination has had its turn.
    pub fn next_round(&mut self) -> bool {
        self.at = 0;
        if !self.started {
            self.started = true;
            return true;
        }
        while let Some((way, ways)) = self.path.pop() {
            if way + 1 < ways {
                self.path.push((way + 1, ways));
                return true;
            }
        }
        false
    }
}

impl Choose for Every {
    fn choose(&mut self, ways: usize) -> usize {
        if self.at == self.path.len() {
            self.path.push((0, ways));
        }
        let (way, before) = self.path[self.at];
        assert_eq!(before, ways, "a round repeats the choices of the round before");
        self.at += 1;
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_has_its_turn_once() {
        let mut every = Every::new();
        let mut rounds = Vec::new();
        while every.next_round() {
            let first = every.choose(2);
            let second = if first == 0 { every.choose(3) } else { 9 };
            rounds.push((first, second));
        }
        assert_eq!(rounds, [(0, 0), (0, 1), (0, 2), (1, 9)]);
    }

    #[test]
    fn a_seed_chooses_the_same_again() {
        let draw = |seed| {
            let mut seeded = Seeded::new(seed);
            (0..20).map(|_| seeded.choose(7)).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert!((0..20).any(|seed| draw(seed) != draw(seed + 1)));
    }
}
