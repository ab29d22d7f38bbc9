//! Reading: no lock, no write, no wait, and never more than a bounded number of bytes.

use skep_mutant::Mutant;

use super::format::{Contents, Entries, Reader, State, damaged};
use super::trouble::StoreError;
use super::{MAX_FILE_BYTES, Store};
use crate::error::Errno;
use crate::volume::{Kind, Meta, Open, Volume};

/// What stands in the file's place.
#[derive(Debug)]
pub(super) enum Loaded {
    /// Nothing.
    Absent,
    /// A file of so many bytes, which is too many.
    Oversized(u64),
    /// A file.
    Bytes(Vec<u8>),
}

/// The last bytes that were read or written, and what they say.
#[derive(Debug)]
pub(super) struct Cached {
    pub(super) bytes: Vec<u8>,
    pub(super) contents: Contents,
}

impl<V: Volume> Store<V> {
    /// Reads the file as it stands.
    pub(super) async fn load(&self) -> Result<Loaded, StoreError> {
        if self.look_at_dir().await?.is_none() {
            return Ok(Loaded::Absent);
        }
        let file = match self.volume.open(&self.paths.file, self.reading()).await {
            Ok(file) => file,
            Err(error) if error.errno == Errno::NotFound => return Ok(Loaded::Absent),
            Err(error) => return Err(error.into()),
        };
        let meta = self.volume.stat(&file).await?;
        self.trust(&self.paths.file, Kind::File, &meta)?;
        let limit = if self.mutants.has(Mutant::UnboundedRead) { u64::MAX } else { MAX_FILE_BYTES };
        if meta.len > limit {
            return Ok(Loaded::Oversized(meta.len));
        }
        let bytes = self.volume.read(&file, limit.saturating_add(1)).await?;
        let len = bytes.len() as u64;
        Ok(if len > limit { Loaded::Oversized(len) } else { Loaded::Bytes(bytes) })
    }

    /// How the file is opened: a link is refused, a FIFO answers at once and is then refused.
    fn reading(&self) -> Open {
        Open {
            follow: self.mutants.has(Mutant::FollowsSymlink),
            wait: self.mutants.has(Mutant::OpensSpecial),
            ..Open::READ
        }
    }

    /// Refuses what is of another kind than it should be, or another user's (S-41, S-42).
    pub(super) fn trust(&self, path: &str, kind: Kind, meta: &Meta) -> Result<(), StoreError> {
        if meta.kind == Kind::Symlink {
            Err(StoreError::Symlink(path.into()))
        } else if meta.kind != kind && !self.mutants.has(Mutant::OpensSpecial) {
            Err(StoreError::WrongKind(path.into()))
        } else if meta.owner != self.volume.user() {
            Err(StoreError::NotOurs { path: path.into(), owner: meta.owner })
        } else {
            Ok(())
        }
    }

    /// Shows what was loaded, parsing it only if it is not what was there the last time.
    pub(super) fn with_contents<R>(
        &self,
        loaded: Loaded,
        show: impl FnOnce(&Entries) -> R,
    ) -> Result<R, StoreError> {
        let cached = self.parse(loaded);
        let shown = self.report(&cached.contents.state).map(|()| show(&cached.contents.entries));
        *self.cache.borrow_mut() = Some(cached);
        shown
    }

    /// What was loaded, taken out of the cache if it is still the same.
    pub(super) fn parse(&self, loaded: Loaded) -> Cached {
        match loaded {
            Loaded::Absent => Cached { bytes: Vec::new(), contents: Contents::default() },
            Loaded::Oversized(len) => {
                let reason = format!("it has {len} bytes, more than {MAX_FILE_BYTES}");
                Cached { bytes: Vec::new(), contents: damaged(&reason) }
            }
            Loaded::Bytes(bytes) => match self.cache.take() {
                // An empty file is never taken from the cache: absent files are kept as one.
                Some(cached) if cached.bytes == bytes && !bytes.is_empty() => cached,
                _ => Cached { contents: self.reader().read(&bytes), bytes },
            },
        }
    }

    fn reader(&self) -> Reader<'_> {
        Reader { pubkey: self.pubkey, relay: &self.relay, mutants: self.mutants }
    }

    /// Tells what is wrong with the file; nothing of that stops a reader.
    pub(super) fn report(&self, state: &State) -> Result<(), StoreError> {
        let path = self.paths.file.clone();
        match state {
            State::Sound => *self.warned.borrow_mut() = None,
            State::Damaged(reason) if self.mutants.has(Mutant::CorruptPanics) => {
                return Err(StoreError::Damaged { path, reason: reason.clone() });
            }
            State::Damaged(reason) => self.warn(reason),
            State::Newer(version) => {
                self.warn(&StoreError::Newer { path, version: *version }.to_string());
            }
            State::OtherAgent => self.warn(&StoreError::OtherAgent(path).to_string()),
        }
        Ok(())
    }
}
