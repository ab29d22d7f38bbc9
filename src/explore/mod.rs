//! What nobody thought of: random workloads, random schedules and troubles, and the small file that
//! is left of a failure.
//!
//! From a seed to a scenario file, in this order:
//!
//! - [`draw`]: a seed becomes a workload.
//! - [`workload`]: a workload, as data.
//! - [`story`]: a workload is told as a scenario, with what must follow from each of its steps.
//! - [`seek`]: it is played, and what failed is recognised again.
//! - [`vary`]: or a seed becomes troubles of a scenario that somebody wrote.
//! - [`source`]: either of the two.
//! - [`shrink`]: what fails is made small.
//! - [`sweep`], [`tally`]: many seeds, and what they came to.
//! - [`goals`]: what is to happen sometimes.
//! - [`hunt`]: which named faults are found without any scenario.
//! - [`record`]: what a sweep came to, as lines that can be joined.

pub mod draw;
pub mod goals;
pub mod hunt;
pub mod record;
pub mod seek;
pub mod shrink;
pub mod source;
pub mod story;
pub mod sweep;
pub mod tally;
pub mod vary;
pub mod workload;
