//! What people and other programs read of a run: each a pure view of an
//! [`outcome`](crate::outcome).
//!
//! - [`terminal`]: one line a test, the stories, the summary; start here.
//! - [`story`]: one test that did not hold, told in full; of [`excerpt`], [`wire`] and [`disk`].
//! - [`json`], [`junit`], [`github`], [`markdown`]: for other programs.
//! - [`against`]: two builds side by side.
//! - [`known`]: known failures that are none.
//! - [`explore`]: what many seeds came to.
//! - [`matrix`]: the matrix of a proof. [`teeth`]: the same on a foreign harness.
//! - [`explore_store`]: the figures of an exploration of the store, and what breaks where.
//!
//! Nothing here reads a clock, a file or the environment. Two runs with one seed give the same
//! bytes; real times stand in no story, only where they are asked for.

pub mod again;
pub mod against;
pub mod certificate;
pub mod clean;
pub mod disk;
pub mod excerpt;
pub mod explore;
pub mod explore_store;
pub mod github;
pub mod instant;
pub mod json;
pub mod junit;
pub mod known;
mod log;
pub mod markdown;
pub mod matrix;
pub mod names;
pub mod paint;
pub mod pointer;
pub mod silence;
pub mod store;
pub mod story;
pub mod teeth;
pub mod terminal;
pub mod wire;

pub use paint::Paint;
