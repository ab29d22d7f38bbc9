//! Options that several verbs share, and how their values are read.

use clap::{Args, ValueEnum};
use skep_mutant::Mutant;

use super::console::Console;
use crate::outcome::WorldName;
use crate::report::instant;

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The format of a verb's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs: one versioned JSON document.
    Json,
}

/// How results are shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// The format of the result on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text, hide_possible_values = true,
          value_name = "text|json")]
    pub format: Format,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t = ColorWhen::Auto, hide_possible_values = true,
          value_name = "auto|always|never")]
    pub color: ColorWhen,
    /// Print as little as there is to know: only what did not hold, only names.
    #[arg(short, long)]
    pub quiet: bool,
}

impl OutputOptions {
    /// The console that these options ask for.
    pub fn console(&self) -> Console {
        Console::new(self.color, self.format, self.quiet)
    }
}

/// The world, as an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorldOption {
    /// The simulator: virtual time, and the same seed gives the same trace.
    Sim,
    /// Processes on this machine.
    Live,
}

/// The simulator's gear, as an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GearOption {
    /// Real bytes between simulated hosts.
    Wire,
    /// Frames as values on one event queue: the fast one.
    Event,
}

/// The world that the options come to; `None` when they contradict each other.
pub fn world_name(
    world: Option<WorldOption>,
    gear: Option<GearOption>,
    default_gear: GearOption,
) -> Option<WorldName> {
    match (world.unwrap_or(WorldOption::Sim), gear) {
        (WorldOption::Live, None) => Some(WorldName::Live),
        (WorldOption::Live, Some(_)) => None,
        (WorldOption::Sim, gear) => Some(match gear.unwrap_or(default_gear) {
            GearOption::Wire => WorldName::SimWire,
            GearOption::Event => WorldName::SimEvent,
        }),
    }
}

/// Reads `1.004s`, `10s`, `2m`.
pub fn parse_instant(text: &str) -> Result<u64, String> {
    instant::parse(text)
        .ok_or_else(|| "write a number and a unit: `1.004s`, `10s`, `2m`".to_owned())
}

/// Reads a mutant's id.
pub fn parse_mutant(id: &str) -> Result<Mutant, String> {
    Mutant::parse(id).ok_or_else(|| {
        let ids = Mutant::ALL.iter().map(|mutant| mutant.id());
        match super::select::nearest(id, ids) {
            Some(near) => format!("there is no such mutant; did you mean `{near}`?"),
            None => "there is no such mutant; `skep list mutants` names them".to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gear_belongs_to_the_simulator() {
        let name = |world, gear| world_name(world, gear, GearOption::Wire);
        assert_eq!(name(None, None), Some(WorldName::SimWire));
        assert_eq!(name(None, Some(GearOption::Event)), Some(WorldName::SimEvent));
        assert_eq!(name(Some(WorldOption::Live), None), Some(WorldName::Live));
        assert_eq!(name(Some(WorldOption::Live), Some(GearOption::Wire)), None);
    }

    #[test]
    fn a_misspelled_mutant_is_answered_with_the_nearest() {
        let error = parse_mutant("store/forgets-on-restrat").unwrap_err();
        assert!(error.contains("`store/forgets-on-restart`"), "{error}");
    }
}
