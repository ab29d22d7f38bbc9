//! The core's timers and its clock, on tokio's: paused, simulated or real.

use std::collections::BTreeMap;
use std::future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A running timer: due at an instant, in the order of starting.
type Place = (Instant, u32);

/// The timers that run, and the time.
#[derive(Debug)]
pub(super) struct Clock {
    epoch_ms: u64,
    started: Instant,
    /// How many times faster the core's clock runs.
    haste: u32,
    /// Whether each is idle. Numbers only ever grow, so the order of starting is theirs.
    due: BTreeMap<Place, bool>,
    places: BTreeMap<u32, Place>,
}

impl Clock {
    pub(super) fn new(epoch_ms: u64, haste: u32) -> Self {
        let (due, places) = (BTreeMap::new(), BTreeMap::new());
        Self { epoch_ms, started: Instant::now(), haste: haste.max(1), due, places }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Unix time in milliseconds.
    pub(super) fn real_ms(&self) -> u64 {
        self.epoch_ms + self.elapsed_ms()
    }

    /// Unix time in milliseconds, as the core's clock tells it.
    pub(super) fn core_ms(&self) -> u64 {
        self.epoch_ms + self.elapsed_ms() * u64::from(self.haste)
    }

    pub(super) fn set(&mut self, timer: u32, after_ms: u64, idle: bool) {
        // Rounded up: a timer that fires early would find its deadline not reached.
        let after = Duration::from_millis(after_ms.div_ceil(u64::from(self.haste)));
        let place = (Instant::now() + after, timer);
        self.due.insert(place, idle);
        self.places.insert(timer, place);
    }

    pub(super) fn cancel(&mut self, timer: u32) {
        if let Some(place) = self.places.remove(&timer) {
            self.due.remove(&place);
        }
    }

    /// The next timer, once it has run out. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> u32 {
        let Some(((due, timer), _)) = self.due.first_key_value() else {
            return future::pending().await;
        };
        let (due, timer) = (*due, *timer);
        sleep_until(due).await;
        self.cancel(timer);
        timer
    }

    /// How many timers run that are not idle, and how soon the first of them fires.
    pub(super) fn busy(&self) -> (usize, Option<u64>) {
        let mut busy = self.due.iter().filter(|(_, idle)| !**idle).map(|((due, _), _)| *due);
        let first = busy.next();
        let left = first.map(|due| due.saturating_duration_since(Instant::now()));
        let left_ms = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        (usize::from(first.is_some()) + busy.count(), left_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn timers_fire_in_time_order_and_faster_in_haste() {
        let mut clock = Clock::new(1_000, 10);
        clock.set(1, 1_000, false);
        clock.set(2, 500, true);
        clock.set(3, 700, false);
        clock.cancel(3);
        assert_eq!(clock.busy(), (1, Some(100)));
        assert_eq!((clock.next().await, clock.core_ms(), clock.real_ms()), (2, 1_500, 1_050));
        assert_eq!((clock.next().await, clock.core_ms(), clock.real_ms()), (1, 2_000, 1_100));
    }
}
