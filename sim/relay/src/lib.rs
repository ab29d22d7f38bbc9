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
//! - [`nip98`]: the tickets that HTTP requests carry.
//! - [`server`]: a relay on any stream, WebSocket and HTTP on one port.
//! - [`handle`]: one relay, shared by its sockets and by whoever directs it.
//! - [`client`]: the other side of both, for a harness.

pub mod access;
mod archive;
pub mod auth;
pub mod bounds;
pub mod bytes;
pub mod channels;
pub mod client;
pub mod config;
mod delivery;
mod events;
pub mod fault;
pub mod filter;
pub mod handle;
mod http;
pub mod ids;
pub mod keys;
pub mod nip98;
pub mod profiles;
mod publication;
pub mod relay;
pub mod server;
pub mod signature;
mod subscriptions;
mod websocket;

pub use bounds::Bounds;
pub use channels::Channel;
pub use config::RelayConfig;
pub use fault::Fault;
pub use handle::{Host, RelayHandle, Seen};
pub use ids::{ConnId, HttpId, Party};
pub use keys::Keys;
pub use relay::{Relay, RelayEffect, RelayEvent};
