//! A real directory, as a snapshot. Links are looked at, never followed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use skep_trace::{Entry, EntryKind, Snapshot};

/// Larger files are named and measured, not kept: no state directory of an honest harness is this
/// large, and a trace holds one snapshot a step.
const LARGEST: u64 = 1024 * 1024;

/// More entries than any honest state directory has; the walk ends there.
const MOST_ENTRIES: usize = 10_000;

/// Everything below `root`, by path relative to it. What vanishes or cannot be read while we look
/// is left out: the harness is alive, and a snapshot is a look, not a lock.
pub(crate) fn take(root: &Path) -> Snapshot {
    let mut snapshot = Snapshot::default();
    if let Some(entry) = look(root) {
        snapshot.entries.insert(".".into(), entry);
    }
    walk(root, "", &mut snapshot);
    snapshot
}

fn walk(dir: &Path, prefix: &str, snapshot: &mut Snapshot) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        if snapshot.entries.len() >= MOST_ENTRIES {
            return;
        }
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Some(seen) = look(&path) else { continue };
        let is_dir = seen.kind == EntryKind::Dir;
        snapshot.entries.insert(name.as_str().into(), seen);
        if is_dir {
            walk(&path, &format!("{name}/"), snapshot);
        }
    }
}

fn look(path: &Path) -> Option<Entry> {
    let meta = path.symlink_metadata().ok()?;
    let kind = match meta.file_type() {
        kind if kind.is_dir() => EntryKind::Dir,
        kind if kind.is_symlink() => {
            EntryKind::Symlink(path.read_link().ok()?.to_string_lossy().into())
        }
        kind if kind.is_file() => EntryKind::File { len: meta.len(), bytes: read(path, meta.len()) },
        _ => EntryKind::Special,
    };
    Some(Entry { kind, mode: meta.permissions().mode() & 0o7777 })
}

#[expect(clippy::disallowed_methods, reason = "the live world looks at real directories")]
fn read(path: &Path, len: u64) -> Option<Box<[u8]>> {
    (len <= LARGEST).then(|| std::fs::read(path).ok()).flatten().map(Vec::into_boxed_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_names_kinds_modes_and_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.json");
        std::fs::write(&file, "{}").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/b"), "b").unwrap();
        std::os::unix::fs::symlink("a.json", dir.path().join("link")).unwrap();
        let snapshot = take(dir.path());
        assert_eq!(snapshot.bytes("a.json"), Some(&b"{}"[..]));
        assert_eq!(snapshot.entries["a.json"].mode, 0o640);
        assert_eq!(snapshot.entries["link"].kind, EntryKind::Symlink("a.json".into()));
        assert_eq!(snapshot.bytes("sub/b"), Some(&b"b"[..]));
        assert_eq!(snapshot.entries["."].kind, EntryKind::Dir);
    }
}
