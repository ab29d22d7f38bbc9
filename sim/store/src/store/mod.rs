//! The reference session store: which session belongs to which scope, across processes and power
//! cuts.
//!
//! - `trouble`: errors and warnings.
//! - `scope`: keys and relays, by value.
//! - `format`: the file.
//! - `life`: what is forgotten when.
//! - `load`: reading; takes no lock, changes nothing.
//! - `change`: one change under the lock.
//! - `place`: the directory, the lock file, the names beside the file.
//!
//! The disk is the truth: every operation reads the file again, and what is kept in memory only
//! spares the parsing of bytes that are still the same. A store promises nothing about two
//! operations of one handle that run at the same time but what it promises about two processes.

mod change;
mod format;
mod life;
mod load;
mod place;
mod scope;
mod trouble;

use std::cell::{Cell, RefCell};

use skep_mutant::{Mutant, Mutants};
use skep_trace::{Hex32, Receipt, Text};

use self::change::Change;
use self::format::{Entries, Entry};
use self::life::Life;
use self::load::Cached;
use self::place::Paths;
use self::scope::EntryKey;
use crate::ops::{Config, Key, Lookup, StoreAnswer, StoreOp};
use crate::volume::Volume;

pub(crate) use format::bulk_file;
pub use place::store_file;
pub use scope::canonical_relay;
pub use trouble::{StoreError, Warning};

/// Thirty days: longer than a holiday, short enough that a file does not grow for ever.
pub const LIFE_MS: u64 = 30 * 24 * 3_600_000;

/// A holder that is alive is done in milliseconds; one that is stuck must not stop a turn for long.
pub const LOCK_WAIT_MS: u64 = 5_000;

/// The pause between two tries of the lock.
pub const LOCK_RETRY_MS: u64 = 20;

/// A store of ten thousand receipts has a fifth of this; whatever is larger is not ours.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// The most warnings that wait to be taken; further ones say nothing new.
const MAX_WARNINGS: usize = 16;

/// Whose receipts a store keeps, and where.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The state directory; it is made if it is not there.
    pub dir: Text,
    /// The relay; any spelling of its URL.
    pub relay: Text,
    /// The agent identity's public key.
    pub pubkey: Hex32,
    /// The fault that is switched on, if any.
    pub mutants: Mutants,
    /// How long an unused entry is kept.
    pub life_ms: u64,
}

impl StoreConfig {
    /// A store without a fault that keeps entries for [`LIFE_MS`].
    pub fn new(dir: &str, relay: &str, pubkey: Hex32) -> Self {
        Self {
            dir: dir.into(),
            relay: relay.into(),
            pubkey,
            mutants: Mutants::NONE,
            life_ms: LIFE_MS,
        }
    }

    /// The same with a fault.
    pub fn with_mutants(self, mutants: Mutants) -> Self {
        Self { mutants, ..self }
    }
}

/// One handle on a store. Any number of them, in any number of processes, may share a file.
#[derive(Debug)]
pub struct Store<V> {
    volume: V,
    paths: Paths,
    relay: Text,
    pubkey: Hex32,
    mutants: Mutants,
    life: Life,
    cache: RefCell<Option<Cached>>,
    /// This handle has put the directory in order once.
    settled: Cell<bool>,
    warnings: RefCell<Vec<Warning>>,
    /// The last thing that was warned of, so that each reading does not say it again.
    warned: RefCell<Option<Text>>,
}

impl<V: Volume> Store<V> {
    /// Opens a store. This writes nothing; what is wrong with the file or the directory is in the
    /// warnings, and again in the answers of the operations that it stops.
    pub async fn open(volume: V, config: StoreConfig, now_ms: u64) -> (Self, Vec<Warning>) {
        let store = Self {
            volume,
            paths: Paths::new(&config.dir, config.pubkey),
            relay: canonical_relay(&config.relay),
            pubkey: config.pubkey,
            mutants: config.mutants,
            life: Life {
                limit_ms: config.life_ms,
                trusting: config.mutants.has(Mutant::TrustsClock),
            },
            cache: RefCell::new(None),
            settled: Cell::new(false),
            warnings: RefCell::new(Vec::new()),
            warned: RefCell::new(None),
        };
        if let Err(error) = store.look(now_ms).await {
            store.warn(&error.to_string());
        }
        let warnings = store.take_warnings();
        (store, warnings)
    }

    async fn look(&self, now_ms: u64) -> Result<(), StoreError> {
        let loaded = self.load().await?;
        self.with_contents(loaded, |_| ())?;
        if self.mutants.has(Mutant::RewritesOnOpen) {
            let touch = |entries: &mut Entries| {
                entries.values_mut().for_each(|entry| entry.used_at_ms = now_ms);
                Change::changed(())
            };
            self.change(now_ms, touch).await?;
        }
        Ok(())
    }

    /// Reads the receipt of a key, if it was made under this configuration. Takes no lock and
    /// writes nothing (S-50).
    ///
    /// # Errors
    /// When the file cannot be read; what a damaged file still says is answered.
    pub async fn get(&self, key: &Key, config: &Config, now_ms: u64) -> Result<Lookup, StoreError> {
        let loaded = self.load().await?;
        let key = self.entry_key(key);
        self.with_contents(loaded, |entries| {
            let expired = self.life.expired(entries, now_ms);
            match entries.get(&key).filter(|entry| !expired(entry)) {
                None => Lookup::Absent,
                Some(entry) if self.fits(entry, config) => {
                    Lookup::Found { session: entry.session.clone() }
                }
                Some(entry) => Lookup::Incompatible { session: entry.session.clone() },
            }
        })
    }

    fn fits(&self, entry: &Entry, config: &Config) -> bool {
        entry.config == *config || self.mutants.has(Mutant::IgnoresConfig)
    }

    /// Writes a receipt. Once this is answered, it survives a kill and a power cut.
    ///
    /// # Errors
    /// When it could not be made durable; then the old file still stands.
    pub async fn put(
        &self,
        key: &Key,
        session: Text,
        config: Config,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        if self.mutants.has(Mutant::ForgetsOnRestart) {
            return Ok(());
        }
        let key = self.entry_key(key);
        let keeps_older = self.mutants.has(Mutant::OlderWins);
        let put = |entries: &mut Entries| {
            if !(keeps_older && entries.contains_key(&key)) {
                entries.insert(key, Entry { session, config, used_at_ms: now_ms });
            }
            Change::changed(())
        };
        self.change(now_ms, put).await
    }

    /// Forgets a receipt, whatever it says; none to forget is no error.
    ///
    /// # Errors
    /// When that could not be made durable.
    pub async fn remove(&self, key: &Key, now_ms: u64) -> Result<(), StoreError> {
        if self.mutants.has(Mutant::RemoveKeepsDisk) {
            return Ok(());
        }
        let key = self.entry_key(key);
        let remove = |entries: &mut Entries| Change::new(entries.remove(&key).is_some(), ());
        self.change(now_ms, remove).await
    }

    /// Forgets the receipts of a channel and of all its threads: whoever left a channel may not
    /// know which threads an earlier process talked in.
    ///
    /// # Errors
    /// When that could not be made durable.
    pub async fn remove_channel(&self, channel: Text, now_ms: u64) -> Result<(), StoreError> {
        if self.mutants.has(Mutant::RemoveKeepsDisk) {
            return Ok(());
        }
        let whole = self.entry_key(&Key { channel, root: None });
        let inside = |key: &EntryKey| key.relay == whole.relay && key.channel == whole.channel;
        let remove = |entries: &mut Entries| {
            let before = entries.len();
            entries.retain(|key, _| !inside(key));
            Change::new(entries.len() < before, ())
        };
        self.change(now_ms, remove).await
    }

    /// Forgets a receipt if it still names this session, and says whether it did: looked at and
    /// decided under one lock (S-3).
    ///
    /// # Errors
    /// When that could not be made durable.
    pub async fn remove_if(
        &self,
        key: &Key,
        expected: &str,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let key = self.entry_key(key);
        let any = self.mutants.has(Mutant::RemoveIfIgnoresId);
        let remove = |entries: &mut Entries| {
            let fits = entries.get(&key).is_some_and(|entry| any || *entry.session == *expected);
            if fits {
                entries.remove(&key);
            }
            Change::new(fits, fits)
        };
        self.change(now_ms, remove).await
    }

    /// Every receipt of this relay and agent, sorted.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn list(&self, now_ms: u64) -> Result<Vec<Receipt>, StoreError> {
        let loaded = self.load().await?;
        self.with_contents(loaded, |entries| {
            let expired = self.life.expired(entries, now_ms);
            let ours = entries.iter().filter(|(key, _)| key.relay == self.relay);
            ours.filter(|(_, entry)| !expired(entry))
                .map(|(key, entry)| self.receipt(key, entry))
                .collect()
        })
    }

    fn receipt(&self, key: &EntryKey, entry: &Entry) -> Receipt {
        Receipt {
            relay: key.relay.clone(),
            pubkey: self.pubkey,
            channel: key.channel.clone(),
            root: key.root,
            session: entry.session.clone(),
            model: entry.config.model.clone(),
            mode: entry.config.mode.clone(),
        }
    }

    /// Carries out one operation of a conversation.
    pub async fn apply(&self, op: StoreOp, now_ms: u64) -> StoreAnswer {
        let answer = match op {
            StoreOp::Get { key, config } => {
                self.get(&key, &config, now_ms).await.map(StoreAnswer::Got)
            }
            StoreOp::Put { key, session, config } => {
                self.put(&key, session, config, now_ms).await.map(|()| StoreAnswer::Done)
            }
            StoreOp::Remove { key } => self.remove(&key, now_ms).await.map(|()| StoreAnswer::Done),
            StoreOp::RemoveIf { key, expected } => {
                self.remove_if(&key, &expected, now_ms).await.map(StoreAnswer::Removed)
            }
            StoreOp::RemoveChannel { channel } => {
                self.remove_channel(channel, now_ms).await.map(|()| StoreAnswer::Done)
            }
        };
        answer.unwrap_or_else(|error| StoreAnswer::Failed(error.to_string().into()))
    }

    /// What was found wrong since the last call, without stopping anything.
    pub fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut self.warnings.borrow_mut())
    }

    /// The volume that it stands on.
    pub fn volume(&self) -> &V {
        &self.volume
    }

    fn warn(&self, reason: &str) {
        if self.warned.borrow().as_deref() == Some(reason) {
            return;
        }
        *self.warned.borrow_mut() = Some(reason.into());
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MAX_WARNINGS {
            warnings.push(Warning { file: self.paths.file.clone(), reason: reason.into() });
        }
    }

    fn entry_key(&self, key: &Key) -> EntryKey {
        EntryKey::new(&self.relay, key, !self.mutants.has(Mutant::CaseSplitsKeys))
    }
}
