//! The store as a conversation: what a harness asks of it, and what it answers.
//!
//! A harness core does no I/O; it says what it wants in these words, and whoever drives it lets a
//! store carry them out.

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
