//! What survives an agent's processes: its sessions with their turns, and a few counters.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::{Text, Update};

use super::counts::Counts;
use super::mint;

/// The disk of one scripted agent. All its processes share it, also two that live at once.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDisk {
    pub(super) agent: Text,
    pub(super) seed: u64,
    pub(super) minted: u32,
    pub(super) known: u32,
    pub(super) processes: u32,
    pub(super) requests: Counts,
    pub(super) sessions: BTreeMap<Text, Session>,
}

/// A session as its agent keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    pub(super) number: u32,
    pub(super) born: u32,
    pub(super) cwd: Text,
    pub(super) model: Option<Text>,
    pub(super) mode: Option<Text>,
    pub(super) turns: Vec<Turn>,
}

/// One exchange of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The text blocks of the prompt.
    pub(super) user: Arc<[Text]>,
    /// What the agent said and did, as it sent it.
    pub(super) agent: Vec<Update>,
}

impl AgentDisk {
    /// The empty disk of an agent. The seed only shapes the tails of session ids.
    pub fn new(agent: &str, seed: u64) -> Self {
        Self {
            agent: agent.into(),
            seed,
            minted: 0,
            known: 0,
            processes: 0,
            requests: Counts::default(),
            sessions: BTreeMap::new(),
        }
    }

    /// A new session id. Nothing is known of a session by it yet.
    pub fn mint(&mut self) -> Text {
        self.minted += 1;
        mint::session_id(&self.agent, self.seed, self.minted)
    }

    /// Makes a session known, as if an earlier process had left it with these turns (what the
    /// user said, what the agent said).
    pub fn give(&mut self, id: &str, turns: &[(&str, &str)]) {
        let session = self.open(id.into(), "/", 0);
        session.turns = turns.iter().map(|(user, agent)| Turn::new(user, agent)).collect();
    }

    /// Every session, by id.
    pub fn sessions(&self) -> impl Iterator<Item = (&Text, &Session)> {
        self.sessions.iter()
    }

    /// One session.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// How often a method was asked for, over all processes.
    pub fn requests(&self, method: &str) -> u32 {
        self.requests.get(method)
    }

    /// The highest number of a process that used this disk.
    pub fn processes(&self) -> u32 {
        self.processes
    }

    /// Forgets a session.
    pub(crate) fn remove(&mut self, id: &str) {
        self.sessions.remove(id);
    }

    /// Makes a session known and empty; one of that id that was there is gone.
    pub(crate) fn open(&mut self, id: Text, cwd: &str, process: u32) -> &mut Session {
        self.known += 1;
        let session = self.sessions.entry(id).or_default();
        *session =
            Session { number: self.known, born: process, cwd: cwd.into(), ..Session::default() };
        session
    }
}

impl Session {
    /// Its place in the order in which the agent came to know its sessions, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its working directory.
    pub fn cwd(&self) -> &Text {
        &self.cwd
    }

    /// The model that was chosen, `None` for the agent's default.
    pub fn model(&self) -> Option<&Text> {
        self.model.as_ref()
    }

    /// The mode that was chosen, `None` for the agent's default.
    pub fn mode(&self) -> Option<&Text> {
        self.mode.as_ref()
    }

    /// Its turns, oldest first. A turn that failed or was cancelled stays, with what was said.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }
}

impl Turn {
    fn new(user: &str, agent: &str) -> Self {
        Self { user: [user.into()].into(), agent: vec![Update::AgentMessageChunk(agent.into())] }
    }

    /// What the user said.
    pub fn user_text(&self) -> String {
        self.user.concat()
    }

    /// What the agent said, its thoughts left out.
    pub fn agent_text(&self) -> String {
        let said = |update: &Update| match update {
            Update::AgentMessageChunk(text) => Some(Text::clone(text)),
            _ => None,
        };
        self.agent.iter().filter_map(said).collect::<Vec<_>>().concat()
    }
}
