//! A scenario as it was understood: what the director walks and the reports point at.

use std::sync::Arc;

use skep_check::expectation::Expectation;
use skep_plan::{Act, Cast, Schedule};
use skep_trace::Text;

use super::source::{SourceFile, Span};

/// A value and the place that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands, in the scenario's file.
    pub span: Span,
}

/// One test: a scenario, or one cell of a scenario's matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name; a cell of a matrix carries its values: `rotation[kind=idle,then=restart]`.
    pub name: Text,
    /// The axes and values of its cell, in the order of the matrix; empty without one.
    pub cell: Vec<(Text, Text)>,
    /// The comment right above it, without its slashes.
    pub doc: Text,
    /// The file that it stands in.
    pub file: Arc<SourceFile>,
    /// The files that its cast comes from besides, by the names that it uses them by.
    pub uses: Vec<(Text, Arc<SourceFile>)>,
    /// Its first line.
    pub span: Span,
    /// The reports that it restates (`owner/repo#n`).
    pub cites: Vec<Placed<Text>>,
    /// The rules that it exercises (`H-1`).
    pub rules: Vec<Placed<Text>>,
    /// The mutants that it must notice. Whether there are such is the caller's to check.
    pub kills: Vec<Placed<Text>>,
    /// What a harness must have for it to apply.
    pub needs: Vec<Placed<Text>>,
    /// A real harness can only pass it by waiting minutes.
    pub slow: bool,
    /// Why it only makes sense in the simulator.
    pub sim_only: Option<Text>,
    /// Why it only makes sense with real processes.
    pub live_only: Option<Text>,
    /// It asks to be run under many schedules.
    pub explore: Option<Explore>,
    /// Its hops are not all equally long.
    pub schedule: Option<Schedule>,
    /// Who takes part.
    pub cast: Cast,
    /// What happens, and what is expected of it.
    pub steps: Vec<Step>,
}

/// How a scenario wants to be explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explore {
    /// Under how many schedules.
    pub schedules: u32,
}

/// One step: acts, then what must follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its title.
    pub title: Text,
    /// Its first line.
    pub span: Span,
    /// What the director does, in order.
    pub acts: Vec<Placed<Act>>,
    /// Every line that is an act, counted as the trace counts: a `together` and then each line
    /// inside it.
    pub act_lines: Vec<Span>,
    /// What is expected.
    pub expectations: Vec<Placed<Expectation>>,
}

impl Scenario {
    /// The name without the cell: what the file calls it.
    pub fn base_name(&self) -> &str {
        self.name.split('[').next().unwrap_or(&self.name)
    }
}
