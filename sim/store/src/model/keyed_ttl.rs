//! `keyed-ttl`: `community|channel` → id, place in the stream, time of last use, for thirty days.
//! Made for one writer: the map is read when the store is opened and written whole, under a fixed
//! temporary name. What cannot be read is as good as nothing, and a write that fails is not told.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use skep_trace::{Receipt, Text};

use super::plain::{FIXED, FOLLOWS, NO_LOCK, OLD, SILENT, UNSYNCED};
use super::{Beyond, Break, also, conversation, must, plain};
use crate::ops::{StoreAnswer, StoreOp};
use crate::path::join;
use crate::suite::{Handle, Scope, Subject};
use crate::volume::Volume;

/// How long an entry lives after its last use.
const LIFE_MS: u64 = 30 * 24 * 3_600_000;

const FILE: &str = "sessions.json";

/// The model.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedTtl;

/// One open.
pub struct KeyedTtlStore<V> {
    volume: V,
    dir: String,
    scope: Scope,
    entries: RefCell<Entries>,
}

type Entries = BTreeMap<String, Entry>;

#[derive(Clone)]
struct Entry {
    id: Text,
    updated: u64,
}

const SWALLOWED: &str = "a write that fails is answered as if it had been made";

pub(super) const BREAKS: &[Break] = &[
    also("a_conditional_remove_looks_first", OLD),
    also("a_conditional_remove_decides_under_the_lock", OLD),
    also(
        "scopes_do_not_meet",
        "its keys name the community and the channel, and not the agent: two agents that share a \
         directory find each other's sessions",
    ),
    also(
        "another_configuration_is_incompatible",
        "it remembers neither model nor mode, so that every receipt fits",
    ),
    also(
        "keys_have_values_and_ids_have_bytes",
        "keys are compared as texts: one id in upper and in lower case are two entries",
    ),
    also(
        "only_time_that_passed_forgets",
        "the clock is believed: one that jumps ahead by more than thirty days forgets everything",
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
    must("a_damaged_file_is_kept", "the next write replaces the damaged file"),
    must("one_bad_entry_costs_one_entry", SILENT),
    must("a_full_disk_keeps_the_old_content", SWALLOWED),
    must("a_read_only_directory_keeps_the_old_content", SWALLOWED),
    must("a_closed_directory_keeps_the_old_content", SWALLOWED),
    must("an_unreadable_file_is_not_replaced", SILENT),
    also("nobody_else_may_look", "directory and file get the bits that the umask leaves"),
    also("a_linked_file_is_refused", FOLLOWS),
    also("a_linked_directory_is_refused", FOLLOWS),
    also("only_own_files_are_read", FOLLOWS),
];

pub(super) const BEYOND: &[Beyond] = &[Beyond {
    rule: "H-6",
    why: "that any load error means a new session is decided by the harness after the store has \
          answered; a store sees neither the load nor its error",
}];

impl Subject for KeyedTtl {
    type Store<V: Volume + 'static> = KeyedTtlStore<V>;

    async fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        now_ms: u64,
    ) -> (KeyedTtlStore<V>, Vec<Text>) {
        let bytes = plain::read(&volume, &join(dir, FILE)).await.ok().flatten();
        let mut entries = bytes.and_then(|bytes| parse(&bytes)).unwrap_or_default();
        entries.retain(|_, entry| !entry.is_old(now_ms));
        let (dir, scope, entries) = (dir.to_owned(), scope.clone(), RefCell::new(entries));
        (KeyedTtlStore { volume, dir, scope, entries }, Vec::new())
    }

    fn life_ms(&self) -> Option<u64> {
        Some(LIFE_MS)
    }

    fn bulk(&self, scope: &Scope, receipts: usize) -> Option<(String, Vec<u8>)> {
        let entry = |at: usize| {
            let id = format!("bulk-session-{at}").into();
            (format!("{}|bulk-{at}", scope.relay), Entry { id, updated: u64::MAX })
        };
        Some((FILE.to_owned(), write(&(0..receipts).map(entry).collect())))
    }
}

impl Entry {
    fn is_old(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.updated) > LIFE_MS
    }
}

fn parse(bytes: &[u8]) -> Option<Entries> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let entry = |(key, value): (&String, &Value)| {
        let id = value.get("id")?.as_str()?.into();
        let updated = value.get("updated")?.as_u64()?;
        Some((key.clone(), Entry { id, updated }))
    };
    value.as_object()?.iter().map(entry).collect()
}

fn write(entries: &Entries) -> Vec<u8> {
    let value =
        |entry: &Entry| json!({"id": &*entry.id, "streamIndex": 0, "updated": entry.updated});
    let map = entries.iter().map(|(key, entry)| (key.clone(), value(entry)));
    Value::Object(map.collect()).to_string().into_bytes()
}

impl<V: Volume> KeyedTtlStore<V> {
    fn key(&self, conversation: &str) -> String {
        format!("{}|{conversation}", self.scope.relay)
    }

    /// Writes everything. Whether that worked nobody asks.
    async fn save(&self) -> StoreAnswer {
        let bytes = write(&self.entries.borrow());
        let file = join(&self.dir, FILE);
        let _ = plain::replace(&self.volume, &self.dir, &file, &bytes).await;
        StoreAnswer::Done
    }

    fn session(&self, key: &str, now_ms: u64) -> Option<Text> {
        let entries = self.entries.borrow();
        entries.get(key).filter(|entry| !entry.is_old(now_ms)).map(|entry| entry.id.clone())
    }
}

impl<V: Volume> Handle for KeyedTtlStore<V> {
    async fn apply(&self, op: StoreOp, now_ms: u64) -> StoreAnswer {
        match op {
            StoreOp::Get { key, .. } => {
                plain::got(self.session(&self.key(&conversation::written(&key)), now_ms).as_ref())
            }
            StoreOp::Put { key, session: id, .. } => {
                let key = self.key(&conversation::written(&key));
                self.entries.borrow_mut().insert(key, Entry { id, updated: now_ms });
                self.save().await
            }
            StoreOp::Remove { key } => {
                self.entries.borrow_mut().remove(&self.key(&conversation::written(&key)));
                self.save().await
            }
            StoreOp::RemoveIf { key, expected } => {
                let key = self.key(&conversation::written(&key));
                if self.session(&key, now_ms) != Some(expected) {
                    return StoreAnswer::Removed(false);
                }
                self.entries.borrow_mut().remove(&key);
                self.save().await;
                StoreAnswer::Removed(true)
            }
            StoreOp::RemoveChannel { channel } => {
                let channel = self.key(&channel);
                self.entries.borrow_mut().retain(|key, _| !conversation::is_of(key, &channel));
                self.save().await
            }
        }
    }

    async fn list(&self, now_ms: u64) -> Result<Vec<Receipt>, Text> {
        let entries = self.entries.borrow();
        let ours = self.key("");
        let living = entries.iter().filter(|(_, entry)| !entry.is_old(now_ms));
        let receipt = |(key, entry): (&String, &Entry)| {
            key.strip_prefix(&ours).map(|key| plain::receipt(&self.scope, key, &entry.id))
        };
        Ok(living.filter_map(receipt).collect())
    }

    fn warnings(&self) -> Vec<Text> {
        Vec::new()
    }
}
