//! One line of NDJSON: a request, a notification, a response, or none of them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Text;
use super::answer::Answer;
use super::call::Call;

/// A JSON-RPC id, echoed unchanged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RpcId {
    /// The usual kind.
    Number(i64),
    /// Legal, and used to test that ids are echoed as they came.
    Text(Text),
    /// Legal in a response to a request that could not be read.
    Null,
}

/// One line of NDJSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A call that wants an answer.
    Request {
        /// Pairs the request with its response.
        id: RpcId,
        /// What is asked.
        call: Call,
    },
    /// A call that wants none.
    Notification(Call),
    /// The answer to an earlier request.
    Response {
        /// The request's id.
        id: RpcId,
        /// The result, or the error.
        outcome: Result<Answer, RpcError>,
    },
    /// A line that is no JSON-RPC message at all.
    Garbage(Text),
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// The code, such as -32002 (resource not found).
    pub code: i64,
    /// One line for a person.
    pub message: Text,
    /// More, for a program.
    pub data: Option<Arc<Value>>,
}

impl Frame {
    /// The call of a request or notification.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Request { call, .. } | Self::Notification(call) => Some(call),
            Self::Response { .. } | Self::Garbage(_) => None,
        }
    }

    /// The frame as one line of JSON, without the newline.
    pub fn to_line(&self) -> String {
        match self {
            Self::Garbage(text) => text.to_string(),
            framed => framed.to_json().to_string(),
        }
    }

    /// The frame as JSON; garbage becomes a JSON string.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Request { id, call } => json!({
                "jsonrpc": "2.0", "id": id.to_json(), "method": call.method(), "params": call.params(),
            }),
            Self::Notification(call) => json!({
                "jsonrpc": "2.0", "method": call.method(), "params": call.params(),
            }),
            Self::Response { id, outcome: Ok(answer) } => {
                json!({"jsonrpc": "2.0", "id": id.to_json(), "result": answer.to_json()})
            }
            Self::Response { id, outcome: Err(error) } => {
                json!({"jsonrpc": "2.0", "id": id.to_json(), "error": error.to_json()})
            }
            Self::Garbage(text) => Value::from(&**text),
        }
    }

    /// Reads one line; what is no JSON-RPC message becomes [`Frame::Garbage`], never an error.
    pub fn from_line(line: &str) -> Self {
        serde_json::from_str(line)
            .ok()
            .and_then(Self::from_json)
            .unwrap_or_else(|| Self::Garbage(line.into()))
    }

    /// Reads a JSON-RPC message; a JSON string is the garbage it was written from.
    pub fn from_json(mut message: Value) -> Option<Self> {
        if let Value::String(text) = &message {
            return Some(Self::Garbage(text.as_str().into()));
        }
        let id = message.get("id").map(RpcId::from_json);
        if let Some(method) = message.get("method") {
            let params = message.get("params").unwrap_or(&Value::Null);
            let call = Call::from_json(method.as_str()?, params);
            return Some(match id {
                Some(id) => Self::Request { id: id?, call },
                None => Self::Notification(call),
            });
        }
        let error = message.get("error").map(RpcError::from_json);
        let result = message.get_mut("result").map(Value::take);
        let outcome = match (result, error) {
            (Some(result), None) => Ok(Answer::from_json(result)),
            (None, Some(error)) => Err(error),
            _ => return None,
        };
        Some(Self::Response { id: id??, outcome })
    }
}

impl RpcId {
    /// The id as it stands on the wire.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Number(number) => Value::from(*number),
            Self::Text(text) => Value::from(&**text),
            Self::Null => Value::Null,
        }
    }

    /// Reads an id; a fraction, a list or an object is none.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_i64().map(Self::Number),
            Value::String(text) => Some(Self::Text(text.as_str().into())),
            Value::Null => Some(Self::Null),
            _ => None,
        }
    }
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: &str) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn to_json(&self) -> Value {
        let mut object = json!({"code": self.code, "message": &*self.message});
        if let Some(data) = &self.data {
            object["data"] = (**data).clone();
        }
        object
    }

    fn from_json(value: &Value) -> Self {
        Self {
            code: value.get("code").and_then(Value::as_i64).unwrap_or(0),
            message: value.get("message").and_then(Value::as_str).unwrap_or("").into(),
            data: value.get("data").cloned().map(Arc::new),
        }
    }
}
