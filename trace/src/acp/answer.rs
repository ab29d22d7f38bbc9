//! The result of a request.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Text;

/// A result: `null`, or an object of which the fields we read are named.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Answer {
    /// The result was `null`, which some agents answer to `session/load`.
    pub null: bool,
    /// `sessionId`.
    pub session_id: Option<Text>,
    /// `stopReason`, as the agent spelled it.
    pub stop_reason: Option<Text>,
    /// Whatever else stood there (`protocolVersion`, `agentCapabilities`, `models`, …).
    pub extra: Option<Arc<Map<String, Value>>>,
}

impl Answer {
    /// The empty object.
    pub fn empty() -> Self {
        Self::default()
    }

    /// A field that the types do not name.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.extra.as_ref()?.get(name)
    }

    /// The result as it stands on the wire.
    pub fn to_json(&self) -> Value {
        if self.null {
            return Value::Null;
        }
        let mut object = self.extra.as_deref().cloned().unwrap_or_default();
        if let Some(id) = &self.session_id {
            object.insert("sessionId".into(), Value::from(&**id));
        }
        if let Some(reason) = &self.stop_reason {
            object.insert("stopReason".into(), Value::from(&**reason));
        }
        Value::Object(object)
    }

    /// Reads a result. A result that is neither `null` nor an object stands whole under `value`.
    pub fn from_json(result: Value) -> Self {
        let mut object = match result {
            Value::Object(object) => object,
            Value::Null => {
                return Self { null: true, ..Self::default() };
            }
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        let mut text = |key: &str| match object.get(key) {
            Some(Value::String(value)) => {
                let value = Text::from(value.as_str());
                object.remove(key);
                Some(value)
            }
            _ => None,
        };
        Self {
            null: false,
            session_id: text("sessionId"),
            stop_reason: text("stopReason"),
            extra: (!object.is_empty()).then(|| Arc::new(object)),
        }
    }
}
