//! Many seeds at once.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::source::Source;
use super::tally::Tally;
use crate::director::Job;

/// Plays the seeds of a range that belong to a shard with so many threads; `stop` is asked before
/// each, `ended` told after each
/// whether something failed.
pub fn sweep(
    source: &Source,
    seeds: &Seeds,
    job: &Job,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    ended: &(dyn Fn(bool) + Sync),
) -> Tally {
    let next = AtomicU64::new(0);
    let whole: Mutex<Tally> = Mutex::default();
    let run = || {
        let mut own = Tally::default();
        while !stop() {
            let Some(seed) = seeds.nth(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let played = source.play(seed, job);
            let held = matches!(&played, Ok(None))
                || matches!(&played, Ok(Some(it)) if it.failure.is_none());
            own.add(seed, played);
            ended(!held);
        }
        whole.lock().expect("no thread panics while it adds").merge(own);
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(run)).collect();
        run();
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    whole.into_inner().expect("all threads have ended")
}

/// The seeds of a range that belong to one of several shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// All seeds, of all shards.
    pub range: Range<u64>,
    /// Which shard this is, from 0.
    pub shard: u64,
    /// How many there are.
    pub of: u64,
}

impl Seeds {
    /// All seeds of a range.
    pub fn all(range: Range<u64>) -> Self {
        Self { range, shard: 0, of: 1 }
    }

    /// The nth seed of this shard.
    pub fn nth(&self, n: u64) -> Option<u64> {
        let seed =
            n.checked_mul(self.of)?.checked_add(self.shard)?.checked_add(self.range.start)?;
        (seed < self.range.end).then_some(seed)
    }

    /// How many there are in this shard.
    pub fn count(&self) -> u64 {
        let all = self.range.end.saturating_sub(self.range.start);
        all.saturating_sub(self.shard).div_ceil(self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_all_seeds_and_no_seed_twice() {
        let shard = |shard| Seeds { range: 5..22, shard, of: 4 };
        let of = |shard: &Seeds| (0..).map_while(|n| shard.nth(n)).collect::<Vec<u64>>();
        let mut all: Vec<u64> = (0..4).flat_map(|number| of(&shard(number))).collect();
        all.sort_unstable();
        assert_eq!(all, (5..22).collect::<Vec<u64>>());
        for number in 0..4 {
            assert_eq!(shard(number).count(), of(&shard(number)).len() as u64);
        }
    }
}
