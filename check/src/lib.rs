//! Rules, expectations, invariants and blame.
pub mod expectation;
pub mod verdict;
