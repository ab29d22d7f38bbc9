//! `skep prove`: can each scenario fail, and is each fault noticed?

use std::num::NonZeroU8;
use std::path::PathBuf;

use clap::Args;
use skep_mutant::Mutant;

use super::console::Console;
use super::options::{Format, GearOption, OutputOptions, WorldOption, world_name};
use super::trouble::Trouble;
use super::{discover, engine, help, select};
use crate::exit_code::ExitCode;
use crate::matrix::Breadth;
use crate::outcome::WorldName;
use crate::report::matrix;

/// `skep prove`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::PROVE)]
pub struct ProveArguments {
    /// Scenario files, Markdown files, folders; without one the built-in corpus is meant.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only tests with such names; `*` stands for any run of letters.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Only mutants with such names.
    #[arg(long = "mutant", value_name = "GLOB")]
    pub mutants: Vec<String>,
    /// Try each scenario only against the mutants that it declares. The live world always does.
    #[arg(long)]
    pub declared: bool,
    /// Prove the certificate instead: certify a broken agent for each of its requirements.
    /// `--mutant` then picks broken agents.
    #[arg(long, conflicts_with_all = ["paths", "only", "declared", "world", "gear", "seed"])]
    pub certify: bool,
    /// Where the tests are played.
    #[arg(long, value_enum, value_name = "sim|live", hide_possible_values = true)]
    pub world: Option<WorldOption>,
    /// The simulator's gear. The default is event, the fast one.
    #[arg(long, value_enum, value_name = "wire|event", hide_possible_values = true)]
    pub gear: Option<GearOption>,
    /// The seed that every choice comes from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// How many tests run at once; the default is one for each processor.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroU8>,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// What is proved.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Where the tests are played.
    pub world: WorldName,
    /// The seed that every choice comes from.
    pub seed: u64,
    /// The mutants that are tried, in the order of their list.
    pub mutants: Vec<Mutant>,
    /// How much of the matrix is tried.
    pub breadth: Breadth,
    /// These are all tests of the corpus.
    pub whole_corpus: bool,
    /// How many tests run at once; `None` is one for each processor.
    pub jobs: Option<NonZeroU8>,
}

/// Plays the matrix and shows it.
///
/// # Errors
/// When it cannot be played as it stands.
pub fn prove(arguments: &ProveArguments, console: &Console) -> Result<ExitCode, Trouble> {
    if arguments.certify {
        return super::prove_certify::prove(arguments, console);
    }
    let Some(world) = world_name(arguments.world, arguments.gear, GearOption::Event) else {
        return Err(Trouble::usage("the live world has no gears")
            .help("leave `--gear` out, or play in the simulator"));
    };
    let tests = discover::only(discover::tests(&arguments.paths)?, &arguments.only)?;
    let declared = arguments.declared || world == WorldName::Live;
    let proof = Proof {
        world,
        seed: arguments.seed,
        mutants: mutants(&arguments.mutants)?,
        breadth: if declared { Breadth::Declared } else { Breadth::Full },
        whole_corpus: arguments.paths.is_empty() && arguments.only.is_empty(),
        jobs: arguments.jobs,
    };
    let proved = engine::prove(&tests, &proof, console)?;
    let shown = match console.format {
        Format::Json => matrix::document(&proved).to_string() + "\n",
        Format::Text => matrix::text(&proved, console.quiet, console.columns, console.paint),
    };
    console.say(&shown)?;
    Ok(proved.exit_code())
}

/// The mutants that fit one of the patterns.
pub(super) fn mutants(patterns: &[String]) -> Result<Vec<Mutant>, Trouble> {
    let fits = |mutant: &&Mutant| {
        patterns.is_empty() || patterns.iter().any(|pattern| select::fits(pattern, mutant.id()))
    };
    let mutants: Vec<Mutant> = Mutant::ALL.iter().filter(fits).copied().collect();
    if mutants.is_empty() {
        let title = format!("no mutant fits `{}`", patterns.join(" "));
        return Err(Trouble::usage(title).help("`skep list mutants` names them"));
    }
    Ok(mutants)
}
