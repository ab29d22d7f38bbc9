//! The agent as a real process: what a harness that nobody wrote for us can do to it.

mod directed;
mod harness;
mod standalone;
