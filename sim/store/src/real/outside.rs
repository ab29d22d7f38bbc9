//! A real directory as seen and changed from outside.

use std::collections::BTreeMap;

use rustix::fs::{FileType, lstat, readlink};
use skep_trace::{Entry, EntryKind, Snapshot, Text};

use crate::path::join;

/// A snapshot keeps the bytes of files up to this size: what a trace can carry.
const SNAPSHOT_BYTES: u64 = 1 << 20;

/// What stands below a directory; what is gone by the time that it is looked at is left out.
pub fn snapshot(dir: &str) -> Snapshot {
    let mut entries = BTreeMap::new();
    look(dir, "", &mut entries);
    Snapshot { entries }
}

fn look(path: &str, below: &str, entries: &mut BTreeMap<Text, Entry>) {
    let Ok(stat) = lstat(path) else { return };
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Some(EntryKind::Dir),
        FileType::RegularFile => file(path, u64::try_from(stat.st_size).unwrap_or(0)),
        FileType::Symlink => link(path),
        _ => Some(EntryKind::Special),
    };
    let Some(kind) = kind else { return };
    let is_dir = kind == EntryKind::Dir;
    let name = if below.is_empty() { "." } else { below };
    entries.insert(name.into(), Entry { kind, mode: stat.st_mode & 0o7777 });
    for name in is_dir.then(|| super::names(path).ok()).flatten().into_iter().flatten() {
        let below = if below.is_empty() { name.to_string() } else { join(below, &name) };
        look(&join(path, &name), &below, entries);
    }
}

/// Takes a name away, with everything below it; it may be gone already.
pub(crate) fn remove(path: &str) -> std::io::Result<()> {
    let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let done = match lstat(path) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            std::fs::remove_dir_all(path)
        }
        Ok(_) => std::fs::remove_file(path),
        Err(code) => Err(code.into()),
    };
    done.or_else(|error| if gone(&error) { Ok(()) } else { Err(error) })
}

/// Writes a file.
#[expect(clippy::disallowed_methods, reason = "this is the real disk")]
pub(crate) fn write(path: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::write(path, bytes)
}

#[expect(clippy::disallowed_methods, reason = "this is the real disk")]
fn file(path: &str, len: u64) -> Option<EntryKind> {
    if len > SNAPSHOT_BYTES {
        return Some(EntryKind::File { len, bytes: None });
    }
    std::fs::read(path).ok().map(|bytes| EntryKind::file(&bytes))
}

fn link(path: &str) -> Option<EntryKind> {
    let target = readlink(path, Vec::new()).ok()?;
    Some(EntryKind::Symlink(target.to_string_lossy().into()))
}
