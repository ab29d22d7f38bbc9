//! The reference session store, the volumes it stands on, and the rules that any such store must
//! keep.
//!
//! - [`store`]: the reference store; start here.
//! - [`suite`]: the rules as checks for any store.
//! - [`volume`]: what a store asks of a disk, one future an operation.
//! - [`real`]: the real disk.
//! - [`sim`]: a simulated disk that can be stopped, filled, killed and unplugged.
//! - [`explore`]: operations that meet, in every order and with a crash at every point.
//! - [`play`]: a few operations, what happens to them and what must follow, as data.
//! - [`model`]: shapes of other stores, which break rules, and why.
//! - [`damage`]: what a scenario's act makes of a file's bytes.
//! - [`ops`]: the store as a conversation.
//! - [`poll`]: futures without a runtime.
//! - [`error`]: why a disk refuses.

pub mod damage;
pub mod error;
pub mod explore;
pub mod model;
pub mod ops;
mod path;
pub mod play;
pub mod poll;
pub mod real;
pub mod sim;
pub mod store;
pub mod suite;
pub mod volume;

pub use error::{DiskError, Errno};
pub use ops::{Config, Key, Lookup, StoreAnswer, StoreOp};
pub use real::RealVolume;
pub use sim::{SimDisk, SimVolume};
pub use store::{Store, StoreConfig, StoreError, Warning, store_file};
pub use volume::{Create, Kind, Meta, Op, Open, Volume};
