//! Known failures: the user's file of them, and which tests there are.

use std::collections::BTreeSet;
use std::path::Path;

use skep_check::RULES;
use skep_trace::Text;

use super::discover::{self, Test};
use super::trouble::Trouble;
use crate::known::{self, KnownFailure};
use crate::outcome::RunOutcome;
use crate::scenario::parse_known;

/// What a file lists, and every test that it may speak of.
#[derive(Clone, Debug)]
pub struct KnownFailures {
    entries: Vec<KnownFailure>,
    tests: BTreeSet<Text>,
}

impl KnownFailures {
    /// Reads the file. It may speak of the tests that were named and of the whole corpus, so that
    /// one file serves runs of a part of it.
    ///
    /// # Errors
    /// When it cannot be read, or has mistakes.
    pub fn load(path: &Path, named: &[Test]) -> Result<Self, Trouble> {
        let rules: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let file = discover::read(path)?;
        let entries = parse_known(&file, &rules).map_err(Trouble::Scenarios)?;
        let corpus = discover::tests(&[])?;
        let tests = named.iter().chain(&corpus).map(|test| test.scenario.name.clone()).collect();
        Ok(Self { entries, tests })
    }

    /// Holds a run against them.
    pub fn account(self, outcome: &mut RunOutcome, profile: &str) {
        let exists = |entry: &KnownFailure| self.tests.iter().any(|test| entry.names(test));
        known::account(outcome, self.entries, profile, &exists);
    }
}
