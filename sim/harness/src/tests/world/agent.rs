//! The agent of the tiny world: it does well whatever it is asked, unless it is told otherwise
//! for one request.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use skep_trace::{Answer, Call, Frame, RpcError, RpcId, Setup, Text, Update};

use super::{World, stop};
use crate::event::HarnessEvent;

/// What the agent does with one request instead of answering well.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Hang,
    Exit,
    Error(i64, &'static str),
    Result(Value),
    Stop(&'static str),
    /// These updates first, then the good answer.
    Say(Vec<&'static str>),
    /// The good answer first, then these, so many milliseconds apart.
    SayLater(u64, Vec<&'static str>),
    /// Asks for a permission, and answers only once it was given.
    AskFirst,
}

/// The agent: its sessions survive its processes.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    pub(crate) capabilities: Value,
    pub(crate) offers: Value,
    pub(super) sessions: BTreeMap<Text, Vec<Text>>,
    pub(super) minted: u32,
    pub(super) acts: BTreeMap<&'static str, VecDeque<Act>>,
    pub(super) gated: Option<(RpcId, Call)>,
    pub(super) process: u32,
    pub(super) alive: bool,
}

impl World {
    /// What the agent does with the next request of a method.
    pub(crate) fn on(&mut self, method: &'static str, act: Act) {
        self.agent.acts.entry(method).or_default().push_back(act);
    }

    /// A session that the agent has and no receipt names yet.
    pub(crate) fn give(&mut self, session: &str) {
        self.agent.sessions.insert(session.into(), Vec::new());
    }

    /// The agent says something of its own.
    pub(crate) fn agent_says(&mut self, session: &str, text: &'static str) {
        self.happens(update(session, text));
    }

    pub(crate) fn agent_dies(&mut self) {
        self.agent.alive = false;
        self.story.push("-- the agent dies".into());
        self.happens(HarnessEvent::AgentEnded);
    }

    /// Answers a request now that was left hanging: the id is the harness's nth request, from 0.
    pub(crate) fn answer_late(&mut self, id: i64, outcome: Result<Answer, RpcError>) {
        self.answer(&RpcId::Number(id), outcome);
        self.drain();
    }

    pub(super) fn kill_agent(&mut self) {
        self.agent.alive = false;
        self.agent.gated = None;
        // What the old process said and nobody has read yet is lost with it.
        self.events.retain(|event| {
            !matches!(event, HarnessEvent::AgentFrame(_) | HarnessEvent::AgentEnded)
        });
    }

    pub(super) fn on_frame(&mut self, frame: &Frame) {
        if !self.agent.alive {
            return;
        }
        match frame {
            Frame::Request { id, call } => self.on_request(id, call),
            Frame::Notification(call) => {
                self.story.push(format!("{} {}", call.method(), call.session_id().unwrap_or("")));
            }
            Frame::Response { outcome, .. } => {
                let word = if outcome.is_ok() { "permitted" } else { "refused" };
                self.story.push(word.into());
                if let Some((id, call)) = self.agent.gated.take() {
                    self.answer_well(&id, &call);
                }
            }
            Frame::Garbage(_) => {}
        }
    }

    fn on_request(&mut self, id: &RpcId, call: &Call) {
        let method = call.method();
        if method != "initialize" {
            self.story.push(told(call));
        }
        let act = self.agent.acts.get_mut(method).and_then(VecDeque::pop_front);
        let session = call.session_id().unwrap_or("").to_owned();
        match act {
            None => self.answer_well(id, call),
            Some(Act::Hang) => {}
            Some(Act::Exit) => self.agent_ends(),
            Some(Act::Error(code, message)) => self.answer(id, Err(RpcError::new(code, message))),
            Some(Act::Result(value)) => self.answer(id, Ok(Answer::from_json(value))),
            Some(Act::Stop(reason)) => self.answer(id, Ok(stop(reason))),
            Some(Act::Say(texts)) => {
                self.events.extend(texts.iter().map(|text| update(&session, text)));
                self.answer_well(id, call);
            }
            Some(Act::SayLater(gap_ms, texts)) => {
                self.answer_well(id, call);
                for (text, nth) in texts.into_iter().zip(1..) {
                    self.later.push((
                        self.now_ms + nth * gap_ms,
                        self.agent.process,
                        update(&session, text),
                    ));
                }
            }
            Some(Act::AskFirst) => self.ask_first(id, call),
        }
    }

    fn agent_ends(&mut self) {
        self.agent.alive = false;
        self.events.push_back(HarnessEvent::AgentEnded);
    }

    fn ask_first(&mut self, id: &RpcId, call: &Call) {
        self.agent.gated = Some((id.clone(), call.clone()));
        let options = json!({"options": [{"kind": "allow_once", "optionId": "yes"}]});
        let method = "session/request_permission".into();
        let call = Call::Other { method, params: Arc::new(options) };
        let request = Frame::Request { id: RpcId::Text("ask".into()), call };
        self.events.push_back(HarnessEvent::AgentFrame(request.into()));
    }

    fn answer(&mut self, id: &RpcId, outcome: Result<Answer, RpcError>) {
        let frame = Frame::Response { id: id.clone(), outcome };
        self.events.push_back(HarnessEvent::AgentFrame(frame.into()));
    }

    fn answer_well(&mut self, id: &RpcId, call: &Call) {
        let outcome = match call {
            Call::Initialize(_) => {
                let capabilities = self.agent.capabilities.clone();
                Ok(with([("agentCapabilities", capabilities)]))
            }
            Call::SessionNew(_) => {
                self.agent.minted += 1;
                let session: Text = format!("s{}", self.agent.minted).into();
                self.agent.sessions.insert(session.clone(), Vec::new());
                let offers = Answer::from_json(self.agent.offers.clone());
                Ok(Answer { session_id: Some(session), ..offers })
            }
            Call::SessionLoad { session_id, .. } | Call::SessionResume { session_id, .. } => {
                match self.agent.sessions.get(session_id) {
                    Some(_) => Ok(Answer::from_json(self.agent.offers.clone())),
                    None => Err(RpcError::new(-32002, "session not found")),
                }
            }
            Call::SessionPrompt { .. } => Ok(stop("end_turn")),
            _ => Ok(Answer::empty()),
        };
        self.answer(id, outcome);
    }
}

/// A request in words: the method, its session, and of a prompt how many events it tells of.
fn told(call: &Call) -> String {
    let setup = |setup: &Setup| {
        let mcp = setup.mcp_servers.as_array().map_or(0, Vec::len);
        let origin = setup.mcp_servers.to_string().contains("ORIGIN");
        let meta = setup.meta.as_ref().map(ToString::to_string).unwrap_or_default();
        let mcp = if mcp == 0 { String::new() } else { format!(" mcp{}", i32::from(origin)) };
        format!("{}{mcp} {meta}", setup.cwd)
    };
    match call {
        Call::SessionNew(it) => format!("session/new {}", setup(it)),
        Call::SessionLoad { session_id, setup: it } => {
            format!("session/load {session_id} {}", setup(it))
        }
        Call::SessionPrompt { session_id, prompt } => {
            let lines = prompt.iter().flat_map(|block| block.lines());
            let said: Vec<&str> = lines.filter_map(|line| line.strip_prefix("Content: ")).collect();
            format!("session/prompt {session_id} {}", said.join("+"))
        }
        Call::SetModel { session_id, model_id } => {
            format!("session/set_model {session_id} {model_id}")
        }
        Call::SetMode { session_id, mode_id } => format!("session/set_mode {session_id} {mode_id}"),
        other => format!("{} {}", other.method(), other.session_id().unwrap_or("")),
    }
}

fn with<const N: usize>(fields: [(&str, Value); N]) -> Answer {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Answer { extra: Some(Arc::new(Map::from_iter(fields))), ..Answer::default() }
}

fn update(session: &str, text: &str) -> HarnessEvent {
    let update = match text.strip_prefix("used ") {
        Some(used) => Update::Other(Arc::new(
            json!({"sessionUpdate": "usage_update", "used": used.parse::<u64>().unwrap(), "size": 9}),
        )),
        None => Update::AgentMessageChunk(text.into()),
    };
    let call = Call::SessionUpdate { session_id: session.into(), update };
    HarnessEvent::AgentFrame(Frame::Notification(call).into())
}
