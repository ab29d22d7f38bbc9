//! What a file defines, for a list.

use std::sync::Arc;

use skep_trace::Text;

use super::model::{Placed, Scenario};
use super::source::{Position, SourceFile};

/// One scenario of a file, with all cells of its matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name that the file gives it.
    pub name: Text,
    /// The first line of the comment above it.
    pub summary: Text,
    /// The file.
    pub file: Arc<SourceFile>,
    /// Where it begins.
    pub position: Position,
    /// The names of its tests: its own, or one for each cell.
    pub tests: Vec<Text>,
    /// The reports that it restates.
    pub cites: Vec<Text>,
    /// The rules that it exercises.
    pub rules: Vec<Text>,
    /// The mutants that it must notice.
    pub kills: Vec<Text>,
    /// What a harness must have for it to apply.
    pub needs: Vec<Text>,
    /// A real harness can only pass it by waiting minutes.
    pub slow: bool,
}

/// What some scenarios of one or more files are, in their order.
pub fn list(scenarios: &[Scenario]) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    for scenario in scenarios {
        match listed.last_mut().filter(|last| is_same(last, scenario)) {
            Some(last) => last.join(scenario),
            None => listed.push(Listed::new(scenario)),
        }
    }
    listed
}

fn is_same(listed: &Listed, scenario: &Scenario) -> bool {
    *listed.name == *scenario.base_name() && listed.file.name == scenario.file.name
}

impl Listed {
    fn new(scenario: &Scenario) -> Self {
        let texts = |placed: &[Placed<Text>]| placed.iter().map(|one| one.value.clone()).collect();
        Self {
            name: scenario.base_name().into(),
            summary: scenario.doc.lines().next().unwrap_or_default().into(),
            file: scenario.file.clone(),
            position: scenario.file.position(scenario.span.start),
            tests: vec![scenario.name.clone()],
            cites: texts(&scenario.cites),
            rules: texts(&scenario.rules),
            kills: texts(&scenario.kills),
            needs: texts(&scenario.needs),
            slow: scenario.slow,
        }
    }

    /// Adds another cell: what one cell says of itself holds for the list.
    fn join(&mut self, scenario: &Scenario) {
        let other = Self::new(scenario);
        self.tests.extend(other.tests);
        for (mine, others) in [
            (&mut self.cites, other.cites),
            (&mut self.rules, other.rules),
            (&mut self.kills, other.kills),
            (&mut self.needs, other.needs),
        ] {
            let new: Vec<Text> = others.into_iter().filter(|one| !mine.contains(one)).collect();
            mine.extend(new);
        }
        self.slow |= other.slow;
    }
}
