//! Processes of agents, and the requests that are open between each and its harness.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use skep_trace::{Answer, Process, RpcId, Text};

use super::ids::{LifeId, ProcessId, PromptId, SessionId};

/// What an agent said that it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offers {
    /// `agentCapabilities.loadSession` is `true`.
    pub(crate) load: bool,
    /// `agentCapabilities.sessionCapabilities.resume` is there.
    pub(crate) resume: bool,
}

impl Offers {
    fn read(answer: &Answer) -> Self {
        let Some(capabilities) = answer.field("agentCapabilities") else {
            return Self::default();
        };
        let resume = capabilities.pointer("/sessionCapabilities/resume");
        Self {
            load: capabilities.get("loadSession") == Some(&Value::Bool(true)),
            resume: resume.is_some_and(|marker| !marker.is_null()),
        }
    }
}

/// What a request of the harness wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// The handshake.
    Initialize,
    /// A new session, for this channel if it says so.
    New {
        /// `_meta.channelId`.
        channel: Option<Text>,
    },
    /// An old session.
    Load {
        /// Which.
        session: SessionId,
        /// By `session/resume`, which replays nothing.
        resume: bool,
    },
    /// A turn.
    Prompt(PromptId),
    /// Anything else.
    Other,
}

impl Wants {
    /// The request's name on the wire.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::New { .. } => "session/new",
            Self::Load { resume: false, .. } => "session/load",
            Self::Load { resume: true, .. } => "session/resume",
            Self::Prompt(_) => "session/prompt",
            Self::Other => "another request",
        }
    }
}

/// A request of the harness that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// The record of it.
    pub(crate) record: usize,
    /// When it was sent.
    pub(crate) at_ms: u64,
    /// When the agent last said something about its session; at first when it was sent.
    pub(crate) heard_ms: u64,
    /// What it wants.
    pub(crate) wants: Wants,
}

/// A request of the agent that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentAsk {
    /// The record of it.
    pub(crate) record: usize,
    /// When it was sent.
    pub(crate) at_ms: u64,
    /// It came while a load was open.
    pub(crate) in_load: bool,
}

/// One process of an agent.
#[derive(Debug)]
pub(crate) struct ProcessFacts {
    /// Its name.
    pub(crate) process: Process,
    /// Whose child it is.
    pub(crate) life: LifeId,
    /// The record that ended it.
    pub(crate) ended: Option<usize>,
    /// It was asked to introduce itself.
    pub(crate) greeted: bool,
    /// It introduced itself.
    pub(crate) introduced: bool,
    /// What it offers.
    pub(crate) offers: Offers,
    /// The sessions that were created or loaded on this connection.
    pub(crate) live: BTreeSet<SessionId>,
    open: Vec<(RpcId, Open)>,
    asks: Vec<(RpcId, AgentAsk)>,
}

impl ProcessFacts {
    /// The harness sent a request.
    pub(crate) fn ask(&mut self, id: &RpcId, open: Open) {
        self.greeted |= open.wants == Wants::Initialize;
        self.open.retain(|(known, _)| known != id);
        self.open.push((id.clone(), open));
    }

    /// The agent answered; what it answered to, if anything.
    pub(crate) fn answered(&mut self, id: &RpcId) -> Option<Open> {
        let place = self.open.iter().position(|(known, _)| known == id)?;
        Some(self.open.remove(place).1)
    }

    /// The agent sent a request.
    pub(crate) fn agent_asks(&mut self, id: &RpcId, record: usize, at_ms: u64) {
        let in_load = self.open().any(|open| matches!(open.wants, Wants::Load { .. }));
        self.asks.retain(|(known, _)| known != id);
        self.asks.push((id.clone(), AgentAsk { record, at_ms, in_load }));
    }

    /// The harness answered; what it answered to, if anything.
    pub(crate) fn agent_answered(&mut self, id: &RpcId) -> Option<AgentAsk> {
        let place = self.asks.iter().position(|(known, _)| known == id)?;
        Some(self.asks.remove(place).1)
    }

    /// The agent introduced itself.
    pub(crate) fn introduce(&mut self, answer: &Answer) {
        self.introduced = true;
        self.offers = Offers::read(answer);
    }

    /// The agent said something about a session. True while a load of it is open.
    pub(crate) fn heard(&mut self, session: SessionId, at_ms: u64) -> bool {
        let load = self.open.iter_mut().find_map(|(_, open)| match open.wants {
            Wants::Load { session: loading, resume: false } if loading == session => Some(open),
            _ => None,
        });
        load.map(|open| open.heard_ms = at_ms).is_some()
    }

    /// The harness's requests that are not answered, the earliest first.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Open> {
        self.open.iter().map(|(_, open)| open)
    }

    /// The agent's requests that are not answered, the earliest first.
    pub(crate) fn asks(&self) -> impl Iterator<Item = &AgentAsk> {
        self.asks.iter().map(|(_, ask)| ask)
    }

    /// It is gone: whatever was open stays unanswered.
    pub(crate) fn end(&mut self, record: usize) -> Vec<Open> {
        self.ended.get_or_insert(record);
        self.open.drain(..).map(|(_, open)| open).collect()
    }
}

/// All processes so far.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    list: Vec<ProcessFacts>,
    places: BTreeMap<Process, ProcessId>,
}

impl Processes {
    /// The facts of a process.
    pub(crate) fn get(&self, id: ProcessId) -> &ProcessFacts {
        &self.list[id.0]
    }

    pub(crate) fn get_mut(&mut self, id: ProcessId) -> &mut ProcessFacts {
        &mut self.list[id.0]
    }

    /// Every process, the earliest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (ProcessId, &ProcessFacts)> {
        self.list.iter().enumerate().map(|(place, facts)| (ProcessId(place), facts))
    }

    /// The place of a process; one that was never seen to start begins here.
    pub(crate) fn place(&mut self, process: &Process, life: LifeId) -> ProcessId {
        if let Some(id) = self.places.get(process) {
            return *id;
        }
        let id = ProcessId(self.list.len());
        self.places.insert(process.clone(), id);
        self.list.push(ProcessFacts {
            process: process.clone(),
            life,
            ended: None,
            greeted: false,
            introduced: false,
            offers: Offers::default(),
            live: BTreeSet::new(),
            open: Vec::new(),
            asks: Vec::new(),
        });
        id
    }

    /// The place of a process that is known already.
    pub(crate) fn find(&self, process: &Process) -> Option<ProcessId> {
        self.places.get(process).copied()
    }
}
