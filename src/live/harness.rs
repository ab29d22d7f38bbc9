//! Harnesses: processes of this very executable, or of a program that was named.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skep_harness::HarnessConfig;
use skep_harness::shell::Status;
use skep_relay::Keys;
use skep_trace::{Life, Note, What};

use super::process::{Launch, Running};
use super::shared::Shared;

/// Lines of a life's log that are kept.
const MOST_LINES: usize = 5_000;

/// What a harness is started with: settings under the names that public builds have for them.
pub(super) fn launch(config: &HarnessConfig, keys: &Keys, place: Place<'_>) -> Launch {
    let mut env = BTreeMap::new();
    let mut set = |name: &str, value: String| {
        env.insert(OsString::from(name), OsString::from(value));
    };
    set("BUZZ_RELAY_URL", config.relay_url.to_string());
    set("BUZZ_PRIVATE_KEY", keys.nsec());
    set("BUZZ_ACP_AGENT_COMMAND", place.agent.to_string_lossy().into_owned());
    set("BUZZ_ACP_STATE_DIR", place.state.to_owned());
    set("BUZZ_ACP_RESPOND_TO", "anyone".to_owned());
    set("BUZZ_ACP_NO_TYPING", "true".to_owned());
    if let Some(owner) = config.owner {
        set("BUZZ_ACP_AGENT_OWNER", owner.to_string());
    }
    let settings = &config.settings;
    set("BUZZ_ACP_SESSION_POLICY", settings.policies.session_scope.to_string());
    set("BUZZ_ACP_MODEL", settings.model.as_deref().unwrap_or_default().to_owned());
    set("BUZZ_ACP_PERMISSION_MODE", settings.mode.as_deref().unwrap_or_default().to_owned());
    set("BUZZ_ACP_SESSION_TITLE", settings.title.as_deref().unwrap_or_default().to_owned());
    set("BUZZ_ACP_MAX_TURNS_PER_SESSION", settings.max_turns.to_string());
    set("BUZZ_ACP_RELAY_OBSERVER", settings.observer.to_string());
    set("BUZZ_ACP_NO_RESUME_SESSIONS", (!settings.resume).to_string());
    // A setting that is not made is a variable that is not there.
    env.retain(|_, value| !value.is_empty());
    Launch { command: place.command, env, cwd: place.cwd.to_owned() }
}

/// What the reference harness is told besides: whatever public builds have no name for.
pub(super) fn tell_reference(config: &HarnessConfig, time: (u32, i64), launch: &mut Launch) {
    let mut set = |name: &str, value: String| {
        launch.env.insert(OsString::from(name), OsString::from(value));
    };
    for (key, value) in config.settings.texts().into_iter().filter(|(_, it)| !it.is_empty()) {
        set(&format!("SKEP_{}", key.to_ascii_uppercase().replace('-', "_")), value);
    }
    if let Some(mutant) = config.mutants.get() {
        set("SKEP_MUTANT", mutant.id().to_owned());
    }
    let (haste, ahead_ms) = time;
    set("SKEP_HASTE", haste.to_string());
    set("SKEP_AHEAD", ahead_ms.to_string());
    set("SKEP_REST", "true".to_owned());
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
pub(super) fn start(shared: &Shared, host: usize, launch: &Launch) -> Result<(), String> {
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
    tokio::task::spawn_local(async move {
        let last = running.ended().await;
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
