//! A connection under the eye of the schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use skep_trace::{Frame, RpcId, Text};

use super::{TABLE, named, params_misfit, result_misfit, shape};

/// Findings of one connection; a harness with more is known well enough by these.
const MOST_FINDINGS: usize = 100;

/// What a harness sends on one connection. Each finding is told once, however often it applies.
#[derive(Debug, Default)]
pub struct SchemaCheck {
    /// The agent's requests that were not answered yet.
    asked: BTreeMap<i64, Text>,
    told: BTreeSet<Text>,
}

impl SchemaCheck {
    /// A new connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of what the agent sends: the results of the harness depend on it.
    pub fn sent(&mut self, frame: &Frame) {
        if let Frame::Request { id: RpcId::Number(id), call } = frame {
            self.asked.insert(*id, call.method().into());
        }
    }

    /// What is remarkable about a message of the harness.
    pub fn received(&mut self, message: &Value) -> Vec<Text> {
        let Value::Object(message) = message else {
            return self.fresh(vec!["a message is a JSON object".to_owned()]);
        };
        let mut found = Vec::new();
        envelope(message, &mut found);
        match message.get("method").and_then(Value::as_str) {
            Some(method) => call(method, message, &mut found),
            None => self.response(message, &mut found),
        }
        self.fresh(found)
    }

    fn fresh(&mut self, found: Vec<String>) -> Vec<Text> {
        let room = MOST_FINDINGS.saturating_sub(self.told.len());
        let found = found.into_iter().map(Text::from);
        let fresh: Vec<_> = found.filter(|text| self.told.insert(Text::clone(text))).collect();
        fresh.into_iter().take(room).collect()
    }

    fn response(&mut self, message: &Map<String, Value>, found: &mut Vec<String>) {
        if message.contains_key("result") == message.contains_key("error") {
            found.push("a response has a result or an error, one of them".to_owned());
        }
        if let Some(error) = message.get("error")
            && !(error["code"].is_i64() && error["message"].is_string())
        {
            found.push("an error has an integer `code` and a string `message`".to_owned());
        }
        let asked = message.get("id").and_then(Value::as_i64).and_then(|id| self.asked.remove(&id));
        if let (Some(method), Some(result)) = (asked, message.get("result")) {
            let misfit = result_misfit(&method, result);
            found.extend(misfit.map(|misfit| format!("the result of {method}: {misfit}")));
        }
    }
}

fn envelope(message: &Map<String, Value>, found: &mut Vec<String>) {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        found.push("`jsonrpc` must be \"2.0\"".to_owned());
    }
    let id = message.get("id");
    if id.is_some_and(|id| !(id.is_string() || id.is_i64() || id.is_null())) {
        found.push("an id is a string, an integer or null".to_owned());
    }
}

fn call(method: &str, message: &Map<String, Value>, found: &mut Vec<String>) {
    // Extensions may look as they like; so may what the JSON-RPC layer adds.
    if method.starts_with('_') {
        return;
    }
    let Some(shape) = named("params", method) else {
        if !method.starts_with("$/") {
            found.push(format!("`{method}` is no method of ACP version 1"));
        }
        return;
    };
    let params = message.get("params").unwrap_or(&Value::Null);
    found.extend(params_misfit(method, params).map(|misfit| format!("{method}: {misfit}")));
    let shapes = &TABLE["shapes"];
    for field in params.as_object().into_iter().flat_map(Map::keys) {
        if !shape::has_field(shapes, &shapes[shape], field) {
            found.push(format!("{method}: `{field}` is no field of it; extensions go to `_meta`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skep_trace::Call;

    use super::*;

    fn request(method: &str, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    fn found(message: &Value) -> Vec<String> {
        let found = SchemaCheck::new().received(message);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_correct_harness_sends_is_not_remarkable() {
        let server = json!({"name": "m", "command": "/m", "args": [],
            "env": [{"name": "A", "value": "b"}]});
        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
        for (method, params) in [
            ("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})),
            ("session/new", json!({"cwd": "/w", "mcpServers": [server], "_meta": {"x": 1}})),
            ("session/load", json!({"cwd": "/w", "mcpServers": [], "sessionId": "s"})),
            (
                "session/prompt",
                json!({"sessionId": "s", "prompt": [
                {"type": "text", "text": "hi"}, image]}),
            ),
            ("session/cancel", json!({"sessionId": "s"})),
            ("session/list", json!({})),
            (
                "session/set_config_option",
                json!({"sessionId": "s", "configId": "mode", "value": "x"}),
            ),
            ("$/cancel_request", json!({"requestId": 3})),
            ("$/anything", json!(7)),
            ("_goose/unstable/session/steer", json!({"any": "thing"})),
        ] {
            assert_eq!(found(&request(method, &params)), [""; 0]);
        }
    }

    #[test]
    fn each_misfit_is_named_with_its_place() {
        for (method, params, wanted) in [
            ("session/new", json!({"cwd": "/w"}), "session/new: has no `mcpServers`"),
            (
                "session/new",
                json!({"cwd": 7, "mcpServers": []}),
                "session/new: `cwd` is a number, not string",
            ),
            (
                "session/new",
                json!({"cwd": "/w", "mcpServers": [], "systemPrompt": "x"}),
                "session/new: `systemPrompt` is a string, not object",
            ),
            (
                "session/load",
                json!({"cwd": "/w", "mcpServers": [], "sessionId": "s", "model": "m"}),
                "session/load: `model` is no field of it; extensions go to `_meta`",
            ),
            (
                "session/prompt",
                json!({"sessionId": "s", "prompt": [{"type": "text", "text": 1}]}),
                "session/prompt: `prompt.0.text` is a number, not string",
            ),
            (
                "initialize",
                json!({"protocolVersion": 65536}),
                "initialize: `protocolVersion` is above 65535",
            ),
            ("session/close", json!(null), "session/close: is null, not object"),
            ("session/set_model", json!({}), "`session/set_model` is no method of ACP version 1"),
        ] {
            assert_eq!(found(&request(method, &params)), [wanted]);
        }
    }

    #[test]
    fn the_envelope_is_looked_at_too() {
        let bare = json!({"id": 1.5, "method": "session/list", "params": {}});
        let wanted = ["`jsonrpc` must be \"2.0\"", "an id is a string, an integer or null"];
        assert_eq!(found(&bare), wanted);
        assert_eq!(found(&json!([])), ["a message is a JSON object"]);
        let both = json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": "x"}});
        assert_eq!(found(&both).len(), 2);
    }

    #[test]
    fn a_result_is_held_against_what_was_asked() {
        let mut check = SchemaCheck::new();
        let method = "session/request_permission".into();
        let call = Call::Other { method, params: Value::Null.into() };
        check.sent(&Frame::Request { id: RpcId::Number(0), call });
        let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"optionId": "x"}}});
        let found = check.received(&answer);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("the result of session/request_permission: "));
        assert!(check.received(&answer).is_empty(), "nothing is asked any more");
    }

    #[test]
    fn a_finding_is_told_once_and_their_number_is_bounded() {
        let mut check = SchemaCheck::new();
        let early = request("session/new", &json!({"cwd": "/w"}));
        assert_eq!(check.received(&early).len(), 1);
        assert!(check.received(&early).is_empty());
        let told = (0..200)
            .flat_map(|number| check.received(&request(&format!("x/{number}"), &json!({}))));
        assert_eq!(told.count(), MOST_FINDINGS - 1);
    }
}
