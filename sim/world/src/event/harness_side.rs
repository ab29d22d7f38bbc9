//! The harnesses, and what their cores' effects do.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_harness::{Harness, HarnessEffect, HarnessEvent};
use skep_relay::{ConnId, RelayEvent};
use skep_trace::{ClientMsg, End, HttpCall, Life, Note, Text, What};

use super::queue::{Class, Ticket};
use super::store::StoreHost;
use super::{Due, EventWorld, HOP_MS, Via};
use crate::points::Points;
use crate::stage::party;

/// The working directory of every harness.
const CWD: &str = "/w";

/// One harness of the cast and the life that it leads now.
pub(super) struct HarnessHost {
    pub(super) name: Text,
    /// How many lives it has had.
    pub(super) life: u32,
    /// The process, while it runs.
    pub(super) core: Option<Harness>,
    pub(super) ready: bool,
    /// Suspended: what comes meanwhile waits here.
    pub(super) paused: bool,
    pub(super) stash: Vec<(Via, HarnessEvent)>,
    pub(super) conn: Option<ConnId>,
    /// The place of its agent process.
    pub(super) agent: Option<usize>,
    pub(super) timers: BTreeMap<u32, Ticket>,
    pub(super) store: StoreHost,
    /// Where its conversation with the agent stands, for the crash points.
    pub(super) points: Points,
}

impl HarnessHost {
    pub(super) fn new(name: &Text) -> Self {
        Self {
            name: name.clone(),
            life: 0,
            core: None,
            ready: false,
            paused: false,
            stash: Vec::new(),
            conn: None,
            agent: None,
            timers: BTreeMap::new(),
            store: StoreHost::default(),
            points: Points::default(),
        }
    }

    /// The life that it leads, or led last.
    pub(super) fn life(&self) -> Life {
        Life { harness: self.name.clone(), life: self.life }
    }
}

impl EventWorld {
    pub(super) fn reach_harness(&mut self, host: usize, life: u32, via: Via, event: HarnessEvent) {
        let it = &mut self.harnesses[host];
        let current = match via {
            Via::Own => true,
            Via::Conn(conn) => it.conn == Some(conn),
            Via::Pipe(process) => it.agent == Some(process),
        };
        if it.life != life || it.core.is_none() || !current {
            return;
        }
        if it.paused {
            it.stash.push((via, event));
            return;
        }
        match event {
            HarnessEvent::Disconnected => it.conn = None,
            HarnessEvent::AgentFrame(ref frame) if self.crash_on_answer(host, frame) => return,
            _ => {}
        }
        self.step_harness(host, event);
    }

    fn step_harness(&mut self, host: usize, event: HarnessEvent) {
        let now_ms = self.unix_ms();
        let mut effects = std::mem::take(&mut self.harness_effects);
        let it = &mut self.harnesses[host];
        let life = it.life;
        let Some(core) = it.core.as_mut() else { return };
        core.step(now_ms, event, &mut effects);
        if !it.ready && core.ready() {
            it.ready = true;
            let life = it.life();
            self.recorder.note(What::HarnessReady(life));
        }
        for effect in effects.drain(..) {
            // An effect may end the life (an exit, a crash point): the rest never happens.
            if self.harnesses[host].life == life && self.harnesses[host].core.is_some() {
                self.harness_effect(host, effect);
            }
        }
        self.harness_effects = effects;
    }

    fn harness_effect(&mut self, host: usize, effect: HarnessEffect) {
        match effect {
            HarnessEffect::Connect => self.connect(host),
            HarnessEffect::Disconnect => self.hang_up(host),
            HarnessEffect::Send(message) => self.send_to_relay(host, message),
            HarnessEffect::Http(ticket, call) => self.ask_relay(host, ticket, call),
            HarnessEffect::StartAgent => self.start_agent(host),
            HarnessEffect::ToAgent(frame) => self.write_to_agent(host, frame),
            HarnessEffect::KillAgent => self.kill_agent(host),
            HarnessEffect::SetTimer { timer, after_ms, idle } => {
                self.set_timer(host, timer, after_ms, idle);
            }
            HarnessEffect::CancelTimer(timer) => {
                if let Some(ticket) = self.harnesses[host].timers.remove(&timer) {
                    self.queue.cancel(ticket);
                }
            }
            HarnessEffect::Store(ticket, op) => self.ask_store(host, ticket, op),
            HarnessEffect::Note(note) => self.note_of(host, note),
            HarnessEffect::Log(line) => {
                let actor = self.harnesses[host].life().to_string().into();
                self.recorder.note(What::Log { actor, line });
            }
            HarnessEffect::Exit(code) => self.end_harness(host, End::Exit(code), false),
        }
    }

    pub(super) fn note_of(&mut self, host: usize, note: Note) {
        let harness = self.harnesses[host].life();
        self.recorder.note(What::Note { harness, note });
    }

    fn connect(&mut self, host: usize) {
        let harness = self.harnesses[host].life();
        let (relay, life) = (self.stage.players[host].relay, harness.life);
        if self.relays[relay].core.is_down() {
            let event = HarnessEvent::ConnectFailed("connection refused".into());
            self.send(Due::Harness { host, life, via: Via::Own, event });
            return;
        }
        self.next_conn += 1;
        let conn = ConnId(self.next_conn);
        self.harnesses[host].conn = Some(conn);
        self.relays[relay].conns.insert(conn, (host, harness.clone()));
        self.recorder.note(What::Connected { harness, conn: conn.0 });
        let event = HarnessEvent::Connected;
        self.send(Due::Harness { host, life, via: Via::Conn(conn), event });
        let party = party(host);
        self.send(Due::Relay { relay, event: RelayEvent::Connected { conn, party } });
    }

    fn hang_up(&mut self, host: usize) {
        let relay = self.stage.players[host].relay;
        if let Some(conn) = self.harnesses[host].conn.take() {
            self.send(Due::Relay { relay, event: RelayEvent::Disconnected(conn) });
        }
    }

    fn send_to_relay(&mut self, host: usize, message: Arc<ClientMsg>) {
        if let Some(conn) = self.harnesses[host].conn {
            let relay = self.stage.players[host].relay;
            self.send(Due::Relay { relay, event: RelayEvent::Message(conn, message) });
        }
    }

    fn ask_relay(&mut self, host: usize, ticket: u32, call: Arc<HttpCall>) {
        let life = self.harnesses[host].life();
        let relay = self.stage.players[host].relay;
        if self.relays[relay].core.is_down() {
            let event = HarnessEvent::Http(ticket, Err("connection refused".into()));
            self.send(Due::Harness { host, life: life.life, via: Via::Own, event });
            return;
        }
        let side = &mut self.relays[relay];
        side.next_http += 1;
        let id = skep_relay::HttpId(side.next_http);
        let asked = super::relay_side::Asked { host, life, ticket, call: call.clone() };
        side.asked.insert(id, asked);
        self.send(Due::Relay { relay, event: RelayEvent::Http(id, call) });
    }

    fn set_timer(&mut self, host: usize, timer: u32, after_ms: u64, idle: bool) {
        let life = self.harnesses[host].life;
        let event = HarnessEvent::Timer(timer);
        let due = Due::Harness { host, life, via: Via::Own, event };
        let class = if idle { Class::Idle } else { Class::Timer };
        let ticket = self.queue.push(self.now_ms() + after_ms.max(1), class, due);
        if let Some(old) = self.harnesses[host].timers.insert(timer, ticket) {
            self.queue.cancel(old);
        }
    }

    /// The process is gone: its connection breaks, its store operations stop where they are, its
    /// agent reads the end of its input, or dies with it where the whole group was killed.
    pub(super) fn end_harness(&mut self, host: usize, end: End, group: bool) {
        let it = &mut self.harnesses[host];
        it.core = None;
        it.ready = false;
        it.paused = false;
        it.stash.clear();
        let life = it.life();
        for ticket in std::mem::take(&mut it.timers).into_values() {
            self.queue.cancel(ticket);
        }
        self.recorder.note(What::HarnessEnded(life, end));
        self.end_store(host);
        self.hang_up(host);
        if let Some(process) = self.harnesses[host].agent.take() {
            self.orphan(process, group);
        }
    }

    /// Starts the next life of a harness.
    pub(super) fn begin_life(&mut self, host: usize) {
        let it = &mut self.harnesses[host];
        it.life += 1;
        let life = it.life();
        self.recorder.note(What::HarnessStarted(life.clone()));
        let config = self.stage.harness_config(host, CWD);
        self.harnesses[host].core = Some(Harness::new(config));
        self.open_store(host);
        let due =
            Due::Harness { host, life: life.life, via: Via::Own, event: HarnessEvent::Started };
        self.queue.push(self.now_ms() + HOP_MS, Class::Work, due);
    }

    /// Hands a continued harness everything that came while it was suspended.
    pub(super) fn resume_harness(&mut self, host: usize) {
        let it = &mut self.harnesses[host];
        it.paused = false;
        let life = it.life;
        for (via, event) in std::mem::take(&mut it.stash) {
            self.send(Due::Harness { host, life, via, event });
        }
    }
}
