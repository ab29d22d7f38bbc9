//! An event: what is signed and published (NIP-01).

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::acp::Text;
use crate::hex::{self, Hex32};

/// A Nostr event (NIP-01).
#[derive(Clone, Debug)]
pub struct NostrEvent {
    /// Who wrote it.
    pub pubkey: Hex32,
    /// Seconds since 1970, as its author says.
    pub created_at: u64,
    /// Its kind: 9 a message, 24200 an observer frame, …
    pub kind: u16,
    /// Its tags, each a list of texts.
    pub tags: Vec<Vec<Text>>,
    /// Its content. Sealed content is kept in the clear; [`Self::sealed_to`] says for whom.
    pub content: Text,
    /// The reader for whom the content is NIP-44 encrypted on the wire.
    pub sealed_to: Option<Hex32>,
    /// The sealed bytes, once they were made or read; the id is a hash over these.
    pub ciphertext: Option<Text>,
    /// Its signature.
    pub sig: Sig,
    /// An id that was read from bytes or made by hand; `None` asks for the hash.
    pub claimed_id: Option<Hex32>,
    id: OnceLock<Hex32>,
}

/// An event that many hold: relay, harness, trace.
pub type SharedEvent = Arc<NostrEvent>;

/// A signature, as a state: bytes are made only where bytes are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sig {
    /// Signed by the key of its author.
    Valid,
    /// Signed by nobody: 64 zero bytes on the wire.
    Forged,
    /// As read from a foreign program, not yet verified.
    Bytes(Box<[u8; 64]>),
}

impl PartialEq for NostrEvent {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl NostrEvent {
    /// A validly signed event in the clear.
    pub fn new(
        pubkey: Hex32,
        created_at: u64,
        kind: u16,
        tags: Vec<Vec<Text>>,
        content: Text,
    ) -> Self {
        Self {
            pubkey,
            created_at,
            kind,
            tags,
            content,
            sealed_to: None,
            ciphertext: None,
            sig: Sig::Valid,
            claimed_id: None,
            id: OnceLock::new(),
        }
    }

    /// The same, its content sealed to one reader.
    pub fn sealed(mut self, reader: Hex32) -> Self {
        self.sealed_to = Some(reader);
        self
    }

    /// The event's id: the SHA-256 of its canonical form, unless bytes claimed another.
    pub fn id(&self) -> Hex32 {
        self.claimed_id.unwrap_or_else(|| *self.id.get_or_init(|| self.hash()))
    }

    /// The SHA-256 of the canonical form `[0,pubkey,created_at,kind,tags,content]` (NIP-01).
    pub fn hash(&self) -> Hex32 {
        let mut canonical = String::with_capacity(256);
        canonical.push_str("[0,\"");
        canonical.push_str(&self.pubkey.to_string());
        canonical.push_str("\",");
        canonical.push_str(&self.created_at.to_string());
        canonical.push(',');
        canonical.push_str(&self.kind.to_string());
        canonical.push_str(",[");
        for (index, tag) in self.tags.iter().enumerate() {
            canonical.push_str(if index == 0 { "[" } else { ",[" });
            for (index, part) in tag.iter().enumerate() {
                if index > 0 {
                    canonical.push(',');
                }
                push_json_string(&mut canonical, part);
            }
            canonical.push(']');
        }
        canonical.push_str("],");
        push_json_string(&mut canonical, self.wire_content());
        canonical.push(']');
        Hex32(Sha256::digest(canonical.as_bytes()).into())
    }

    /// The content as it stands on the wire: the ciphertext where there is one.
    pub fn wire_content(&self) -> &str {
        self.ciphertext.as_deref().unwrap_or(&self.content)
    }

    /// The second element of the first tag of that name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let tag = self.tags.iter().find(|tag| tag.first().is_some_and(|first| &**first == name))?;
        tag.get(1).map(|value| &**value)
    }

    /// The event as JSON. `sig` stands as its bytes, or as the word for its state.
    pub fn to_json(&self) -> Value {
        let tags: Vec<Vec<&str>> =
            self.tags.iter().map(|tag| tag.iter().map(|part| &**part).collect()).collect();
        let sig = match &self.sig {
            Sig::Valid => "valid".to_owned(),
            Sig::Forged => "forged".to_owned(),
            Sig::Bytes(bytes) => hex::encode(&**bytes),
        };
        let mut object = json!({
            "id": self.id().to_string(), "pubkey": self.pubkey.to_string(),
            "created_at": self.created_at, "kind": self.kind, "tags": tags,
            "content": self.wire_content(), "sig": sig,
        });
        if let Some(reader) = self.sealed_to {
            object["sealed_to"] = Value::from(reader.to_string());
            object["opened"] = Value::from(&*self.content);
        }
        object
    }

    /// Reads an event, as a relay would or from a trace; `None` when a field does not parse.
    pub fn from_json(value: &Value) -> Option<Self> {
        let hex = |key: &str| Hex32::parse(value.get(key)?.as_str()?);
        let tags = value
            .get("tags")?
            .as_array()?
            .iter()
            .map(|tag| tag.as_array()?.iter().map(|part| Some(part.as_str()?.into())).collect())
            .collect::<Option<_>>()?;
        let content: Text = value.get("content")?.as_str()?.into();
        let kind = u16::try_from(value.get("kind")?.as_u64()?).ok()?;
        let created_at = value.get("created_at")?.as_u64()?;
        let mut event = Self::new(hex("pubkey")?, created_at, kind, tags, content);
        event.claimed_id = Some(hex("id")?);
        event.sig = Sig::parse(value.get("sig")?.as_str()?)?;
        if let (Some(reader), Some(opened)) = (hex("sealed_to"), value.get("opened")) {
            event.sealed_to = Some(reader);
            event.ciphertext = Some(event.content);
            event.content = opened.as_str()?.into();
        }
        Some(event)
    }
}

impl Sig {
    fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 64];
        match text {
            "valid" => Some(Self::Valid),
            "forged" => Some(Self::Forged),
            _ => hex::decode_into(text, &mut bytes).then(|| Self::Bytes(Box::new(bytes))),
        }
    }
}

fn push_json_string(out: &mut String, text: &str) {
    let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f;
    if text.bytes().all(plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}
