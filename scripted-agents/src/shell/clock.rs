//! An agent's timers on tokio's clock, virtual or real.

use std::collections::BTreeSet;
use std::future;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The timers that run.
#[derive(Debug, Default)]
pub(super) struct Clock(BTreeSet<(Instant, u32)>);

impl Clock {
    pub(super) fn set(&mut self, timer: u32, after_ms: u64) {
        self.0.insert((Instant::now() + Duration::from_millis(after_ms), timer));
    }

    /// The next timer, once it has run out; timers of one instant in the order of their numbers.
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> u32 {
        let Some(&(due, timer)) = self.0.first() else { return future::pending().await };
        sleep_until(due).await;
        self.0.pop_first();
        timer
    }
}
