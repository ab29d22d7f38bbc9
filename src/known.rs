//! Known failures: tests that may be violated for now, each with its reason.
//!
//! A list of such tests is only worth something while it is true. An entry whose test holds again,
//! or whose test nobody knows, is itself what is wrong with a run.

use std::ops::Range;

use skep_check::verdict::{Blame, Judgement, Verdict};
use skep_trace::Text;

use crate::outcome::{RunOutcome, TestOutcome};

/// One line of a file of known failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// The file, as it was named.
    pub file: Text,
    /// Its whole text; the span counts its bytes.
    pub source: Text,
    /// Where in it the test is named.
    pub span: Range<usize>,
    /// A test, or a scenario with all cells of its matrix.
    pub test: Text,
    /// Only breaks of this rule are known.
    pub rule: Option<Text>,
    /// Why it fails, or who knows more.
    pub reason: Text,
    /// It is known of harnesses with this profile only.
    pub profile: Option<Text>,
    /// What a run said to it.
    pub standing: Standing,
}

/// What a run said to a known failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Its test was not played to a verdict, or it is about another profile.
    #[default]
    Unjudged,
    /// It fails as it says.
    Fails,
    /// It does not fail any more.
    Holds,
    /// There is no such test.
    Missing,
}

impl Standing {
    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unjudged => "not judged",
            Self::Fails => "fails",
            Self::Holds => "holds",
            Self::Missing => "no such test",
        }
    }
}

impl KnownFailure {
    /// What it says is not so: the file has to be changed.
    pub fn is_untrue(&self) -> bool {
        matches!(self.standing, Standing::Holds | Standing::Missing)
    }

    /// What is wrong with it, in one line.
    pub fn complaint(&self) -> String {
        let breaks = self.rule.as_ref().map_or(String::new(), |rule| format!(" as to {rule}"));
        match self.standing {
            Standing::Missing => format!("there is no test `{}`", self.test),
            _ => format!("`{}` is listed as a known failure and holds{breaks}", self.test),
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self.standing {
            Standing::Missing => "`skep list scenarios` names them",
            _ => "take this line out, so that it cannot fail again unnoticed",
        }
    }

    /// It is about this test: by its name, or by that of its scenario.
    pub fn names(&self, test: &str) -> bool {
        let scenario = test.split('[').next().unwrap_or(test);
        *self.test == *test || *self.test == *scenario
    }

    /// It accounts for this break. What is wrong with a scenario or with skep itself nobody can
    /// know of in advance.
    fn covers(&self, test: &TestOutcome, judgement: &Judgement) -> bool {
        let ours = matches!(judgement.blame, Some(Blame::Skep | Blame::Scenario));
        let rule = |wanted: &Text| test.rules_of(judgement).contains(&&**wanted);
        !ours && self.names(&test.test) && self.rule.as_ref().is_none_or(rule)
    }
}

/// Marks the tests of a run whose failure is known, and says of every entry how it stands.
/// `exists` knows all tests there are, not only those that were played.
pub fn account(
    outcome: &mut RunOutcome,
    mut known: Vec<KnownFailure>,
    profile: &str,
    exists: &dyn Fn(&KnownFailure) -> bool,
) {
    for entry in &mut known {
        entry.standing = standing(entry, &outcome.tests, profile, exists);
    }
    let counted: Vec<&KnownFailure> =
        known.iter().filter(|entry| entry.standing == Standing::Fails).collect();
    for test in &mut outcome.tests {
        test.known = reason(test, &counted);
    }
    outcome.known = known;
}

fn standing(
    entry: &KnownFailure,
    tests: &[TestOutcome],
    profile: &str,
    exists: &dyn Fn(&KnownFailure) -> bool,
) -> Standing {
    if !exists(entry) {
        return Standing::Missing;
    }
    if entry.profile.as_ref().is_some_and(|wanted| **wanted != *profile) {
        return Standing::Unjudged;
    }
    let own: Vec<&TestOutcome> = tests.iter().filter(|test| entry.names(&test.test)).collect();
    let fails = |test: &&TestOutcome| {
        test.violated().into_iter().any(|judgement| entry.covers(test, judgement))
    };
    // Of several cells or repeats one that fails is enough; one that was not seen may be it.
    let unseen = |test: &&TestOutcome| test.verdict == Verdict::Inconclusive;
    let holds = |test: &&TestOutcome| matches!(test.verdict, Verdict::Held | Verdict::Violated);
    match () {
        () if own.iter().any(fails) => Standing::Fails,
        () if own.iter().any(unseen) || !own.iter().any(holds) => Standing::Unjudged,
        () => Standing::Holds,
    }
}

/// Why a test fails, if all that is broken in it is known.
fn reason(test: &TestOutcome, known: &[&KnownFailure]) -> Option<Text> {
    if test.verdict != Verdict::Violated {
        return None;
    }
    let violated = test.violated();
    let first = violated.first()?;
    let covered = |judgement: &&Judgement| known.iter().any(|entry| entry.covers(test, judgement));
    let entry = known.iter().find(|entry| entry.covers(test, first))?;
    violated.iter().all(covered).then(|| entry.reason.clone())
}

#[cfg(test)]
mod tests;
