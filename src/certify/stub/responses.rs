//! OpenAI's responses.

use std::io;

use serde_json::{Value, json};

use super::conversation::{Conversation, Who, texts};
use super::http::Body;
use super::speech::Speech;
use super::tool::{Call, Kind, Tool};

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    match &body["input"] {
        Value::String(text) => conversation.say(Who::User, text),
        input => {
            for item in input.as_array().into_iter().flatten() {
                let kind = item["type"].as_str().unwrap_or("message");
                let who = match (kind, item["role"].as_str()) {
                    ("message", Some("user")) => Who::User,
                    ("message", Some("assistant")) => Who::Model,
                    (kind, _) if kind.ends_with("_output") => Who::Tool,
                    _ => continue,
                };
                let text = texts(&item["content"]).join("\n");
                conversation.say(who, if who == Who::Tool { "done" } else { &text });
            }
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let kind = match tool["type"].as_str() {
            Some("custom") => Kind::Freeform,
            Some("local_shell") => Kind::LocalShell,
            Some("function") | None => Kind::Function,
            // Searches, pictures, namespaces: nothing that runs a command.
            Some(_) => continue,
        };
        conversation.tools.push(Tool { kind, ..Tool::function(tool, &tool["parameters"]) });
    }
    let format = &body["text"]["format"];
    conversation.wants_json = (format["type"] == "json_schema").then(|| format["schema"].clone());
    conversation
}

fn item(speech: &Speech, id: u64) -> Value {
    match &speech.tool {
        Some(call) => call_item(call, id),
        None => json!({
            "id": format!("msg_{id}"), "type": "message", "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": speech.whole(), "annotations": []}],
        }),
    }
}

fn call_item(call: &Call, id: u64) -> Value {
    let call_id = format!("call_{id}");
    match call.kind {
        Kind::Function => json!({
            "id": format!("fc_{id}"), "type": "function_call", "status": "completed",
            "call_id": call_id, "name": call.name, "arguments": call.arguments.to_string(),
        }),
        Kind::Freeform => json!({
            "id": format!("ctc_{id}"), "type": "custom_tool_call", "status": "completed",
            "call_id": call_id, "name": call.name, "input": call.arguments,
        }),
        Kind::LocalShell => json!({
            "id": format!("lsh_{id}"), "type": "local_shell_call", "status": "completed",
            "call_id": call_id,
            "action": {"type": "exec", "command": ["sh", "-c", call.arguments], "env": {}},
        }),
    }
}

fn response(status: &str, output: &[Value], id: u64) -> Value {
    json!({
        "id": format!("resp_{id}"), "object": "response", "created_at": 1, "model": "stub",
        "status": status, "output": output,
        "usage": {
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 20,
        },
    })
}

pub(super) fn whole(speech: &Speech, id: u64) -> Value {
    response("completed", &[item(speech, id)], id)
}

pub(super) fn stream(body: &mut Body, speech: &Speech, id: u64) -> io::Result<()> {
    let mut event = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        body.event(Some(name), &data)
    };
    event("response.created", json!({"response": response("in_progress", &[], id)}))?;
    let item = item(speech, id);
    let mut begun = item.clone();
    begun["status"] = "in_progress".into();
    if speech.tool.is_none() {
        begun["content"] = json!([]);
    }
    event("response.output_item.added", json!({"output_index": 0, "item": begun}))?;
    if speech.tool.is_none() {
        let part = json!({
            "item_id": item["id"], "output_index": 0, "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": []},
        });
        event("response.content_part.added", part)?;
        let name = "response.output_text.delta";
        super::spoken(body, speech, &|piece| {
            let data = json!({
                "type": name, "item_id": item["id"], "output_index": 0, "content_index": 0,
                "delta": piece,
            });
            (Some(name), data)
        })?;
        let done = json!({
            "type": "response.output_text.done", "item_id": item["id"], "output_index": 0,
            "content_index": 0, "text": speech.whole(),
        });
        body.event(Some("response.output_text.done"), &done)?;
    }
    let name = "response.output_item.done";
    body.event(Some(name), &json!({"type": name, "output_index": 0, "item": item}))?;
    let name = "response.completed";
    body.event(Some(name), &json!({"type": name, "response": whole(speech, id)}))
}
