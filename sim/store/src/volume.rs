//! What a store asks of a disk: one call an operation, each of them a point where another process
//! may run.
//!
//! Every operation is a future, so that a simulated volume can stop between any two of them. A
//! store that keeps a decision and the operation that it rests on apart will be found out. None of
//! the futures is `Send`: a store belongs to one thread.
//!
//! Paths are absolute, with `/` between components. No operation follows a symbolic link in the
//! last component unless it says so.

use std::future::Future;

use skep_trace::Text;

use crate::error::DiskError;

/// A disk, as one process sees it.
pub trait Volume {
    /// An open file. Dropping it closes it, and gives its lock back.
    type File;

    /// Opens a file.
    fn open(&self, path: &str, how: Open) -> impl Future<Output = Result<Self::File, DiskError>>;

    /// The content from the start, at most `limit` bytes of it.
    fn read(
        &self,
        file: &Self::File,
        limit: u64,
    ) -> impl Future<Output = Result<Vec<u8>, DiskError>>;

    /// Writes all of `bytes` behind what was written through this handle before.
    fn write(&self, file: &Self::File, bytes: &[u8])
    -> impl Future<Output = Result<(), DiskError>>;

    /// Makes content and permission bits durable; the name is its directory's business.
    fn sync(&self, file: &Self::File) -> impl Future<Output = Result<(), DiskError>>;

    /// What the handle is open on.
    fn stat(&self, file: &Self::File) -> impl Future<Output = Result<Meta, DiskError>>;

    /// What stands at the path; a symbolic link is looked at, not through.
    fn lstat(&self, path: &str) -> impl Future<Output = Result<Meta, DiskError>>;

    /// Sets permission bits.
    fn chmod(&self, path: &str, mode: u32) -> impl Future<Output = Result<(), DiskError>>;

    /// Gives a file a new name, in place of what had that name.
    fn rename(&self, from: &str, to: &str) -> impl Future<Output = Result<(), DiskError>>;

    /// Gives a file a second name; fails when the name is taken.
    fn link(&self, from: &str, to: &str) -> impl Future<Output = Result<(), DiskError>>;

    /// Takes a name away.
    fn unlink(&self, path: &str) -> impl Future<Output = Result<(), DiskError>>;

    /// Makes a directory. `Some(mode)` is what it gets whatever the umask says; `None` leaves it
    /// to the umask.
    fn mkdir(&self, path: &str, mode: Option<u32>) -> impl Future<Output = Result<(), DiskError>>;

    /// Makes the directory's names durable.
    fn sync_dir(&self, path: &str) -> impl Future<Output = Result<(), DiskError>>;

    /// The directory's names, sorted.
    fn list(&self, path: &str) -> impl Future<Output = Result<Vec<Text>, DiskError>>;

    /// Takes the exclusive lock of the file's inode, or says that someone else has it. The lock
    /// belongs to the handle: two handles of one process exclude each other too. It is gone when
    /// the handle is, and so when the process is.
    fn try_lock(&self, file: &Self::File) -> impl Future<Output = Result<bool, DiskError>>;

    /// Gives the lock back and closes the handle.
    fn unlock(&self, file: Self::File) -> impl Future<Output = ()>;

    /// Lets time pass: the pause between two tries of a lock.
    fn wait(&self, ms: u64) -> impl Future<Output = ()>;

    /// A text that no other call on this disk gets while the process lives, made of the process
    /// id, a count and a seed: no randomness, so that a run can be repeated.
    fn unique(&self) -> Text;

    /// The user that files are made for.
    fn user(&self) -> u32;
}

/// How a file is opened. The default is nothing at all; start from one of the constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Every write goes to the end.
    pub append: bool,
    /// What happens when nothing stands there, or something does.
    pub create: Create,
    /// The content is thrown away.
    pub truncate: bool,
    /// The bits of a new file, whatever the umask says; `None` leaves them to the umask.
    pub mode: Option<u32>,
    /// A symbolic link is followed.
    pub follow: bool,
    /// A FIFO without another end is waited for.
    pub wait: bool,
}

/// What an open makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Create {
    /// Nothing: the file must be there.
    #[default]
    Never,
    /// The file, unless it is there.
    IfAbsent,
    /// The file; it is an error if anything is there (S-23).
    New,
}

impl Open {
    const NOTHING: Self = Self {
        read: false,
        write: false,
        append: false,
        create: Create::Never,
        truncate: false,
        mode: None,
        follow: false,
        wait: false,
    };

    /// An existing file, to be read.
    pub const READ: Self = Self { read: true, ..Self::NOTHING };

    /// A file to append to, made if it is absent: a lock file.
    pub const APPEND: Self =
        Self { write: true, append: true, create: Create::IfAbsent, ..Self::NOTHING };

    /// A file that was not there before: a temporary file.
    pub const CREATE_NEW: Self = Self { write: true, create: Create::New, ..Self::NOTHING };

    /// A file whose old content does not matter.
    pub const OVERWRITE: Self =
        Self { write: true, create: Create::IfAbsent, truncate: true, ..Self::NOTHING };

    /// The same, with these permission bits for a new file.
    pub const fn with_mode(self, mode: Option<u32>) -> Self {
        Self { mode, ..self }
    }
}

/// What stands at a path, or behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// Permission bits, with the set-id and sticky bits (`0o7777`).
    pub mode: u32,
    /// Its length in bytes; only of a regular file.
    pub len: u64,
    /// The device and the inode: two names with the same pair are one file.
    pub inode: (u64, u64),
    /// The user that it belongs to.
    pub owner: u32,
}

/// What kind of thing a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A FIFO, a socket or a device.
    Special,
}

/// The name of an operation, for a scheduler that stops before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// [`Volume::open`] of what is there.
    Open,
    /// [`Volume::open`] that may make something.
    Create,
    /// [`Volume::read`].
    Read,
    /// [`Volume::write`].
    Write,
    /// [`Volume::sync`].
    Sync,
    /// [`Volume::stat`].
    Stat,
    /// [`Volume::lstat`].
    Lstat,
    /// [`Volume::chmod`].
    Chmod,
    /// [`Volume::rename`].
    Rename,
    /// [`Volume::link`].
    Link,
    /// [`Volume::unlink`].
    Unlink,
    /// [`Volume::mkdir`].
    Mkdir,
    /// [`Volume::sync_dir`].
    SyncDir,
    /// [`Volume::list`].
    List,
    /// [`Volume::try_lock`].
    TryLock,
    /// [`Volume::unlock`].
    Unlock,
    /// [`Volume::wait`], for so many milliseconds.
    Wait(u64),
}

impl Op {
    /// The word for it in a schedule.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Create => "create",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Stat => "stat",
            Self::Lstat => "lstat",
            Self::Chmod => "chmod",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::SyncDir => "sync-dir",
            Self::List => "list",
            Self::TryLock => "try-lock",
            Self::Unlock => "unlock",
            Self::Wait(_) => "wait",
        }
    }
}
