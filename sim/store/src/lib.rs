//! The reference session store.

pub mod ops;

pub use ops::{Config, Key, Lookup, StoreAnswer, StoreOp};
