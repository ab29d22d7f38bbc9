//! Checks that only processes can be put to: they meet, are killed, stopped and watched.

pub(super) mod kills;
pub(super) mod limits;
pub(super) mod manners;
pub(super) mod names;
pub(super) mod races;
pub(super) mod stuck;
pub(super) mod syncs;
