//! The process without a director: an agent that behaves well and keeps its sessions under its
//! home, or has one [`Defect`].
//!
//! It speaks the whole of the protocol as far as a certificate looks at it, and is what the
//! certificate is tried on. It shares no code with the agent that directors hold.
//!
//! - `agent`: the core, a line in and effects out; start here. `ground`: what it stands on.
//! - `offer`, `session`, `load`, `list`, `turn`: what each request does. `model`: what is said.
//! - [`Capability`]: what it may do without. [`Defect`]: the broken agents, as data. `spoil`: what they make of a replay.
//! - `folder`: sessions as files. `shell`: the process.

mod agent;
mod capability;
mod defect;
mod folder;
mod ground;
mod list;
mod load;
mod model;
mod offer;
mod session;
mod shell;
mod spoil;
mod turn;

use std::path::Path;

pub use capability::Capability;
pub use defect::Defect;

/// In what the agent differs from the well-behaved one that offers everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Character {
    pub(crate) defect: Option<Defect>,
    pub(crate) lacks: Option<Capability>,
}

/// Runs the agent over the process's standard streams to its end, and says its exit code.
pub(crate) fn main(home: &Path, birthplace: &Path, character: Character) -> i32 {
    shell::run(home, birthplace, character)
}
