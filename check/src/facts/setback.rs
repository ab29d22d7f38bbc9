//! What went wrong on the way to a turn, before any prompt was sent.

use super::ids::{LifeId, ProcessId};
use super::process::Wants;

/// A request that a turn needs, refused or never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setback {
    /// The record at which it was over.
    pub(crate) record: usize,
    /// The harness that asked.
    pub(crate) life: LifeId,
    /// The agent that was asked.
    pub(crate) process: ProcessId,
    /// What was asked.
    pub(crate) wants: Wants,
    /// The error's code; `None` when the agent's process ended first.
    pub(crate) code: Option<i64>,
}

/// All setbacks so far.
#[derive(Debug, Default)]
pub(crate) struct Setbacks {
    list: Vec<Setback>,
}

impl Setbacks {
    pub(crate) fn push(&mut self, setback: Setback) {
        self.list.push(setback);
    }

    /// The setbacks of a life since a record.
    pub(crate) fn since(&self, life: LifeId, record: usize) -> impl Iterator<Item = &Setback> {
        let from = self.list.partition_point(|setback| setback.record < record);
        self.list[from..].iter().filter(move |setback| setback.life == life)
    }
}
