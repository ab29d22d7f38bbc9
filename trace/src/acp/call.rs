//! A method and its parameters.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Text;

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
