//! The simulated relay of skep.
//!
//! - [`keys`]: key pairs made from names; signing and sealing without randomness.

pub mod keys;

pub use keys::Keys;
