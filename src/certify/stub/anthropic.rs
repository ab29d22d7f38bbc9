//! Anthropic's messages.

use std::io;

use serde_json::{Value, json};

use super::conversation::{Conversation, Who};
use super::http::Body;
use super::speech::Speech;
use super::tool::{Call, Tool};

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        let who = if message["role"] == "assistant" { Who::Model } else { Who::User };
        match &message["content"] {
            Value::String(text) => conversation.say(who, text),
            parts => {
                for part in parts.as_array().into_iter().flatten() {
                    match part["type"].as_str() {
                        Some("text") => {
                            conversation.say(who, part["text"].as_str().unwrap_or_default());
                        }
                        Some("tool_result") => conversation.say(Who::Tool, "done"),
                        _ => {}
                    }
                }
            }
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        conversation.tools.push(Tool::function(tool, &tool["input_schema"]));
    }
    let format = &body["output_config"]["format"];
    conversation.wants_json = (format["type"] == "json_schema").then(|| format["schema"].clone());
    conversation
}

fn usage() -> Value {
    json!({"input_tokens": 10, "output_tokens": 10})
}

fn reason(speech: &Speech) -> &'static str {
    if speech.tool.is_some() { "tool_use" } else { "end_turn" }
}

fn message(content: &[Value], reason: &Value, id: u64) -> Value {
    json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "stub",
        "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage(),
    })
}

fn tool_use(call: &Call, input: &Value, id: u64) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": call.name, "input": input})
}

pub(super) fn whole(speech: &Speech, id: u64) -> Value {
    let content = match &speech.tool {
        Some(call) => tool_use(call, &call.arguments, id),
        None => json!({"type": "text", "text": speech.whole()}),
    };
    message(&[content], &reason(speech).into(), id)
}

pub(super) fn stream(body: &mut Body, speech: &Speech, id: u64) -> io::Result<()> {
    let event = |body: &mut Body, name: &'static str, mut data: Value| {
        data["type"] = name.into();
        body.event(Some(name), &data)
    };
    event(body, "message_start", json!({"message": message(&[], &Value::Null, id)}))?;
    let block = match &speech.tool {
        Some(call) => tool_use(call, &json!({}), id),
        None => json!({"type": "text", "text": ""}),
    };
    event(body, "content_block_start", json!({"index": 0, "content_block": block}))?;
    let name = "content_block_delta";
    super::spoken(body, speech, &|piece| {
        let delta = json!({"type": "text_delta", "text": piece});
        (Some(name), json!({"type": name, "index": 0, "delta": delta}))
    })?;
    if let Some(call) = &speech.tool {
        let input = call.arguments.to_string();
        let delta = json!({"type": "input_json_delta", "partial_json": input});
        event(body, name, json!({"index": 0, "delta": delta}))?;
    }
    event(body, "content_block_stop", json!({"index": 0}))?;
    let delta = json!({"stop_reason": reason(speech), "stop_sequence": null});
    event(body, "message_delta", json!({"delta": delta, "usage": usage()}))?;
    event(body, "message_stop", json!({}))
}
