//! What happens to an agent, and what it does about it.

use std::sync::Arc;

use skep_trace::{Frame, Text};

/// Something that happens to an agent process.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// A line came in on standard input.
    Frame(Arc<Frame>),
    /// Standard input is at its end.
    StdinClosed,
    /// A timer that the agent set has run out.
    Timer(u32),
    /// The director lets the request go on that has waited longest at a gate.
    Released,
}

/// Something that an agent process does. Effects take place in their order.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEffect {
    /// Writes a frame and a newline to standard output.
    Send(Arc<Frame>),
    /// Writes these bytes to standard output, and no newline.
    SendBytes(Box<[u8]>),
    /// Wants [`AgentEvent::Timer`] after so many milliseconds.
    SetTimer {
        /// Comes back in the event. A number is used once in a process.
        timer: u32,
        /// How long.
        after_ms: u64,
    },
    /// Exits with this code; nothing follows.
    Exit(i32),
    /// Dies by this signal; nothing follows.
    Die(i32),
    /// Closes standard output.
    CloseStdout,
    /// Closes standard input: whoever writes to it meets a broken pipe.
    CloseStdin,
    /// Writes so many bytes to standard error.
    Stderr {
        /// How many.
        bytes: u64,
    },
    /// A request has come to a gate and waits for [`AgentEvent::Released`].
    AtGate,
    /// The harness did something that the protocol does not foresee. Never a failure.
    Finding(Text),
}
