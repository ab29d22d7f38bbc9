//! The directory that one check's stores stand on: a folder for the time being, or a small disk of
//! its own where the user may mount one.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};
use skep_store::real;
use skep_store::suite::{Edit, Failure, STATE, edit_real};
use skep_trace::{EntryKind, Snapshot};

use crate::live::groups::{DISK, Folder};

/// Large enough for a few hundred receipts, small enough to be filled at once.
const DISK_BYTES: usize = 1 << 20;
/// The file that fills a disk; no store's business.
const BALLAST: &str = "ballast";

/// What a check needs its directory to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A directory of the disk that temporary files are on.
    Folder,
    /// A disk that can be filled and made read-only.
    SmallDisk,
}

/// The directory.
pub(super) struct Ground {
    folder: Folder,
    kind: Kind,
    mounted: bool,
}

impl Ground {
    /// A new one, empty.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub(super) fn new(kind: Kind) -> std::io::Result<Self> {
        let folder = Folder::new()?;
        std::fs::create_dir(folder.path().join(DISK))?;
        Ok(Self { folder, kind, mounted: false })
    }

    /// Where it is; a text, since the system's folder for temporary files has such a name.
    pub(super) fn root(&self) -> String {
        self.path().to_string_lossy().into_owned()
    }

    /// The state directory in it.
    pub(super) fn state(&self) -> String {
        format!("{}/{STATE}", self.root())
    }

    /// A folder beside it, for what is no store's.
    pub(super) fn beside(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(DISK)
    }

    /// Empties it.
    ///
    /// # Errors
    /// When it cannot be: something is there that is not ours.
    pub(super) fn clear(&mut self) -> std::io::Result<()> {
        self.unmount();
        let path = self.path();
        // A directory that a store may not look into can still be ours to remove.
        let _ = edit_real(&self.root(), &Edit::Chmod(STATE, 0o700), None);
        std::fs::remove_dir_all(&path)?;
        std::fs::create_dir(&path)?;
        if self.kind == Kind::SmallDisk {
            self.mounted = self.mount().is_ok();
        }
        Ok(())
    }

    fn mount(&self) -> rustix::io::Result<()> {
        let size = format!("size={DISK_BYTES},mode=0755");
        let size = CString::new(size).expect("a size has no zero in it");
        mount("skep", self.path(), "tmpfs", MountFlags::NODEV, Some(size.as_c_str()))
    }

    fn unmount(&mut self) {
        if std::mem::take(&mut self.mounted) {
            let _gone = unmount(self.path(), UnmountFlags::DETACH);
        }
    }

    /// All that stands in it.
    pub(super) fn look(&self) -> Snapshot {
        let mut snapshot = real::snapshot(&self.root());
        // Ours, and no part of any check.
        snapshot.entries.remove(".");
        snapshot.entries.remove(BALLAST);
        snapshot
    }

    /// Changes something from outside.
    ///
    /// # Errors
    /// When nobody can here.
    pub(super) fn edit(&self, edit: &Edit<'_>) -> Result<(), Failure> {
        let done = match edit {
            Edit::Full(full) => self.small("filled")?.fill(*full),
            Edit::ReadOnly(on) => self.small("made read-only")?.read_only(*on),
            Edit::GiveAway(_) if !rustix::process::geteuid().is_root() => {
                let why = "only user 0 can give files away";
                return Err(Failure::NotApplicable(why.to_owned()));
            }
            _ => edit_real(&self.root(), edit, None),
        };
        done.map_err(|error| Failure::NotApplicable(error.to_string()))
    }

    fn small(&self, what: &str) -> Result<&Self, Failure> {
        if self.mounted {
            return Ok(self);
        }
        let why = format!("no disk can be {what}: this user may not mount one");
        Err(Failure::NotApplicable(why))
    }

    /// Leaves no room at all.
    #[expect(clippy::disallowed_methods, reason = "this is the real disk")]
    fn fill(&self, full: bool) -> std::io::Result<()> {
        let ballast = self.path().join(BALLAST);
        if !full {
            return std::fs::remove_file(ballast);
        }
        // The last bytes are not written, which is the purpose.
        let _full = std::fs::write(&ballast, vec![0; 2 * DISK_BYTES]);
        Ok(())
    }

    fn read_only(&self, on: bool) -> std::io::Result<()> {
        let flags = if on { MountFlags::RDONLY } else { MountFlags::empty() };
        Ok(mount_remount(self.path(), flags, c"")?)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.unmount();
        let _ = edit_real(&self.root(), &Edit::Chmod(STATE, 0o700), None);
    }
}

/// The names, kinds and sizes that a person wants to see when something is wrong.
pub(super) fn listing(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let shown = snapshot.entries.iter().map(|(path, entry)| {
        let what = match &entry.kind {
            EntryKind::Dir => "a directory".to_owned(),
            EntryKind::Special => "no regular file".to_owned(),
            EntryKind::Symlink(_) => "a symbolic link".to_owned(),
            EntryKind::File { len, .. } => format!("{len} bytes"),
        };
        (path.to_string(), format!("{:04o}  {what}", entry.mode))
    });
    shown.collect()
}
