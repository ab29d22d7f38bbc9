//! Two builds side by side: what changed between two runs of the same tests.
//!
//! - [`Against`]: both runs, and what they differ in; start here.
//! - [`parting`]: where two traces go different ways.
//! - `plain`: frames without what differs from run to run.

pub mod parting;
mod plain;

use skep_check::verdict::{Subject, Verdict};

use self::parting::Parting;
use crate::exit_code::ExitCode;
use crate::outcome::{RunOutcome, TestOutcome};

/// A run, and the run of another build that it is held against.
#[derive(Clone, Debug)]
pub struct Against {
    /// The build that is tested.
    pub tested: RunOutcome,
    /// The one that it is held against.
    pub other: RunOutcome,
    /// That one, as the command line names it.
    pub named: String,
}

/// What one test came to on both.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// On the build that is tested.
    pub tested: &'a TestOutcome,
    /// On the other.
    pub other: &'a TestOutcome,
    /// Its verdict on the build that is tested, with all its repeats.
    pub verdict: Verdict,
    /// Its verdict on the other.
    pub before: Verdict,
    /// What that means.
    pub change: Change,
}

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The same.
    Same,
    /// It is better than on the other build.
    Better,
    /// It applies to one of them only.
    Other,
    /// It is worse.
    Worse,
}

impl Change {
    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Other => "other",
            Self::Worse => "worse",
        }
    }
}

impl Against {
    /// Every test that both runs know, in the order of the files.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let others = self.other.told();
        let told = self.tested.told().into_iter();
        let pair = |tested: &'_ TestOutcome| {
            let same =
                |other: &&&TestOutcome| (&other.test, &other.file) == (&tested.test, &tested.file);
            others.iter().find(same).copied()
        };
        told.filter_map(|tested| pair(tested).map(|other| self.pair(tested, other))).collect()
    }

    fn pair<'a>(&'a self, tested: &'a TestOutcome, other: &'a TestOutcome) -> Pair<'a> {
        let (verdict, before) = (standing(&self.tested, tested), standing(&self.other, other));
        let change = change((verdict, tested), (before, other));
        Pair { tested, other, verdict, before, change }
    }

    /// What the process ends with: the tested build must nowhere be worse. What is wrong with a
    /// scenario, with skep or with a list of known failures counts as ever.
    pub fn exit_code(&self) -> ExitCode {
        if self.tested.interrupted || self.other.interrupted {
            return ExitCode::Interrupted;
        }
        let own = self.tested.exit_code();
        if matches!(own, ExitCode::Ours | ExitCode::Scenario) {
            return own;
        }
        let pairs = self.pairs();
        let worse = |verdict: Verdict| {
            pairs.iter().any(|pair| pair.change == Change::Worse && pair.verdict == verdict)
        };
        let seen = pairs.iter().any(|pair| pair.verdict != Verdict::NotApplicable);
        match () {
            () if worse(Verdict::Violated) || self.tested.untrue().next().is_some() => {
                ExitCode::Violated
            }
            () if worse(Verdict::Inconclusive) || !seen => ExitCode::Inconclusive,
            () => ExitCode::Held,
        }
    }
}

impl Pair<'_> {
    /// Where the two go different ways, if their frames do.
    pub fn parting(&self) -> Option<Parting> {
        parting::find(&self.tested.trace, &self.other.trace)
    }
}

/// The verdict that counts for a test: repeats that differ prove nothing.
fn standing(run: &RunOutcome, test: &TestOutcome) -> Verdict {
    if run.unsteady().contains_key(&test.test) { Verdict::Inconclusive } else { test.verdict }
}

fn change(
    (verdict, tested): (Verdict, &TestOutcome),
    (before, other): (Verdict, &TestOutcome),
) -> Change {
    /// What does not apply is neither better nor worse than what holds.
    fn rank(verdict: Verdict) -> u8 {
        match verdict {
            Verdict::Held | Verdict::NotApplicable => 0,
            Verdict::Inconclusive => 1,
            Verdict::Violated => 2,
        }
    }
    let lost = |one: &TestOutcome, two: &TestOutcome| {
        let kept = broken(two);
        broken(one).iter().any(|subject| !kept.contains(subject))
    };
    match rank(verdict).cmp(&rank(before)) {
        std::cmp::Ordering::Greater => Change::Worse,
        std::cmp::Ordering::Less => Change::Better,
        // Both are broken: it may be by other lines.
        _ if verdict == Verdict::Violated && lost(tested, other) => Change::Worse,
        _ if verdict == Verdict::Violated && lost(other, tested) => Change::Better,
        _ if verdict != before => Change::Other,
        _ => Change::Same,
    }
}

fn broken(test: &TestOutcome) -> Vec<Subject> {
    test.violated().iter().map(|judgement| judgement.subject).collect()
}

#[cfg(test)]
mod tests;
