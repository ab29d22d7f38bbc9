//! The tiny world: everything that the core asks for is answered at once, unless a test says
//! otherwise; time moves only when a test lets it.
//!
//! - `people`: what they say and do.
//! - `relay`, `agent`, `store`: the other sides.

mod agent;
mod people;
mod relay;
mod store;

use std::collections::{BTreeMap, VecDeque};

use serde_json::json;
use skep_mutant::{Mutant, Mutants};
use skep_store::{Config, Key};
use skep_trace::{Answer, Filter, Hex32, Note, RelayMsg, SharedEvent, Text};

pub(crate) use self::agent::Act;
use self::agent::Agent;
use crate::config::HarnessConfig;
use crate::effect::HarnessEffect;
use crate::event::HarnessEvent;
use crate::harness::Harness;

pub(crate) const AGENT: Hex32 = Hex32([0xa1; 32]);
pub(crate) const OWNER: Hex32 = Hex32([0xb2; 32]);
pub(crate) const STRANGER: Hex32 = Hex32([0xc3; 32]);
const START_MS: u64 = 1_800_000_000_000;

/// Everything around one core after the other.
pub(crate) struct World {
    pub(crate) config: HarnessConfig,
    pub(crate) harness: Harness,
    pub(crate) now_ms: u64,
    pub(crate) agent: Agent,
    pub(crate) receipts: BTreeMap<Key, (Text, Config)>,
    /// The store refuses so many operations to come.
    pub(crate) store_refuses: u32,
    pub(crate) channels: Vec<(&'static str, &'static str)>,
    /// What happened, in words; drained by `story`.
    story: Vec<String>,
    pub(crate) held_back: VecDeque<HarnessEvent>,
    pub(crate) store_waits: bool,
    events: VecDeque<HarnessEvent>,
    /// What an agent process says later: when, which process, what.
    later: Vec<(u64, u32, HarnessEvent)>,
    timers: BTreeMap<u32, (u64, bool)>,
    subs: BTreeMap<Text, Vec<Filter>>,
    published: Vec<SharedEvent>,
    connected: bool,
    pub(crate) exit: Option<i32>,
    said: u32,
}

impl World {
    /// A world with one harness that is ready.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut World)) -> Self {
        let config = HarnessConfig {
            reactions: false,
            typing: false,
            logs: false,
            ..HarnessConfig::new("ws://relay", AGENT, OWNER, "/w")
        };
        let sessions = json!({"close": {}, "delete": {}});
        let capabilities = json!({"loadSession": true, "sessionCapabilities": sessions});
        let mut world = Self {
            harness: Harness::new(config.clone()),
            config,
            now_ms: START_MS,
            agent: Agent { capabilities, offers: json!({}), ..Agent::default() },
            receipts: BTreeMap::new(),
            store_refuses: 0,
            channels: vec![("general", "stream"), ("random", "stream"), ("direct", "dm")],
            story: Vec::new(),
            held_back: VecDeque::new(),
            store_waits: false,
            events: VecDeque::new(),
            later: Vec::new(),
            timers: BTreeMap::new(),
            subs: BTreeMap::new(),
            published: Vec::new(),
            connected: false,
            exit: None,
            said: 0,
        };
        change(&mut world);
        world.start();
        world
    }

    pub(crate) fn mutated(mutant: Option<Mutant>, change: impl FnOnce(&mut World)) -> Self {
        Self::with(|world| {
            world.config.mutants = mutant.map_or(Mutants::NONE, Mutants::only);
            change(world);
        })
    }

    fn start(&mut self) {
        self.harness = Harness::new(self.config.clone());
        self.happens(HarnessEvent::Started);
    }

    /// Kills the harness, its agent with it, and starts it after long enough a downtime.
    pub(crate) fn restart(&mut self) {
        self.now_ms += 10_000;
        self.restart_at_once();
    }

    pub(crate) fn restart_at_once(&mut self) {
        self.timers.clear();
        self.events.clear();
        self.later.clear();
        self.subs.clear();
        self.agent.alive = false;
        self.story.push("-- restart".into());
        self.start();
    }

    pub(crate) fn happens(&mut self, event: HarnessEvent) {
        self.events.push_back(event);
        self.drain();
    }

    /// Lets time pass; what is due meanwhile happens at its instant.
    pub(crate) fn pass(&mut self, ms: u64) {
        let until_ms = self.now_ms + ms;
        while let Some(due_ms) = self.next_due().filter(|due_ms| *due_ms <= until_ms) {
            self.now_ms = self.now_ms.max(due_ms);
            self.fire(due_ms);
            self.drain();
        }
        self.now_ms = until_ms;
    }

    fn next_due(&self) -> Option<u64> {
        let timer = self.timers.values().map(|(due_ms, _)| *due_ms).min();
        let later = self.later.iter().map(|(due_ms, ..)| *due_ms).min();
        timer.into_iter().chain(later).min()
    }

    fn fire(&mut self, due_ms: u64) {
        if let Some(at) = self.later.iter().position(|(due, ..)| *due == due_ms) {
            let (_, process, event) = self.later.remove(at);
            if process == self.agent.process && self.agent.alive {
                self.events.push_back(event);
            }
            return;
        }
        let due = self.timers.iter().find(|(_, (due, _))| *due == due_ms);
        if let Some(timer) = due.map(|(timer, _)| *timer) {
            self.timers.remove(&timer);
            self.events.push_back(HarnessEvent::Timer(timer));
        }
    }

    /// Nothing but idle timers is left to happen.
    pub(crate) fn is_settled(&self) -> bool {
        self.later.is_empty() && self.timers.values().all(|(_, idle)| *idle)
    }

    fn drain(&mut self) {
        for _ in 0..10_000 {
            let Some(event) = self.events.pop_front() else { return };
            let mut effects = Vec::new();
            self.harness.step(self.now_ms, event, &mut effects);
            for effect in effects {
                self.carry_out(effect);
            }
        }
        panic!("the core never comes to rest: {:#?}", self.story);
    }

    fn carry_out(&mut self, effect: HarnessEffect) {
        match effect {
            HarnessEffect::Connect => {
                self.connected = true;
                self.events.push_back(HarnessEvent::Connected);
                let challenge = RelayMsg::Auth { challenge: "c".into() };
                self.events.push_back(HarnessEvent::Relay(challenge.into()));
            }
            HarnessEffect::Disconnect => {
                self.connected = false;
                self.subs.clear();
            }
            HarnessEffect::Send(message) => self.on_message(&message),
            HarnessEffect::Http(ticket, call) => self.on_http(ticket, &call),
            HarnessEffect::StartAgent => {
                self.agent.process += 1;
                self.agent.alive = true;
                self.events.push_back(HarnessEvent::AgentStarted);
            }
            HarnessEffect::ToAgent(frame) => self.on_frame(&frame),
            HarnessEffect::KillAgent => self.kill_agent(),
            HarnessEffect::SetTimer { timer, after_ms, idle } => {
                self.timers.insert(timer, (self.now_ms + after_ms, idle));
            }
            HarnessEffect::CancelTimer(timer) => {
                self.timers.remove(&timer);
            }
            HarnessEffect::Store(ticket, op) => self.on_store(ticket, op),
            HarnessEffect::Note(note) => self.on_note(&note),
            HarnessEffect::Log(_) => {}
            HarnessEffect::Exit(code) => self.exit = Some(code),
        }
    }

    fn on_note(&mut self, note: &Note) {
        match note {
            Note::TurnDone { messages } => self.story.push(format!("done {}", messages.len())),
            Note::TurnFailed { messages, retryable, .. } => {
                let word = if *retryable { "again" } else { "lost" };
                self.story.push(format!("{word} {}", messages.len()));
            }
            Note::StoreTrouble(_) => self.story.push("store trouble".into()),
            Note::Other(text) => self.story.push(text.to_string()),
        }
    }

    /// What happened since the last look, in words.
    pub(crate) fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }

    /// The requests of the last story, without the rest.
    pub(crate) fn calls(&mut self) -> Vec<String> {
        let mut story = self.story();
        story.retain(|line| line.starts_with("session/"));
        story
    }
}

/// What was asked of the agent, by method and session.
pub(crate) fn short(calls: &[String]) -> Vec<String> {
    calls
        .iter()
        .map(|call| {
            let mut words = call.split(' ');
            let (method, session) = (words.next().unwrap(), words.next().unwrap_or(""));
            if session.starts_with('/') { method.to_owned() } else { format!("{method} {session}") }
        })
        .collect()
}

pub(crate) fn key(channel: &str, root: Option<Hex32>) -> Key {
    Key { channel: channel.into(), root }
}

pub(crate) fn stop(reason: &str) -> Answer {
    Answer { stop_reason: Some(reason.into()), ..Answer::default() }
}

fn tag(parts: &[&str]) -> Vec<Text> {
    parts.iter().map(|part| Text::from(*part)).collect()
}
