//! Rules, expectations, invariants and blame: pure functions over a trace.
//!
//! The checker shares no code with what it judges and does no I/O: every verdict is a function of
//! the records of a run and of what its scenario asks for, so that a recorded trace can be judged
//! again, later and elsewhere.
//!
//! - [`judge()`]: judges a whole trace; [`Judge`] does it record by record. Start here.
//! - [`asked`]: what a scenario asks for; [`expectation`]: one line of it; [`describe`]: in words.
//! - [`verdict`]: what comes out.
//! - [`rules`]: every numbered rule, and what it means.
//! - [`history`]: what several processes did to one store, judged apart from any trace.
//! - `facts`: the records, read into the words of the domain.
//! - `expect`: one watch for each kind of expectation.
//! - `invariant`: the rules that hold in every run, a file each.

pub mod asked;
pub mod describe;
mod expect;
pub mod expectation;
mod facts;
pub mod history;
mod invariant;
mod judge;
pub mod rules;
pub mod verdict;
mod words;

pub use asked::{Asked, AskedHarness, AskedSession, AskedSettings};
pub use expectation::{
    Count, Expectation, TurnOutcome, Wanted, WantedCall, WantedFile, WantedReceipt, WantedRelay,
    WantedTurn,
};
pub use judge::{Judge, Progress, judge};
pub use rules::{RULES, Rule, rule};
pub use verdict::{Blame, Cause, Judgement, Subject, Verdict};
