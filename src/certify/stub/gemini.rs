//! Gemini's contents.

use std::io;

use serde_json::{Value, json};

use super::conversation::{Conversation, Who};
use super::http::Body;
use super::speech::Speech;
use super::tool::Tool;

pub(super) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation::default();
    for content in body["contents"].as_array().into_iter().flatten() {
        let who = if content["role"] == "model" { Who::Model } else { Who::User };
        for part in content["parts"].as_array().into_iter().flatten() {
            if !part["functionResponse"].is_null() {
                conversation.say(Who::Tool, "done");
            }
            conversation.say(who, part["text"].as_str().unwrap_or_default());
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        for function in tool["functionDeclarations"].as_array().into_iter().flatten() {
            let schema = [&function["parametersJsonSchema"], &function["parameters"]];
            let schema = schema.into_iter().find(|schema| schema.is_object());
            let schema = schema.cloned().unwrap_or_default();
            conversation.tools.push(Tool::function(function, &schema));
        }
    }
    let config = &body["generationConfig"];
    let schema = [&config["responseJsonSchema"], &config["responseSchema"]];
    conversation.wants_json = (config["responseMimeType"] == "application/json")
        .then(|| schema.into_iter().find(|schema| schema.is_object()).cloned().unwrap_or_default());
    conversation
}

fn answer(part: &Value, last: bool, id: u64) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": [part]}});
    if last {
        candidate["finishReason"] = "STOP".into();
    }
    json!({
        "candidates": [candidate], "modelVersion": "stub", "responseId": format!("r{id}"),
        "usageMetadata": {
            "promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20,
        },
    })
}

fn call(speech: &Speech, id: u64) -> Option<Value> {
    let call = speech.tool.as_ref()?;
    let id = format!("call{id}");
    Some(json!({"functionCall": {"id": id, "name": call.name, "args": call.arguments}}))
}

pub(super) fn whole(speech: &Speech, id: u64) -> Value {
    let part = call(speech, id).unwrap_or_else(|| json!({"text": speech.whole()}));
    answer(&part, true, id)
}

pub(super) fn stream(body: &mut Body, speech: &Speech, id: u64) -> io::Result<()> {
    super::spoken(body, speech, &|piece| (None, answer(&json!({"text": piece}), false, id)))?;
    let last = call(speech, id).unwrap_or_else(|| json!({"text": ""}));
    body.event(None, &answer(&last, true, id))
}
