//! `skep explore store`: the store and its models, exhaustively.

use std::num::NonZeroU8;
use std::path::{Path, PathBuf};

use clap::Args;
use skep_check::verdict::Verdict;
use skep_store::model::StoreName;
use skep_store::play::{End, Place};

use super::console::Console;
use super::interrupt::Interrupt;
use super::options::{Format, OutputOptions};
use super::progress::Progress;
use super::suite::{Clock, jobs};
use super::targets::write_file;
use super::traces::make_folder;
use super::trouble::Trouble;
use super::{discover, engine, help};
use crate::exit_code::ExitCode;
use crate::explore_store::{self as work, Explored, Task};
use crate::report::explore_store as report;
use crate::scenario::{Diagnostic, Span, StorePlay, parse_store_play, render};

/// `skep explore store`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::EXPLORE_STORE)]
pub struct ExploreStoreArguments {
    /// A play that `--out` wrote, or one of yours: it is played instead.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only this store: reference, receipt, snapshot-map, binding, keyed-ttl. A file is played on
    /// it instead of on the one that it names.
    #[arg(long = "store", value_name = "NAME", value_parser = parse_store)]
    pub stores: Vec<StoreName>,
    /// Write a file for each thing that a model breaks into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub out: Option<PathBuf>,
    /// How many questions are asked at once; the default is one for each processor.
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub jobs: Option<NonZeroU8>,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

fn parse_store(id: &str) -> Result<StoreName, String> {
    StoreName::parse(id).ok_or_else(|| {
        let names = StoreName::ALL.map(StoreName::id);
        match super::select::nearest(id, names) {
            Some(near) => format!("there is no such store; did you mean `{near}`?"),
            None => format!("there is no such store; there is {}", names.join(", ")),
        }
    })
}

/// Explores the stores, or plays a file.
///
/// # Errors
/// When a file cannot be read, has mistakes or does not fit, or one cannot be written.
pub fn explore_store(
    arguments: &ExploreStoreArguments,
    console: &Console,
) -> Result<ExitCode, Trouble> {
    if let Some(file) = &arguments.file {
        return play(file, &arguments.stores, console);
    }
    let stores = chosen(&arguments.stores);
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let clock = Clock::start();
    let explored = explored(&stores, arguments.jobs, &interrupt, console);
    if let Some(folder) = &arguments.out
        && !interrupt.is_wanted()
    {
        write_files(&stores, folder, console)?;
    }
    let (wall_ms, interrupted) = (clock.passed_ms(), interrupt.is_wanted());
    let shown = match console.format {
        Format::Json => report::document(&explored, interrupted).to_string() + "\n",
        Format::Text => report::text(&explored, wall_ms, interrupted, console.quiet, console.paint),
    };
    console.say(&shown)?;
    Ok(work::exit_code(&explored, interrupted))
}

/// The stores that are meant, each once, in the order of their list.
fn chosen(named: &[StoreName]) -> Vec<StoreName> {
    let all = StoreName::ALL.into_iter();
    all.filter(|store| named.is_empty() || named.contains(store)).collect()
}

fn explored(
    stores: &[StoreName],
    wanted_jobs: Option<NonZeroU8>,
    interrupt: &Interrupt,
    console: &Console,
) -> Vec<Explored> {
    let tasks = work::tasks(stores);
    let progress = Progress::new(console, tasks.len());
    let stop = || interrupt.is_wanted();
    let one = |task: &Task| {
        let done = task.run(&stop);
        progress.ended(&task.name(), Verdict::Held);
        done
    };
    let outcomes = engine::in_parallel(&tasks, jobs(wanted_jobs), &stop, &one);
    progress.finish();
    work::gathered(stores, &tasks, outcomes)
}

/// A file for each thing that is listed as broken.
fn write_files(stores: &[StoreName], folder: &Path, console: &Console) -> Result<(), Trouble> {
    make_folder(folder, "--out")?;
    let mut count = 0;
    for store in stores {
        for broken in store.breaks() {
            let Some(file) = work::file_of(*store, broken) else { continue };
            write_file(&folder.join(&file.name), file.text.as_bytes())?;
            count += 1;
        }
    }
    if !console.quiet {
        console.tell(&format!("{count} files are written to {}", folder.display()));
    }
    Ok(())
}

/// Plays a file on the store that it names, or on others.
fn play(path: &Path, stores: &[StoreName], console: &Console) -> Result<ExitCode, Trouble> {
    let file = discover::read(path)?;
    let told = parse_store_play(&file).map_err(Trouble::Scenarios)?;
    let stores = if stores.is_empty() { vec![told.store] } else { chosen(stores) };
    let mut code = ExitCode::Held;
    for store in stores {
        let (text, came) = played(store, &told, console)?;
        console.say(&text)?;
        code = code.max(came);
    }
    Ok(code)
}

fn played(
    store: StoreName,
    told: &StorePlay,
    console: &Console,
) -> Result<(String, ExitCode), Trouble> {
    let end = work::play_of(store, &told.play);
    if console.format == Format::Json {
        return Ok(document(store, told, &end));
    }
    let id = store.id();
    match end {
        End::Held => Ok((
            format!("{id} keeps {}: nothing in this play breaks it\n", told.rule),
            ExitCode::Held,
        )),
        End::Broken(place, how) => {
            let title = format!("{id} breaks {}: {how}", told.rule);
            let shown = at(told, place, title, "here");
            let colour = console.paint != crate::report::Paint::PLAIN;
            Ok((render(&[shown], colour), ExitCode::Violated))
        }
        End::Unfit(place, how) => {
            let shown = at(told, place, format!("the play does not fit {id}: {how}"), "here");
            let help = "a schedule names the steps of one store; `--out` writes one for each";
            Err(Trouble::Scenarios(vec![shown.help(help)]))
        }
    }
}

fn at(told: &StorePlay, place: Place, title: String, label: &str) -> Diagnostic {
    Diagnostic::new(&told.file, Span::new(place.0, place.1), title).label(label)
}

fn document(store: StoreName, told: &StorePlay, end: &End) -> (String, ExitCode) {
    let (code, place, how) = match end {
        End::Held => (ExitCode::Held, None, None),
        End::Broken(place, how) => (ExitCode::Violated, Some(place), Some(how)),
        End::Unfit(place, how) => (ExitCode::Scenario, Some(place), Some(how)),
    };
    let line = place.map(|place| told.file.position(place.0).line);
    let document = serde_json::json!({
        "skep_store_play": 1,
        "file": &*told.file.name,
        "store": store.id(),
        "rule": &*told.rule,
        "exit_code": code.number(),
        "line": line,
        "how": how,
    });
    (document.to_string() + "\n", code)
}
