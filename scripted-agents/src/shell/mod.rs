//! Shells: they give an agent its bytes and its time. The agent decides, they carry out.
//!
//! - [`Shell`]: one loop over any pair of byte streams, in a simulated host as well as on real
//!   pipes; start here.
//! - [`Seen`], [`Watch`]: what a shell tells before it acts, and who may hold it up.
//! - [`Keep`]: where the agent's disk is.
//! - [`Between`]: who may change what an agent and its harness say to each other.
//! - `lines`: bytes to lines, bounded. `pipes`: the two ends of a process. `clock`: its timers.

mod between;
mod clock;
mod keep;
mod lines;
mod pipes;
mod run;
mod seen;

pub use between::{Between, Passed};
pub use keep::Keep;
pub use lines::MOST_LINE_BYTES;
pub(crate) use pipes::{Lifeline, Pipes, Sink, Source};
pub use run::Shell;
pub use seen::{Ended, Seen, Watch};
