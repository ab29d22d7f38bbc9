//! A disk of files: one session a file, for this user alone, each replaced as a whole.
//!
//! `.skep-agent/ID.json` holds `{"skep_agent_session":1,"session":SESSION}` with the session as
//! in the agent's disk; `.skep-agent/processes` counts the processes, so that no two mint the same
//! id; `.skep-agent/lock` is held while that is counted. What the harness names is read anew
//! before each step and written before the step's effects, so that several processes may share a
//! folder; two that prompt one session at once overwrite each other's turns, as real agents do.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skep_trace::{Call, Text};

use crate::core::{Agent, AgentDisk, AgentEffect, AgentEvent, Session};
use crate::shell::Keep;

/// The version that this build writes, and the only one that it reads.
const VERSION: u64 = 1;
/// Files that a list looks at.
const MOST_SESSIONS: usize = 10_000;
/// The longest id that can be one of ours.
const MOST_ID_BYTES: usize = 100;

/// The folder, and the sessions that this process has to do with.
pub(super) struct Folder {
    path: PathBuf,
    process: u32,
    disk: AgentDisk,
    /// The sessions as they stand in their files.
    saved: BTreeMap<Text, Session>,
}

impl Folder {
    /// Makes the folder if need be, and counts this process.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        let process = count_process(path)?;
        let disk = AgentDisk::new(&format!("agent{process}"), u64::from(process));
        Ok(Self { path: path.to_owned(), process, disk, saved: BTreeMap::new() })
    }

    pub(super) fn process(&self) -> u32 {
        self.process
    }

    /// Reads what the event is about.
    fn refresh(&mut self, event: &AgentEvent) -> io::Result<()> {
        let AgentEvent::Frame(frame) = event else { return Ok(()) };
        let Some(call) = frame.call() else { return Ok(()) };
        if call.method() == "session/list" {
            return self.refresh_all();
        }
        match session_named(call) {
            Some(id) => self.refresh_one(&id),
            None => Ok(()),
        }
    }

    fn refresh_all(&mut self) -> io::Result<()> {
        let names = fs::read_dir(&self.path)?.take(MOST_SESSIONS);
        let mut ids: Vec<Text> = Vec::new();
        for name in names {
            let name = name?.file_name();
            ids.extend(name.to_str().and_then(|name| name.strip_suffix(".json")).map(Text::from));
        }
        // What another process deleted has no file to be found by.
        ids.extend(self.saved.keys().cloned());
        ids.iter().try_for_each(|id| self.refresh_one(id))
    }

    fn refresh_one(&mut self, id: &Text) -> io::Result<()> {
        if !may_be_ours(id) {
            return Ok(());
        }
        match read_session(&self.file(id))? {
            Some(session) => {
                self.disk.put(Text::clone(id), session.clone());
                self.saved.insert(Text::clone(id), session);
            }
            None => {
                self.disk.remove(id);
                self.saved.remove(id);
            }
        }
        Ok(())
    }

    /// Writes what the step changed.
    fn save(&mut self) -> io::Result<()> {
        for (id, session) in self.disk.sessions() {
            if self.saved.get(id) != Some(session) {
                let value = json!({"skep_agent_session": VERSION, "session": session.to_value()});
                replace(&self.path, &self.file(id), self.process, &value.to_string())?;
                self.saved.insert(Text::clone(id), session.clone());
            }
        }
        let gone: Vec<_> =
            self.saved.keys().filter(|id| self.disk.session(id).is_none()).cloned().collect();
        for id in gone {
            remove(&self.path, &self.file(&id))?;
            self.saved.remove(&id);
        }
        Ok(())
    }

    fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}.json"))
    }
}

impl Keep for Folder {
    fn step(
        &mut self,
        agent: &mut Agent,
        event: AgentEvent,
        effects: &mut Vec<AgentEffect>,
    ) -> io::Result<()> {
        self.refresh(&event)?;
        agent.step(event, &mut self.disk, effects);
        self.save()
    }
}

fn session_named(call: &Call) -> Option<Text> {
    call.session_id().map(Text::from)
}

/// A harness may name anything; only what we could have minted becomes part of a path.
fn may_be_ours(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !id.is_empty() && id.len() <= MOST_ID_BYTES && id.bytes().all(plain)
}

/// A file that is missing, torn or of another version is no session; one that cannot be read is
/// an error.
fn read_session(path: &Path) -> io::Result<Option<Session>> {
    let Some(text) = read(path)? else { return Ok(None) };
    let value: Option<Value> = serde_json::from_str(&text).ok();
    let ours = value.filter(|value| value["skep_agent_session"].as_u64() == Some(VERSION));
    Ok(ours.and_then(|value| Session::from_value(&value["session"]).ok()))
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let mut file = match OpenOptions::new().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Temporary file, sync, rename, sync: whoever reads meets the old content or the new.
fn replace(folder: &Path, path: &Path, process: u32, text: &str) -> io::Result<()> {
    let temporary = path.with_extension(format!("tmp{process}"));
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync(folder)
}

fn remove(folder: &Path, path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => sync(folder),
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).open(folder)?.sync_all()
}

fn count_process(folder: &Path) -> io::Result<u32> {
    let _lock = lock(folder)?;
    let path = folder.join("processes");
    let counted = read(&path)?.and_then(|text| text.trim().parse().ok()).unwrap_or(0_u32);
    let process = counted.saturating_add(1);
    replace(folder, &path, process, &process.to_string())?;
    Ok(process)
}

/// Held until it is dropped.
fn lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let path = folder.join("lock");
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.lock()?;
    Ok(file)
}
