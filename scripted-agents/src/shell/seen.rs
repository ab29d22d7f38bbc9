//! What a shell tells, and to whom.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use skep_trace::{Frame, Text};

/// Something that is about to happen to an agent, or that it is about to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// A line of the harness, before the agent knows of it.
    Received {
        /// What it says.
        frame: Arc<Frame>,
        /// How it stood on the pipe.
        raw: Text,
    },
    /// The harness closed the agent's standard input.
    StdinEnded,
    /// A frame, before it is written.
    Sending(Arc<Frame>),
    /// Bytes that are no whole line, before they are written.
    SendingBytes(Box<[u8]>),
    /// A request has come to a gate.
    AtGate,
    /// The agent closes its standard input.
    ClosingStdin,
    /// The agent closes its standard output.
    ClosingStdout,
    /// So many bytes, before they are written to standard error.
    Stderr {
        /// How many.
        bytes: u64,
    },
    /// Whoever stands between changed how many lines the harness wrote and read, other than this
    /// agent did.
    Diverted {
        /// So many more than the agent received.
        received: i64,
        /// So many more than the agent sent.
        sent: i64,
    },
    /// Something noticed that is no failure.
    Finding(Text),
    /// The end; nothing follows.
    Ended(Ended),
}

/// How an agent process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this code.
    Exit(i32),
    /// By itself, by this signal.
    Signal(i32),
    /// Somebody else ended it: its connection broke off without a word.
    Gone,
}

/// Who watches an agent. The agent goes on when the future is done, so that whoever is slow to
/// answer holds the agent at exactly this point. Any `FnMut(Seen)` watches without holding.
pub trait Watch {
    /// Takes note of what comes next.
    fn seen(&mut self, seen: Seen) -> impl Future<Output = ()>;

    /// Everything that came was dealt with: the agent waits for its harness, its director, or
    /// for its next timer, which fires after `timer`.
    fn idle(&mut self, timer: Option<Duration>) {
        let _ = timer;
    }
}

impl<F: FnMut(Seen)> Watch for F {
    async fn seen(&mut self, seen: Seen) {
        self(seen);
    }
}
