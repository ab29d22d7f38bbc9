//! Rules, expectations, invariants and blame.
pub mod asked;
pub mod expectation;
mod facts;
pub mod verdict;
mod words;
