//! `skep prove`: can each scenario fail, and is each fault noticed?

use std::num::NonZeroU8;
use std::path::PathBuf;

use clap::Args;
use skep_mutant::Mutant;

use super::console::Console;
use super::options::{Format, GearOption, OutputOptions, WorldOption, world_name};
use super::subject::Subject;
use super::trouble::Trouble;
use super::{discover, engine, help, select, teeth};
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
    /// Tamper with a harness of yours at its edges instead: which scenarios can fail on it?
    #[arg(long, value_name = "CMD", conflicts_with_all = ["mutants", "declared", "gear"])]
    pub harness: Option<String>,
    /// How that harness is configured and what it can do: a profile's name or file.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["mutants", "declared", "gear"])]
    pub harness_profile: Option<String>,
    /// Claim that the harness can do more than its profile says.
    #[arg(long, value_name = "CAPABILITY")]
    pub has: Vec<String>,
    /// With a harness, only tamperings with such names.
    #[arg(long = "tampering", value_name = "GLOB")]
    pub tamperings: Vec<String>,
    /// With a harness, try all tamperings that fit a scenario, not only until one is noticed.
    #[arg(long)]
    pub every: bool,
    /// With a harness, also play tests that take it minutes.
    #[arg(long)]
    pub slow: bool,
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

impl ProveArguments {
    /// The harness that is meant.
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            harness: self.harness.as_deref(),
            profile: self.harness_profile.as_deref(),
            has: &self.has,
        }
    }
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
    if arguments.harness.is_some() || arguments.harness_profile.is_some() {
        if arguments.world == Some(WorldOption::Sim) {
            return Err(Trouble::usage("a harness of yours cannot run in the simulator")
                .help("leave `--world sim` out: `--harness` means the live world"));
        }
        let tests = discover::only(discover::tests(&arguments.paths)?, &arguments.only)?;
        return teeth::prove(arguments, tests, console);
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
