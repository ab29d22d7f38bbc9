//! The core in a tiny world: a relay, an agent and a store that answer in the simplest way.

mod delivery;
mod faults;
mod lifecycle;
mod replay;
mod resume;
mod scope;
mod world;
