//! Tamperings, carried out at the edges of a harness. What is done stands in
//! [`Tampering`](crate::tampering::Tampering); each edge has a file here.
//!
//! A trace tells what the agent, the relay and the disk saw: the harness and whoever tampers are one
//! to them. So it is judged like any other, and nothing in it speaks of the tampering.

mod agent;
mod disk;
mod relay;

pub(super) use agent::Interposer;
pub(super) use disk::tamper;
pub(super) use relay::Lossy;
