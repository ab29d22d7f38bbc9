//! What an agent offers, as its answers say it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skep_plan::AgentCast;
use skep_trace::Text;

/// It serves `session/load`: it says so with `true`, and nothing else says so.
pub(super) fn loads(cast: &AgentCast) -> bool {
    cast.load_session == Some(Value::Bool(true))
}

/// The method exists, though parameters that do not fit its type brought it here.
pub(super) fn knows(cast: &AgentCast, method: &str) -> bool {
    match method {
        "session/new" | "session/prompt" | "session/cancel" | "session/set_model"
        | "session/set_mode" => true,
        "session/load" => loads(cast),
        "session/resume" => cast.resume,
        "session/close" | "session/delete" => cast.close,
        _ => false,
    }
}

/// The result of `initialize`.
pub(super) fn initialize(cast: &AgentCast) -> Map<String, Value> {
    let mut capabilities = json!({"sessionCapabilities": session_capabilities(cast)});
    if let Some(load) = &cast.load_session {
        capabilities["loadSession"] = load.clone();
    }
    let pairs = [
        ("protocolVersion", Value::from(1)),
        ("agentCapabilities", capabilities),
        // The version is that of the behaviour, not of a release: traces must not change with it.
        ("agentInfo", json!({"name": &*cast.name, "version": "1"})),
        ("authMethods", json!([])),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn session_capabilities(cast: &AgentCast) -> Value {
    let marks = [
        ("resume", cast.resume),
        ("close", cast.close),
        ("delete", cast.close),
        ("list", cast.list),
    ];
    let offered = marks.into_iter().filter(|(_, offered)| *offered);
    Value::Object(offered.map(|(name, _)| (name.to_owned(), json!({}))).collect())
}

/// `models` and `modes` with what is chosen, the first of each by default.
pub(super) fn choices(
    cast: &AgentCast,
    model: Option<&Text>,
    mode: Option<&Text>,
) -> Option<Arc<Map<String, Value>>> {
    let mut map = Map::new();
    if let Some(current) = model.or(cast.models.first()) {
        let list = named(&cast.models, "modelId");
        map.insert("models".into(), json!({"availableModels": list, "currentModelId": &**current}));
    }
    if let Some(current) = mode.or(cast.modes.first()) {
        let list = named(&cast.modes, "id");
        map.insert("modes".into(), json!({"availableModes": list, "currentModeId": &**current}));
    }
    (!map.is_empty()).then(|| Arc::new(map))
}

fn named(names: &[Text], key: &str) -> Vec<Value> {
    names.iter().map(|name| json!({key: &**name, "name": &**name})).collect()
}

/// The same choices as a complete list of configuration options.
pub(super) fn options(cast: &AgentCast, model: Option<&Text>, mode: Option<&Text>) -> Value {
    let both = [("model", &cast.models, model), ("mode", &cast.modes, mode)];
    let option = |(id, offered, chosen): (&str, &Vec<Text>, Option<&Text>)| {
        let current = chosen.or(offered.first())?;
        Some(json!({
            "id": id, "name": id, "category": id, "type": "select",
            "currentValue": &**current, "options": named(offered, "value"),
        }))
    };
    both.into_iter().filter_map(option).collect()
}
