//! The HTTP queries beside the connection.

use std::sync::Arc;

use serde_json::{Value, json};

use super::event::{NostrEvent, SharedEvent};
use super::filter::Filter;
use super::message::verbatim;
use crate::acp::Text;
use crate::hex::Hex32;

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
