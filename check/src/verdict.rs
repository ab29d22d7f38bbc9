//! What a check says: a verdict, whom it blames, and what a reader needs to see why.

use std::fmt;

/// The outcome of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds.
    Held,
    /// It cannot apply here; the reason says why.
    NotApplicable,
    /// It could not be observed: never counted as held.
    Inconclusive,
    /// It is broken.
    Violated,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held",
            Self::NotApplicable => "not applicable",
            Self::Inconclusive => "inconclusive",
            Self::Violated => "violated",
        })
    }
}

/// Who broke it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blame {
    /// The harness.
    Harness,
    /// The agent.
    Agent,
    /// The relay.
    Relay,
    /// The scenario's author.
    Scenario,
    /// Ourselves.
    Skep,
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Harness => "harness",
            Self::Agent => "agent",
            Self::Relay => "relay",
            Self::Scenario => "scenario",
            Self::Skep => "skep",
        })
    }
}

/// What was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The nth expectation of the nth step, both from 0.
    Expectation {
        /// The step.
        step: usize,
        /// The expectation within it.
        index: usize,
    },
    /// A rule that always holds, by its id (`H-13`).
    Invariant(&'static str),
    /// A rule of the run itself: it ended, nothing was left behind.
    Run,
}

/// One check's outcome, with what a reader needs to see why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What was judged.
    pub subject: Subject,
    /// The outcome.
    pub verdict: Verdict,
    /// Who broke it, where it is broken.
    pub blame: Option<Blame>,
    /// What went wrong, in the domain's words: `the harness opened a session it already had`.
    pub title: String,
    /// What was seen at the judged line: `violated once, at 1.004s`.
    pub label: String,
    /// The record at which it broke: an index into the trace.
    pub record: Option<usize>,
    /// What led there.
    pub causes: Vec<Cause>,
}

/// An earlier moment that explains a judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The record: an index into the trace.
    pub record: usize,
    /// What it has to do with it: `s1 opened here`.
    pub label: String,
}
