//! A state directory as seen from outside: names, kinds, modes, bytes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::acp::Text;

/// Everything below one directory, by path relative to it; the directory itself is `"."`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The entries, sorted by path.
    pub entries: BTreeMap<Text, Entry>,
}

/// One file system entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits (`0o600`).
    pub mode: u32,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Dir,
    /// A regular file and its bytes; `None` when it was too large to keep (over 1 MiB).
    File {
        /// Its length in bytes.
        len: u64,
        /// Its bytes.
        bytes: Option<Box<[u8]>>,
    },
    /// A symbolic link and where it points.
    Symlink(Text),
    /// A FIFO, socket or device.
    Special,
}

impl Snapshot {
    /// The bytes of a regular file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        match &self.entries.get(path)?.kind {
            EntryKind::File { bytes, .. } => bytes.as_deref(),
            _ => None,
        }
    }

    /// The regular files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, u32, Option<&[u8]>)> {
        self.entries.iter().filter_map(|(path, entry)| match &entry.kind {
            EntryKind::File { bytes, .. } => Some((&**path, entry.mode, bytes.as_deref())),
            _ => None,
        })
    }

    /// The snapshot as JSON: text files as text, others as hex.
    pub fn to_json(&self) -> Value {
        let entries = self.entries.iter().map(|(path, entry)| {
            let mode = format!("{:04o}", entry.mode);
            let body = match &entry.kind {
                EntryKind::Dir => json!({"mode": mode, "dir": true}),
                EntryKind::Special => json!({"mode": mode, "special": true}),
                EntryKind::Symlink(target) => json!({"mode": mode, "symlink": &**target}),
                EntryKind::File { len, bytes: None } => json!({"mode": mode, "len": len}),
                EntryKind::File { bytes: Some(bytes), .. } => match std::str::from_utf8(bytes) {
                    Ok(text) => json!({"mode": mode, "text": text}),
                    Err(_) => json!({"mode": mode, "hex": crate::hex::encode(bytes)}),
                },
            };
            (path.to_string(), body)
        });
        Value::Object(entries.collect())
    }

    /// Reads what [`Self::to_json`] wrote.
    pub fn from_json(value: &Value) -> Option<Self> {
        let entries = value.as_object()?.iter().map(|(path, body)| {
            let mode = u32::from_str_radix(body.get("mode")?.as_str()?, 8).ok()?;
            Some((path.as_str().into(), Entry { kind: EntryKind::from_json(body)?, mode }))
        });
        Some(Self { entries: entries.collect::<Option<_>>()? })
    }
}

impl EntryKind {
    /// A regular file with these bytes.
    pub fn file(bytes: &[u8]) -> Self {
        Self::File { len: bytes.len() as u64, bytes: Some(bytes.into()) }
    }

    fn from_json(body: &Value) -> Option<Self> {
        if body.get("dir").is_some() {
            return Some(Self::Dir);
        }
        if body.get("special").is_some() {
            return Some(Self::Special);
        }
        if let Some(target) = body.get("symlink") {
            return Some(Self::Symlink(target.as_str()?.into()));
        }
        if let Some(text) = body.get("text") {
            return Some(Self::file(text.as_str()?.as_bytes()));
        }
        if let Some(digits) = body.get("hex") {
            let digits = digits.as_str()?;
            let mut bytes = vec![0; digits.len() / 2];
            return crate::hex::decode_into(digits, &mut bytes).then(|| Self::file(&bytes));
        }
        Some(Self::File { len: body.get("len")?.as_u64()?, bytes: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_entry_survives_the_round_trip() {
        let kinds = [
            EntryKind::Dir,
            EntryKind::Special,
            EntryKind::Symlink("x".into()),
            EntryKind::file(b"{}"),
            EntryKind::file(&[0xff, 0]),
            EntryKind::File { len: 9, bytes: None },
        ];
        let entries = kinds.into_iter().enumerate();
        let entries =
            entries.map(|(at, kind)| (at.to_string().into(), Entry { kind, mode: 0o600 }));
        let snapshot = Snapshot { entries: entries.collect() };
        assert_eq!(Snapshot::from_json(&snapshot.to_json()), Some(snapshot));
    }
}
