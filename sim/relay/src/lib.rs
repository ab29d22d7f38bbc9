//! The simulated relay of skep.
//!
//! The core is a state machine without bytes, sockets or clocks:
//!
//! - [`relay`]: what a relay hears and does; start here.
//! - [`config`], [`bounds`], [`ids`]: what it is told, how much it takes, what shells number.
//! - [`channels`]: channels and their members, as events tell of them.
//! - [`profiles`]: a profile for everybody.
//! - [`filter`]: whether an event fits a filter.
//! - [`auth`], [`access`], [`signature`]: who somebody is, what they may do, what they signed.
//! - [`fault`]: what can go wrong, as data.
//! - [`keys`]: key pairs made from names; signing and sealing without randomness.
//!
//! Bytes are made at the edges only:
//!
//! - [`bytes`]: frames and bodies as a wire carries them, with ids and signatures.

pub mod access;
mod archive;
pub mod auth;
pub mod bounds;
pub mod bytes;
pub mod channels;
pub mod config;
mod delivery;
mod events;
pub mod fault;
pub mod filter;
mod http;
pub mod ids;
pub mod keys;
pub mod profiles;
mod publication;
pub mod relay;
pub mod signature;
mod subscriptions;

pub use bounds::Bounds;
pub use channels::Channel;
pub use config::RelayConfig;
pub use fault::Fault;
pub use ids::{ConnId, HttpId, Party};
pub use keys::Keys;
pub use relay::{Relay, RelayEffect, RelayEvent};
