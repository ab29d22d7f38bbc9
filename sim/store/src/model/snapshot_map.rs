//! `snapshot-map`: channel → id in one file an agent. The whole map is read when the store is
//! opened, changed in memory, and written whole at each change: under a fixed temporary name,
//! unsynced, with the bits that the umask leaves.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;
use skep_trace::{Receipt, Text};

use super::plain::{FIXED, FOLLOWS, NO_LOCK, OLD, SILENT, UNSYNCED};
use super::{Break, also, conversation, must, plain};
use crate::error::DiskError;
use crate::ops::StoreAnswer;
use crate::ops::StoreOp;
use crate::path::join;
use crate::suite::{Handle, Scope, Subject};
use crate::volume::Volume;

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub struct SnapshotMap;

/// One open.
pub struct SnapshotMapStore<V> {
    volume: V,
    dir: String,
    file: String,
    scope: Scope,
    sessions: RefCell<Sessions>,
}

type Sessions = BTreeMap<String, Text>;

const AHEAD: &str = "a change that could not be written stays in the map, and gets are answered \
                     from it";

pub(super) const BREAKS: &[Break] = &[
    also("a_conditional_remove_looks_first", OLD),
    also("a_conditional_remove_decides_under_the_lock", OLD),
    must(
        "scopes_do_not_meet",
        "the file is found by the agent's key and its entries by the channel: two relays with one \
         channel id find each other's sessions",
    ),
    also(
        "another_configuration_is_incompatible",
        "it remembers neither model nor mode, so that every receipt fits",
    ),
    must("no_update_of_another_key_is_lost", OLD),
    must("two_first_writes_are_both_kept", OLD),
    must("three_writers_and_a_reader_agree", OLD),
    also("one_key_has_one_history", OLD),
    also("a_lock_dies_with_its_holder", NO_LOCK),
    also("a_stuck_holder_delays_others_only_so_long", NO_LOCK),
    also("a_crash_leaves_the_old_file_or_the_new_one", UNSYNCED),
    must("what_was_acknowledged_survives", UNSYNCED),
    must("what_another_left_undone_is_made_durable", UNSYNCED),
    must("temporary_names_are_unique", FIXED),
    must("a_taken_temporary_name_is_left_alone", FIXED),
    also("a_damaged_file_opens_as_empty", SILENT),
    also("a_damaged_file_is_kept", "the next write replaces the damaged file"),
    also("one_bad_entry_costs_one_entry", SILENT),
    also(
        "a_full_disk_keeps_the_old_content",
        "the old content survives, but half a temporary file stays beside it",
    ),
    also("a_read_only_directory_keeps_the_old_content", AHEAD),
    also("a_closed_directory_keeps_the_old_content", AHEAD),
    also("an_unreadable_file_is_not_replaced", SILENT),
    must("nobody_else_may_look", "directory and file get the bits that the umask leaves"),
    must("a_linked_file_is_refused", FOLLOWS),
    must("a_linked_directory_is_refused", FOLLOWS),
    also("only_own_files_are_read", FOLLOWS),
];

impl Subject for SnapshotMap {
    type Store<V: Volume + 'static> = SnapshotMapStore<V>;

    async fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        _: u64,
    ) -> (SnapshotMapStore<V>, Vec<Text>) {
        let file = join(dir, &file_name(scope));
        let bytes = plain::read(&volume, &file).await.ok().flatten();
        let sessions = bytes.and_then(|bytes| parse(&bytes)).unwrap_or_default();
        let (dir, scope, sessions) = (dir.to_owned(), scope.clone(), RefCell::new(sessions));
        (SnapshotMapStore { volume, dir, file, scope, sessions }, Vec::new())
    }

    fn life_ms(&self) -> Option<u64> {
        None
    }

    fn bulk(&self, scope: &Scope, receipts: usize) -> Option<(String, Vec<u8>)> {
        let entry = |at| (format!("bulk-{at}"), format!("bulk-session-{at}").into());
        Some((file_name(scope), write(&(0..receipts).map(entry).collect())))
    }
}

fn file_name(scope: &Scope) -> String {
    format!("sessions-{}.json", scope.pubkey)
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

impl<V: Volume> SnapshotMapStore<V> {
    async fn save(&self) -> Result<(), DiskError> {
        let bytes = write(&self.sessions.borrow());
        plain::replace(&self.volume, &self.dir, &self.file, &bytes).await
    }

    async fn saved(&self) -> StoreAnswer {
        plain::done(self.save().await, |()| StoreAnswer::Done)
    }
}

impl<V: Volume> Handle for SnapshotMapStore<V> {
    async fn apply(&self, op: StoreOp, _: u64) -> StoreAnswer {
        match op {
            StoreOp::Get { key, .. } => {
                plain::got(self.sessions.borrow().get(&conversation::by_value(&key)))
            }
            StoreOp::Put { key, session, .. } => {
                self.sessions.borrow_mut().insert(conversation::by_value(&key), session);
                self.saved().await
            }
            StoreOp::Remove { key } => {
                self.sessions.borrow_mut().remove(&conversation::by_value(&key));
                self.saved().await
            }
            StoreOp::RemoveIf { key, expected } => {
                let key = conversation::by_value(&key);
                let fits = self.sessions.borrow().get(&key) == Some(&expected);
                if !fits {
                    return StoreAnswer::Removed(false);
                }
                self.sessions.borrow_mut().remove(&key);
                plain::done(self.save().await, |()| StoreAnswer::Removed(true))
            }
            StoreOp::RemoveChannel { channel } => {
                let channel = conversation::folded(&channel);
                self.sessions.borrow_mut().retain(|key, _| !conversation::is_of(key, &channel));
                self.saved().await
            }
        }
    }

    async fn list(&self, _: u64) -> Result<Vec<Receipt>, Text> {
        let sessions = self.sessions.borrow();
        Ok(sessions.iter().map(|(key, id)| plain::receipt(&self.scope, key, id)).collect())
    }

    fn warnings(&self) -> Vec<Text> {
        Vec::new()
    }
}
