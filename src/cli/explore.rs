//! `skep explore`: many seeds, and the smallest file of what failed.

use std::collections::BTreeMap;
use std::num::NonZeroU8;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::Value;
use skep_mutant::Mutant;

use super::console::Console;
use super::explore_store::{self, ExploreStoreArguments};
use super::interrupt::Interrupt;
use super::options::{Format, OutputOptions, parse_instant, parse_mutant};
use super::progress::Progress;
use super::shards::{self, Shard};
use super::suite::{self, Clock};
use super::targets::write_file;
use super::traces::make_folder;
use super::trouble::Trouble;
use super::{discover, engine, help};
use crate::director::Job;
use crate::exit_code::ExitCode;
use crate::explore::hunt::hunt;
use crate::explore::record::{self, Part, Record, Records};
use crate::explore::seek::Failure;
use crate::explore::source::Source;
use crate::explore::sweep::{Seeds, sweep};
use crate::explore::vary::Varied;
use crate::report::explore as report;

/// How many seeds of random workloads are played when nobody says.
const SEEDS: u64 = 1_000;
/// How many of a scenario's.
const SEEDS_OF_A_SCENARIO: u64 = 100;
/// How many failures of one sweep are made small: more are told, and their seeds with them.
const MOST_SMALL: usize = 12;
/// The longest results file that is read.
const MOST_BYTES: u64 = 64 << 20;

/// `skep explore`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::EXPLORE, args_conflicts_with_subcommands = true)]
pub struct ExploreArguments {
    /// Something else than worlds.
    #[command(subcommand)]
    pub what: Option<ExploreWhat>,
    /// Scenario files to play under other schedules and with troubles; without one, random
    /// workloads are played.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Only tests with such names; `*` stands for any run of letters.
    #[arg(long, value_name = "GLOB")]
    pub only: Vec<String>,
    /// The seeds: `500` are the first so many, `1000..2000` those from one up to another.
    #[arg(long, value_name = "N|A..B", value_parser = shards::parse_seeds)]
    pub seeds: Option<Seeds>,
    /// Which part of the seeds, of how many: `0/4` is the first of four. Without it, the variables
    /// of the usual CI services and of indexed Kubernetes jobs say so.
    #[arg(long, value_name = "I/N", value_parser = shards::parse)]
    pub shard: Option<Shard>,
    /// No seed is begun after this time.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub time: Option<u64>,
    /// Switch a named fault of the reference on.
    #[arg(long, value_name = "ID", value_parser = parse_mutant)]
    pub mutant: Option<Mutant>,
    /// Look for every named fault of the reference instead, each until a seed shows it.
    #[arg(long, conflicts_with_all = ["paths", "only", "shard", "mutant", "results", "merge", "tell"])]
    pub hunt: bool,
    /// Print the scenarios of the seeds instead of playing them.
    #[arg(long, conflicts_with_all = ["results", "merge"])]
    pub tell: bool,
    /// The PATHs are results of shards: join them and show the whole.
    #[arg(long, conflicts_with_all = ["only", "seeds", "shard", "time", "mutant"])]
    pub merge: bool,
    /// Where the smallest scenario of each failure is written.
    #[arg(long, value_name = "DIR", default_value = "explored")]
    pub out: PathBuf,
    /// Also write what came out as JSON Lines, which `--merge` joins.
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// How many seeds are played at once; the default is one for each processor.
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroU8>,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// What else can be explored.
#[derive(Clone, Debug, Subcommand)]
pub enum ExploreWhat {
    /// The store: every order of system calls, every crash point, every disk.
    Store(ExploreStoreArguments),
}

impl ExploreArguments {
    /// The console that the arguments ask for.
    pub(super) fn console(&self) -> Console {
        match &self.what {
            Some(ExploreWhat::Store(arguments)) => arguments.output.console(),
            None => self.output.console(),
        }
    }
}

/// Explores what the arguments ask for and shows what came out.
///
/// # Errors
/// When it cannot be explored as it stands.
pub fn explore(arguments: &ExploreArguments, console: &Console) -> Result<ExitCode, Trouble> {
    if let Some(ExploreWhat::Store(arguments)) = &arguments.what {
        return explore_store::explore_store(arguments, console);
    }
    if arguments.merge {
        return merge(arguments, console);
    }
    if arguments.hunt {
        return hunt_all(arguments, console);
    }
    let sources = sources(arguments, console)?;
    if arguments.tell {
        return tell(arguments, &sources, console);
    }
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let (mut records, clock) = (Records::new(), Clock::start());
    for source in &sources {
        let record = one(arguments, source, &interrupt, clock, console)?;
        records.insert((record.subject.clone(), record.mutant.clone()), record);
    }
    show(arguments, &records, console)?;
    Ok(if interrupt.is_wanted() { ExitCode::Interrupted } else { code(&records) })
}

/// What is explored, each with its name.
fn sources(arguments: &ExploreArguments, console: &Console) -> Result<Vec<Source>, Trouble> {
    if arguments.paths.is_empty() && arguments.only.is_empty() {
        return Ok(vec![Source::Workload]);
    }
    let tests = discover::only(discover::tests(&arguments.paths)?, &arguments.only)?;
    let mut sources = Vec::new();
    for test in tests {
        match Varied::new(&test.scenario) {
            Ok(varied) => sources.push(Source::Scenario(Box::new(varied))),
            Err(why) => {
                console.tell(&format!("{} cannot be varied: {why}", test.scenario.name));
            }
        }
    }
    if sources.is_empty() {
        return Err(Trouble::usage("none of these scenarios can be varied"));
    }
    Ok(sources)
}

impl ExploreArguments {
    fn seeds(&self, source: &Source) -> Result<Seeds, Trouble> {
        let count = match source {
            Source::Workload => SEEDS,
            Source::Scenario(varied) => varied.wished().unwrap_or(SEEDS_OF_A_SCENARIO),
        };
        let seeds = self.seeds.clone().unwrap_or_else(|| Seeds::all(0..count));
        let shard = match self.shard {
            Some(shard) => Some(shard),
            None => shards::from_environment(&engine::variable).map_err(Trouble::usage)?,
        };
        Ok(shard.map_or(seeds.clone(), |Shard { number, of }| Seeds { shard: number, of, ..seeds }))
    }

    fn job(&self) -> Job {
        engine::reference_job(self.mutant)
    }

    /// No seed is to be begun any more.
    fn is_over(&self, interrupt: &Interrupt, clock: Clock) -> bool {
        interrupt.is_wanted() || self.time.is_some_and(|time| clock.passed_ms() > time)
    }
}

/// Sweeps the seeds of one source, and makes small what failed.
fn one(
    arguments: &ExploreArguments,
    source: &Source,
    interrupt: &Interrupt,
    clock: Clock,
    console: &Console,
) -> Result<Record, Trouble> {
    let seeds = arguments.seeds(source)?;
    let (job, threads) = (arguments.job(), suite::jobs(arguments.jobs));
    let progress = Progress::of_seeds(console, seeds.count());
    let stop = || arguments.is_over(interrupt, clock);
    let tally = sweep(source, &seeds, &job, threads, &stop, &|failed| progress.seed(failed));
    progress.finish();
    // Also after Ctrl-C: what was found is kept. A second one ends this as well.
    let small = small(source, &tally.failures, &job, console);
    let played = tally.played + tally.empty + tally.mistakes.len() as u64;
    let mutant = arguments.mutant.map(|mutant| mutant.id().to_owned());
    let parts = vec![Part { seeds, played }];
    Ok(Record { subject: source.subject().to_owned(), mutant, parts, tally, small })
}

type Failures = BTreeMap<Failure, (u64, u64)>;

fn small(
    source: &Source,
    failures: &Failures,
    job: &Job,
    console: &Console,
) -> Vec<(Failure, String)> {
    let progress = Progress::new(console, failures.len().min(MOST_SMALL) + 1);
    let mut found = Vec::new();
    for (failure, (_, seed)) in failures.iter().take(MOST_SMALL) {
        if let Some(small) = source.shrink(*seed, job, failure) {
            found.push((failure.clone(), small.text));
        }
        progress.seed(true);
    }
    progress.finish();
    found
}

fn tell(
    arguments: &ExploreArguments,
    sources: &[Source],
    console: &Console,
) -> Result<ExitCode, Trouble> {
    for source in sources {
        let seeds = arguments.seeds(source)?;
        for seed in (0..).map_while(|n| seeds.nth(n)) {
            if let Some(text) = source.text(seed) {
                console.say(&text)?;
            }
        }
    }
    Ok(ExitCode::Held)
}

/// Prints what came out, and writes the smallest scenarios and the results.
fn show(arguments: &ExploreArguments, records: &Records, console: &Console) -> Result<(), Trouble> {
    let lines: String = records.values().map(Record::lines).collect();
    if let Some(file) = &arguments.results {
        write_file(file, lines.as_bytes())?;
    }
    let mut files = Vec::new();
    if records.values().any(|record| !record.small.is_empty()) {
        make_folder(&arguments.out, "--out")?;
    }
    for record in records.values() {
        for (failure, text) in &record.small {
            let name = failure.what.replace('/', "-");
            let subject = record.subject.replace(|letter: char| !letter.is_alphanumeric(), "-");
            let file = arguments.out.join(format!("{subject}-{name}.kdl"));
            write_file(&file, text.as_bytes())?;
            files.push((file, text.as_str()));
        }
    }
    match console.format {
        Format::Json => {
            let lines: Result<Vec<Value>, _> = lines.lines().map(serde_json::from_str).collect();
            let lines = lines.map_err(|error| Trouble::ours(error.to_string()))?;
            console.say(&format!("{}\n", Value::Array(lines)))
        }
        Format::Text => {
            for (file, text) in &files {
                console.say(&story(file, text, arguments, console))?;
            }
            for record in records.values() {
                console.say(&report::sweep(record, console.quiet, console.paint))?;
            }
            Ok(())
        }
    }
}

/// A small scenario, played again from its file: its story.
fn story(file: &Path, text: &str, arguments: &ExploreArguments, console: &Console) -> String {
    let outcomes = engine::play_text(&file.display().to_string(), text, &arguments.job());
    let stories =
        outcomes.iter().map(|outcome| crate::report::story::story(outcome, console.paint));
    stories.map(|story| format!("{story}\n")).collect()
}

/// What the whole came to.
fn code(records: &Records) -> ExitCode {
    let tallies = || records.values().map(|record| &record.tally);
    if tallies().any(|tally| !tally.mistakes.is_empty()) {
        ExitCode::Ours
    } else if tallies().any(|tally| !tally.failures.is_empty()) {
        ExitCode::Violated
    } else if tallies().all(|tally| tally.played == 0) {
        ExitCode::Inconclusive
    } else {
        ExitCode::Held
    }
}

/// Joins the results of shards.
fn merge(arguments: &ExploreArguments, console: &Console) -> Result<ExitCode, Trouble> {
    if arguments.paths.is_empty() {
        return Err(Trouble::usage("there are no results to merge")
            .help("name the files that `--results` wrote"));
    }
    let mut records = Records::new();
    for path in &arguments.paths {
        let text = discover::text(path, MOST_BYTES)?;
        record::join(&mut records, &text)
            .map_err(|why| Trouble::usage(format!("{}: {why}", path.display())))?;
    }
    show(arguments, &records, console)?;
    Ok(code(&records))
}

/// Looks for every fault.
fn hunt_all(arguments: &ExploreArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let mutants = engine::reachable();
    let seeds = arguments.seeds.clone().map_or(0..SEEDS, |seeds| seeds.range);
    let progress = Progress::new(console, mutants.len());
    let clock = Clock::start();
    let stop =
        || interrupt.is_wanted() || arguments.time.is_some_and(|time| clock.passed_ms() > time);
    let job = arguments.job();
    let found = hunt(&mutants, &seeds, &job, suite::jobs(arguments.jobs), &stop, &|hunted| {
        progress.seed(hunted.seeds.is_none());
    });
    progress.finish();
    let most = seeds.end - seeds.start;
    console.say(&match console.format {
        Format::Text => report::hunt(&found, most, console.quiet, console.paint),
        Format::Json => {
            let one = |one: &crate::explore::hunt::Hunted| {
                serde_json::json!({"mutant": one.mutant.id(), "seeds": one.seeds})
            };
            let all: Value = found.iter().map(one).collect();
            format!("{}\n", serde_json::json!({"skep_hunt": 1, "most": most, "mutants": all}))
        }
    })?;
    Ok(match (interrupt.is_wanted(), found.iter().all(|one| one.seeds.is_some())) {
        (true, _) => ExitCode::Interrupted,
        (false, true) => ExitCode::Held,
        (false, false) => ExitCode::Violated,
    })
}
