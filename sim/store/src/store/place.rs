//! The directory and the names in it.

use skep_mutant::Mutant;
use skep_trace::{Hex32, Text};

use super::trouble::StoreError;
use super::{LOCK_RETRY_MS, LOCK_WAIT_MS, Store};
use crate::error::{DiskError, Errno};
use crate::path::{join, parent};
use crate::volume::{Create, Kind, Meta, Open, Volume};

/// The bits of the state directory (S-40).
const DIR_MODE: u32 = 0o700;

/// The bits of every file in it (S-40).
pub(super) const FILE_MODE: u32 = 0o600;

/// Who set this bit shares the directory on purpose (`/tmp`); its bits are not ours to change.
const STICKY: u32 = 0o1000;

/// More steps than it takes to make the directories of any path that is not a trap: a dangling
/// link on the way is there and is not.
const MAX_STEPS: usize = 128;

/// Where everything stands.
#[derive(Debug)]
pub(super) struct Paths {
    pub(super) dir: Text,
    /// The receipts.
    pub(super) file: Text,
    /// Locked by whoever changes the file. Never removed: a lock on a removed file locks nobody
    /// out.
    lock: Text,
    /// The beginning of the names of temporary files, without the directory.
    temp: String,
}

/// The file in which the store of this agent keeps its receipts.
pub fn store_file(dir: &str, pubkey: Hex32) -> String {
    join(dir, &file_name(pubkey))
}

pub(super) fn file_name(pubkey: Hex32) -> String {
    format!("sessions-{pubkey}.json")
}

impl Paths {
    pub(super) fn new(dir: &str, pubkey: Hex32) -> Self {
        let trimmed = dir.trim_end_matches('/');
        Self {
            dir: if trimmed.is_empty() { "/".into() } else { trimmed.into() },
            file: store_file(dir, pubkey).into(),
            lock: join(dir, &format!("sessions-{pubkey}.lock")).into(),
            temp: format!("{}.tmp-", file_name(pubkey)),
        }
    }
}

impl<V: Volume> Store<V> {
    /// Looks at the directory; `None` if it is not there.
    pub(super) async fn look_at_dir(&self) -> Result<Option<Meta>, StoreError> {
        match self.volume.lstat(&self.paths.dir).await {
            Ok(meta) if meta.kind == Kind::Symlink && self.mutants.has(Mutant::FollowsSymlink) => {
                Ok(Some(meta))
            }
            Ok(meta) => self.trust(&self.paths.dir, Kind::Dir, &meta).map(|()| Some(meta)),
            Err(error) if error.errno == Errno::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the directory if it is not there, and shuts everybody else out of it.
    pub(super) async fn prepare_dir(&self) -> Result<(), StoreError> {
        match self.look_at_dir().await? {
            None => self.make_dir().await?,
            Some(meta) if meta.kind == Kind::Dir => self.tighten_dir(&meta).await?,
            Some(_) => {}
        }
        Ok(())
    }

    async fn tighten_dir(&self, meta: &Meta) -> Result<(), DiskError> {
        match self.too_many_bits(meta, DIR_MODE) {
            Some(mode) if meta.mode & STICKY == 0 => self.volume.chmod(&self.paths.dir, mode).await,
            _ => Ok(()),
        }
    }

    /// Makes the directory and those above it, each name durable before anything is put below it.
    async fn make_dir(&self) -> Result<(), DiskError> {
        let mut left: Vec<&str> = vec![&self.paths.dir];
        for _ in 0..MAX_STEPS {
            let Some(path) = left.pop() else { return Ok(()) };
            match self.volume.mkdir(path, self.bits(DIR_MODE)).await {
                Ok(()) => self.sync_above(path).await?,
                // Another process was faster.
                Err(error) if error.errno == Errno::Exists => {}
                Err(error) => match parent(path) {
                    Some(above) if error.errno == Errno::NotFound => left.extend([path, above]),
                    _ => return Err(error),
                },
            }
        }
        Err(DiskError::new(Errno::NotFound, "make", &self.paths.dir))
    }

    /// Once a handle: what an earlier process may have left behind. Its directory may have a name
    /// that is not yet durable, and its temporary files are nobody's.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if self.settled.get() {
            return Ok(());
        }
        self.sync_above(&self.paths.dir).await?;
        if !self.mutants.has(Mutant::LeavesTemps) {
            self.sweep().await?;
        }
        self.settled.set(true);
        Ok(())
    }

    /// Makes the directory's own name durable, as far as we may open the one above it.
    async fn sync_above(&self, path: &str) -> Result<(), DiskError> {
        let Some(above) = parent(path) else { return Ok(()) };
        match self.volume.sync_dir(above).await {
            Err(error) if error.errno != Errno::PermissionDenied => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes temporary files. The lock is ours, so no living process needs one; what cannot be
    /// removed stays, and harms nobody.
    async fn sweep(&self) -> Result<(), DiskError> {
        for name in self.volume.list(&self.paths.dir).await? {
            if name.starts_with(&self.paths.temp) {
                let _ = self.volume.unlink(&join(&self.paths.dir, &name)).await;
            }
        }
        Ok(())
    }

    /// Takes the lock; `None` where no lock is taken at all (a fault).
    pub(super) async fn lock(&self) -> Result<Option<V::File>, StoreError> {
        if self.mutants.has(Mutant::NoLock) {
            return Ok(None);
        }
        let mut waited_ms = 0;
        loop {
            let file = self.open_lock().await?;
            let meta = self.volume.stat(&file).await?;
            self.trust(&self.paths.lock, Kind::File, &meta)?;
            if let Some(mode) = self.too_many_bits(&meta, FILE_MODE) {
                self.volume.chmod(&self.paths.lock, mode).await?;
            }
            while !self.volume.try_lock(&file).await? {
                self.pause(&mut waited_ms).await?;
            }
            // A file that lost its name while we waited locks nobody else out.
            match self.volume.lstat(&self.paths.lock).await {
                Ok(now) if now.inode == meta.inode => return Ok(Some(file)),
                _ => self.pause(&mut waited_ms).await?,
            }
        }
    }

    async fn pause(&self, waited_ms: &mut u64) -> Result<(), StoreError> {
        if *waited_ms >= LOCK_WAIT_MS && !self.mutants.has(Mutant::WaitsForever) {
            let path = self.paths.lock.clone();
            return Err(StoreError::Locked { path, waited_ms: *waited_ms });
        }
        self.volume.wait(LOCK_RETRY_MS).await;
        *waited_ms += LOCK_RETRY_MS;
        Ok(())
    }

    /// Opens the lock file, or makes it: exclusively, so that its bits are right from the start.
    async fn open_lock(&self) -> Result<V::File, DiskError> {
        let there = Open { create: Create::Never, ..Open::APPEND };
        let made = Open::CREATE_NEW.with_mode(self.bits(FILE_MODE));
        let mut done = self.volume.open(&self.paths.lock, there).await;
        for how in [made, there] {
            match &done {
                Err(error) if matches!(error.errno, Errno::NotFound | Errno::Exists) => {}
                _ => break,
            }
            done = self.volume.open(&self.paths.lock, how).await;
        }
        done
    }

    /// A name beside the file that nobody else uses.
    pub(super) fn beside(&self, word: &str) -> String {
        format!("{}.{word}-{}", self.paths.file, self.volume.unique())
    }

    /// The bits that something new gets, unless they are left to the umask (a fault).
    pub(super) fn bits(&self, mode: u32) -> Option<u32> {
        (!self.mutants.has(Mutant::UmaskMode)).then_some(mode)
    }

    /// The bits that are left when what goes beyond `most` is taken away; `None`: nothing does.
    /// Bits are never added: who took them away meant it.
    fn too_many_bits(&self, meta: &Meta, most: u32) -> Option<u32> {
        let beyond = meta.mode & 0o777 & !self.bits(most)?;
        (beyond != 0).then_some(meta.mode & !beyond)
    }
}
