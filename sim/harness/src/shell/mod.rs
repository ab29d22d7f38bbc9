//! The shell: it carries bytes, time and processes for the core, which decides.
//!
//! One future runs one harness, on a simulated host as well as in a process of its own: nothing is
//! spawned, and what is ready at the same time is taken in a fixed order. Dropping the future is
//! the kill of the process: its streams close and nothing more of it happens.
//!
//! - [`ports`]: what it stands on: a network, agents, a disk; start here.
//! - `run`: the loop.
//! - `wire`: the relay connection. `calls`: HTTP. `pipe`: the agent. `keeper`: the store.
//!   `clock`: timers. `lines`: bytes to lines.
//! - [`status`]: what others may know while it runs.

mod calls;
mod clock;
mod keeper;
mod lines;
mod pipe;
pub mod ports;
mod run;
pub mod status;
mod wire;

pub use ports::{Agents, Network, Ports, Process, Started, Watch};
pub use run::run;
pub use status::{AgentStatus, Status, StatusHandle, TalkStatus};
