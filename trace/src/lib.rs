//! The vocabulary of a skep run: what can happen, and how it is written down.
//!
//! skep tests programs that speak the Agent Client Protocol. Every world (simulated or live)
//! tells what happened in these words, and every verdict is a pure function of them.
//!
//! - [`record`]: one thing that happened, at an instant; start here.
//! - [`acp`]: frames between a harness and its agent.
//! - [`nostr`]: frames between a harness and its relay.
//! - [`policy`]: the choices a harness may make where public harnesses disagree.
//! - [`sighting`]: what a certificate's client notices beside the frames.
//! - [`snapshot`]: a state directory, as seen from outside.
//! - [`jsonl`]: the JSON Lines form, versioned; a torn last line is tolerated.
//! - [`hex`]: ids and keys, compared by value.
//!
//! This crate knows nobody: no scenario, no check, no world.

pub mod acp;
pub mod hex;
pub mod jsonl;
pub mod nostr;
pub mod policy;
pub mod record;
pub mod sighting;
pub mod snapshot;

pub use acp::{Answer, Call, Frame, RpcError, RpcId, Setup, Text, Update};
pub use hex::Hex32;
pub use nostr::{
    ClientMsg, Filter, HttpBody, HttpCall, HttpReply, NostrEvent, RelayMsg, SharedEvent, Sig,
};
pub use record::{
    End, Header, Life, NameKind, Note, Process, Receipt, Record, Settled, Side, Trace, What,
};
pub use sighting::Sighting;
pub use snapshot::{Entry, EntryKind, Snapshot};
