//! Walks a scenario against a world, step by step, and has the trace judged.
//!
//! - [`mod@play`]: one test in one world; start here.
//! - [`casting`]: what a scenario leaves unsaid about its cast.
//! - [`asked`]: the scenario, as far as the checker must know it.
//! - [`outline`]: the scenario, as far as a report must know it.
//! - [`parallel`]: many pieces of work at once, in a stable order.
//! - [`prove`]: one test against every mutant.
//! - [`sight`]: what cannot be seen of a harness.
//! - [`suite`]: the store's rules, as rows of the same proof.
//! - [`teeth`]: one test against a harness that is tampered with.
//! - [`twice`]: one seed played twice, as a row of the same proof.
//! - [`noted`]: what a trace says besides its verdict.
//! - [`rejudge`]: a recorded trace, judged again.

pub mod asked;
pub mod casting;
pub mod noted;
pub mod outline;
pub mod parallel;
pub mod play;
pub mod prove;
pub mod rejudge;
pub mod sight;
pub mod suite;
pub mod teeth;
pub mod twice;

pub use play::{Job, play};
