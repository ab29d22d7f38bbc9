//! The agent as a pure state machine. It knows no clock, no pipe, no process and no file.
//!
//! - `agent`: the state of one process; start here. `step`: what each event sets off.
//! - `event`: what goes in and comes out.
//! - `disk`, `disk_json`, `mint`, `counts`: what survives the process.
//! - `task`: a request under way. `act`: what each action of a script means.
//! - `answer`, `session`, `catalogue`, `configure`, `offer`: the well-behaved answers.
//! - `replay`, `update`, `stream`: history and other updates, at once or by and by.
//! - `pipe`: what a reader makes of the effects.

mod act;
mod agent;
mod answer;
mod catalogue;
mod configure;
mod counts;
mod disk;
mod disk_json;
mod event;
mod mint;
mod offer;
mod pipe;
mod replay;
mod session;
mod step;
mod stream;
mod task;
mod update;

#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use disk::{AgentDisk, Session, Turn};
pub use disk_json::DiskError;
pub use event::{AgentEffect, AgentEvent};
pub use pipe::FramePipe;
