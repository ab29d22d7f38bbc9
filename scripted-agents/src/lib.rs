//! The scripted agent: an ACP agent that behaves well unless its script says otherwise.
//!
//! - [`Agent`]: the pure core, one value a process; start here. It takes [`AgentEvent`]s and
//!   says [`AgentEffect`]s; time, pipes and processes are its shells' business.
//! - [`AgentDisk`]: what survives the agent's processes.
//! - [`Shell`]: gives an agent byte streams and a clock; [`Watch`] sees all it does and may hold it.
//! - [`main`]: the agent as a process that a real harness starts; [`AgentPort`] is where such
//!   processes call their director, [`Shell::serve`] runs an agent in one.
//! - [`Defect`]: what is wrong with the agent that has no director, if anything; [`Capability`]:
//!   what it does without.
//! - [`schema`]: what a harness sends, held against the official schema.
//! - [`FramePipe`]: for worlds that carry frames as values: what a reader makes of the effects.
//!
//! What an agent is told to do is [`skep_plan::Script`]; what each action and each way of
//! replaying means stands with its implementation, in `core/act.rs` and `core/replay.rs`.

mod core;
mod live;
pub mod schema;
mod shell;
mod solo;

pub use crate::core::{
    Agent, AgentDisk, AgentEffect, AgentEvent, DiskError, FramePipe, Session, Turn,
};
pub use crate::live::{
    AgentLink, AgentPort, BadArgs, DirectorAddress, StdioArgs, main, wrapper_script,
};
pub use crate::schema::SchemaCheck;
pub use crate::shell::{Between, Ended, Keep, MOST_LINE_BYTES, Passed, Seen, Shell, Watch};
pub use crate::solo::{Capability, Defect};
