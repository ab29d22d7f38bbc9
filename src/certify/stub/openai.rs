//! Chat completions.

use std::io;

use serde_json::{Value, json};

use super::conversation::{Conversation, Who, texts};
use super::http::Body;
use super::speech::Speech;
use super::tool::Tool;

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        let who = match message["role"].as_str() {
            Some("user") => Who::User,
            Some("assistant") => Who::Model,
            Some("tool") => Who::Tool,
            _ => continue,
        };
        let text = texts(&message["content"]).join("\n");
        let text = if who == Who::Tool && text.is_empty() { "done".to_owned() } else { text };
        conversation.say(who, &text);
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let function = &tool["function"];
        conversation.tools.push(Tool::function(function, &function["parameters"]));
    }
    let format = &body["response_format"];
    conversation.wants_json = match format["type"].as_str() {
        Some("json_schema") => Some(format["json_schema"]["schema"].clone()),
        Some("json_object") => Some(json!({})),
        _ => None,
    };
    conversation
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20})
}

fn calls(speech: &Speech, id: u64) -> Option<Value> {
    let call = speech.tool.as_ref()?;
    Some(json!([{
        "index": 0, "id": format!("call_{id}"), "type": "function",
        "function": {"name": call.name, "arguments": call.arguments.to_string()},
    }]))
}

pub(super) fn whole(speech: &Speech, id: u64) -> Value {
    let mut message = json!({"role": "assistant", "content": speech.whole()});
    let calls = calls(speech, id);
    let reason = if calls.is_some() { "tool_calls" } else { "stop" };
    if let Some(calls) = calls {
        message["tool_calls"] = calls;
    }
    json!({
        "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 1, "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage(),
    })
}

pub(super) fn stream(body: &mut Body, speech: &Speech, id: u64) -> io::Result<()> {
    let chunk = |delta: Value, reason: Value| {
        json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": 1,
            "model": "stub",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        })
    };
    let start = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    body.event(None, &start)?;
    super::spoken(body, speech, &|piece| (None, chunk(json!({"content": piece}), Value::Null)))?;
    let calls = calls(speech, id);
    let reason = if calls.is_some() { "tool_calls" } else { "stop" };
    if let Some(calls) = calls {
        body.event(None, &chunk(json!({"tool_calls": calls}), Value::Null))?;
    }
    let mut last = chunk(json!({}), reason.into());
    last["usage"] = usage();
    body.event(None, &last)?;
    body.line(None, "[DONE]")
}
