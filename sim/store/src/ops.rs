//! The store as a conversation: what a harness asks of it, and what it answers.
//!
//! A harness core does no I/O; it says what it wants in these words, and whoever drives it lets a
//! store carry them out.

use std::fmt;

use skep_trace::{Hex32, Text};

/// What a receipt is kept under: a channel, or a thread of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The channel's id.
    pub channel: Text,
    /// The thread's root, under the thread policy.
    pub root: Option<Hex32>,
}

/// The configuration that a session runs with, as far as it decides whether a receipt still fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The model; `None` is the agent's default.
    pub model: Option<Text>,
    /// The permission mode; `None` is the agent's default.
    pub mode: Option<Text>,
}

/// What a lookup found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// A receipt that fits.
    Found {
        /// The remembered session.
        session: Text,
    },
    /// A receipt that was made under another configuration.
    Incompatible {
        /// The remembered session.
        session: Text,
    },
    /// No receipt.
    Absent,
}

/// One operation of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreOp {
    /// Reads the receipt of a key, if it was made under this configuration.
    Get {
        /// Whose.
        key: Key,
        /// The configuration that is wanted now.
        config: Config,
    },
    /// Writes a receipt.
    Put {
        /// Whose.
        key: Key,
        /// The session.
        session: Text,
        /// The configuration that the agent accepted.
        config: Config,
    },
    /// Forgets a receipt, whatever it says.
    Remove {
        /// Whose.
        key: Key,
    },
    /// Forgets a receipt if it still names this session.
    RemoveIf {
        /// Whose.
        key: Key,
        /// The session that it must name.
        expected: Text,
    },
    /// Forgets the receipts of a channel and of all its threads, whatever they say.
    RemoveChannel {
        /// Which channel's.
        channel: Text,
    },
}

/// What a store answers to a [`StoreOp`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAnswer {
    /// To [`StoreOp::Get`].
    Got(Lookup),
    /// To [`StoreOp::Put`], [`StoreOp::Remove`] and [`StoreOp::RemoveChannel`]: it is durable.
    Done,
    /// To [`StoreOp::RemoveIf`]: whether it named the expected session and is gone.
    Removed(bool),
    /// To any: it could not be done, and nothing changed; why, for a person.
    Failed(Text),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.channel)?;
        self.root.map_or(Ok(()), |root| write!(f, "/{}", root.short()))
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in [("model", &self.model), ("mode", &self.mode)] {
            if let Some(value) = value {
                write!(f, " {name}={value}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for StoreOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Get { key, config } => write!(f, "get {key}{config}"),
            Self::Put { key, session, config } => write!(f, "put {key}={session}{config}"),
            Self::Remove { key } => write!(f, "remove {key}"),
            Self::RemoveIf { key, expected } => write!(f, "remove {key} if it is {expected}"),
            Self::RemoveChannel { channel } => write!(f, "remove all of {channel}"),
        }
    }
}

impl fmt::Display for StoreAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Got(Lookup::Found { session }) => f.write_str(session),
            Self::Got(Lookup::Incompatible { session }) => write!(f, "incompatible: {session}"),
            Self::Got(Lookup::Absent) => f.write_str("nothing"),
            Self::Done => f.write_str("done"),
            Self::Removed(true) => f.write_str("removed"),
            Self::Removed(false) => f.write_str("left"),
            Self::Failed(why) => write!(f, "refused, {why}"),
        }
    }
}
