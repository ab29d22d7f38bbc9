//! Harnesses: processes of this very executable, or of a program that was named.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skep_harness::HarnessConfig;
use skep_harness::shell::Status;
use skep_relay::Keys;
use skep_trace::{Life, Note, What};

use super::process::{Launch, Running};
use super::shared::Shared;
use super::watchdog;
use crate::profile::{self, HarnessProfile, Ready};

/// Lines of a life's log that are kept.
const MOST_LINES: usize = 5_000;

/// What a harness is started with, as its profile says. `time` is how much faster than the wall's
/// its clock runs, and how many milliseconds it is ahead.
pub(super) fn launch(
    profile: &HarnessProfile,
    config: &HarnessConfig,
    keys: &Keys,
    place: Place<'_>,
    (haste, ahead_ms): (u32, i64),
) -> Launch {
    let told = profile::Place::from([
        ("relay-url", config.relay_url.to_string()),
        ("private-key", keys.nsec()),
        ("agent-command", place.agent.to_string_lossy().into_owned()),
        ("state-dir", place.state.to_owned()),
        ("owner", config.owner.map(|owner| owner.to_string()).unwrap_or_default()),
        ("haste", haste.to_string()),
        ("clock-ahead", ahead_ms.to_string()),
    ]);
    let env = profile::environment(profile, &config.settings, &told);
    let env = env.iter().map(|(name, value)| (OsString::from(&**name), OsString::from(&**value)));
    Launch { command: place.command, env: env.collect(), cwd: place.cwd.to_owned() }
}

/// The fault of ours that is switched on.
pub(super) fn tell_fault(config: &HarnessConfig, launch: &mut Launch) {
    if let Some(mutant) = config.mutants.get() {
        launch.env.insert("SKEP_MUTANT".into(), mutant.id().into());
    }
}

/// Where a harness finds what it needs.
pub(super) struct Place<'a> {
    /// The program and its arguments.
    pub(super) command: Vec<OsString>,
    /// The agent's command.
    pub(super) agent: PathBuf,
    /// The state directory.
    pub(super) state: &'a str,
    /// Where it stands.
    pub(super) cwd: &'a Path,
}

/// Starts the next life of a harness and watches it to its end.
///
/// # Errors
/// When the program cannot be started, in words for a person.
pub(super) fn start(
    shared: &Shared,
    host: usize,
    launch: &Launch,
    memory_mib: u64,
) -> Result<(), String> {
    let life = shared.with_lane(host, |lane| {
        lane.lives += 1;
        lane.life()
    });
    let (listener, listened) = (shared.clone(), life.clone());
    let on_line = move |line: &str| hear(&listener, host, &listened, line);
    let (running, pid) = Running::start(launch, on_line)?;
    shared.begin_life(host, pid);
    shared.note(What::HarnessStarted(life));
    let shared = shared.clone();
    let guard = watchdog::watch(shared.clone(), host, pid, memory_mib);
    let guard = tokio::task::spawn_local(guard);
    tokio::task::spawn_local(async move {
        let last = running.ended().await;
        guard.abort();
        shared.end_life(host, last);
    });
    Ok(())
}

/// A line of its output: a note, its state at rest, or just a line.
fn hear(shared: &Shared, host: usize, life: &Life, line: &str) {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    if let Some(status) = line.strip_prefix("rest ").and_then(json) {
        if let Some(status) = Status::rest_from_json(&status) {
            rests(shared, host, life, status);
        }
        return;
    }
    if let Some(note) = line.strip_prefix("note ").and_then(json)
        && let Some(note) = Note::from_json(&note)
    {
        return shared.note(What::Note { harness: life.clone(), note });
    }
    let lines = shared.with_lane(host, |lane| {
        let running = lane.running.as_mut()?;
        running.lines += 1;
        Some(running.lines)
    });
    let line = match lines {
        Some(MOST_LINES) => "(further lines of this log are dropped)",
        Some(more) if more > MOST_LINES => return,
        _ => line,
    };
    shared.note(What::Log { actor: life.to_string().into(), line: line.into() });
    if let Ready::Log(text) = shared.ready()
        && line.contains(&*text)
    {
        shared.is_ready(host, life);
    }
}

#[expect(clippy::disallowed_methods, reason = "the live world is where real time enters")]
fn rests(shared: &Shared, host: usize, life: &Life, status: Status) {
    shared.with_lane(host, |lane| {
        if lane.life() == *life
            && let Some(running) = &mut lane.running
        {
            running.rest = Some((status, std::time::Instant::now()));
        }
    });
    shared.wake();
}
