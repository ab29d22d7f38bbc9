//! What a proof on a foreign harness came to: which scenario noticed which tampering.

use skep_check::verdict::Verdict;
use skep_trace::Text;

use crate::exit_code::ExitCode;
use crate::tampering::Tampering;

/// The whole of it.
#[derive(Clone, Debug)]
pub struct Teeth {
    /// The harness, as the command line has it.
    pub harness: String,
    /// Its profile's name.
    pub profile: Text,
    /// The tamperings that were tried, in their order.
    pub tamperings: Vec<Tampering>,
    /// The tests, in the order of the files.
    pub tests: Vec<Bite>,
    /// It was stopped before all of it was tried.
    pub interrupted: bool,
    /// How long all of it took, in real time.
    pub wall_ms: u64,
}

/// One test, and what it said to each tampering.
#[derive(Clone, Debug)]
pub struct Bite {
    /// The test's name.
    pub test: Text,
    /// Its verdict on the harness as it is: one that is not held proves nothing.
    pub baseline: Verdict,
    /// Each tampering that was tried, and whether it was noticed.
    pub tried: Vec<(Tampering, bool)>,
}

impl Bite {
    /// The tamperings that it noticed.
    pub fn noticed(&self) -> impl Iterator<Item = Tampering> + '_ {
        self.tried.iter().filter(|(_, noticed)| *noticed).map(|(tampering, _)| *tampering)
    }

    /// It holds on the harness as it is, so that it can prove something.
    pub fn applies(&self) -> bool {
        self.baseline == Verdict::Held
    }

    /// It holds whatever was done to the harness.
    pub fn is_toothless(&self) -> bool {
        self.applies() && self.noticed().next().is_none()
    }
}

impl Teeth {
    /// The tests that noticed this tampering.
    pub fn noticing(&self, tampering: Tampering) -> usize {
        let noticed = |bite: &&Bite| bite.noticed().any(|noticed| noticed == tampering);
        self.tests.iter().filter(noticed).count()
    }

    /// The tests that this tampering was tried on.
    pub fn trying(&self, tampering: Tampering) -> usize {
        let tried = |bite: &&Bite| bite.tried.iter().any(|(tried, _)| *tried == tampering);
        self.tests.iter().filter(tried).count()
    }

    /// What the process ends with. A test without teeth on this harness is told and is no error: a
    /// harness may rightly bear what is done to it. Where nothing bites at all, the whole gate
    /// proves nothing on this harness.
    pub fn exit_code(&self) -> ExitCode {
        let bites = |bite: &Bite| bite.noticed().next().is_some();
        match () {
            () if self.interrupted => ExitCode::Interrupted,
            () if self.tests.iter().any(bites) => ExitCode::Held,
            () if self.tests.iter().any(Bite::applies) => ExitCode::Violated,
            () => ExitCode::Inconclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teeth(tests: &[(Verdict, &[(Tampering, bool)])]) -> Teeth {
        let bite = |(baseline, tried): &(Verdict, &[(Tampering, bool)])| Bite {
            test: "a".into(),
            baseline: *baseline,
            tried: tried.to_vec(),
        };
        Teeth {
            harness: "./h".to_owned(),
            profile: "mine".into(),
            tamperings: Tampering::ALL.to_vec(),
            tests: tests.iter().map(bite).collect(),
            interrupted: false,
            wall_ms: 0,
        }
    }

    #[test]
    fn one_bite_is_enough_and_none_at_all_is_an_error() {
        let (noticed, not) = ((Tampering::DiskEmpty, true), (Tampering::DiskStale, false));
        let some = teeth(&[(Verdict::Held, &[not, noticed]), (Verdict::Held, &[not])]);
        assert_eq!(some.exit_code(), ExitCode::Held);
        assert_eq!((some.noticing(noticed.0), some.trying(not.0)), (1, 2));
        assert!(some.tests[1].is_toothless() && !some.tests[0].is_toothless());
        assert_eq!(teeth(&[(Verdict::Held, &[not])]).exit_code(), ExitCode::Violated);
        let unfit = teeth(&[(Verdict::NotApplicable, &[])]);
        assert_eq!(unfit.exit_code(), ExitCode::Inconclusive);
        assert!(!unfit.tests[0].is_toothless());
    }
}
