//! The bodies of the updates that a script names by kind and text.

use std::sync::Arc;

use serde_json::{Value, json};
use skep_trace::Update;

/// An update of this kind, made from one text. Kinds of the protocol get all the fields they
/// need; a tool call's id is made from its title, so that an update of the same title is about
/// the same call, and one of another title is about a call that nobody announced.
pub(super) fn body(kind: &str, text: &str) -> Update {
    match kind {
        "user_message_chunk" => Update::UserMessageChunk(text.into()),
        "agent_message_chunk" => Update::AgentMessageChunk(text.into()),
        "agent_thought_chunk" => Update::AgentThoughtChunk(text.into()),
        _ => {
            let mut body = fields(kind, text);
            body["sessionUpdate"] = kind.into();
            Update::Other(Arc::new(body))
        }
    }
}

fn fields(kind: &str, text: &str) -> Value {
    let call = format!("call-{text}");
    match kind {
        "tool_call" => {
            json!({"toolCallId": call, "title": text, "kind": "other", "status": "pending"})
        }
        "tool_call_update" => json!({"toolCallId": call, "status": "completed"}),
        "plan" => {
            json!({"entries": [{"content": text, "priority": "medium", "status": "pending"}]})
        }
        "available_commands_update" => {
            json!({"availableCommands": [{"name": text, "description": text}]})
        }
        "current_mode_update" => json!({"currentModeId": text}),
        "session_info_update" => json!({"title": text}),
        "usage_update" => json!({"used": text.len(), "size": 100_000}),
        "config_option_update" => json!({"configOptions": []}),
        _ => json!({"text": text}),
    }
}

/// What a load replays: the agent's part of the conversation. Commands, usage, titles and modes
/// are about the present and are not kept.
pub(super) fn is_history(update: &Update) -> bool {
    match update {
        Update::UserMessageChunk(_) => false,
        Update::AgentMessageChunk(_) | Update::AgentThoughtChunk(_) => true,
        Update::Other(_) => matches!(
            update.kind(),
            "agent_message_chunk"
                | "agent_thought_chunk"
                | "tool_call"
                | "tool_call_update"
                | "plan"
        ),
    }
}
