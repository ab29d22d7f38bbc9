//! The event gear: the same cores as everywhere, their frames as values, on one discrete-event
//! queue. No runtime, no bytes, no ticks: idle time costs nothing.
//!
//! Every hop between two parties takes [`HOP_MS`]; equal delays keep every pipe in order.
//! - `acts`: what the director does.
//! - `harness_side`, `agent_side`, `relay_side`: the effects of each core, carried out.
//! - `store`: the stores' operations, one volume operation at a time where that can be seen.
//! - `crash`: kills at a point.
//! - `spread`: hops that take longer, where a scenario has a schedule.

mod acts;
mod agent_side;
mod crash;
mod harness_side;
mod queue;
mod relay_side;
mod spread;
mod store;

use std::collections::BTreeMap;

use skep_agent::{AgentDisk, AgentEffect, AgentEvent};
use skep_harness::{HarnessEffect, HarnessEvent};
use skep_plan::{Act, AgentCast};
use skep_relay::{ConnId, Relay, RelayEffect, RelayEvent};
use skep_trace::{Record, Settled, Text, Trace, What};

use self::agent_side::AgentHost;
use self::crash::Armed;
use self::harness_side::HarnessHost;
use self::queue::{Class, Queue};
use self::relay_side::RelayHost;
use self::spread::{Lane, Spread};
use crate::ground::give;
use crate::mint::EPOCH_S;
use crate::recorder::Recorder;
use crate::stage::Stage;
use crate::states::States;
use crate::world::{Outlook, Setup, World, WorldError};

/// How long every hop between two parties takes. One millisecond: the finest step of time.
pub const HOP_MS: u64 = 1;

/// The longest that one step may take: an hour is longer than ten retries with their waits, so a run
/// that passes it is out of hand.
pub const STEP_BOUND_MS: u64 = 3_600_000;

/// Channels and profiles are a day older than the run.
const BORN_S: u64 = EPOCH_S - 86_400;

/// What is due at an instant.
#[derive(Debug)]
enum Due {
    Harness {
        host: usize,
        life: u32,
        via: Via,
        event: HarnessEvent,
    },
    Agent {
        process: usize,
        event: AgentEvent,
    },
    Relay {
        relay: usize,
        event: RelayEvent,
    },
    /// The next volume operation of a store that works step by step.
    Poll {
        host: usize,
        life: u32,
    },
}

/// What brings an event to a harness: what came on a connection or a pipe that it has since
/// given up is lost with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    /// Itself: its timers, its store, its start.
    Own,
    /// A relay connection.
    Conn(ConnId),
    /// An agent process.
    Pipe(usize),
}

/// A simulated world without a runtime.
pub struct EventWorld {
    stage: Stage,
    interleave: bool,
    spread: Option<Spread>,
    recorder: Recorder,
    queue: Queue<Due>,
    relays: Vec<RelayHost>,
    harnesses: Vec<HarnessHost>,
    agents: Vec<AgentHost>,
    /// What the agents keep.
    disks: BTreeMap<Text, AgentDisk>,
    states: States,
    armed: Vec<Armed>,
    /// Connections are numbered over the whole run.
    next_conn: u32,
    // Effects are collected into buffers that live as long as the world: no allocation a step.
    harness_effects: Vec<HarnessEffect>,
    agent_effects: Vec<AgentEffect>,
    relay_effects: Vec<RelayEffect>,
}

impl EventWorld {
    /// A world in which nothing has happened.
    ///
    /// # Errors
    /// When the cast contradicts itself.
    pub fn new(setup: Setup<'_>) -> Result<Self, WorldError> {
        let urls = setup.cast.relays.iter().map(|relay| format!("ws://{}.test", relay.name).into());
        let stage = Stage::new(&setup, urls.collect())?;
        let relay = |place| RelayHost::new(Relay::new(stage.relay_config(place, BORN_S)));
        let disk = |agent: &AgentCast| AgentDisk::new(&agent.name, setup.seed);
        Ok(Self {
            relays: (0..setup.cast.relays.len()).map(relay).collect(),
            harnesses: stage.players.iter().map(|player| HarnessHost::new(&player.name)).collect(),
            agents: Vec::new(),
            disks: setup.cast.agents.iter().map(|it| (it.name.clone(), disk(it))).collect(),
            states: States::new(),
            stage,
            interleave: setup.interleave,
            spread: setup.schedule.map(Spread::new),
            recorder: Recorder::new(setup.header),
            queue: Queue::new(),
            armed: Vec::new(),
            next_conn: 0,
            harness_effects: Vec::with_capacity(16),
            agent_effects: Vec::with_capacity(16),
            relay_effects: Vec::with_capacity(16),
        })
    }

    fn now_ms(&self) -> u64 {
        self.recorder.now_ms()
    }

    /// The instant as the parties' clocks tell it.
    fn unix_ms(&self) -> u64 {
        EPOCH_S * 1000 + self.now_ms()
    }

    fn send(&mut self, due: Due) {
        let at_ms = self.hop(|| lane(&due));
        self.queue.push(at_ms, Class::Work, due);
    }

    /// When a hop that begins now ends.
    fn hop(&mut self, lane: impl FnOnce() -> Lane) -> u64 {
        let soonest_ms = self.now_ms() + HOP_MS;
        self.spread.as_mut().map_or(soonest_ms, |spread| spread.due(lane(), soonest_ms))
    }

    /// Takes the next entry, moves time to it and carries it out.
    fn advance(&mut self) {
        let Some((due_ms, due)) = self.queue.pop() else { return };
        self.recorder.set_now(due_ms);
        match due {
            Due::Harness { host, life, via, event } => self.reach_harness(host, life, via, event),
            Due::Agent { process, event } => self.reach_agent(process, event),
            Due::Relay { relay, event } => self.reach_relay(relay, event),
            Due::Poll { host, life } => self.poll_store(host, life),
        }
    }

    /// Carries out everything that is due up to an instant, and moves time there.
    fn run_until(&mut self, until_ms: u64) {
        while self.queue.next_due().is_some_and(|due| due <= until_ms) && !self.recorder.full() {
            self.advance();
        }
        self.recorder.set_now(until_ms);
    }

    /// Something is left to do that is no idle timer.
    fn busy(&self) -> bool {
        self.queue.count(Class::Work) + self.queue.count(Class::Timer) > 0
    }
}

/// What a hop must not overtake.
fn lane(due: &Due) -> Lane {
    match due {
        Due::Harness { host, via, .. } => match via {
            Via::Own => Lane::Host(*host),
            Via::Conn(conn) => Lane::Conn(conn.0),
            Via::Pipe(process) => Lane::Output(*process),
        },
        Due::Agent { process, .. } => Lane::Input(*process),
        Due::Relay { relay, .. } => Lane::Relay(*relay),
        Due::Poll { host, .. } => Lane::Poll(*host),
    }
}

impl World for EventWorld {
    fn open(&mut self) -> Result<(), WorldError> {
        for what in self.stage.names() {
            self.recorder.note(what);
        }
        give(self)?;
        self.start(&self.stage.started())
    }

    fn begin(&mut self, step: usize, title: &str) {
        self.recorder.note(What::Step { index: step, title: title.into() });
    }

    fn act(&mut self, index: usize, text: &str, act: &Act) -> Result<(), WorldError> {
        self.recorder.note(What::Act { index, text: text.into() });
        self.carry_out(act)
    }

    fn settle(
        &mut self,
        step: usize,
        outlook: &mut dyn FnMut(&[Record]) -> Outlook,
    ) -> Result<Settled, WorldError> {
        let bound_ms = self.now_ms() + STEP_BOUND_MS;
        let mut how = Settled::Drained;
        let mut seen = usize::MAX;
        let mut all_met = false;
        loop {
            if seen != self.recorder.records().len() {
                seen = self.recorder.records().len();
                all_met = outlook(self.recorder.records()) == Outlook::Met;
            }
            let done = if all_met { self.queue.count(Class::Work) == 0 } else { !self.busy() };
            if done {
                break;
            }
            if self.now_ms() > bound_ms || self.recorder.full() {
                how = Settled::Bound("the step's expectations".into());
                break;
            }
            self.advance();
        }
        self.snapshots();
        self.recorder.note(What::Settled { step, how: how.clone() });
        Ok(how)
    }

    fn close(self: Box<Self>) -> Trace {
        self.recorder.into_trace()
    }
}
