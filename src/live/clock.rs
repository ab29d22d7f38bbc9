//! The one real clock. A run goes faster than it: whoever takes part has shorter time limits, and
//! records count the time that their clocks show.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The time of a run.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    epoch_ms: u64,
    haste: u32,
    ahead_ms: Cell<i64>,
}

impl Clock {
    /// A run that begins now and goes `haste` times faster than the clock on the wall. Its people
    /// live so many milliseconds in the past, which later downtimes use up without any waiting.
    #[expect(clippy::disallowed_methods, reason = "the live world is where real time enters")]
    pub(super) fn start(haste: u32, behind_ms: u64) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            started: Instant::now(),
            epoch_ms: millis(since),
            haste,
            ahead_ms: Cell::new(0_i64.saturating_sub_unsigned(behind_ms)),
        }
    }

    pub(super) fn haste(&self) -> u32 {
        self.haste
    }

    /// Milliseconds of the run.
    pub(super) fn run_ms(&self) -> u64 {
        millis(self.started.elapsed()) * u64::from(self.haste)
    }

    /// Unix time in milliseconds, as the run's people have it.
    pub(super) fn unix_ms(&self) -> u64 {
        let real_ms = self.epoch_ms + millis(self.started.elapsed());
        real_ms.saturating_add_signed(self.ahead_ms.get())
    }

    /// How much the people's clock is ahead of the real one.
    pub(super) fn ahead_ms(&self) -> i64 {
        self.ahead_ms.get()
    }

    /// A downtime passes for everybody, at once.
    pub(super) fn skip(&self, ms: u64) {
        self.ahead_ms.set(self.ahead_ms.get().saturating_add_unsigned(ms));
    }

    /// How long a wait of the scenario really takes.
    pub(super) fn real(&self, ms: u64) -> Duration {
        Duration::from_millis(ms.div_ceil(u64::from(self.haste)))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
