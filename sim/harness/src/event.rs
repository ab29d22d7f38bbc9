//! What happens to a harness: the input of its core.

use std::sync::Arc;

use skep_store::StoreAnswer;
use skep_trace::{Frame, HttpReply, RelayMsg, Text};

/// One thing that happened. Whoever drives the core hands it nothing of an agent process or a
/// connection that the core has since given up.
#[derive(Clone, Debug)]
pub enum HarnessEvent {
    /// The process runs.
    Started,
    /// The relay connection is open.
    Connected,
    /// It could not be opened; why, for a person.
    ConnectFailed(Text),
    /// The relay connection broke.
    Disconnected,
    /// The relay said something.
    Relay(Arc<RelayMsg>),
    /// An HTTP call was answered, or failed; the number is the one that it was made with.
    Http(u32, Result<Arc<HttpReply>, Text>),
    /// The agent process runs.
    AgentStarted,
    /// The agent wrote a line.
    AgentFrame(Arc<Frame>),
    /// The agent's output ended, or it no longer takes input.
    AgentEnded,
    /// A timer fired.
    Timer(u32),
    /// The store answered; the number is the one that it was asked with.
    Stored(u32, StoreAnswer),
    /// SIGTERM.
    Terminate,
}
