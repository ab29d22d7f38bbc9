//! How long a certificate waits, and how much it reads.

use std::time::Duration;

/// The longest line that is read, in bytes. The longest that a probe causes has little over 1 MiB.
pub(super) const MOST_LINE_BYTES: usize = 8 * 1024 * 1024;

/// What one process may write to its standard output. The probes cause some ten megabytes.
pub(super) const MOST_OUTPUT_BYTES: usize = 64 * 1024 * 1024;

/// And how many lines: each is a record of the trace. The probes cause some ten thousand.
pub(super) const MOST_LINES: usize = 100_000;

/// Lines of an agent's log that are kept, those of its end besides, and what is kept of each, in
/// bytes.
pub(super) const MOST_LOG_LINES: usize = 200;
pub(super) const LAST_LOG_LINES: usize = 8;
pub(super) const MOST_LOG_LINE_BYTES: usize = 500;

/// Process starts of one certificate.
pub const MOST_STARTS: u32 = 14;

/// What a certificate waits for at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// For the first answer of a process: agents may load much before they speak.
    pub start: Duration,
    /// For any other answer.
    pub answer: Duration,
    /// For the end of a process once its input has ended.
    pub exit: Duration,
    /// For something that should not come: a late update, an answer to a notification.
    pub quiet: Duration,
    /// For everything together. What is not done by then is not observed.
    pub whole: Duration,
    /// Between the last turn of the bulk session and its load.
    pub pause: Duration,
    /// For the turns of the bulk session.
    pub bulk: Duration,
    /// And how many these may be.
    pub turns: u32,
    /// How long the long message is, in bytes.
    pub message: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(40),
            answer: Duration::from_secs(40),
            exit: Duration::from_secs(5),
            quiet: Duration::from_millis(300),
            whole: Duration::from_secs(115),
            pause: Duration::from_secs(60),
            bulk: Duration::from_secs(15),
            turns: 500,
            message: 1024 * 1024,
        }
    }
}

impl Bounds {
    /// Without the minute's pause and with few turns.
    pub fn quick() -> Self {
        Self {
            quiet: Duration::from_millis(100),
            pause: Duration::ZERO,
            bulk: Duration::from_secs(5),
            turns: 20,
            ..Self::default()
        }
    }

    /// For an agent whose every answer is immediate, as the scripted one's.
    pub fn immediate() -> Self {
        Self {
            start: Duration::from_secs(10),
            answer: Duration::from_secs(3),
            exit: Duration::from_secs(1),
            quiet: Duration::from_millis(25),
            message: 128 * 1024,
            turns: 5,
            ..Self::quick()
        }
    }
}
