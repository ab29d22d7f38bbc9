//! The file: versioned JSON, one receipt a line, and what can be saved of it when it is damaged.
//!
//! ```json
//! {"version":1,"pubkey":"…","receipts":[
//! {"relay":"wss://…","channel":"…","root":"…","session":"…","model":"…","mode":"…","used_at_ms":0}
//! ]}
//! ```
//!
//! `root`, `model` and `mode` are left out where there is none. One file serves one agent on any
//! number of relays, so that two communities that share a directory do not take turns at it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use skep_mutant::{Mutant, Mutants};
use skep_trace::{Hex32, Text};

use super::place::file_name;
use super::scope::{EntryKey, canonical_relay, fold_hex};
use crate::ops::Config;

/// The version that is written.
const VERSION: u64 = 1;

/// Receipts by key.
pub(super) type Entries = BTreeMap<EntryKey, Entry>;

/// What is remembered under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) session: Text,
    pub(super) config: Config,
    pub(super) used_at_ms: u64,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) entries: Entries,
    pub(super) state: State,
}

/// What a file is good for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// All of it is understood; an absent file is too.
    #[default]
    Sound,
    /// Something is wrong with it; the entries are what could be saved.
    Damaged(Text),
    /// A newer version wrote it.
    Newer(u64),
    /// It belongs to another agent.
    OtherAgent,
}

/// Whose file is read, and with which fault.
pub(super) struct Reader<'a> {
    pub(super) pubkey: Hex32,
    pub(super) relay: &'a Text,
    pub(super) mutants: Mutants,
}

impl Reader<'_> {
    /// Reads a file; never fails, says what is wrong instead.
    pub(super) fn read(&self, bytes: &[u8]) -> Contents {
        let value = match serde_json::from_slice(bytes) {
            Ok(Value::Object(value)) => value,
            Ok(_) => return damaged("it is no JSON object"),
            Err(_) if bytes.is_empty() => return damaged("it is empty"),
            Err(error) => return damaged(&format!("it is not JSON: {error}")),
        };
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => self.version_1(&value),
            Some(version) if version > VERSION => {
                if self.mutants.has(Mutant::OverwritesNewer) {
                    return Contents::default();
                }
                Contents { entries: Entries::new(), state: State::Newer(version) }
            }
            Some(version) => damaged(&format!("there never was a version {version}")),
            None => damaged("it has no version"),
        }
    }

    fn version_1(&self, value: &Map<String, Value>) -> Contents {
        let Some(pubkey) = value.get("pubkey").and_then(Value::as_str).and_then(Hex32::parse)
        else {
            return damaged("it names no agent");
        };
        if pubkey != self.pubkey && !self.mutants.has(Mutant::IgnoresScope) {
            return Contents { entries: Entries::new(), state: State::OtherAgent };
        }
        let Some(receipts) = value.get("receipts").and_then(Value::as_array) else {
            return damaged("it has no list of receipts");
        };
        self.receipts(receipts)
    }

    fn receipts(&self, receipts: &[Value]) -> Contents {
        let mut contents = Contents::default();
        for (index, receipt) in receipts.iter().enumerate() {
            match self.receipt(receipt) {
                Ok((key, entry)) => add(&mut contents.entries, key, entry),
                Err(what) => {
                    let reason = format!("receipt {} has no valid {what}", index + 1);
                    contents.state = State::Damaged(reason.into());
                }
            }
        }
        if contents.state != State::Sound && self.mutants.has(Mutant::AllOrNothing) {
            contents.entries.clear();
        }
        contents
    }

    fn receipt(&self, value: &Value) -> Result<(EntryKey, Entry), &'static str> {
        let text = |name| text(value, name).ok_or(name);
        let optional = |name| match value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => text(name).map(Some),
        };
        let folds = !self.mutants.has(Mutant::CaseSplitsKeys);
        let channel = text("channel")?;
        let root = optional("root")?.map(|root| Hex32::parse(&root).ok_or("root")).transpose()?;
        let relay = text("relay")?;
        let key = EntryKey {
            relay: if self.mutants.has(Mutant::IgnoresScope) { self.relay.clone() } else { relay },
            channel: if folds { fold_hex(&channel) } else { channel },
            root,
        };
        let entry = Entry {
            session: text("session")?,
            config: Config { model: optional("model")?, mode: optional("mode")? },
            used_at_ms: value.get("used_at_ms").and_then(Value::as_u64).ok_or("used_at_ms")?,
        };
        Ok((key, entry))
    }
}

/// Two spellings of one key can only come from outside; the one that was used later counts.
fn add(entries: &mut Entries, key: EntryKey, entry: Entry) {
    let older = entries.get(&key).is_some_and(|other| other.used_at_ms > entry.used_at_ms);
    if !older {
        entries.insert(key, entry);
    }
}

pub(super) fn damaged(reason: &str) -> Contents {
    Contents { entries: Entries::new(), state: State::Damaged(reason.into()) }
}

fn text(value: &Value, name: &str) -> Option<Text> {
    value.get(name)?.as_str().filter(|text| !text.is_empty()).map(Into::into)
}

/// Writes a file.
pub(super) fn write(pubkey: Hex32, entries: &Entries) -> Vec<u8> {
    let head = format!("{{\"version\":{VERSION},\"pubkey\":\"{pubkey}\",\"receipts\":[");
    let mut bytes = Vec::with_capacity(head.len() + 256 * entries.len() + 4);
    bytes.extend_from_slice(head.as_bytes());
    for (index, (key, entry)) in entries.iter().enumerate() {
        bytes.extend_from_slice(if index == 0 { b"\n{\"relay\":" } else { b",\n{\"relay\":" });
        push_text(&mut bytes, &key.relay);
        push_field(&mut bytes, "channel", Some(&key.channel));
        let root = key.root.map(|root| root.to_string());
        push_field(&mut bytes, "root", root.as_deref());
        push_field(&mut bytes, "session", Some(&entry.session));
        push_field(&mut bytes, "model", entry.config.model.as_deref());
        push_field(&mut bytes, "mode", entry.config.mode.as_deref());
        bytes.extend_from_slice(format!(",\"used_at_ms\":{}}}", entry.used_at_ms).as_bytes());
    }
    bytes.extend_from_slice(b"\n]}\n");
    bytes
}

/// Name and bytes of a file with so many receipts, for rules about cost.
pub(crate) fn bulk_file(relay: &str, pubkey: Hex32, receipts: usize) -> (String, Vec<u8>) {
    let receipt = |at: usize| {
        let key = EntryKey {
            relay: canonical_relay(relay),
            channel: format!("bulk-{at}").into(),
            root: None,
        };
        let session = format!("bulk-session-{at}").into();
        (key, Entry { session, config: Config::default(), used_at_ms: 0 })
    };
    let entries = (0..receipts).map(receipt).collect();
    (file_name(pubkey), write(pubkey, &entries))
}

fn push_field(bytes: &mut Vec<u8>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        bytes.extend_from_slice(b",\"");
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b"\":");
        push_text(bytes, value);
    }
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(bytes, text).expect("a text can be written to memory");
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBKEY: Hex32 = Hex32([7; 32]);

    fn read(bytes: &[u8]) -> Contents {
        read_as(Mutants::NONE, bytes)
    }

    fn read_as(mutants: Mutants, bytes: &[u8]) -> Contents {
        Reader { pubkey: PUBKEY, relay: &"wss://r".into(), mutants }.read(bytes)
    }

    fn entries() -> Entries {
        let key = |channel: &str, root| EntryKey {
            relay: "wss://r".into(),
            channel: channel.into(),
            root,
        };
        let entry = |session: &str, model: Option<&str>| Entry {
            session: session.into(),
            config: Config { model: model.map(Into::into), mode: None },
            used_at_ms: 5,
        };
        Entries::from([
            (key("a \"quoted\" \u{2028} channel", None), entry("S\\1\0", Some("m"))),
            (key("a", Some(Hex32([0xab; 32]))), entry("s", None)),
        ])
    }

    #[test]
    fn what_is_written_is_read() {
        let written = write(PUBKEY, &entries());
        assert_eq!(read(&written), Contents { entries: entries(), state: State::Sound });
    }

    #[test]
    fn an_empty_store_is_a_file_too() {
        assert_eq!(read(&write(PUBKEY, &Entries::new())), Contents::default());
    }

    #[test]
    fn one_bad_receipt_leaves_the_good_ones() {
        let written = String::from_utf8(write(PUBKEY, &entries())).unwrap();
        let broken = written.replace("\"session\":\"s\"", "\"session\":7");
        let contents = read(broken.as_bytes());
        assert_eq!(contents.entries.len(), 1);
        let reason = "receipt 1 has no valid session".into();
        assert_eq!(contents.state, State::Damaged(reason));
    }

    #[test]
    fn damage_is_told_apart() {
        let check = |bytes: &str, expected: &str| match read(bytes.as_bytes()).state {
            State::Damaged(reason) => assert!(reason.contains(expected), "{reason}"),
            other => panic!("{bytes}: {other:?}"),
        };
        check("", "empty");
        check("{", "not JSON");
        check("[]", "no JSON object");
        check("{}", "no version");
        check("{\"version\":\"1\"}", "no version");
        check("{\"version\":0}", "never was");
        check("{\"version\":1}", "names no agent");
    }

    #[test]
    fn newer_and_foreign_files_are_known_for_what_they_are() {
        assert_eq!(read(b"{\"version\":2,\"receipts\":7}").state, State::Newer(2));
        assert_eq!(read(&write(Hex32([8; 32]), &entries())).state, State::OtherAgent);
    }

    #[test]
    fn of_two_spellings_the_one_used_later_counts() {
        let file = |first, second| {
            let receipt = |channel: &str, session: &str, used: u64| {
                format!(
                    "{{\"relay\":\"wss://r\",\"channel\":\"{channel}\",\"session\":\"{session}\",\
                     \"used_at_ms\":{used}}}"
                )
            };
            let one = receipt(&"ab".repeat(16), "one", first);
            let other = receipt(&"AB".repeat(16), "other", second);
            format!("{{\"version\":1,\"pubkey\":\"{PUBKEY}\",\"receipts\":[{one},{other}]}}")
        };
        let session = |bytes: String| {
            let contents = read(bytes.as_bytes());
            assert_eq!(contents.entries.len(), 1);
            contents.entries.values().next().unwrap().session.to_string()
        };
        assert_eq!(session(file(1, 2)), "other");
        assert_eq!(session(file(2, 1)), "one");
    }
}
