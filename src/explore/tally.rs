//! What many seeds came to: how often each thing failed, what really happened, and which rule met
//! which trouble. Its size does not depend on how many seeds there were.

use std::collections::BTreeMap;

use skep_check::verdict::{Subject, Verdict};

use super::seek::{Failure, Played};

/// How many mistakes of our own are kept with their text.
const MOST_MISTAKES: usize = 5;

/// The sum over seeds. Sums of parts add up to the sum of the whole, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Seeds that were played.
    pub played: u64,
    /// Seeds of whose workload nothing was left.
    pub empty: u64,
    /// What failed, how often, and the smallest seed with which it did.
    pub failures: BTreeMap<Failure, (u64, u64)>,
    /// What happened, and in how many seeds.
    pub marks: BTreeMap<String, u64>,
    /// A rule that had occasion to be broken, what happened in the same run, and in how many seeds.
    pub pairs: BTreeMap<(String, String), u64>,
    /// Seeds that were told as a scenario that is wrong: our own fault.
    pub mistakes: Vec<(u64, String)>,
}

impl Tally {
    /// One more seed.
    pub fn add(&mut self, seed: u64, played: Result<Option<Played>, String>) {
        match played {
            Ok(Some(played)) => self.add_played(seed, &played),
            Ok(None) => self.empty += 1,
            Err(mistake) => {
                self.mistakes.push((seed, mistake));
                self.cut();
            }
        }
    }

    fn add_played(&mut self, seed: u64, played: &Played) {
        self.played += 1;
        if let Some(failure) = played.failure.clone() {
            let (count, first) = self.failures.entry(failure).or_insert((0, seed));
            *count += 1;
            *first = seed.min(*first);
        }
        let came_up = played.outcome.judgements.iter().filter_map(|judgement| {
            let came_up = matches!(judgement.verdict, Verdict::Held | Verdict::Violated);
            match judgement.subject {
                Subject::Invariant(rule) if came_up => Some(rule),
                _ => None,
            }
        });
        let rules: Vec<&str> = came_up.collect();
        for mark in &played.marks {
            *self.marks.entry((*mark).to_owned()).or_default() += 1;
            for rule in &rules {
                let pair = ((*rule).to_owned(), (*mark).to_owned());
                *self.pairs.entry(pair).or_default() += 1;
            }
        }
    }

    /// Everything that another part saw as well.
    pub fn merge(&mut self, other: Self) {
        self.played += other.played;
        self.empty += other.empty;
        for (failure, (count, first)) in other.failures {
            let (sum, seed) = self.failures.entry(failure).or_insert((0, first));
            *sum += count;
            *seed = first.min(*seed);
        }
        for (mark, count) in other.marks {
            *self.marks.entry(mark).or_default() += count;
        }
        for (pair, count) in other.pairs {
            *self.pairs.entry(pair).or_default() += count;
        }
        self.mistakes.extend(other.mistakes);
        self.cut();
    }

    /// The smallest seeds' mistakes stay.
    fn cut(&mut self) {
        self.mistakes.sort();
        self.mistakes.truncate(MOST_MISTAKES);
    }
}
