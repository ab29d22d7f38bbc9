//! An agent's timers on tokio's clock, virtual or real.

use std::collections::BTreeSet;
use std::future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The timers that run.
#[derive(Debug)]
pub(super) struct Clock {
    due: BTreeSet<(Instant, u32)>,
    /// How many times shorter every wait is.
    haste: u32,
}

impl Clock {
    pub(super) fn new(haste: u32) -> Self {
        Self { due: BTreeSet::new(), haste: haste.max(1) }
    }

    pub(super) fn set(&mut self, timer: u32, after_ms: u64) {
        let after = Duration::from_millis(after_ms.div_ceil(u64::from(self.haste)));
        self.due.insert((Instant::now() + after, timer));
    }

    /// How long it is until the next timer.
    pub(super) fn left(&self) -> Option<Duration> {
        let (due, _) = self.due.first()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// The next timer, once it has run out; timers of one instant in the order of their numbers.
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> u32 {
        let Some(&(due, timer)) = self.due.first() else { return future::pending().await };
        sleep_until(due).await;
        self.due.pop_first();
        timer
    }
}
