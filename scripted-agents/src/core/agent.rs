//! One process of the agent: its state.

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value};
use skep_plan::AgentCast;
use skep_trace::Text;

use super::counts::Counts;
use super::disk::AgentDisk;
use super::event::{AgentEffect, AgentEvent};
use super::step::Step;
use super::stream::Stream;
use super::task::Task;

/// Events that a blocked agent leaves in its pipe; what comes on top is lost and reported.
const MOST_UNREAD: usize = 4096;

/// One process of a scripted agent, from its start to its end.
#[derive(Debug)]
pub struct Agent {
    pub(super) cast: Arc<AgentCast>,
    pub(super) process: u32,
    pub(super) dead: bool,
    pub(super) initialized: bool,
    /// Standard output is open.
    pub(super) speaks: bool,
    /// Standard input is open at the agent's end.
    pub(super) listens: bool,
    /// `session/cancel` ends no prompt any more.
    pub(super) deaf: bool,
    /// While this timer runs nothing is served.
    pub(super) blocked: Option<u32>,
    pub(super) unread: VecDeque<AgentEvent>,
    pub(super) counts: Counts,
    /// The sessions that were made, loaded or resumed on this connection, until they are closed.
    pub(super) open: BTreeSet<Text>,
    pub(super) tasks: Vec<Task>,
    pub(super) streams: Vec<Stream>,
    pub(super) timers: u32,
    pub(super) asked: i64,
    /// The models and modes of a session that chose none, made once.
    pub(super) defaults: OnceCell<Option<Arc<Map<String, Value>>>>,
}

impl Agent {
    /// A process that was just started: the agent's nth, from 1.
    pub fn new(cast: Arc<AgentCast>, process: u32) -> Self {
        Self {
            cast,
            process,
            dead: false,
            initialized: false,
            speaks: true,
            listens: true,
            deaf: false,
            blocked: None,
            unread: VecDeque::new(),
            counts: Counts::default(),
            open: BTreeSet::new(),
            tasks: Vec::new(),
            streams: Vec::new(),
            timers: 0,
            asked: 0,
            defaults: OnceCell::new(),
        }
    }

    /// Which process of the agent it is.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// The sessions that are open on this connection.
    pub fn open_sessions(&self) -> impl Iterator<Item = &Text> {
        self.open.iter()
    }

    /// Takes one event and says what is done about it. After `Exit` or `Die` nothing is.
    pub fn step(&mut self, event: AgentEvent, disk: &mut AgentDisk, out: &mut Vec<AgentEffect>) {
        disk.processes = disk.processes.max(self.process);
        if self.puts_off(&event) {
            return self.put_off(event, out);
        }
        let mut step = Step { agent: self, disk, out };
        step.event(event);
        step.catch_up();
    }

    fn puts_off(&self, event: &AgentEvent) -> bool {
        self.blocked.is_some_and(|timer| *event != AgentEvent::Timer(timer))
    }

    fn put_off(&mut self, event: AgentEvent, out: &mut Vec<AgentEffect>) {
        if self.unread.len() < MOST_UNREAD {
            self.unread.push_back(event);
        } else {
            out.push(AgentEffect::Finding("a blocked agent's pipe overflowed".into()));
        }
    }
}
