//! `binding`: (command, args, channel) → id, in one file for all. A lock file beside it, the file
//! read again under the lock, written atomically; compare-and-remove. An agent is what it is
//! started as: what reaches it through the environment, its relay and its key above all, is not in
//! the key.

use std::collections::BTreeMap;

use serde_json::Value;
use skep_trace::{Receipt, Text};

use super::plain::{FOLLOWS, NAMES_UNSYNCED};
use super::{Break, also, conversation, must, plain};
use crate::error::DiskError;
use crate::ops::{StoreAnswer, StoreOp};
use crate::path::join;
use crate::suite::{Handle, Scope, Subject};
use crate::volume::{Open, Volume};

const FILE: &str = "bindings.json";

/// The pause between two tries of the lock. There is no last try: it is waited for as `flock`
/// waits unless it is told otherwise.
const RETRY_MS: u64 = 20;

/// The model, and how its agents are started. All that one host opens are started alike, and told
/// their relay and their key by their environment.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The command.
    pub command: Text,
    /// Its arguments.
    pub args: Vec<Text>,
}

impl Default for Binding {
    fn default() -> Self {
        Self { command: "agent".into(), args: vec!["acp".into()] }
    }
}

/// One open.
pub struct BindingStore<V> {
    volume: V,
    dir: String,
    file: String,
    /// The beginning of its keys: command and arguments.
    agent: String,
    scope: Scope,
}

type Sessions = BTreeMap<String, Text>;

const SILENT: &str = "a file that cannot be parsed is an empty one to it, and nobody is warned";
pub(super) const BREAKS: &[Break] = &[
    must(
        "scopes_do_not_meet",
        "relay and key come by the environment, which is not in its key: two agents that differ \
         in nothing else find each other's sessions",
    ),
    also(
        "another_configuration_is_incompatible",
        "it remembers neither model nor mode, so that every receipt fits",
    ),
    also("a_stuck_holder_delays_others_only_so_long", "the lock is waited for without a bound"),
    also("a_crash_leaves_the_old_file_or_the_new_one", NAMES_UNSYNCED),
    also("what_was_acknowledged_survives", NAMES_UNSYNCED),
    also("what_another_left_undone_is_made_durable", NAMES_UNSYNCED),
    also(
        "leftovers_are_ignored_and_go",
        "a killed writer's temporary file has a name of its own, and nobody looks for such files",
    ),
    also("a_damaged_file_opens_as_empty", SILENT),
    also("a_damaged_file_is_kept", "the next write replaces the damaged file"),
    also("one_bad_entry_costs_one_entry", SILENT),
    also(
        "a_full_disk_keeps_the_old_content",
        "the old content survives, but half a temporary file stays beside it",
    ),
    also(
        "an_unreadable_file_is_not_replaced",
        "the error is told by the operations, but opening the store warns of nothing",
    ),
    also("nobody_else_may_look", "directory and files get the bits that the umask leaves"),
    also("a_linked_file_is_refused", FOLLOWS),
    also("a_linked_directory_is_refused", FOLLOWS),
    also("only_own_files_are_read", FOLLOWS),
    also("only_own_files_are_locked", FOLLOWS),
];

impl Subject for Binding {
    type Store<V: Volume + 'static> = BindingStore<V>;

    async fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        _: u64,
    ) -> (BindingStore<V>, Vec<Text>) {
        let (file, agent) = (join(dir, FILE), self.agent());
        let scope = scope.clone();
        (BindingStore { volume, dir: dir.to_owned(), file, agent, scope }, Vec::new())
    }

    fn life_ms(&self) -> Option<u64> {
        None
    }

    fn bulk(&self, _: &Scope, receipts: usize) -> Option<(String, Vec<u8>)> {
        let agent = self.agent();
        let entry = |at| (format!("{agent}bulk-{at}"), format!("bulk-session-{at}").into());
        Some((FILE.to_owned(), write(&(0..receipts).map(entry).collect())))
    }
}

impl Binding {
    fn agent(&self) -> String {
        let words: Vec<&str> =
            [&self.command].into_iter().chain(&self.args).map(|w| &**w).collect();
        format!("{} | ", words.join(" "))
    }
}

fn parse(bytes: &[u8]) -> Option<Sessions> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let key = |text: &str| conversation::by_value(&conversation::read(text));
    let entry = |(text, id): (&String, &Value)| Some((key(text), id.as_str()?.into()));
    value.as_object()?.iter().map(entry).collect()
}

fn write(sessions: &Sessions) -> Vec<u8> {
    let map = sessions.iter().map(|(key, id)| (key.clone(), Value::from(&**id)));
    Value::Object(map.collect()).to_string().into_bytes()
}

impl<V: Volume> BindingStore<V> {
    fn key(&self, conversation: &str) -> String {
        format!("{}{conversation}", self.agent)
    }

    /// What the file says; a file that says nothing is an empty one.
    async fn read(&self) -> Result<Sessions, DiskError> {
        let bytes = plain::read(&self.volume, &self.file).await?;
        Ok(bytes.and_then(|bytes| parse(&bytes)).unwrap_or_default())
    }

    /// Changes the file under the lock, if `edit` changes anything.
    async fn change<R>(
        &self,
        edit: impl FnOnce(&mut Sessions) -> (bool, R),
    ) -> Result<R, DiskError> {
        plain::make_dir(&self.volume, &self.dir).await?;
        let lock = self.lock().await?;
        let done = self.change_locked(edit).await;
        self.volume.unlock(lock).await;
        done
    }

    async fn change_locked<R>(
        &self,
        edit: impl FnOnce(&mut Sessions) -> (bool, R),
    ) -> Result<R, DiskError> {
        let mut sessions = self.read().await?;
        let (changed, answer) = edit(&mut sessions);
        if changed {
            self.write(&write(&sessions)).await?;
        }
        Ok(answer)
    }

    async fn lock(&self) -> Result<V::File, DiskError> {
        let how = Open { follow: true, wait: true, ..Open::APPEND };
        let file = self.volume.open(&format!("{}.lock", self.file), how).await?;
        while !self.volume.try_lock(&file).await? {
            self.volume.wait(RETRY_MS).await;
        }
        Ok(file)
    }

    /// A whole new file in the place of the old one, whatever happens to the power.
    async fn write(&self, bytes: &[u8]) -> Result<(), DiskError> {
        let (temp, file) = plain::make_temp(&self.volume, &self.file, None).await?;
        self.volume.write(&file, bytes).await?;
        self.volume.sync(&file).await?;
        drop(file);
        self.volume.rename(&temp, &self.file).await
    }

    async fn changed(&self, edit: impl FnOnce(&mut Sessions)) -> StoreAnswer {
        let whole = |sessions: &mut Sessions| {
            let before = sessions.clone();
            edit(sessions);
            (*sessions != before, ())
        };
        plain::done(self.change(whole).await, |()| StoreAnswer::Done)
    }
}

impl<V: Volume> Handle for BindingStore<V> {
    async fn apply(&self, op: StoreOp, _: u64) -> StoreAnswer {
        match op {
            StoreOp::Get { key, .. } => {
                let key = self.key(&conversation::by_value(&key));
                plain::done(self.read().await, |sessions| plain::got(sessions.get(&key)))
            }
            StoreOp::Put { key, session, .. } => {
                let key = self.key(&conversation::by_value(&key));
                self.changed(|sessions| drop(sessions.insert(key, session))).await
            }
            StoreOp::Remove { key } => {
                let key = self.key(&conversation::by_value(&key));
                self.changed(|sessions| drop(sessions.remove(&key))).await
            }
            StoreOp::RemoveIf { key, expected } => {
                let key = self.key(&conversation::by_value(&key));
                let remove = |sessions: &mut Sessions| {
                    let fits = sessions.get(&key) == Some(&expected);
                    if fits {
                        sessions.remove(&key);
                    }
                    (fits, fits)
                };
                plain::done(self.change(remove).await, StoreAnswer::Removed)
            }
            StoreOp::RemoveChannel { channel } => {
                let channel = self.key(&conversation::folded(&channel));
                let other = |key: &String, _: &mut Text| !conversation::is_of(key, &channel);
                self.changed(|sessions| sessions.retain(other)).await
            }
        }
    }

    async fn list(&self, _: u64) -> Result<Vec<Receipt>, Text> {
        let sessions = self.read().await.map_err(|error| Text::from(error.to_string()))?;
        let receipt = |(key, id): (&String, &Text)| {
            key.strip_prefix(&self.agent).map(|key| plain::receipt(&self.scope, key, id))
        };
        Ok(sessions.iter().filter_map(receipt).collect())
    }

    fn warnings(&self) -> Vec<Text> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Config, Key};
    use crate::poll::run;
    use crate::sim::SimDisk;

    /// What an agent finds that is started so, after one that is started as usual wrote.
    fn found(args: &[&str]) -> StoreAnswer {
        let disk = SimDisk::new();
        let scope =
            Scope { relay: "wss://relay.example".into(), pubkey: skep_trace::Hex32([7; 32]) };
        let open = |subject: &Binding| {
            run(subject.open(disk.process(), "/state", &scope, 0), 9).unwrap().0
        };
        let key = || Key { channel: "general".into(), root: None };
        let put = StoreOp::Put { key: key(), session: "s".into(), config: Config::default() };
        run(open(&Binding::default()).apply(put, 0), 9).unwrap();
        let args = args.iter().map(|arg| Text::from(*arg)).collect();
        let other = open(&Binding { args, ..Binding::default() });
        run(other.apply(StoreOp::Get { key: key(), config: Config::default() }, 0), 9).unwrap()
    }

    #[test]
    fn agents_that_differ_in_their_arguments_do_not_meet() {
        assert_eq!(found(&["acp"]), plain::got(Some(&"s".into())));
        assert_eq!(found(&["acp", "--profile", "other"]), plain::got(None));
    }
}
