//! What one record means, in the words of the domain.

use std::sync::Arc;

use skep_trace::{Call, NostrEvent, RpcError, Side, Snapshot, Text, What};

use super::discard::Comeback;
use super::ids::{LifeId, MessageId, ProcessId, PromptId, SessionId};
use super::process::{AgentAsk, Open};

/// One record, read.
pub(crate) struct Moment<'r> {
    /// Its place in the trace.
    pub(crate) record: usize,
    /// Its instant.
    pub(crate) at_ms: u64,
    /// The record's own words.
    pub(crate) what: &'r What,
    /// The call that it is, if it is one.
    pub(crate) call: Option<CallSeen<'r>>,
    /// What it means.
    pub(crate) seen: Seen<'r>,
    /// A discarded session came back in it.
    pub(crate) comeback: Option<Comeback>,
}

/// A request or notification between a harness and its agent.
#[derive(Clone, Copy)]
pub(crate) struct CallSeen<'r> {
    /// The harness.
    pub(crate) life: LifeId,
    /// The agent.
    pub(crate) process: ProcessId,
    /// Who sent it.
    pub(crate) from: Side,
    /// What it says.
    pub(crate) call: &'r Call,
}

/// What a record means. Whatever no check looks at is `Nothing`.
pub(crate) enum Seen<'r> {
    /// Nothing that a check looks at.
    Nothing,
    /// A life is over.
    LifeEnded(LifeId),
    /// An agent's process is over, and what it left unanswered.
    ProcessEnded(ProcessId, Vec<Open>),
    /// The harness asks for an old session.
    Load {
        /// Of this agent.
        process: ProcessId,
        /// This one.
        session: SessionId,
        /// By `session/resume`.
        resume: bool,
    },
    /// The agent gave the session, new or old.
    Given {
        /// What it gave.
        session: SessionId,
        /// What was asked.
        open: Open,
    },
    /// The agent answered a request for a session, or the handshake, with an error.
    Refused {
        /// The agent.
        process: ProcessId,
        /// What was asked.
        open: Open,
        /// What it said.
        error: &'r RpcError,
    },
    /// A prompt was sent.
    Prompt(PromptId),
    /// A prompt was answered.
    PromptEnded(PromptId),
    /// The harness cancels what runs on a session.
    Cancel {
        /// The agent.
        process: ProcessId,
        /// The session.
        session: SessionId,
    },
    /// The agent said something about a session.
    Update {
        /// The agent.
        process: ProcessId,
        /// The session.
        session: SessionId,
        /// The text of it, if it has one.
        text: Option<&'r str>,
        /// It came between a load and its answer.
        replay: bool,
    },
    /// The harness answered a request of the agent.
    AgentAnswered(AgentAsk),
    /// The relay gave a mention to a harness.
    Delivered {
        /// To whom.
        life: LifeId,
        /// What.
        message: MessageId,
    },
    /// The relay gave an owner's command to a harness.
    Command {
        /// To whom.
        life: LifeId,
        /// On which connection.
        conn: u32,
        /// Which.
        command: Command,
        /// The message that it was.
        message: MessageId,
        /// The life was given it before: after a reconnect, say.
        copy: bool,
    },
    /// The relay gave the owner's wish for another model to a harness.
    ModelSwitch {
        /// To whom.
        life: LifeId,
        /// On which connection.
        conn: u32,
        /// For which channel.
        channel: Text,
    },
    /// The relay told a harness that it left a channel.
    Left {
        /// Whom.
        life: LifeId,
        /// On which connection.
        conn: u32,
        /// Which channels.
        channels: Vec<Text>,
        /// The life was told of this removal before.
        copy: bool,
    },
    /// A harness published an event.
    Spoke {
        /// Who.
        life: LifeId,
        /// What.
        event: &'r NostrEvent,
    },
    /// What a state directory looks like.
    Disk {
        /// Which.
        state: &'r Text,
        /// Its content.
        snapshot: &'r Arc<Snapshot>,
        /// It is the scenario's own doing.
        baseline: bool,
    },
    /// A step came to rest; `false` when a bound was reached first.
    Settled {
        /// Which step.
        step: usize,
        /// Nothing was left to do.
        at_rest: bool,
    },
}

/// A command of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// `!rotate`.
    Rotate,
    /// `!cancel`.
    Cancel,
    /// `!shutdown`.
    Shutdown,
}

impl Command {
    /// Reads a message that is exactly a command.
    pub(crate) fn parse(content: &str) -> Option<Self> {
        match content.trim() {
            "!rotate" => Some(Self::Rotate),
            "!cancel" => Some(Self::Cancel),
            "!shutdown" => Some(Self::Shutdown),
            _ => None,
        }
    }
}
