//! What a proof came to: every test against every mutant, as plain data.
//!
//! The director fills it; reports are views of it, and it says itself what it falls short of.

use std::collections::BTreeSet;

use skep_check::verdict::Verdict;
use skep_mutant::Mutant;
use skep_trace::Text;

use crate::exit_code::ExitCode;
use crate::outcome::WorldName;

/// What one test said to one mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The mutant was noticed.
    Killed,
    /// It was not.
    Survived,
    /// The pair was not tried.
    Skipped,
}

/// The whole matrix.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Where it was played.
    pub world: WorldName,
    /// The seed that all choices came from.
    pub seed: u64,
    /// How much of it was tried.
    pub breadth: Breadth,
    /// These are all tests of the corpus: together they must notice every mutant. Others owe only
    /// what they declare.
    pub whole_corpus: bool,
    /// The tests, in the order of the files.
    pub tests: Vec<Row>,
    /// The mutants, in the order of their list.
    pub mutants: Vec<Mutant>,
    /// It was stopped before all of it was tried.
    pub interrupted: bool,
    /// How long all of it took, in real time.
    pub wall_ms: u64,
}

/// One test and what it said to each mutant.
#[derive(Clone, Debug)]
pub struct Row {
    /// The test's name.
    pub test: Text,
    /// Its verdict on the reference: a test that is red without a mutant proves nothing.
    pub baseline: Verdict,
    /// The mutants that its scenario says it kills.
    pub declared: Vec<Mutant>,
    /// One for each mutant.
    pub cells: Vec<Cell>,
}

/// How much of the matrix is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// Every test against every mutant.
    Full,
    /// Every test against the mutants that its scenario declares; enough where runs are dear.
    Declared,
}

/// What the matrix falls short of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shortfall {
    /// Tests that the reference itself does not pass.
    pub red: Vec<Text>,
    /// Mutants that no test noticed.
    pub survivors: Vec<Mutant>,
    /// Scenarios none of whose tests noticed a mutant.
    pub idle: Vec<Text>,
    /// Kills that a scenario declares and none of its tests makes.
    pub broken_claims: Vec<(Text, Mutant)>,
}

impl Shortfall {
    /// Nothing is missing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Matrix {
    /// What is missing: red baselines, survivors, idle scenarios, claims that do not hold. A claim
    /// is the scenario's, so that any cell of its matrix may keep it; tests that do not apply in
    /// this world neither kill nor owe anything.
    pub fn shortfall(&self) -> Shortfall {
        let red = self
            .tests
            .iter()
            .filter(|row| matches!(row.baseline, Verdict::Violated | Verdict::Inconclusive));
        let claims: BTreeSet<(Text, Mutant)> = self
            .applied()
            .flat_map(|row| row.declared.iter().map(|mutant| (scenario(&row.test), *mutant)))
            .filter(|(_, mutant)| self.mutants.contains(mutant))
            .collect();
        let kept: BTreeSet<(Text, Mutant)> = self
            .applied()
            .flat_map(|row| self.killed(row).map(|mutant| (scenario(&row.test), mutant)))
            .collect();
        let owed = self.mutants.iter().filter(|mutant| {
            let claimed = claims.iter().any(|(_, claimed)| claimed == *mutant);
            let all = self.breadth == Breadth::Full && self.world != WorldName::Live;
            all && self.whole_corpus || claimed
        });
        Shortfall {
            red: red.map(|row| row.test.clone()).collect(),
            survivors: owed.filter(|mutant| !self.is_killed(**mutant)).copied().collect(),
            idle: self.idle(&kept),
            broken_claims: claims.difference(&kept).cloned().collect(),
        }
    }

    /// The scenarios that applied and kept no claim of any kind, in the order of the files. Of a
    /// part of the mutants nothing follows about a scenario.
    fn idle(&self, kept: &BTreeSet<(Text, Mutant)>) -> Vec<Text> {
        let mut idle: Vec<Text> = Vec::new();
        for row in self.applied().filter(|_| self.mutants.len() == Mutant::ALL.len()) {
            let name = scenario(&row.test);
            let killed = kept.iter().any(|(scenario, _)| *scenario == name);
            if !killed && !idle.contains(&name) {
                idle.push(name);
            }
        }
        idle
    }

    /// The tests that hold on the reference: only these can prove something.
    fn applied(&self) -> impl Iterator<Item = &Row> {
        self.tests.iter().filter(|row| row.baseline == Verdict::Held)
    }

    /// The mutants that a test noticed.
    pub fn killed<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = Mutant> + 'a {
        let cells = row.cells.iter().zip(&self.mutants);
        cells.filter(|(cell, _)| **cell == Cell::Killed).map(|(_, mutant)| *mutant)
    }

    /// Any test noticed it.
    pub fn is_killed(&self, mutant: Mutant) -> bool {
        self.tests.iter().any(|row| self.killed(row).any(|killed| killed == mutant))
    }

    /// What the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        if self.interrupted {
            return ExitCode::Interrupted;
        }
        match (self.shortfall().is_empty(), self.applied().next()) {
            (true, Some(_)) => ExitCode::Held,
            (true, None) => ExitCode::Inconclusive,
            (false, _) => ExitCode::Violated,
        }
    }
}

/// The scenario's name, without the cell of its matrix.
pub fn scenario(test: &str) -> Text {
    test.split('[').next().unwrap_or(test).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(test: &str, declared: &[usize], cells: &[Cell]) -> Row {
        let declared = declared.iter().map(|at| Mutant::ALL[*at]).collect();
        Row { test: test.into(), baseline: Verdict::Held, declared, cells: cells.to_vec() }
    }

    fn matrix(tests: Vec<Row>, mutants: usize) -> Matrix {
        Matrix {
            world: WorldName::SimEvent,
            seed: 0,
            breadth: Breadth::Full,
            whole_corpus: true,
            tests,
            mutants: Mutant::ALL[..mutants].to_vec(),
            interrupted: false,
            wall_ms: 0,
        }
    }

    #[test]
    fn a_claim_is_kept_by_any_cell_of_its_scenario() {
        use Cell::{Killed, Survived};
        let tests = vec![
            row("rotation[kind=idle]", &[0], &[Survived, Killed]),
            row("rotation[kind=busy]", &[0], &[Killed, Survived]),
        ];
        let matrix = matrix(tests, 2);
        assert_eq!(matrix.shortfall(), Shortfall::default());
        assert_eq!(matrix.exit_code(), ExitCode::Held);
    }

    #[test]
    fn survivors_and_broken_claims_are_named() {
        let matrix = matrix(vec![row("a", &[1], &[Cell::Killed, Cell::Survived])], 2);
        let shortfall = matrix.shortfall();
        assert_eq!(shortfall.survivors, [Mutant::ALL[1]]);
        assert_eq!(shortfall.broken_claims, [("a".into(), Mutant::ALL[1])]);
        assert_eq!(matrix.exit_code(), ExitCode::Violated);
    }

    #[test]
    fn a_part_of_the_corpus_owes_what_it_declares() {
        let mut part = matrix(vec![row("a", &[0], &[Cell::Killed, Cell::Survived])], 2);
        part.whole_corpus = false;
        assert_eq!(part.shortfall(), Shortfall::default());
        part.tests[0].declared.push(Mutant::ALL[1]);
        assert_eq!(part.shortfall().survivors, [Mutant::ALL[1]]);
    }

    #[test]
    fn a_test_that_is_red_on_the_reference_proves_nothing() {
        let mut red = row("a", &[0], &[Cell::Skipped]);
        red.baseline = Verdict::Violated;
        let shortfall = matrix(vec![red], 1).shortfall();
        assert_eq!(shortfall.red, [Text::from("a")]);
        assert_eq!(shortfall.survivors, [Mutant::ALL[0]]);
        assert!(shortfall.broken_claims.is_empty());
    }

    #[test]
    fn a_scenario_that_notices_nothing_of_the_whole_list_is_idle() {
        let cells = vec![Cell::Survived; Mutant::ALL.len()];
        let whole =
            matrix(vec![row("a[x=1]", &[], &cells), row("a[x=2]", &[], &cells)], cells.len());
        assert_eq!(whole.shortfall().idle, [Text::from("a")]);
        let part = matrix(vec![row("a", &[], &cells[..1])], 1);
        assert!(part.shortfall().idle.is_empty());
    }

    #[test]
    fn nothing_that_applies_proves_nothing() {
        assert_eq!(matrix(Vec::new(), 0).exit_code(), ExitCode::Inconclusive);
    }
}
