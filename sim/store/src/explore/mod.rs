//! The store, explored exhaustively: what becomes of a few operations in every order of their
//! system calls, after a kill or a power cut at every point, on every disk that is possible then.
//!
//! - `question`: which operations meet on which receipts, and how far they are followed.
//! - `judge`: what is left, against what the answered operations must leave.
//! - `walk`: one question to its end, with its figures.
//! - `shortest`: of all that went wrong in a way, the schedule that a person can follow.
//!
//! Orders are told apart at the granularity of [`Volume`](crate::Volume) operations, each of them
//! one system call or a few that no other process can tell from one. Where a question has no bound,
//! two neighbours that cannot affect each other are tried in one order only; where the power may be
//! cut, what a sync makes durable counts as an effect. Neither spares a state.

mod judge;
mod question;
mod shortest;
mod walk;

pub use judge::Outcome;
pub(crate) use judge::judge;
pub use question::{Extent, Question, questions};
pub use shortest::{Chosen, Shortest, shortest};
pub use walk::{Figures, walk};

/// The names of a question's processes, in the order of its operations.
pub const NAMES: [&str; 3] = ["one", "two", "three"];
