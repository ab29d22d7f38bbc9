//! The reference harness: what a program that keeps sessions for a relay's channels has to do.
//!
//! The core is a state machine without I/O: [`Harness::step`] takes an event and an instant, and
//! says what is to be done. Start in [`harness`] (who handles what), then follow a message:
//!
//! - the relay's side: `link`, `connection` and `closed` (handshake, loss), `discovery` (which channels),
//!   `channel` (what is known of one), `message`, `command` and `control` (what people say);
//! - on the way: `scope` (whose session), `seen` (once only), `inbox` (what waits), `turn` (what
//!   runs, and its stages);
//! - the session: `lookup` (live, remembered or none), `load`, `opening`, `wish` (model and mode),
//!   `book` (what is live here), `disk` (what the store is asked), `lifecycle` (the one seam
//!   through which a session ends);
//! - the agent's side: `agent` and `process` (its life), `running` and `prompt` (a prompt and its
//!   end), `update` (history or output?), `request` (what the agent asks), `failure` and `retry`
//!   (what an error means, and what becomes of the messages);
//! - what people see besides: `presence`, `reaction`, `notice`, `observer`, `heartbeat`.
//!
//! Around it stand [`shell`] (bytes, time and processes, for any world) and [`entry`] (the shell as a
//! process of its own).
//!
//! The core knows no clock, no socket, no file. Every named fault that `skep prove` switches on is
//! asked for at the one decision that it changes.

pub mod config;
pub mod effect;
pub mod entry;
pub mod event;
pub mod harness;
pub mod shell;

mod agent;
mod book;
mod channel;
mod closed;
mod command;
mod connection;
mod control;
mod discovery;
mod disk;
mod failure;
mod heartbeat;
mod http;
mod inbox;
mod late;
mod lifecycle;
mod link;
mod load;
mod lookup;
mod message;
mod notice;
mod observer;
mod opening;
mod presence;
mod process;
mod prompt;
mod reaction;
mod request;
mod retry;
mod running;
mod scope;
mod seen;
mod timer;
mod turn;
mod update;
mod wish;

#[cfg(test)]
mod tests;

pub use config::{HarnessConfig, McpServer, RespondTo, Unsupported};
pub use effect::HarnessEffect;
pub use entry::main;
pub use event::HarnessEvent;
pub use harness::Harness;
