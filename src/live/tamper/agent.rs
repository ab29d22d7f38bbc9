//! Between a harness and one agent process.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use skep_agent::{Between, Passed};

use crate::tampering::Tampering;

/// What an agent answers that does not know a session.
const NOT_FOUND: i64 = -32_002;

/// Changes what passes, as its tampering says.
#[derive(Debug)]
pub(in crate::live) struct Interposer {
    tampering: Tampering,
    /// Requests of our own, whose answers nobody but us awaits.
    own: u64,
    /// Requests of the harness that are treated in a way of their own, by their ids.
    marked: BTreeSet<String>,
    /// Prompts that are sent once more when they are answered.
    again: BTreeMap<String, Value>,
    /// Updates that are held back.
    held: Vec<String>,
    /// How the harness opens sessions.
    opening: Option<Value>,
    /// The first session, and the one that the harness takes it for.
    first: Option<Value>,
    meant: Option<Value>,
    /// A prompt was lost.
    lost: bool,
}

impl Interposer {
    pub(in crate::live) fn new(tampering: Tampering) -> Self {
        Self {
            tampering,
            own: 0,
            marked: BTreeSet::new(),
            again: BTreeMap::new(),
            held: Vec::new(),
            opening: None,
            first: None,
            meant: None,
            lost: false,
        }
    }

    /// A request of our own begins with this.
    const OWN: &str = "skep-between-";

    fn own_id(&mut self) -> Value {
        self.own += 1;
        format!("{}{}", Self::OWN, self.own).into()
    }

    /// A request that opens, loads or prompts.
    fn request(&mut self, method: &str, mut message: Value) -> Passed {
        match (self.tampering, method) {
            (Tampering::LoadUnknown | Tampering::LateReplay, "session/load") => {
                self.marked.insert(id(&message));
            }
            (Tampering::ExtraSession, "session/new" | "session/load") => {
                let mut params = message["params"].clone();
                if let Some(params) = params.as_object_mut() {
                    params.remove("sessionId");
                }
                self.opening = Some(params);
            }
            (Tampering::ExtraSession, "session/prompt") => return self.open_another(&message),
            (Tampering::OneSession, "session/load") => {
                self.first.get_or_insert_with(|| message["params"]["sessionId"].clone());
            }
            (Tampering::OneSession, "session/prompt") => self.redirect(&mut message),
            (Tampering::NoMeta, "session/new" | "session/load") => strip(&mut message["params"]),
            (Tampering::PromptLost, "session/prompt") if !self.lost => {
                self.lost = true;
                let result = json!({"stopReason": "end_turn"});
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                return Passed::to_harness(answer.to_string());
            }
            (Tampering::PromptTwice, "session/prompt") => {
                self.again.insert(id(&message), message.clone());
            }
            (Tampering::NoCancel, "session/cancel") => return Passed::default(),
            _ => {}
        }
        Passed::to_agent(message.to_string())
    }

    fn open_another(&mut self, prompt: &Value) -> Passed {
        let opening = self.opening.clone().map(|params| {
            let (id, method) = (self.own_id(), "session/new");
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        });
        let lines = opening.iter().chain([prompt]).map(Value::to_string);
        Passed { to_agent: lines.collect(), ..Passed::default() }
    }

    fn redirect(&mut self, message: &mut Value) {
        if let Some(first) = &self.first {
            let session = std::mem::replace(&mut message["params"]["sessionId"], first.clone());
            self.meant = Some(session);
        }
    }

    fn answer(&mut self, mut message: Value) -> Passed {
        let id = id(&message);
        if message["id"].as_str().is_some_and(|id| id.starts_with(Self::OWN)) {
            return Passed::default();
        }
        let marked = self.marked.remove(&id);
        match self.tampering {
            Tampering::NoLoadSession => {
                if let Some(offer) = message.pointer_mut("/result/agentCapabilities/loadSession") {
                    *offer = false.into();
                }
            }
            Tampering::LoadUnknown if marked => {
                let error = json!({"code": NOT_FOUND, "message": "Resource not found"});
                message = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            }
            Tampering::LateReplay if marked => {
                let lines = [message.to_string()].into_iter().chain(self.held.drain(..));
                return Passed { to_harness: lines.collect(), ..Passed::default() };
            }
            Tampering::OneSession => {
                let session = message.pointer("/result/sessionId").cloned();
                self.first = self.first.take().or(session);
            }
            Tampering::PromptTwice => {
                if let Some(mut again) = self.again.remove(&id) {
                    again["id"] = self.own_id();
                    let to_agent = vec![again.to_string()];
                    return Passed { to_agent, to_harness: vec![message.to_string()] };
                }
            }
            _ => {}
        }
        Passed::to_harness(message.to_string())
    }

    /// Something that the agent says by itself.
    fn said(&mut self, mut message: Value) -> Passed {
        match self.tampering {
            Tampering::RequestLost if message.get("id").is_some() => return Passed::default(),
            Tampering::LateReplay if !self.marked.is_empty() && message.get("id").is_none() => {
                self.held.push(message.to_string());
                return Passed::default();
            }
            Tampering::OneSession => {
                let first = self.first.as_ref() == message.pointer("/params/sessionId");
                if let Some(meant) = self.meant.clone().filter(|_| first) {
                    message["params"]["sessionId"] = meant;
                }
            }
            _ => {}
        }
        Passed::to_harness(message.to_string())
    }
}

impl Between for Interposer {
    fn harness_says(&mut self, line: String) -> Passed {
        match serde_json::from_str::<Value>(&line) {
            Ok(message) => match message["method"].as_str().map(str::to_owned) {
                Some(method) => self.request(&method, message),
                None => Passed::to_agent(line),
            },
            Err(_) => Passed::to_agent(line),
        }
    }

    fn agent_says(&mut self, line: String) -> Passed {
        match serde_json::from_str::<Value>(&line) {
            Ok(message) if message.get("method").is_some() => self.said(message),
            Ok(message) if message.get("id").is_some() => self.answer(message),
            _ => Passed::to_harness(line),
        }
    }
}

fn id(message: &Value) -> String {
    message["id"].to_string()
}

/// Takes out what says where a session belongs.
fn strip(params: &mut Value) {
    if let Some(params) = params.as_object_mut() {
        params.remove("_meta");
    }
    for server in params["mcpServers"].as_array_mut().into_iter().flatten() {
        if let Some(env) = server.get_mut("env") {
            *env = json!([]);
        }
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
