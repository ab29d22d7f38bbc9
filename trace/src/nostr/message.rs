//! Messages on a connection, in both directions (NIP-01, NIP-42).

use std::sync::Arc;

use serde_json::{Value, json};

use super::event::{NostrEvent, SharedEvent};
use super::filter::Filter;
use crate::acp::Text;
use crate::hex::Hex32;

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
pub(super) fn verbatim(value: &Value) -> Text {
    match value {
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}
