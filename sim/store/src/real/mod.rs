//! The real disk. The one place in this crate that touches one.
//!
//! Every future is ready at the first poll: the calls block, as calls to a local disk do, and so
//! does the pause between two tries of a lock. Who cannot afford that pause wraps the volume and
//! waits in another way.
//!
//! A directory is found by its path at each call. Who can rename the state directory's parents
//! while a store works there can send it elsewhere; they could replace the store as well.

pub(crate) mod outside;

use std::fs::File;
use std::future::Future;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{self, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno as Code;
use skep_trace::Text;

use crate::error::{DiskError, Errno};
use crate::volume::{Create, Kind, Meta, Open, Volume};

pub use outside::snapshot;

/// Counts the unique names of this process, whichever volume they are for.
static NAMES: AtomicU64 = AtomicU64::new(1);

/// A file that grows while it is read is read in steps of at least this.
const CHUNK: usize = 4096;

/// The real disk, as this process sees it.
#[derive(Clone, Debug, Default)]
pub struct RealVolume {
    seed: u64,
}

impl RealVolume {
    /// The disk. The seed goes into unique names: two machines that share a directory, and may
    /// have equal process ids, take different ones.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

/// An open file on the real disk.
#[derive(Debug)]
pub struct RealFile {
    file: File,
    path: Text,
}

impl RealFile {
    fn failed(&self, op: &'static str) -> impl Fn(Code) -> DiskError {
        move |code| error(code, op, &self.path)
    }
}

impl Volume for RealVolume {
    type File = RealFile;

    async fn open(&self, path: &str, how: Open) -> Result<RealFile, DiskError> {
        let mode = Mode::from_raw_mode(how.mode.unwrap_or(0o666));
        let opened = fs::open(path, flags(how), mode).and_then(|file| {
            if how.create == Create::New && how.mode.is_some() {
                // The umask may have taken bits away.
                fs::fchmod(&file, mode)?;
            }
            Ok(file)
        });
        let file = File::from(opened.map_err(|code| error(code, "open", path))?);
        Ok(RealFile { file, path: path.into() })
    }

    async fn read(&self, file: &RealFile, limit: u64) -> Result<Vec<u8>, DiskError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        from_start(&file.file, limit).map_err(file.failed("read"))
    }

    async fn write(&self, file: &RealFile, bytes: &[u8]) -> Result<(), DiskError> {
        let written = (&file.file).write_all(bytes);
        written.map_err(|failed| file.failed("write")(code(&failed)))
    }

    async fn sync(&self, file: &RealFile) -> Result<(), DiskError> {
        fs::fsync(&file.file).map_err(file.failed("sync"))
    }

    async fn stat(&self, file: &RealFile) -> Result<Meta, DiskError> {
        fs::fstat(&file.file).map(|stat| meta(&stat)).map_err(file.failed("look at"))
    }

    async fn lstat(&self, path: &str) -> Result<Meta, DiskError> {
        fs::lstat(path).map(|stat| meta(&stat)).map_err(|code| error(code, "look at", path))
    }

    async fn chmod(&self, path: &str, mode: u32) -> Result<(), DiskError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        fs::open(path, flags, Mode::empty())
            .and_then(|file| fs::fchmod(file, Mode::from_raw_mode(mode)))
            .map_err(|code| error(code, "change the mode of", path))
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        fs::renameat(CWD, from, CWD, to).map_err(|code| error(code, "rename", from))
    }

    async fn link(&self, from: &str, to: &str) -> Result<(), DiskError> {
        fs::link(from, to).map_err(|code| error(code, "link", from))
    }

    async fn unlink(&self, path: &str) -> Result<(), DiskError> {
        fs::unlink(path).map_err(|code| error(code, "remove", path))
    }

    async fn mkdir(&self, path: &str, mode: Option<u32>) -> Result<(), DiskError> {
        fs::mkdir(path, Mode::from_raw_mode(mode.unwrap_or(0o777)))
            .map_err(|code| error(code, "make", path))?;
        match mode {
            Some(mode) => set_dir_mode(path, mode).map_err(|code| error(code, "make", path)),
            None => Ok(()),
        }
    }

    async fn sync_dir(&self, path: &str) -> Result<(), DiskError> {
        open_dir(path).and_then(fs::fsync).map_err(|code| error(code, "sync", path))
    }

    async fn list(&self, path: &str) -> Result<Vec<Text>, DiskError> {
        names(path).map_err(|code| error(code, "list", path))
    }

    async fn try_lock(&self, file: &RealFile) -> Result<bool, DiskError> {
        match fs::flock(&file.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Code::WOULDBLOCK) => Ok(false),
            Err(code) => Err(file.failed("lock")(code)),
        }
    }

    fn unlock(&self, file: RealFile) -> impl Future<Output = ()> {
        drop(file);
        std::future::ready(())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a lock that another process holds is not an event of this one; the wait is \
                  short and its number bounded by the store"
    )]
    async fn wait(&self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }

    fn unique(&self) -> Text {
        let count = NAMES.fetch_add(1, Ordering::Relaxed);
        let pid = rustix::process::getpid().as_raw_nonzero();
        format!("{pid}-{count}-{:x}", self.seed).into()
    }

    fn user(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }
}

fn flags(how: Open) -> OFlags {
    let access = match (how.read, how.write) {
        (true, true) => OFlags::RDWR,
        (_, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    let create = match how.create {
        Create::Never => OFlags::empty(),
        Create::IfAbsent => OFlags::CREATE,
        Create::New => OFlags::CREATE | OFlags::EXCL,
    };
    let mut flags = access | create | OFlags::CLOEXEC;
    flags.set(OFlags::APPEND, how.append);
    flags.set(OFlags::TRUNC, how.truncate);
    flags.set(OFlags::NOFOLLOW, !how.follow);
    flags.set(OFlags::NONBLOCK, !how.wait);
    flags
}

/// Reads to the end or to the limit, whatever length the file claims to have. Nothing is moved: a
/// handle that writes as well goes on where it was.
fn from_start(file: &File, limit: usize) -> Result<Vec<u8>, Code> {
    let len = usize::try_from(fs::fstat(file)?.st_size).unwrap_or(0);
    let mut bytes = vec![0; (len + 1).min(limit)];
    let mut filled = 0;
    while filled < limit {
        if filled == bytes.len() {
            bytes.resize((2 * filled).max(CHUNK).min(limit), 0);
        }
        match rustix::io::pread(file, &mut bytes[filled..], filled as u64) {
            // A FIFO has no start, and nothing that a store could want.
            Ok(0) | Err(Code::SPIPE) => break,
            Ok(more) => filled += more,
            Err(code) => return Err(code),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn open_dir(path: &str) -> Result<OwnedFd, Code> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::open(path, flags, Mode::empty())
}

/// Gives a new directory its bits, whatever the umask left of them.
fn set_dir_mode(path: &str, mode: u32) -> Result<(), Code> {
    let mode = Mode::from_raw_mode(mode);
    match open_dir(path) {
        Ok(dir) => fs::fchmod(dir, mode),
        // Not even its owner may open it. Then by name: it is new, and only who may change the
        // directory above it could have put a link there.
        Err(Code::ACCESS) => fs::chmod(path, mode),
        Err(code) => Err(code),
    }
}

pub(crate) fn names(path: &str) -> Result<Vec<Text>, Code> {
    let mut names = Vec::new();
    for entry in fs::Dir::new(open_dir(path)?)? {
        let name: Text = entry?.file_name().to_string_lossy().into();
        if &*name != "." && &*name != ".." {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn meta(stat: &Stat) -> Meta {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Special,
    };
    Meta {
        kind,
        mode: stat.st_mode & 0o7777,
        len: if kind == Kind::File { u64::try_from(stat.st_size).unwrap_or(0) } else { 0 },
        inode: (stat.st_dev, stat.st_ino),
        owner: stat.st_uid,
    }
}

fn code(failed: &std::io::Error) -> Code {
    Code::from_io_error(failed).unwrap_or(Code::IO)
}

fn error(code: Code, op: &'static str, path: &str) -> DiskError {
    DiskError::new(errno(code), op, path)
}

fn errno(code: Code) -> Errno {
    match code {
        Code::NOSPC | Code::DQUOT => Errno::NoSpace,
        Code::ROFS => Errno::ReadOnly,
        Code::ACCESS | Code::PERM => Errno::PermissionDenied,
        Code::NOENT => Errno::NotFound,
        Code::EXIST | Code::NOTEMPTY => Errno::Exists,
        Code::LOOP => Errno::Loop,
        Code::ISDIR | Code::NOTDIR | Code::NXIO => Errno::WrongKind,
        _ => Errno::Io,
    }
}
