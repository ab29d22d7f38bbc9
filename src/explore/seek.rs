//! One seed: drawn, told, played, and what failed in it.

use std::collections::BTreeSet;
use std::fmt;

use skep_check::verdict::{Blame, Judgement, Subject, Verdict};

use super::story::tell;
use super::workload::Workload;
use crate::director::{Job, play};
use crate::outcome::TestOutcome;
use crate::scenario::{Scenario, SourceFile, parse, render};

/// What failed, so that it is recognised in a smaller scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// A rule that always holds (`H-13`), or the kind of line that was not met (`expect/receipt`).
    pub what: String,
    /// Who is to blame.
    pub blame: Option<Blame>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Which of a run's judgements count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// All of them.
    All,
    /// The rules that always hold: what a scenario expects was not written for what was done to it.
    Invariants,
}

/// A seed that was played.
#[derive(Clone, Debug)]
pub struct Played {
    /// The scenario.
    pub text: String,
    /// What really happened in it, each by one word: `load/hangs`.
    pub marks: BTreeSet<&'static str>,
    /// What failed first, if anything did.
    pub failure: Option<Failure>,
    /// What came of it.
    pub outcome: TestOutcome,
}

/// Plays a workload. `None`: nothing is left of it that makes sense.
///
/// # Errors
/// When the scenario that it was told as is not right: our own fault.
pub fn workload(workload: &Workload, name: &str, job: &Job) -> Result<Option<Played>, String> {
    let told = tell(workload, name);
    let Some(text) = told.text else { return Ok(None) };
    let outcome = play(&read(name, &text)?, job);
    let failure = failure(&outcome, Counts::All);
    Ok(Some(Played { text, marks: told.marks, failure, outcome }))
}

/// Reads the scenario of that name in a text.
///
/// # Errors
/// What is wrong with it.
pub fn read(name: &str, text: &str) -> Result<Scenario, String> {
    let base = name.split('[').next().unwrap_or(name);
    let (scenarios, diagnostics) = parse(&SourceFile::new(&format!("{base}.kdl"), text));
    let mut scenarios = scenarios.into_iter();
    match (scenarios.find(|scenario| &*scenario.name == name), diagnostics.is_empty()) {
        (Some(scenario), true) => Ok(scenario),
        _ => Err(render(&diagnostics, false)),
    }
}

/// What failed first in a run, if anything did that counts.
pub fn failure(outcome: &TestOutcome, counts: Counts) -> Option<Failure> {
    let violated = outcome.judged(Verdict::Violated);
    let counted = |judgement: &&&Judgement| match counts {
        Counts::All => true,
        Counts::Invariants => matches!(judgement.subject, Subject::Invariant(_)),
    };
    let first = *violated.iter().find(counted)?;
    Some(Failure { what: what(outcome, first), blame: first.blame })
}

fn what(outcome: &TestOutcome, judgement: &Judgement) -> String {
    match judgement.subject {
        Subject::Invariant(rule) => rule.to_owned(),
        Subject::Run => "run".to_owned(),
        Subject::Expectation { step, index } => {
            let line = outcome.steps.get(step).and_then(|step| step.expectations.get(index));
            line.map_or_else(|| "expect".to_owned(), |line| line.code.to_string())
        }
    }
}
