//! A shelf of files: a session a file, for this user alone.
//!
//! `.skep-agent/ID.jsonl` holds a line for what a session is and one for each update of its
//! history; lines are only ever added, each with one write, so that a killed process loses at
//! most the line that it was writing. `.skep-agent/processes` counts the processes, so that no
//! two mint the same id; `.skep-agent/lock` is held while that is counted.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::ground::{Facts, Kept};

/// The folder's name in the agent's home.
pub(super) const NAME: &str = ".skep-agent";
/// Files that a list looks at.
const MOST_SESSIONS: usize = 10_000;
/// The longest id that can be one of ours.
const MOST_ID_BYTES: usize = 100;

/// The folder of one process.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    process: u32,
}

impl Folder {
    /// Makes the folder if need be, and counts this process.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        let process = count_process(path)?;
        Ok(Self { path: path.to_owned(), process })
    }

    pub(super) fn process(&self) -> u32 {
        self.process
    }

    fn file(&self, id: &str) -> Option<PathBuf> {
        may_be_ours(id).then(|| self.path.join(format!("{id}.jsonl")))
    }

    fn add(&self, id: &str, line: &Value) {
        let Some(path) = self.file(id) else { return };
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).mode(0o600).open(path);
        // A disk that is full loses this update, as it would with any agent: the replay tells.
        let _lost = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}

/// The part of the ground that is files.
impl Folder {
    pub(super) fn read(&self, id: &str) -> Option<Kept> {
        Kept::read(&read(&self.file(id)?).ok()?)
    }

    pub(super) fn ids(&self) -> Vec<String> {
        let Ok(names) = fs::read_dir(&self.path) else { return Vec::new() };
        let names = names
            .take(MOST_SESSIONS)
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut ids: Vec<_> =
            names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned)).collect();
        ids.sort_unstable();
        ids
    }

    pub(super) fn put(&self, id: &str, facts: &Facts) {
        self.add(id, &json!({"facts": facts.to_json()}));
    }

    pub(super) fn append(&self, id: &str, update: &Value) {
        self.add(id, &json!({"update": update}));
    }

    pub(super) fn remove(&self, id: &str) {
        if let Some(path) = self.file(id) {
            // Gone already is gone.
            let _gone = fs::remove_file(path);
        }
    }
}

/// A client may name anything; only what we could have minted becomes part of a path.
fn may_be_ours(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !id.is_empty() && id.len() <= MOST_ID_BYTES && id.bytes().all(plain)
}

fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    OpenOptions::new().read(true).open(path)?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn count_process(folder: &Path) -> io::Result<u32> {
    let _lock = lock(folder)?;
    let path = folder.join("processes");
    let counted = read(&path).unwrap_or_default().trim().parse().unwrap_or(0_u32);
    let process = counted.saturating_add(1);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(process.to_string().as_bytes())?;
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
