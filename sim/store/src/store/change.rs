//! One change: lock, read again, change one thing, replace the file, and only then say so.

use skep_mutant::Mutant;

use super::Store;
use super::format::{Contents, Entries, State, write};
use super::load::Cached;
use super::place::FILE_MODE;
use super::trouble::StoreError;
use crate::error::{DiskError, Errno};
use crate::volume::{Open, Volume};

/// So many names are tried when a name is taken. It never is, unless someone wants it to be.
const NAME_TRIES: usize = 16;

/// What an edit of the entries came to.
pub(super) struct Change<R> {
    changed: bool,
    answer: R,
}

impl<R> Change<R> {
    pub(super) fn new(changed: bool, answer: R) -> Self {
        Self { changed, answer }
    }

    pub(super) fn changed(answer: R) -> Self {
        Self::new(true, answer)
    }
}

impl<V: Volume> Store<V> {
    /// Carries out an edit under the lock.
    pub(super) async fn change<R: Default>(
        &self,
        now_ms: u64,
        edit: impl FnOnce(&mut Entries) -> Change<R>,
    ) -> Result<R, StoreError> {
        let done = self.change_once(now_ms, edit).await;
        if let Err(StoreError::Disk(_)) = &done
            && self.mutants.has(Mutant::SwallowsWriteErrors)
        {
            return Ok(R::default());
        }
        done
    }

    async fn change_once<R>(
        &self,
        now_ms: u64,
        edit: impl FnOnce(&mut Entries) -> Change<R>,
    ) -> Result<R, StoreError> {
        self.prepare_dir().await?;
        let lock = self.lock().await?;
        let done = self.change_locked(now_ms, edit).await;
        if let Some(lock) = lock {
            self.volume.unlock(lock).await;
        }
        done
    }

    async fn change_locked<R>(
        &self,
        now_ms: u64,
        edit: impl FnOnce(&mut Entries) -> Change<R>,
    ) -> Result<R, StoreError> {
        self.settle().await?;
        let Cached { bytes: _, mut contents } = self.read_again().await?;
        self.report(&contents.state)?;
        self.refuse(&contents.state)?;
        self.life.settle(&mut contents.entries, now_ms);
        let change = edit(&mut contents.entries);
        if change.changed {
            self.write(contents).await?;
        } else {
            // What is as it should be may be so only in the page cache, by a process that was
            // killed before it could say so.
            self.sync_names().await?;
        }
        Ok(change.answer)
    }

    async fn read_again(&self) -> Result<Cached, StoreError> {
        if self.mutants.has(Mutant::NoRereadUnderLock)
            && let Some(cached) = self.cache.take()
        {
            return Ok(cached);
        }
        Ok(self.parse(self.load().await?))
    }

    /// Files that are not ours to replace (S-4, S-32).
    fn refuse(&self, state: &State) -> Result<(), StoreError> {
        let path = self.paths.file.clone();
        match state {
            State::Newer(version) => Err(StoreError::Newer { path, version: *version }),
            State::OtherAgent => Err(StoreError::OtherAgent(path)),
            State::Sound | State::Damaged(_) => Ok(()),
        }
    }

    async fn write(&self, contents: Contents) -> Result<(), StoreError> {
        if matches!(contents.state, State::Damaged(_)) && !self.mutants.has(Mutant::NoSetAside) {
            self.set_aside().await?;
        }
        let bytes = write(self.pubkey, &contents.entries);
        if self.mutants.has(Mutant::WritesInPlace) {
            self.write_in_place(&bytes).await?;
        } else {
            self.replace(&bytes).await?;
        }
        let contents = Contents { state: State::Sound, ..contents };
        *self.warned.borrow_mut() = None;
        *self.cache.borrow_mut() = Some(Cached { bytes, contents });
        Ok(())
    }

    /// Puts a whole new file in the place of the old one (S-20, S-21): whoever looks sees one or
    /// the other.
    async fn replace(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let (name, file) = self.make_temp().await?;
        if let Err(error) = self.install(&name, file, bytes).await {
            // The error that stopped us is worth more than one about the rubbish it left.
            let _ = self.volume.unlink(&name).await;
            return Err(error.into());
        }
        Ok(self.sync_names().await?)
    }

    async fn install(&self, name: &str, file: V::File, bytes: &[u8]) -> Result<(), DiskError> {
        self.volume.write(&file, bytes).await?;
        if !self.mutants.has(Mutant::NoFileSync) {
            self.volume.sync(&file).await?;
        }
        drop(file);
        self.volume.rename(name, &self.paths.file).await
    }

    async fn sync_names(&self) -> Result<(), DiskError> {
        if self.mutants.has(Mutant::NoDirSync) {
            return Ok(());
        }
        self.volume.sync_dir(&self.paths.dir).await
    }

    /// A temporary file that was not there before (S-23).
    async fn make_temp(&self) -> Result<(String, V::File), StoreError> {
        let mode = self.bits(FILE_MODE);
        if self.mutants.has(Mutant::FixedTempName) {
            let name = format!("{}.tmp", self.paths.file);
            let how = Open { follow: true, ..Open::OVERWRITE.with_mode(mode) };
            let file = self.volume.open(&name, how).await?;
            return Ok((name, file));
        }
        for _ in 0..NAME_TRIES {
            let name = self.beside("tmp");
            match self.volume.open(&name, Open::CREATE_NEW.with_mode(mode)).await {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.errno == Errno::Exists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::NoFreeName(self.paths.file.clone()))
    }

    /// Gives the damaged file a second name, under which it stays when the first one gets a new
    /// file. Never a moment without either: a crash in between finds the damaged file as it was.
    /// A file system without hard links cannot do that; there a damaged file stops all writes until
    /// someone moves it away.
    async fn set_aside(&self) -> Result<(), StoreError> {
        let meta = self.volume.lstat(&self.paths.file).await?;
        let name = self.link_aside().await?;
        if meta.mode & !FILE_MODE != 0 {
            self.volume.chmod(&name, meta.mode & FILE_MODE).await?;
        }
        self.warn(&format!("it was damaged, and is kept as {name}"));
        Ok(self.volume.sync_dir(&self.paths.dir).await?)
    }

    async fn link_aside(&self) -> Result<String, StoreError> {
        for _ in 0..NAME_TRIES {
            let name = self.beside("damaged");
            match self.volume.link(&self.paths.file, &name).await {
                Ok(()) => return Ok(name),
                Err(error) if error.errno == Errno::Exists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::NoFreeName(self.paths.file.clone()))
    }

    async fn write_in_place(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let how = Open::OVERWRITE.with_mode(self.bits(FILE_MODE));
        let file = self.volume.open(&self.paths.file, how).await?;
        self.volume.write(&file, bytes).await?;
        self.volume.sync(&file).await?;
        Ok(self.sync_names().await?)
    }
}
