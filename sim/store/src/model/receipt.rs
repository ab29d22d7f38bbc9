//! `receipt`: one JSON file an agent key. A receipt has its scope, model and mode. A change takes a
//! lock, reads the file again, merges one thing into it, writes it under a unique temporary name,
//! syncs it and renames it into its place. There is no compare-and-remove: who wants one looks and
//! removes.

mod file;

use std::cell::RefCell;

use skep_trace::{Receipt as Listed, Text};

use self::file::{Contents, Entry, State, matches};
use super::plain::NAMES_UNSYNCED;
use super::{Beyond, Break, also, conversation, must, plain};
use crate::error::{DiskError, Errno};
use crate::ops::{Key, Lookup, StoreAnswer, StoreOp};
use crate::path::join;
use crate::suite::{Handle, Scope, Subject};
use crate::volume::{Create, Kind, Meta, Open, Volume};

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Receipt;

/// One open.
pub struct ReceiptStore<V> {
    volume: V,
    dir: String,
    file: String,
    scope: Scope,
    warnings: RefCell<Vec<Text>>,
}

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const MOST_BYTES: u64 = 16 << 20;

/// The pause between two tries of the lock, and how many there are: five seconds in all.
const RETRY_MS: u64 = 100;
const TRIES: usize = 50;

pub(super) const BREAKS: &[Break] = &[
    must(
        "a_conditional_remove_decides_under_the_lock",
        "without compare-and-remove the caller looks and then removes, and removes what another \
         process wrote in between",
    ),
    also("a_crash_leaves_the_old_file_or_the_new_one", NAMES_UNSYNCED),
    also("what_was_acknowledged_survives", NAMES_UNSYNCED),
    also("what_another_left_undone_is_made_durable", NAMES_UNSYNCED),
    also(
        "a_damaged_file_is_kept",
        "the second name of the damaged file is not synced before the first one gets a new file; \
         a power cut can keep the later change alone",
    ),
];

pub(super) const BEYOND: &[Beyond] = &[Beyond {
    rule: "H-71",
    why: "it is the harness's half of S-3: that a failed load removes only the receipt it tried",
}];

/// A change that is not made, and why.
type Refused = Text;

impl Subject for Receipt {
    type Store<V: Volume + 'static> = ReceiptStore<V>;

    async fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        _: u64,
    ) -> (ReceiptStore<V>, Vec<Text>) {
        let file = join(dir, &file::name(scope.pubkey));
        let (dir, scope) = (dir.to_owned(), scope.clone());
        let store = ReceiptStore { volume, dir, file, scope, warnings: RefCell::default() };
        match store.load().await {
            Err(why) => store.warn(&why),
            Ok(contents) => store.tell(&contents.state),
        }
        let warnings = store.warnings();
        (store, warnings)
    }

    fn life_ms(&self) -> Option<u64> {
        None
    }

    fn bulk(&self, scope: &Scope, receipts: usize) -> Option<(String, Vec<u8>)> {
        let entry = |at: usize| Entry {
            relay: scope.relay.clone(),
            key: Key { channel: format!("bulk-{at}").into(), root: None },
            session: format!("bulk-session-{at}").into(),
            config: crate::ops::Config::default(),
        };
        let entries: Vec<Entry> = (0..receipts).map(entry).collect();
        Some((file::name(scope.pubkey), file::write(scope.pubkey, &entries)))
    }
}

impl<V: Volume> ReceiptStore<V> {
    fn warn(&self, why: &str) {
        self.warnings.borrow_mut().push(format!("{}: {why}", self.file).into());
    }

    fn tell(&self, state: &State) {
        if let Some(why) = state.complaint() {
            self.warn(&why);
        }
    }

    fn trust(&self, path: &str, kind: Kind, meta: &Meta) -> Result<(), Refused> {
        if meta.kind != kind || meta.owner != self.volume.user() {
            return Err(format!("{path} is not ours, or not what belongs there").into());
        }
        Ok(())
    }

    /// Looks at the directory; `None` if it is not there.
    async fn look_at_dir(&self) -> Result<Option<Meta>, Refused> {
        match self.volume.lstat(&self.dir).await {
            Ok(meta) => self.trust(&self.dir, Kind::Dir, &meta).map(|()| Some(meta)),
            Err(error) if error.errno == Errno::NotFound => Ok(None),
            Err(error) => Err(told(&error)),
        }
    }

    async fn load(&self) -> Result<Contents, Refused> {
        if self.look_at_dir().await?.is_none() {
            return Ok(Contents::default());
        }
        let file = match self.volume.open(&self.file, Open::READ).await {
            Ok(file) => file,
            Err(error) if error.errno == Errno::NotFound => return Ok(Contents::default()),
            Err(error) => return Err(told(&error)),
        };
        let meta = self.volume.stat(&file).await.map_err(|error| told(&error))?;
        self.trust(&self.file, Kind::File, &meta)?;
        if meta.len > MOST_BYTES {
            return Ok(Contents::damaged("it is too large"));
        }
        let bytes = self.volume.read(&file, MOST_BYTES).await.map_err(|error| told(&error))?;
        Ok(file::read(&bytes, self.scope.pubkey))
    }

    /// Changes the file under the lock, if `edit` says that it changed anything.
    async fn change(&self, edit: impl FnOnce(&mut Vec<Entry>) -> bool) -> Result<(), Refused> {
        self.prepare_dir().await?;
        let lock = self.lock().await?;
        let done = self.change_locked(edit).await;
        self.volume.unlock(lock).await;
        done
    }

    async fn change_locked(
        &self,
        edit: impl FnOnce(&mut Vec<Entry>) -> bool,
    ) -> Result<(), Refused> {
        let mut contents = self.load().await?;
        if contents.state.is_not_ours() {
            return Err(contents.state.complaint().unwrap_or_default().into());
        }
        if !edit(&mut contents.entries) {
            return Ok(());
        }
        let bytes = file::write(self.scope.pubkey, &contents.entries);
        let written = async {
            self.sweep().await?;
            if contents.state != State::Sound {
                self.set_aside().await?;
            }
            self.replace(&bytes).await
        };
        written.await.map_err(|error| told(&error))
    }

    async fn prepare_dir(&self) -> Result<(), Refused> {
        let done = match self.look_at_dir().await? {
            Some(meta) => self.tighten(&self.dir, &meta, DIR_MODE).await,
            None => match self.volume.mkdir(&self.dir, Some(DIR_MODE)).await {
                Err(error) if error.errno == Errno::Exists => Ok(()),
                other => other,
            },
        };
        done.map_err(|error| told(&error))
    }

    /// Takes bits away that go beyond these.
    async fn tighten(&self, path: &str, meta: &Meta, most: u32) -> Result<(), DiskError> {
        if meta.mode & 0o777 & !most == 0 {
            return Ok(());
        }
        self.volume.chmod(path, meta.mode & most).await
    }

    async fn lock(&self) -> Result<V::File, Refused> {
        let path = format!("{}.lock", self.file);
        let file = self.open_lock(&path).await.map_err(|error| told(&error))?;
        let meta = self.volume.stat(&file).await.map_err(|error| told(&error))?;
        self.trust(&path, Kind::File, &meta)?;
        self.tighten(&path, &meta, FILE_MODE).await.map_err(|error| told(&error))?;
        for _ in 0..TRIES {
            if self.volume.try_lock(&file).await.map_err(|error| told(&error))? {
                return Ok(file);
            }
            self.volume.wait(RETRY_MS).await;
        }
        Err(format!("{path} is locked").into())
    }

    async fn open_lock(&self, path: &str) -> Result<V::File, DiskError> {
        let there = Open { create: Create::Never, ..Open::APPEND };
        match self.volume.open(path, there).await {
            Err(error) if error.errno == Errno::NotFound => {
                self.volume.open(path, Open::APPEND.with_mode(Some(FILE_MODE))).await
            }
            opened => opened,
        }
    }

    /// Removes what writers left that were killed. The lock is ours: nobody needs it.
    async fn sweep(&self) -> Result<(), DiskError> {
        for name in self.volume.list(&self.dir).await? {
            if name.ends_with(".tmp") {
                self.volume.unlink(&join(&self.dir, &name)).await?;
            }
        }
        Ok(())
    }

    async fn set_aside(&self) -> Result<(), DiskError> {
        let name = format!("{}.{}.damaged", self.file, self.volume.unique());
        self.volume.link(&self.file, &name).await
    }

    async fn replace(&self, bytes: &[u8]) -> Result<(), DiskError> {
        let (temp, file) = plain::make_temp(&self.volume, &self.file, Some(FILE_MODE)).await?;
        let done = async {
            self.volume.write(&file, bytes).await?;
            self.volume.sync(&file).await?;
            self.volume.rename(&temp, &self.file).await
        };
        let done = done.await;
        if done.is_err() {
            let _ = self.volume.unlink(&temp).await;
        }
        done
    }

    fn own(&self, key: &Key) -> Key {
        Key { channel: conversation::folded(&key.channel), root: key.root }
    }

    async fn get(&self, key: &Key) -> Result<Option<Entry>, Refused> {
        let key = self.own(key);
        let contents = self.load().await?;
        Ok(contents.entries.into_iter().find(|entry| matches(entry, &self.scope.relay, &key)))
    }

    async fn remove(&self, is_meant: impl Fn(&Key) -> bool) -> Result<(), Refused> {
        let edit = |entries: &mut Vec<Entry>| {
            let before = entries.len();
            entries.retain(|entry| entry.relay != self.scope.relay || !is_meant(&entry.key));
            entries.len() < before
        };
        self.change(edit).await
    }

    /// What a caller does that has no compare-and-remove.
    async fn look_and_remove(&self, key: &Key, expected: &Text) -> Result<bool, Refused> {
        let found = self.get(key).await?;
        if found.is_none_or(|entry| entry.session != *expected) {
            return Ok(false);
        }
        let key = self.own(key);
        self.remove(|other| *other == key).await.map(|()| true)
    }
}

fn told(error: &DiskError) -> Refused {
    error.to_string().into()
}

impl<V: Volume> Handle for ReceiptStore<V> {
    async fn apply(&self, op: StoreOp, _: u64) -> StoreAnswer {
        match op {
            StoreOp::Get { key, config } => plain::done(self.get(&key).await, |found| {
                StoreAnswer::Got(match found {
                    None => Lookup::Absent,
                    Some(Entry { session, config: made, .. }) if made == config => {
                        Lookup::Found { session }
                    }
                    Some(Entry { session, .. }) => Lookup::Incompatible { session },
                })
            }),
            StoreOp::Put { key, session, config } => {
                let (relay, key) = (self.scope.relay.clone(), self.own(&key));
                let edit = |entries: &mut Vec<Entry>| {
                    entries.retain(|entry| !matches(entry, &relay, &key));
                    entries.push(Entry { relay, key, session, config });
                    true
                };
                plain::done(self.change(edit).await, |()| StoreAnswer::Done)
            }
            StoreOp::Remove { key } => {
                let key = self.own(&key);
                let removed = self.remove(|other| *other == key).await;
                plain::done(removed, |()| StoreAnswer::Done)
            }
            StoreOp::RemoveIf { key, expected } => {
                plain::done(self.look_and_remove(&key, &expected).await, StoreAnswer::Removed)
            }
            StoreOp::RemoveChannel { channel } => {
                let channel = conversation::folded(&channel);
                let removed = self.remove(|other| other.channel == channel).await;
                plain::done(removed, |()| StoreAnswer::Done)
            }
        }
    }

    async fn list(&self, _: u64) -> Result<Vec<Listed>, Text> {
        let contents = self.load().await?;
        let ours = contents.entries.into_iter().filter(|entry| entry.relay == self.scope.relay);
        let mut listed: Vec<Listed> = ours.map(|entry| entry.listed(self.scope.pubkey)).collect();
        listed.sort_by(|one, other| (&one.channel, one.root).cmp(&(&other.channel, other.root)));
        Ok(listed)
    }

    fn warnings(&self) -> Vec<Text> {
        self.warnings.take()
    }
}
