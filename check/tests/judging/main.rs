//! Every kind of expectation and every invariant: a trace that holds, and traces that do not.

mod calls;
mod delivery;
mod discards;
mod disk;
mod lines;
mod others;
mod property;
mod receipts;
mod replay;
mod sessions;
mod story;
mod titles;
mod turns;
