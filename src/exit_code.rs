//! The exit codes of `skep`: a public promise, one line each.

use std::process::{ExitCode as ProcessCode, Termination};

/// How a `skep` process ends.
///
/// Where several apply, the first of this order wins: interrupted, ours, violated, the scenario
/// is wrong, inconclusive, held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything that was judged holds.
    Held = 0,
    /// The command line cannot be carried out as it stands: an unknown option, a missing file.
    Usage = 1,
    /// At least one rule or expectation is broken, and not by the scenario or by skep.
    Violated = 2,
    /// Nothing is broken, but something could not be observed: no test applied, a bound was
    /// reached, or repeated runs in the live world differ in their verdicts.
    Inconclusive = 3,
    /// A scenario file has a mistake, or a scenario asks for what makes no sense.
    Scenario = 4,
    /// A fault of skep's own.
    Ours = 70,
    /// Stopped by Ctrl-C or TERM, after everything was cleaned up.
    Interrupted = 130,
}

impl ExitCode {
    /// All of them, in numeric order.
    pub const ALL: [Self; 7] = [
        Self::Held,
        Self::Usage,
        Self::Violated,
        Self::Inconclusive,
        Self::Scenario,
        Self::Ours,
        Self::Interrupted,
    ];

    /// The number that the process ends with.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// What it says, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Usage => "usage: the command cannot be carried out as it stands",
            Self::Violated => "violated: at least one rule or expectation is broken",
            Self::Inconclusive => {
                "inconclusive: something could not be observed, or nothing applied"
            }
            Self::Scenario => "a scenario is wrong",
            Self::Ours => "a fault of skep's own",
            Self::Interrupted => "interrupted",
        }
    }
}

impl Termination for ExitCode {
    fn report(self) -> ProcessCode {
        ProcessCode::from(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_a_promise() {
        let numbers: Vec<u8> = ExitCode::ALL.into_iter().map(ExitCode::number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 70, 130]);
    }
}
