//! The file of `receipt`: a version, the agent, and a list of receipts.

use serde_json::{Value, json};
use skep_trace::{Hex32, Receipt, Text};

use crate::ops::{Config, Key};

const VERSION: u64 = 1;

/// One receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) relay: Text,
    pub(super) key: Key,
    pub(super) session: Text,
    pub(super) config: Config,
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) entries: Vec<Entry>,
    pub(super) state: State,
}

/// What a file is good for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Sound,
    Damaged(Text),
    Newer,
    OtherAgent,
}

impl State {
    /// What a user is told of it.
    pub(super) fn complaint(&self) -> Option<String> {
        match self {
            Self::Sound => None,
            Self::Damaged(why) => Some(why.to_string()),
            Self::Newer => Some("a newer version wrote it".to_owned()),
            Self::OtherAgent => Some("it is another agent's".to_owned()),
        }
    }

    /// It may not be written over.
    pub(super) fn is_not_ours(&self) -> bool {
        matches!(self, Self::Newer | Self::OtherAgent)
    }
}

impl Contents {
    pub(super) fn damaged(why: &str) -> Self {
        Self { entries: Vec::new(), state: State::Damaged(why.into()) }
    }

    fn nothing(state: State) -> Self {
        Self { entries: Vec::new(), state }
    }
}

impl Entry {
    pub(super) fn listed(self, pubkey: Hex32) -> Receipt {
        let Self { relay, key: Key { channel, root }, session, config } = self;
        Receipt { relay, pubkey, channel, root, session, model: config.model, mode: config.mode }
    }
}

/// The entry is this key's on this relay.
pub(super) fn matches(entry: &Entry, relay: &Text, key: &Key) -> bool {
    entry.relay == *relay && entry.key == *key
}

/// The file's name.
pub(super) fn name(pubkey: Hex32) -> String {
    format!("sessions-{pubkey}.json")
}

/// Reads a file; says what is wrong instead of failing.
pub(super) fn read(bytes: &[u8], pubkey: Hex32) -> Contents {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return Contents::damaged("it is not JSON");
    };
    match value.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(version) if version > VERSION => return Contents::nothing(State::Newer),
        _ => return Contents::damaged("it has no version"),
    }
    let agent = value.get("pubkey").and_then(Value::as_str).and_then(Hex32::parse);
    match (agent, value.get("receipts").and_then(Value::as_array)) {
        (Some(agent), Some(_)) if agent != pubkey => Contents::nothing(State::OtherAgent),
        (Some(_), Some(receipts)) => whole(receipts),
        _ => Contents::damaged("it names no agent, or no receipts"),
    }
}

fn whole(receipts: &[Value]) -> Contents {
    let entries: Vec<Entry> = receipts.iter().filter_map(entry).collect();
    let bad = receipts.len() - entries.len();
    let state = match bad {
        0 => State::Sound,
        _ => State::Damaged(format!("{bad} of its receipts cannot be read").into()),
    };
    Contents { entries, state }
}

fn entry(value: &Value) -> Option<Entry> {
    let text = |name: &str| value.get(name)?.as_str().map(Text::from);
    let root = match value.get("root")? {
        Value::Null => None,
        root => Some(Hex32::parse(root.as_str()?)?),
    };
    Some(Entry {
        relay: text("relay")?,
        key: Key { channel: text("channel")?, root },
        session: text("session")?,
        config: Config { model: text("model"), mode: text("mode") },
    })
}

/// Writes a file.
pub(super) fn write(pubkey: Hex32, entries: &[Entry]) -> Vec<u8> {
    let receipt = |entry: &Entry| {
        json!({
            "relay": &*entry.relay,
            "channel": &*entry.key.channel,
            "root": entry.key.root.map(|root| root.to_string()),
            "session": &*entry.session,
            "model": entry.config.model.as_deref(),
            "mode": entry.config.mode.as_deref(),
        })
    };
    let receipts: Vec<Value> = entries.iter().map(receipt).collect();
    let file = json!({"version": VERSION, "pubkey": pubkey.to_string(), "receipts": receipts});
    file.to_string().into_bytes()
}
