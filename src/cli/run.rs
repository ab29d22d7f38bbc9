//! `skep run`: scenarios are played and judged.

use std::collections::BTreeSet;
use std::num::NonZeroU8;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use skep_mutant::Mutant;

use super::console::Console;
use super::discover::{self, Test};
use super::engine::Plan;
use super::known::KnownFailures;
use super::options::{
    Format, GearOption, OutputOptions, WorldOption, parse_instant, parse_mutant, world_name,
};
use super::subject::{Subject, tested};
use super::suite::{self, Bounds};
use super::targets::Target;
use super::traces::TraceFolder;
use super::trouble::Trouble;
use super::{against, artifacts, github, help};
use crate::exit_code::ExitCode;
use crate::outcome::RunOutcome;
use crate::report::names::Names;
use crate::report::terminal::{self, Brevity};
use crate::report::{json, story, wire};

/// All outcomes of a run are in memory at once, the stories of a hundred thousand among them.
const MOST_REPEATS: i64 = 100_000;

/// `skep run`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::RUN)]
pub struct RunArguments {
    /// Scenario files, Markdown files with `kdl` blocks, folders; `-` is standard input. Without
    /// one the built-in corpus is meant.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only tests with such names; `*` stands for any run of letters. May be given several times.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// Where they are played: simulated, or as processes on this machine.
    #[arg(
        long,
        value_enum,
        value_name = "sim|live",
        hide_possible_values = true,
        help_heading = "World"
    )]
    pub world: Option<WorldOption>,
    /// The simulator's gear: real bytes between simulated hosts, or frames on one event queue,
    /// which is faster. The default is wire.
    #[arg(
        long,
        value_enum,
        value_name = "wire|event",
        hide_possible_values = true,
        help_heading = "World"
    )]
    pub gear: Option<GearOption>,
    /// The harness to test, as a command line; means the live world. Without it the built-in
    /// reference harness is tested.
    #[arg(long, value_name = "CMD", help_heading = "World")]
    pub harness: Option<String>,
    /// How that harness is configured and what it can do: a profile's name or file. The default
    /// is buzz-acp.
    #[arg(long, value_name = "NAME|FILE", help_heading = "World")]
    pub harness_profile: Option<String>,
    /// Another build to hold the harness against: only what changed is shown, and the exit code is
    /// 0 where the harness is nowhere worse.
    #[arg(long, value_name = "CMD", conflicts_with_all = ["until", "mutant"],
          help_heading = "World")]
    pub against: Option<String>,
    /// That build's profile, where it is another than the harness's.
    #[arg(long, value_name = "NAME|FILE", requires = "against", help_heading = "World")]
    pub against_profile: Option<String>,
    /// With `--against`, list tests that came to the same as well.
    #[arg(long, requires = "against", help_heading = "Output")]
    pub unchanged: bool,
    /// Claim that the harness can do more than its profile says, such as durable-sessions. May be
    /// given several times.
    #[arg(long, value_name = "CAPABILITY", help_heading = "World")]
    pub has: Vec<String>,
    /// Also play tests that take a real harness minutes; the simulator always plays them.
    #[arg(long, help_heading = "World")]
    pub slow: bool,
    /// Switch one named fault of the reference on, to see what its failure looks like.
    #[arg(long, value_name = "ID", value_parser = parse_mutant, conflicts_with = "harness",
          help_heading = "World")]
    pub mutant: Option<Mutant>,
    /// The seed that every choice comes from.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Play")]
    pub seed: u64,
    /// Failures that are known before, as a file: they are shown and cost nothing. One that does
    /// not fail any more is an error.
    #[arg(long, value_name = "FILE", help_heading = "Play")]
    pub known_failures: Option<PathBuf>,
    /// Play each test so many times, with this seed and the ones after it.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Play",
          value_parser = clap::value_parser!(u32).range(1..=MOST_REPEATS))]
    pub repeat: u32,
    /// How many tests run at once; the default is one for each processor, with `--harness` two.
    #[arg(long, value_name = "N", help_heading = "Play")]
    pub jobs: Option<NonZeroU8>,
    /// Begin no test after this time; those left over are inconclusive.
    #[arg(long, value_name = "TIME", value_parser = parse_instant, help_heading = "Play")]
    pub time_budget: Option<u64>,
    /// Write each test's trace into this folder, for `skep replay`.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub trace: Option<PathBuf>,
    /// Put everything into this folder: traces, logs, and reports as JSON, JUnit and Markdown.
    #[arg(long, value_name = "DIR", conflicts_with = "trace", help_heading = "Output")]
    pub artifacts: Option<PathBuf>,
    /// Also write a report: json, junit, github or markdown; `-` is standard output. May be given
    /// several times.
    #[arg(long = "report", value_name = "KIND=PATH", help_heading = "Output")]
    pub reports: Vec<Target>,
    /// Show the wire of one test up to this instant of it.
    #[arg(long, value_name = "TIME", value_parser = parse_instant, conflicts_with = "repeat",
          help_heading = "Output")]
    pub until: Option<u64>,
    /// Put real times into reports; without them, equal runs give equal bytes.
    #[arg(long, help_heading = "Output")]
    pub times: bool,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Plays what the arguments ask for and shows what came out.
///
/// # Errors
/// When it cannot be played as it stands.
pub fn run(arguments: &RunArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let plan = plan(arguments)?;
    let all = discover::tests(&arguments.paths)?;
    let known = arguments.known_failures.as_deref().map(|path| KnownFailures::load(path, &all));
    let known = known.transpose()?;
    let tests = discover::only(all, &arguments.only)?;
    if arguments.until.is_some() && tests.len() > 1 {
        return Err(one_test_at_a_time(&tests));
    }
    arguments.reports.iter().try_for_each(Target::check)?;
    one_document(arguments, console)?;
    if arguments.trace.is_some() || arguments.artifacts.is_some() {
        one_file_each(&tests)?;
    }
    if let Some(other) = other_plan(arguments)? {
        if other.world != plan.world {
            return Err(Trouble::usage("one of the two would be simulated and the other not")
                .help("name both builds, or play the reference as a process: `--world live`"));
        }
        return against::compare(arguments, &tests, (&plan, &other), known, console);
    }
    let traces = arguments.trace_folder("")?;
    let bounds = arguments.bounds()?;
    let mut outcome = suite::play_all(&tests, &plan, &bounds, traces.as_ref(), console)?;
    if let Some(known) = known {
        known.account(&mut outcome, &plan.profile.name);
    }
    show(&outcome, arguments, console)?;
    for report in arguments.targets(console.format) {
        report.write(&outcome, arguments.times, console)?;
    }
    Ok(outcome.exit_code())
}

/// Standard output holds one document at most, and `--until` is none.
fn one_document(arguments: &RunArguments, console: &Console) -> Result<(), Trouble> {
    let reports = arguments.reports.iter().filter(|target| target.is_stdout()).count();
    let document = usize::from(console.format == Format::Json);
    let (title, help) = match (reports, document) {
        (2.., _) | (1, 1) => (
            "two documents on standard output",
            "give each report a file: `--report json=skep.json`",
        ),
        (_, 1) if arguments.until.is_some() => (
            "`--until` shows the wire for people",
            "leave `--format json` out; `--trace` has it for programs",
        ),
        _ => return Ok(()),
    };
    Err(Trouble::usage(title).help(help))
}

/// A test's trace is named after it; names are unique in their file alone.
fn one_file_each(tests: &[Test]) -> Result<(), Trouble> {
    let mut names = BTreeSet::new();
    let twice = tests.iter().find(|test| !names.insert(&test.scenario.name));
    twice.map_or(Ok(()), |test| {
        let name = &test.scenario.name;
        Err(Trouble::usage(format!(
            "two tests are called `{name}`, and their traces would be one file"
        ))
        .help("play their files one by one, or choose with `--only`"))
    })
}

impl RunArguments {
    /// How much is played.
    ///
    /// # Errors
    /// When there are not so many seeds.
    pub(super) fn bounds(&self) -> Result<Bounds, Trouble> {
        let last = self.seed.checked_add(u64::from(self.repeat) - 1);
        let last =
            last.ok_or_else(|| Trouble::usage("there are not so many seeds after this one"))?;
        Ok(Bounds {
            seeds: self.seed..=last,
            jobs: self.jobs,
            time_budget_ms: self.time_budget,
            slow: self.slow,
            keep_traces: self.until.is_some(),
        })
    }

    /// Where traces go, if anywhere; `below` is a folder of its own for one of two builds.
    pub(super) fn trace_folder(&self, below: &str) -> Result<Option<TraceFolder>, Trouble> {
        match (&self.artifacts, &self.trace) {
            (Some(folder), _) => TraceFolder::with_logs(&folder.join(below)).map(Some),
            (None, Some(folder)) => TraceFolder::open(&folder.join(below)).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Every report that is to be written.
    pub(super) fn targets(&self, format: Format) -> Vec<Target> {
        let mut targets = self.reports.clone();
        targets.extend(github::reports(&self.reports, format));
        targets.extend(self.artifacts.iter().flat_map(|folder| artifacts::reports(folder)));
        targets
    }
}

/// The build that the harness is held against, as a harness of its own.
fn other_plan(arguments: &RunArguments) -> Result<Option<Plan>, Trouble> {
    let Some(against) = &arguments.against else { return Ok(None) };
    let profile = arguments.against_profile.clone().or(arguments.harness_profile.clone());
    let other = RunArguments {
        harness: Some(against.clone()),
        harness_profile: profile,
        ..arguments.clone()
    };
    plan(&other).map(Some)
}

fn not_simulated(arguments: &RunArguments) -> Result<(), Trouble> {
    if arguments.world != Some(WorldOption::Sim) {
        return Ok(());
    }
    Err(Trouble::usage("a harness of yours cannot run in the simulator")
        .help("leave `--world sim` out: `--harness` means the live world"))
}

fn plan(arguments: &RunArguments) -> Result<Plan, Trouble> {
    if arguments.harness.is_some() {
        not_simulated(arguments)?; // before it is looked for
    }
    let (harness, profile) = tested(&Subject {
        harness: arguments.harness.as_deref(),
        profile: arguments.harness_profile.as_deref(),
        has: &arguments.has,
    })?;
    let live = harness.is_some();
    if live {
        not_simulated(arguments)?;
    }
    let world = arguments.world.or(live.then_some(WorldOption::Live));
    let Some(world) = world_name(world, arguments.gear, GearOption::Wire) else {
        return Err(Trouble::usage("the live world has no gears")
            .help("leave `--gear` out, or play in the simulator"));
    };
    let named = arguments.harness_profile.iter().map(|name| ("--harness-profile", name.clone()));
    let claimed = arguments.has.iter().map(|claim| ("--has", claim.clone()));
    let said = named.chain(claimed).collect();
    Ok(Plan { world, mutant: arguments.mutant, harness, profile: Arc::new(profile), said })
}

fn one_test_at_a_time(tests: &[Test]) -> Trouble {
    let first = &tests[0].scenario.name;
    Trouble::usage(format!("`--until` shows one test, and {} are meant", tests.len()))
        .help(format!("choose one: `--only {}`", crate::report::again::shell_word(first)))
}

fn show(outcome: &RunOutcome, arguments: &RunArguments, console: &Console) -> Result<(), Trouble> {
    let brevity = Brevity { quiet: console.quiet, timeless: false };
    let text = match (console.format, arguments.until) {
        (Format::Json, _) => json::report(outcome, arguments.times).to_string() + "\n",
        (Format::Text, None) => terminal::run(outcome, brevity, console.paint),
        (Format::Text, Some(until)) => wire_until(outcome, until, console),
    };
    console.say(&text)
}

/// The wire of the only test, and its story if it has one.
fn wire_until(outcome: &RunOutcome, until_ms: u64, console: &Console) -> String {
    let mut text = String::new();
    for test in &outcome.tests {
        let names = Names::new(&test.trace, &test.bound);
        text += &wire::listing::listing(&test.trace, &names, Some(until_ms), console.paint);
        let story = story::story(test, console.paint);
        text += &if story.is_empty() { String::new() } else { format!("\n{story}") };
    }
    text + "\n" + &terminal::summary(outcome, false, console.paint)
}
