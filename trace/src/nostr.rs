//! Relay frames: what a Nostr client and its relay say to each other (NIP-01, NIP-42, and the
//! HTTP queries beside them).
//!
//! An id is hashed when it is first read, a signature is made when bytes are: a simulated run
//! that never looks at either pays for neither.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};
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

/// A NIP-01 filter: every condition that is given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// `ids`; ids compare by value.
    pub ids: Option<Vec<Hex32>>,
    /// `authors`.
    pub authors: Option<Vec<Hex32>>,
    /// `kinds`.
    pub kinds: Option<Vec<u16>>,
    /// `since`, in seconds, inclusive.
    pub since: Option<u64>,
    /// `until`, in seconds, inclusive.
    pub until: Option<u64>,
    /// `limit`: the newest so many.
    pub limit: Option<usize>,
    /// `#x`: one of the values; compared as text, as relays do.
    pub tags: Vec<(char, Vec<Text>)>,
}

impl Filter {
    /// The filter as JSON.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        let hexes = |list: &[Hex32]| Value::from_iter(list.iter().map(Hex32::to_string));
        if let Some(ids) = &self.ids {
            object.insert("ids".into(), hexes(ids));
        }
        if let Some(authors) = &self.authors {
            object.insert("authors".into(), hexes(authors));
        }
        if let Some(kinds) = &self.kinds {
            object.insert("kinds".into(), Value::from_iter(kinds.iter().copied()));
        }
        let numbers = [
            ("since", self.since),
            ("until", self.until),
            ("limit", self.limit.map(|limit| limit as u64)),
        ];
        for (key, number) in numbers {
            if let Some(number) = number {
                object.insert(key.into(), Value::from(number));
            }
        }
        for (name, values) in &self.tags {
            let values = Value::from_iter(values.iter().map(|value| &**value));
            object.insert(format!("#{name}"), values);
        }
        Value::Object(object)
    }

    /// Reads a filter; `None` when a condition has the wrong type. Unknown keys are ignored.
    pub fn from_json(value: &Value) -> Option<Self> {
        let mut filter = Self::default();
        for (key, value) in value.as_object()? {
            match key.as_str() {
                "ids" => filter.ids = Some(hexes(value)?),
                "authors" => filter.authors = Some(hexes(value)?),
                "kinds" => filter.kinds = Some(kinds(value)?),
                "since" => filter.since = Some(value.as_u64()?),
                "until" => filter.until = Some(value.as_u64()?),
                "limit" => filter.limit = Some(usize::try_from(value.as_u64()?).ok()?),
                _ => {
                    if let Some(name) = key.strip_prefix('#').and_then(|name| name.chars().next()) {
                        filter.tags.push((name, texts(value)?));
                    }
                }
            }
        }
        Some(filter)
    }
}

fn hexes(value: &Value) -> Option<Vec<Hex32>> {
    value.as_array()?.iter().map(|item| Hex32::parse(item.as_str()?)).collect()
}

fn kinds(value: &Value) -> Option<Vec<u16>> {
    value.as_array()?.iter().map(|item| u16::try_from(item.as_u64()?).ok()).collect()
}

fn texts(value: &Value) -> Option<Vec<Text>> {
    value.as_array()?.iter().map(|item| Some(item.as_str()?.into())).collect()
}

/// What a client says to its relay.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMsg {
    /// `["EVENT", …]`: publish this.
    Event(SharedEvent),
    /// `["REQ", sub, …]`: stored events that match, then live ones.
    Req {
        /// The subscription's id.
        sub: Text,
        /// Any of these must match.
        filters: Vec<Filter>,
    },
    /// `["CLOSE", sub]`.
    Close {
        /// The subscription's id.
        sub: Text,
    },
    /// `["AUTH", …]`: the signed answer to a challenge (NIP-42).
    Auth(SharedEvent),
    /// Anything else, verbatim.
    Other(Text),
}

/// What a relay says to its client.
#[derive(Clone, Debug, PartialEq)]
pub enum RelayMsg {
    /// `["EVENT", sub, …]`.
    Event {
        /// The subscription that it matches.
        sub: Text,
        /// The event.
        event: SharedEvent,
    },
    /// `["OK", id, accepted, message]`.
    Ok {
        /// The event that was published.
        id: Hex32,
        /// Whether it was taken.
        accepted: bool,
        /// Why not.
        message: Text,
    },
    /// `["EOSE", sub]`: all stored events were sent.
    Eose {
        /// The subscription.
        sub: Text,
    },
    /// `["CLOSED", sub, message]`.
    Closed {
        /// The subscription.
        sub: Text,
        /// Why.
        message: Text,
    },
    /// `["NOTICE", message]`.
    Notice(Text),
    /// `["AUTH", challenge]`.
    Auth {
        /// What is to be signed.
        challenge: Text,
    },
    /// Anything else, verbatim.
    Other(Text),
}

/// A request to the relay's HTTP side.
#[derive(Clone, Debug, PartialEq)]
pub enum HttpCall {
    /// `POST /query`.
    Query(Vec<Filter>),
    /// `POST /count`.
    Count(Vec<Filter>),
    /// `POST /events`.
    Publish(SharedEvent),
    /// Any other path, or a body that could not be read.
    Other {
        /// The path.
        path: Text,
    },
}

/// The relay's HTTP answer.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpReply {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: HttpBody,
}

/// The body of an HTTP answer.
#[derive(Clone, Debug, PartialEq)]
pub enum HttpBody {
    /// A JSON array of events.
    Events(Vec<SharedEvent>),
    /// `{"event_id", "accepted", "message"}`.
    Accepted {
        /// The event's id.
        id: Hex32,
        /// Whether it was taken.
        accepted: bool,
        /// Why not.
        message: Text,
    },
    /// `{"count": n}`.
    Count(u64),
    /// Anything else, verbatim.
    Other(Text),
}

impl ClientMsg {
    /// The message as JSON; what is no message becomes a JSON string.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Event(event) => json!(["EVENT", event.to_json()]),
            Self::Auth(event) => json!(["AUTH", event.to_json()]),
            Self::Close { sub } => json!(["CLOSE", &**sub]),
            Self::Req { sub, filters } => {
                let head = [Value::from("REQ"), Value::from(&**sub)];
                Value::from_iter(head.into_iter().chain(filters.iter().map(Filter::to_json)))
            }
            Self::Other(text) => Value::from(&**text),
        }
    }

    /// Reads a message from JSON; what is no client message is kept as [`ClientMsg::Other`].
    pub fn from_json(value: &Value) -> Self {
        Self::typed(value).unwrap_or_else(|| Self::Other(verbatim(value)))
    }

    fn typed(value: &Value) -> Option<Self> {
        let parts = value.as_array()?;
        let event = |at: usize| NostrEvent::from_json(parts.get(at)?).map(Arc::new);
        Some(match parts.first()?.as_str()? {
            "EVENT" => Self::Event(event(1)?),
            "AUTH" => Self::Auth(event(1)?),
            "CLOSE" => Self::Close { sub: parts.get(1)?.as_str()?.into() },
            "REQ" => Self::Req {
                sub: parts.get(1)?.as_str()?.into(),
                filters: parts[2..].iter().map(Filter::from_json).collect::<Option<_>>()?,
            },
            _ => return None,
        })
    }
}

impl RelayMsg {
    /// The message as JSON; what is no message becomes a JSON string.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Event { sub, event } => json!(["EVENT", &**sub, event.to_json()]),
            Self::Ok { id, accepted, message } => {
                json!(["OK", id.to_string(), accepted, &**message])
            }
            Self::Eose { sub } => json!(["EOSE", &**sub]),
            Self::Closed { sub, message } => json!(["CLOSED", &**sub, &**message]),
            Self::Notice(message) => json!(["NOTICE", &**message]),
            Self::Auth { challenge } => json!(["AUTH", &**challenge]),
            Self::Other(text) => Value::from(&**text),
        }
    }

    /// Reads a message from JSON; what is no relay message is kept as [`RelayMsg::Other`].
    pub fn from_json(value: &Value) -> Self {
        Self::typed(value).unwrap_or_else(|| Self::Other(verbatim(value)))
    }

    fn typed(value: &Value) -> Option<Self> {
        let parts = value.as_array()?;
        let text = |at: usize| parts.get(at).and_then(Value::as_str).map(Text::from);
        Some(match parts.first()?.as_str()? {
            "EVENT" => Self::Event {
                sub: text(1)?,
                event: Arc::new(NostrEvent::from_json(parts.get(2)?)?),
            },
            "OK" => Self::Ok {
                id: Hex32::parse(&text(1)?)?,
                accepted: parts.get(2)?.as_bool()?,
                message: text(3).unwrap_or_else(|| "".into()),
            },
            "EOSE" => Self::Eose { sub: text(1)? },
            "CLOSED" => {
                Self::Closed { sub: text(1)?, message: text(2).unwrap_or_else(|| "".into()) }
            }
            "NOTICE" => Self::Notice(text(1)?),
            "AUTH" => Self::Auth { challenge: text(1)? },
            _ => return None,
        })
    }
}

/// A message that does not fit its type; a JSON string is the text it was written from.
fn verbatim(value: &Value) -> Text {
    match value {
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

impl HttpCall {
    /// The path that is posted to.
    pub fn path(&self) -> &str {
        match self {
            Self::Query(_) => "/query",
            Self::Count(_) => "/count",
            Self::Publish(_) => "/events",
            Self::Other { path } => path,
        }
    }

    /// The body that is posted.
    pub fn body(&self) -> Value {
        match self {
            Self::Query(filters) | Self::Count(filters) => {
                Value::from_iter(filters.iter().map(Filter::to_json))
            }
            Self::Publish(event) => event.to_json(),
            Self::Other { .. } => Value::Null,
        }
    }

    /// Reads a path and its body; what is not understood is kept as [`HttpCall::Other`].
    pub fn from_json(path: &str, body: &Value) -> Self {
        let filters = || body.as_array()?.iter().map(Filter::from_json).collect::<Option<Vec<_>>>();
        match path {
            "/query" => filters().map(Self::Query),
            "/count" => filters().map(Self::Count),
            "/events" => NostrEvent::from_json(body).map(|event| Self::Publish(Arc::new(event))),
            _ => None,
        }
        .unwrap_or_else(|| Self::Other { path: path.into() })
    }
}

impl HttpReply {
    /// An answer with status 200.
    pub fn ok(body: HttpBody) -> Self {
        Self { status: 200, body }
    }

    /// The body as JSON; text becomes a JSON string.
    pub fn body_json(&self) -> Value {
        match &self.body {
            HttpBody::Events(events) => {
                Value::from_iter(events.iter().map(|event| event.to_json()))
            }
            HttpBody::Accepted { id, accepted, message } => {
                json!({"event_id": id.to_string(), "accepted": accepted, "message": &**message})
            }
            HttpBody::Count(count) => json!({"count": count}),
            HttpBody::Other(text) => Value::from(&**text),
        }
    }

    /// Reads an answer; a body that is not understood is kept verbatim.
    pub fn from_json(status: u16, body: &Value) -> Self {
        Self {
            status,
            body: HttpBody::typed(body).unwrap_or_else(|| HttpBody::Other(verbatim(body))),
        }
    }
}

impl HttpBody {
    fn typed(body: &Value) -> Option<Self> {
        if let Some(events) = body.as_array() {
            let events = events.iter().map(|event| NostrEvent::from_json(event).map(Arc::new));
            return Some(Self::Events(events.collect::<Option<_>>()?));
        }
        if let Some(count) = body.get("count") {
            return count.as_u64().map(Self::Count);
        }
        Some(Self::Accepted {
            id: Hex32::parse(body.get("event_id")?.as_str()?)?,
            accepted: body.get("accepted")?.as_bool()?,
            message: body.get("message").and_then(Value::as_str).unwrap_or("").into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> NostrEvent {
        let tags = vec![vec!["h".into(), "c\n1".into()], vec!["p".into(), "q".into()]];
        NostrEvent::new(Hex32([1; 32]), 7, 9, tags, "say \"hi\"".into())
    }

    #[test]
    fn the_id_is_the_hash_of_the_canonical_form() {
        let canonical =
            json!([0, "01".repeat(32), 7, 9, [["h", "c\n1"], ["p", "q"]], "say \"hi\""]);
        let hash: [u8; 32] = Sha256::digest(canonical.to_string().as_bytes()).into();
        assert_eq!(event().id(), Hex32(hash));
    }

    #[test]
    fn messages_survive_the_round_trip() {
        let event = Arc::new(event().sealed(Hex32([2; 32])));
        for message in [
            RelayMsg::Event { sub: "s".into(), event: event.clone() },
            RelayMsg::Ok { id: event.id(), accepted: false, message: "auth-required: no".into() },
            RelayMsg::Eose { sub: "s".into() },
            RelayMsg::Other("junk".into()),
        ] {
            assert_eq!(RelayMsg::from_json(&message.to_json()), message);
        }
        let filter = Filter {
            kinds: Some(vec![9]),
            since: Some(1),
            tags: vec![('h', vec!["c".into()])],
            ..Filter::default()
        };
        let request = ClientMsg::Req { sub: "s".into(), filters: vec![filter] };
        assert_eq!(ClientMsg::from_json(&request.to_json()), request);
    }
}
