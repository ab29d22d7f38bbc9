//! ACP frames: what one line on an agent's standard input or output says.
//!
//! Frames are typed so that a simulated run never touches JSON; the codec is for the edges
//! (real pipes, trace files). What the types do not name is kept in `extra`, so that nothing a
//! foreign program says is lost. Shapes follow protocol version 1 of the Agent Client Protocol.

use std::sync::Arc;

use serde_json::{Map, Value, json};

/// Shared, immutable text: a frame is cloned into the trace without copying its strings.
pub type Text = Arc<str>;

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

/// A method and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `initialize`: parameters verbatim, asked once a process.
    Initialize(Arc<Value>),
    /// `session/new`.
    SessionNew(Setup),
    /// `session/load`: replays the history before it is answered.
    SessionLoad {
        /// The session asked for.
        session_id: Text,
        /// The same setup a new session would carry.
        setup: Setup,
    },
    /// `session/resume`: as load, without the replay.
    SessionResume {
        /// The session asked for.
        session_id: Text,
        /// The same setup a new session would carry.
        setup: Setup,
    },
    /// `session/prompt`.
    SessionPrompt {
        /// The session that is prompted.
        session_id: Text,
        /// The text blocks, in order; other blocks as their JSON text.
        prompt: Arc<[Text]>,
    },
    /// `session/cancel`, a notification.
    SessionCancel {
        /// The session whose turn is cancelled.
        session_id: Text,
    },
    /// `session/update`, a notification of the agent.
    SessionUpdate {
        /// The session that the update belongs to.
        session_id: Text,
        /// What happened.
        update: Update,
    },
    /// `session/set_model`.
    SetModel {
        /// The session to change.
        session_id: Text,
        /// The wanted model.
        model_id: Text,
    },
    /// `session/set_mode`.
    SetMode {
        /// The session to change.
        session_id: Text,
        /// The wanted mode.
        mode_id: Text,
    },
    /// `session/close`.
    SessionClose {
        /// The session to close.
        session_id: Text,
    },
    /// `session/delete`.
    SessionDelete {
        /// The session to delete.
        session_id: Text,
    },
    /// Any other method.
    Other {
        /// Its name.
        method: Text,
        /// Its parameters, verbatim.
        params: Arc<Value>,
    },
}

/// What `session/new`, `load` and `resume` all carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Absolute working directory.
    pub cwd: Text,
    /// The `mcpServers` array, verbatim.
    pub mcp_servers: Arc<Value>,
    /// `_meta`, verbatim.
    pub meta: Option<Arc<Value>>,
    /// Whatever else stood there.
    pub extra: Option<Arc<Map<String, Value>>>,
}

/// The body of a `session/update`.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Text of the user, seen in a replay.
    UserMessageChunk(Text),
    /// Text of the agent.
    AgentMessageChunk(Text),
    /// A thought of the agent.
    AgentThoughtChunk(Text),
    /// Any other update, verbatim (`sessionUpdate` included).
    Other(Arc<Value>),
}

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

impl Call {
    /// The method's name on the wire.
    pub fn method(&self) -> &str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::SessionNew(_) => "session/new",
            Self::SessionLoad { .. } => "session/load",
            Self::SessionResume { .. } => "session/resume",
            Self::SessionPrompt { .. } => "session/prompt",
            Self::SessionCancel { .. } => "session/cancel",
            Self::SessionUpdate { .. } => "session/update",
            Self::SetModel { .. } => "session/set_model",
            Self::SetMode { .. } => "session/set_mode",
            Self::SessionClose { .. } => "session/close",
            Self::SessionDelete { .. } => "session/delete",
            Self::Other { method, .. } => method,
        }
    }

    /// The session that the parameters name, if any.
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Self::Initialize(_) | Self::SessionNew(_) => None,
            Self::SessionLoad { session_id, .. }
            | Self::SessionResume { session_id, .. }
            | Self::SessionPrompt { session_id, .. }
            | Self::SessionCancel { session_id }
            | Self::SessionUpdate { session_id, .. }
            | Self::SetModel { session_id, .. }
            | Self::SetMode { session_id, .. }
            | Self::SessionClose { session_id }
            | Self::SessionDelete { session_id } => Some(session_id),
            Self::Other { params, .. } => params.get("sessionId").and_then(Value::as_str),
        }
    }

    /// The parameters as JSON, as they stand on the wire.
    pub fn params(&self) -> Value {
        match self {
            Self::Initialize(params) => (**params).clone(),
            Self::SessionNew(setup) => setup.to_json(None),
            Self::SessionLoad { session_id, setup } | Self::SessionResume { session_id, setup } => {
                setup.to_json(Some(session_id))
            }
            Self::SessionPrompt { session_id, prompt } => {
                let blocks: Vec<_> = prompt.iter().map(|text| text_block(text)).collect();
                json!({"sessionId": &**session_id, "prompt": blocks})
            }
            Self::SessionUpdate { session_id, update } => {
                json!({"sessionId": &**session_id, "update": update.to_json()})
            }
            Self::SetModel { session_id, model_id } => {
                json!({"sessionId": &**session_id, "modelId": &**model_id})
            }
            Self::SetMode { session_id, mode_id } => {
                json!({"sessionId": &**session_id, "modeId": &**mode_id})
            }
            Self::SessionCancel { session_id }
            | Self::SessionClose { session_id }
            | Self::SessionDelete { session_id } => json!({"sessionId": &**session_id}),
            Self::Other { params, .. } => (**params).clone(),
        }
    }

    /// Reads a method and its parameters; what does not fit its type is kept as `Other`.
    pub fn from_json(method: &str, params: &Value) -> Self {
        Self::typed(method, params).unwrap_or_else(|| Self::Other {
            method: method.into(),
            params: Arc::new(params.clone()),
        })
    }

    fn typed(method: &str, params: &Value) -> Option<Self> {
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(Text::from);
        if method == "initialize" {
            return Some(Self::Initialize(Arc::new(params.clone())));
        }
        if method == "session/new" {
            return Setup::from_json(params).map(Self::SessionNew);
        }
        let session_id = text("sessionId")?;
        Some(match method {
            "session/load" => Self::SessionLoad { session_id, setup: Setup::from_json(params)? },
            "session/resume" => {
                Self::SessionResume { session_id, setup: Setup::from_json(params)? }
            }
            "session/prompt" => Self::SessionPrompt {
                session_id,
                prompt: params.get("prompt")?.as_array()?.iter().map(block_text).collect(),
            },
            "session/update" => {
                Self::SessionUpdate { session_id, update: Update::from_json(params.get("update")?) }
            }
            "session/set_model" => Self::SetModel { session_id, model_id: text("modelId")? },
            "session/set_mode" => Self::SetMode { session_id, mode_id: text("modeId")? },
            "session/cancel" => Self::SessionCancel { session_id },
            "session/close" => Self::SessionClose { session_id },
            "session/delete" => Self::SessionDelete { session_id },
            _ => return None,
        })
    }
}

impl Setup {
    fn to_json(&self, session_id: Option<&str>) -> Value {
        let mut object = self.extra.as_deref().cloned().unwrap_or_default();
        object.insert("cwd".into(), Value::from(&*self.cwd));
        object.insert("mcpServers".into(), (*self.mcp_servers).clone());
        if let Some(meta) = &self.meta {
            object.insert("_meta".into(), (**meta).clone());
        }
        if let Some(session_id) = session_id {
            object.insert("sessionId".into(), Value::from(session_id));
        }
        Value::Object(object)
    }

    fn from_json(params: &Value) -> Option<Self> {
        let mut extra = params.as_object()?.clone();
        extra.remove("sessionId");
        let cwd = extra.remove("cwd")?.as_str()?.into();
        let mcp_servers = Arc::new(extra.remove("mcpServers").unwrap_or(Value::Null));
        let meta = extra.remove("_meta").map(Arc::new);
        Some(Self { cwd, mcp_servers, meta, extra: (!extra.is_empty()).then(|| Arc::new(extra)) })
    }
}

impl Update {
    /// The `sessionUpdate` discriminator.
    pub fn kind(&self) -> &str {
        match self {
            Self::UserMessageChunk(_) => "user_message_chunk",
            Self::AgentMessageChunk(_) => "agent_message_chunk",
            Self::AgentThoughtChunk(_) => "agent_thought_chunk",
            Self::Other(body) => {
                body.get("sessionUpdate").and_then(Value::as_str).unwrap_or("unknown")
            }
        }
    }

    /// The text of a chunk; other updates have none.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::UserMessageChunk(text)
            | Self::AgentMessageChunk(text)
            | Self::AgentThoughtChunk(text) => Some(text),
            Self::Other(body) => body.get("content")?.get("text")?.as_str(),
        }
    }

    /// The update's body as it stands on the wire.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Other(body) => (**body).clone(),
            Self::UserMessageChunk(text)
            | Self::AgentMessageChunk(text)
            | Self::AgentThoughtChunk(text) => {
                json!({"sessionUpdate": self.kind(), "content": text_block(text)})
            }
        }
    }

    /// Reads an update's body; what is no plain text chunk is kept verbatim.
    pub fn from_json(body: &Value) -> Self {
        let chunk = chunk_text(body);
        match (body.get("sessionUpdate").and_then(Value::as_str), chunk) {
            (Some("user_message_chunk"), Some(text)) => Self::UserMessageChunk(text),
            (Some("agent_message_chunk"), Some(text)) => Self::AgentMessageChunk(text),
            (Some("agent_thought_chunk"), Some(text)) => Self::AgentThoughtChunk(text),
            _ => Self::Other(Arc::new(body.clone())),
        }
    }
}

/// The text of a chunk that holds exactly a text block and nothing more.
fn chunk_text(body: &Value) -> Option<Text> {
    let content = body.get("content")?;
    let plain = body.as_object()?.len() == 2 && content.as_object()?.len() == 2;
    (plain && content.get("type")? == "text").then_some(())?;
    Some(content.get("text")?.as_str()?.into())
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn block_text(block: &Value) -> Text {
    match block.get("text").and_then(Value::as_str) {
        Some(text) => text.into(),
        None => block.to_string().into(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_the_round_trip() {
        for line in [
            r#"{"id":1,"jsonrpc":"2.0","method":"session/new","params":{"_meta":{"channelId":"c"},"cwd":"/w","mcpServers":[],"systemPrompt":"x"}}"#,
            r#"{"id":"two","jsonrpc":"2.0","method":"session/load","params":{"cwd":"/w","mcpServers":[],"sessionId":"s1"}}"#,
            r#"{"id":3,"jsonrpc":"2.0","result":null}"#,
            r#"{"id":3,"jsonrpc":"2.0","result":{"modes":{},"sessionId":"s9"}}"#,
            r#"{"id":4,"jsonrpc":"2.0","result":{"stopReason":"end_turn"}}"#,
            r#"{"error":{"code":-32002,"data":{"sessionId":"s"},"message":"gone"},"id":5,"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":{"text":"hi","type":"text"},"sessionUpdate":"agent_message_chunk"}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
        ] {
            let frame = Frame::from_line(line);
            let read: Value = serde_json::from_str(line).unwrap();
            assert_eq!(frame.to_json(), read);
            assert_eq!(Frame::from_line(&frame.to_line()), frame);
        }
    }

    #[test]
    fn what_is_no_message_is_kept_as_garbage() {
        for line in ["hello", "{", "[]", r#"{"id":1}"#, r#"{"id":{},"result":1}"#] {
            assert_eq!(Frame::from_line(line), Frame::Garbage(line.into()));
        }
    }

    #[test]
    fn a_chunk_with_a_message_id_is_kept_verbatim() {
        let body = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m",
            "content": {"type": "text", "text": "hi"}});
        assert_eq!(Update::from_json(&body).to_json(), body);
    }
}
