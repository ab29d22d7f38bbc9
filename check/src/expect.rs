//! Expectations: one watch a line of the scenario, from the start of its step to its verdict.
//!
//! An expectation counts what happens in its own step: from the step's record to the next one's,
//! or to the end of the trace. A `never` is judged over the same stretch, so that what comes after
//! the step settled still counts; and one that names a session which the wire shows to be
//! discarded holds on to the end of the scenario, wherever the discard binds (H-21): that session
//! is not loaded or prompted again, nor found in the store. Any other `never` ends with its step: a later step may well do what this one must not.
//!
//! - [`Watch`]: what every watch does; start here.
//! - [`call`], [`order`]: frames between harness and agent ([`fit`], [`misfit`],
//!   [`breach`]).
//! - [`turn`] ([`retry`]), [`receipt`], [`file`], [`relay`], [`run`]: the other kinds.
//! - [`obstacle`]: what stood in the way of something that did not happen.

mod breach;
mod call;
mod file;
mod fit;
mod misfit;
mod obstacle;
mod order;
mod receipt;
mod relay;
mod retry;
mod run;
mod turn;

pub(crate) use breach::history;

use skep_trace::{Settled, Text};

use crate::expectation::{Expectation, Wanted};
use crate::facts::Facts;
use crate::facts::moment::Moment;
use crate::verdict::{Blame, Cause, Judgement, Subject, Verdict};

/// A name that a watch gives to a session.
pub(crate) type Bind = (Text, Text);

/// A watch over one expectation.
pub(crate) trait Watch {
    /// Its step begins.
    fn begin(&mut self, _facts: &Facts) {}

    /// Something happened in its step.
    fn see(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind>;

    /// Waiting may still bring what is asked for. What only a settled step can tell counts as met.
    fn unmet(&self, facts: &Facts) -> bool;

    /// It is broken already, whatever may still come.
    fn broken(&self) -> bool {
        false
    }

    /// Its step is over.
    fn close(&mut self, facts: &Facts, stretch: &Stretch);

    /// After its step a discarded session came back, or the store answered.
    fn see_later(&mut self, _moment: &Moment<'_>, _facts: &Facts) {}

    /// The verdict, at the end of the trace.
    fn found(&self, facts: &Facts) -> Found;
}

/// A step that is over.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// The record that began it.
    pub(crate) from: usize,
    /// The first record after it.
    pub(crate) to: usize,
    /// The record at which it settled, and on what that rests.
    pub(crate) settled: Option<(usize, Settled)>,
}

impl Stretch {
    /// A record of this step.
    pub(crate) fn holds(&self, record: usize) -> bool {
        (self.from..self.to).contains(&record)
    }

    /// Nothing was left to do in it: no timer that could have brought more.
    pub(crate) fn drained(&self) -> bool {
        matches!(self.settled, Some((_, Settled::Drained)))
    }

    /// The record at which what was missing was given up.
    pub(crate) fn end(&self) -> usize {
        let last = self.to.saturating_sub(1).max(self.from);
        self.settled.as_ref().map_or(last, |(record, _)| *record)
    }
}

/// A verdict with its reasons, not yet tied to a line.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    pub(crate) blame: Option<Blame>,
    pub(crate) title: String,
    pub(crate) label: String,
    pub(crate) record: Option<usize>,
    pub(crate) causes: Vec<Cause>,
}

impl Found {
    /// It holds.
    pub(crate) fn held(label: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Held,
            blame: None,
            title: String::new(),
            label: label.into(),
            record: None,
            causes: Vec::new(),
        }
    }

    /// It is broken.
    pub(crate) fn violated(
        blame: Blame,
        title: impl Into<String>,
        label: impl Into<String>,
        record: usize,
    ) -> Self {
        Self {
            verdict: Verdict::Violated,
            blame: Some(blame),
            title: title.into(),
            record: Some(record),
            ..Self::held(label)
        }
    }

    /// It could not be observed.
    pub(crate) fn inconclusive(label: impl Into<String>) -> Self {
        Self { verdict: Verdict::Inconclusive, ..Self::held(label) }
    }

    /// The same, with what led there.
    pub(crate) fn because(mut self, causes: impl IntoIterator<Item = Cause>) -> Self {
        self.causes.extend(causes);
        self
    }

    /// The same, as a judgement; `plain` stands where nothing went wrong.
    pub(crate) fn judgement(self, subject: Subject, plain: &dyn std::fmt::Display) -> Judgement {
        let title = if self.title.is_empty() { plain.to_string() } else { self.title };
        Judgement {
            subject,
            verdict: self.verdict,
            blame: self.blame,
            title,
            label: self.label,
            record: self.record,
            causes: self.causes,
        }
    }
}

/// A record and what it has to do with the verdict.
pub(crate) fn cause(record: usize, label: impl Into<String>) -> Cause {
    Cause { record, label: label.into() }
}

/// The watch over an expectation.
pub(crate) fn watch(expectation: &Expectation) -> Box<dyn Watch> {
    let never = expectation.never;
    match &expectation.wanted {
        Wanted::Call(wanted) => Box::new(call::CallWatch::new(wanted.clone(), never)),
        Wanted::Order(calls) => Box::new(order::OrderWatch::new(calls.clone(), never)),
        Wanted::Turn(wanted) => Box::new(turn::TurnWatch::new(wanted.clone(), never)),
        Wanted::Receipt(wanted) => Box::new(receipt::ReceiptWatch::new(wanted.clone(), never)),
        Wanted::File(wanted) => Box::new(file::FileWatch::new(wanted.clone(), never)),
        Wanted::Relay(wanted) => Box::new(relay::RelayWatch::new(wanted.clone(), never)),
        Wanted::Exit { harness, code } => {
            Box::new(run::RunWatch::exit(harness.clone(), *code, never))
        }
        Wanted::StoreTrouble { harness } => {
            Box::new(run::RunWatch::trouble(harness.clone(), never))
        }
        Wanted::AgentStarted { agent, count } => {
            Box::new(run::RunWatch::agents(agent.clone(), *count, never))
        }
    }
}
