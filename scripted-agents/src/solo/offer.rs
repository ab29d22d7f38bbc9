//! What the agent offers: its answer to `initialize`, its modes and its options.

use serde_json::{Value, json};

use super::agent::{Refusal, Solo};
use super::capability::Capability;
use super::defect::Defect;
use super::ground::Facts;

/// The only version there is.
const VERSION: u64 = 1;
/// How long answers may be wished; the first is the default.
pub(super) const STYLES: [&str; 2] = ["short", "long"];
/// The modes of every session; the first is the default.
pub(super) const MODES: [&str; 2] = ["ask", "act"];

impl Solo {
    pub(super) fn initialize(&mut self, params: &Value) -> Result<Value, Refusal> {
        self.initialized = true;
        self.client = params["clientInfo"]["name"].as_str().unwrap_or_default().to_owned();
        self.files = params["clientCapabilities"]["fs"]["readTextFile"] == true;
        let asked = params["protocolVersion"].as_u64().unwrap_or(VERSION);
        let version = match asked {
            VERSION if self.has(Defect::OtherVersion) => VERSION + 1,
            asked if self.has(Defect::EchoesVersion) => asked,
            _ => VERSION,
        };
        let mut result = json!({
            "protocolVersion": version, "agentCapabilities": self.capabilities(),
            "authMethods": self.logins(),
        });
        if !self.has(Defect::Nameless) {
            result["agentInfo"] =
                json!({"name": "skep-agent", "version": env!("CARGO_PKG_VERSION")});
        }
        Ok(result)
    }

    fn capabilities(&self) -> Value {
        let loads = match self.has(Defect::LoadsInWords) {
            true => json!("true"),
            false => json!(self.offers(Capability::Load)),
        };
        let prompt = if self.has(Defect::OddCapabilities) {
            json!("image")
        } else {
            json!({"image": self.offers(Capability::Pictures), "embeddedContext": true})
        };
        json!({
            "loadSession": loads, "promptCapabilities": prompt,
            "sessionCapabilities": self.session_capabilities(),
        })
    }

    fn session_capabilities(&self) -> Value {
        const MARKED: [Capability; 6] = [
            Capability::List,
            Capability::Resume,
            Capability::Close,
            Capability::Delete,
            Capability::Fork,
            Capability::Directories,
        ];
        let offered = MARKED.into_iter().filter(|one| self.offers(*one));
        let mut marks: Value = offered.map(|one| (one.name(), json!({}))).collect();
        if self.has(Defect::MarksWithTrue) {
            marks["list"] = json!(true);
        }
        if self.has(Defect::ChangesItsMind) && self.process > 1 {
            marks["fork"] = Value::Null;
        }
        marks
    }

    fn logins(&self) -> Value {
        if self.has(Defect::TerminalLogin) {
            return json!([{"id": "login", "name": "Log in", "type": "terminal"}]);
        }
        json!([])
    }

    /// `modes` and `configOptions` of a session.
    pub(super) fn choices(&self, facts: &Facts) -> Value {
        let current = facts.mode.as_deref().unwrap_or(MODES[0]);
        let modes: Vec<_> = MODES.iter().map(|id| json!({"id": id, "name": id})).collect();
        let shown = if self.has(Defect::UnknownMode) { "elsewhere" } else { current };
        json!({
            "modes": {"currentModeId": shown, "availableModes": modes},
            "configOptions": self.options(facts),
        })
    }

    /// The complete list of options.
    pub(super) fn options(&self, facts: &Facts) -> Value {
        let current = facts.mode.as_deref().unwrap_or(MODES[0]);
        let other = if current == MODES[0] { MODES[1] } else { MODES[0] };
        let mode = if self.has(Defect::TwoModes) { other } else { current };
        let mode = if self.has(Defect::UnknownMode) { "elsewhere" } else { mode };
        let first = if self.has(Defect::UnknownOption) { "loud" } else { STYLES[0] };
        let style = facts.style.as_deref().unwrap_or(first);
        let mut options =
            vec![select("mode", mode, &MODES, Some("mode")), select("style", style, &STYLES, None)];
        if self.has(Defect::UnknownMode) {
            options.remove(0);
        }
        if self.has(Defect::BooleanOption) {
            options.push(json!({
                "id": "quiet", "name": "quiet", "type": "boolean", "currentValue": false,
            }));
        }
        options.into()
    }
}

fn select(id: &str, current: &str, values: &[&str], category: Option<&str>) -> Value {
    let values: Vec<_> = values.iter().map(|one| json!({"value": one, "name": one})).collect();
    let mut option = json!({
        "id": id, "name": id, "type": "select", "currentValue": current, "options": values,
    });
    if let Some(category) = category {
        option["category"] = category.into();
    }
    option
}
