//! What the hosts tell, and what they are told: shared by the director and all hosts, which take
//! turns on one thread.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use skep_agent::AgentDisk;
use skep_harness::HarnessConfig;
use skep_harness::shell::StatusHandle;
use skep_plan::{AgentCast, Point};
use skep_relay::{ConnId, Keys};
use skep_store::{SimVolume, StoreConfig};
use skep_trace::{Header, Life, Process, Record, Text, Trace, What};
use tokio::sync::Notify;

use crate::recorder::Recorder;
use crate::stage::Player;

/// Shared by everyone in one run.
#[derive(Clone)]
pub(super) struct Shared(Rc<State>);

struct State {
    recorder: RefCell<Recorder>,
    conns: Cell<u32>,
    seed: u64,
    lives: RefCell<Vec<LifeState>>,
    disks: BTreeMap<Text, Rc<RefCell<AgentDisk>>>,
}

/// What the hosts and the director both know of one harness.
struct LifeState {
    name: Text,
    life: u32,
    /// Kills that wait for their point.
    armed: Vec<(Point, bool)>,
    /// A point was reached: the harness is to be killed at the end of the tick.
    doomed: Option<bool>,
    /// What the host starts with next.
    launch: Option<Launch>,
    /// Its agent processes that were not seen to end, and whether each waits for a timer.
    agents: Vec<(Process, bool)>,
    /// Processes that wait at a gate.
    gates: Vec<(Text, Arc<Notify>)>,
}

/// Everything that a host needs to start a life.
pub(super) struct Launch {
    pub(super) config: HarnessConfig,
    pub(super) agent: Arc<AgentCast>,
    pub(super) volume: SimVolume,
    pub(super) store: StoreConfig,
    pub(super) keys: &'static Keys,
    pub(super) relay: String,
    pub(super) epoch_ms: u64,
    pub(super) terminate: Arc<Notify>,
    pub(super) status: StatusHandle,
}

/// One harness, as the director has it.
pub(super) struct Lane {
    pub(super) name: Text,
    /// The host is known to the simulation.
    pub(super) hosted: bool,
    /// The process, while it runs.
    pub(super) running: Option<RunningLife>,
}

pub(super) struct RunningLife {
    pub(super) status: StatusHandle,
    pub(super) terminate: Arc<Notify>,
    pub(super) volume: SimVolume,
    pub(super) told_ready: bool,
}

impl Lane {
    pub(super) fn new(name: &Text) -> Self {
        Self { name: name.clone(), hosted: false, running: None }
    }

    pub(super) fn is_working(&self) -> bool {
        self.running.as_ref().is_some_and(|it| it.status.get().working)
    }

    pub(super) fn steps(&self) -> u64 {
        self.running.as_ref().map_or(0, |it| it.status.get().steps)
    }

    pub(super) fn has_timers(&self) -> bool {
        self.running.as_ref().is_some_and(|it| it.status.get().timers > 0)
    }
}

impl Shared {
    pub(super) fn new(
        header: Header,
        seed: u64,
        agents: impl Iterator<Item = Text>,
        players: &[Player],
    ) -> Self {
        let disk = |name: Text| {
            let disk = AgentDisk::new(&name, seed);
            (name, Rc::new(RefCell::new(disk)))
        };
        let life = |player: &Player| LifeState {
            name: player.name.clone(),
            life: 0,
            armed: Vec::new(),
            doomed: None,
            launch: None,
            agents: Vec::new(),
            gates: Vec::new(),
        };
        Self(Rc::new(State {
            recorder: RefCell::new(Recorder::new(header)),
            conns: Cell::new(0),
            seed,
            lives: RefCell::new(players.iter().map(life).collect()),
            disks: agents.map(disk).collect(),
        }))
    }

    pub(super) fn note(&self, what: What) {
        self.0.recorder.borrow_mut().note(what);
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.0.recorder.borrow().now_ms()
    }

    pub(super) fn set_now(&self, now_ms: u64) {
        self.0.recorder.borrow_mut().set_now(now_ms);
    }

    pub(super) fn len(&self) -> usize {
        self.0.recorder.borrow().records().len()
    }

    pub(super) fn full(&self) -> bool {
        self.0.recorder.borrow().full()
    }

    pub(super) fn with_records(&self, look: &mut dyn FnMut(&[Record]) -> bool) -> bool {
        look(self.0.recorder.borrow().records())
    }

    pub(super) fn seed(&self) -> u64 {
        self.0.seed
    }

    pub(super) fn next_conn(&self) -> ConnId {
        self.0.conns.set(self.0.conns.get() + 1);
        ConnId(self.0.conns.get())
    }

    pub(super) fn disk(&self, agent: &str) -> Rc<RefCell<AgentDisk>> {
        self.0.disks.get(agent).expect("every agent of the cast has a disk").clone()
    }

    /// The life that a harness leads, or led last.
    pub(super) fn life(&self, host: usize) -> Life {
        let lives = self.0.lives.borrow();
        Life { harness: lives[host].name.clone(), life: lives[host].life }
    }

    pub(super) fn begin_life(&self, host: usize, launch: Launch) {
        let mut lives = self.0.lives.borrow_mut();
        let it = &mut lives[host];
        it.life += 1;
        it.launch = Some(launch);
        it.doomed = None;
    }

    pub(super) fn take_launch(&self, host: usize) -> Option<Launch> {
        self.0.lives.borrow_mut()[host].launch.take()
    }

    pub(super) fn arm(&self, host: usize, at: Point, power: bool) {
        self.0.lives.borrow_mut()[host].armed.push((at, power));
    }

    /// A point that a kill of this harness waits for.
    pub(super) fn armed(&self, host: usize) -> Option<Point> {
        self.0.lives.borrow()[host].armed.first().map(|(at, _)| *at)
    }

    /// A point inside the store that a kill of this harness waits for.
    pub(super) fn armed_in_store(&self, host: usize) -> Option<Point> {
        let lives = self.0.lives.borrow();
        let armed = lives[host].armed.iter().find(|(at, _)| at.in_store());
        armed.map(|(at, _)| *at)
    }

    /// The harness is at a point. Says whether it is to be killed there.
    pub(super) fn reached(&self, host: usize, at: Point) -> bool {
        let mut lives = self.0.lives.borrow_mut();
        let it = &mut lives[host];
        let Some(place) = it.armed.iter().position(|(armed, _)| *armed == at) else {
            return false;
        };
        let (_, power) = it.armed.remove(place);
        it.doomed = Some(power);
        true
    }

    /// The harness is to be killed now; `true` when the power goes with it.
    pub(super) fn take_doomed(&self, host: usize) -> Option<bool> {
        self.0.lives.borrow_mut()[host].doomed.take()
    }

    pub(super) fn agent_started(&self, host: usize, agent: Process) {
        self.0.lives.borrow_mut()[host].agents.push((agent, false));
    }

    /// Takes an agent process off the list. Says whether it stood there.
    pub(super) fn agent_ended(&self, host: usize, agent: &Process) -> bool {
        let mut lives = self.0.lives.borrow_mut();
        let agents = &mut lives[host].agents;
        let place = agents.iter().position(|(known, _)| known == agent);
        place.map(|place| agents.remove(place)).is_some()
    }

    /// An agent process has dealt with everything; it waits for a timer, or for others.
    pub(super) fn agent_idles(&self, host: usize, agent: &Process, timer: bool) {
        let mut lives = self.0.lives.borrow_mut();
        for (known, waits) in &mut lives[host].agents {
            if known == agent {
                *waits = timer;
            }
        }
    }

    /// Some agent process waits for a timer of its own: it thinks.
    pub(super) fn agents_wait(&self) -> bool {
        self.0.lives.borrow().iter().any(|life| life.agents.iter().any(|(_, waits)| *waits))
    }

    pub(super) fn take_agents(&self, host: usize) -> Vec<Process> {
        let agents = std::mem::take(&mut self.0.lives.borrow_mut()[host].agents);
        agents.into_iter().map(|(process, _)| process).collect()
    }

    /// How many processes of an agent were ever started.
    pub(super) fn next_process(&self, agent: &Text) -> Process {
        let recorder = self.0.recorder.borrow();
        let started = recorder.records().iter().filter(
            |record| matches!(&record.what, What::AgentStarted { agent: known, .. } if known.agent == *agent),
        );
        let process = u32::try_from(started.count() + 1).expect("a run has few processes");
        Process { agent: agent.clone(), process }
    }

    pub(super) fn add_gate(&self, host: usize, agent: &Text, gate: Arc<Notify>) {
        self.0.lives.borrow_mut()[host].gates.push((agent.clone(), gate));
    }

    pub(super) fn release(&self, agent: &str) {
        for it in self.0.lives.borrow_mut().iter_mut() {
            it.gates.retain(|(name, gate)| {
                let meant = &**name == agent;
                if meant {
                    gate.notify_one();
                }
                !meant
            });
        }
    }

    pub(super) fn into_trace(self) -> Trace {
        match Rc::try_unwrap(self.0) {
            Ok(state) => state.recorder.into_inner().into_trace(),
            // Something still holds the run: take a copy, the run is over all the same.
            Err(state) => {
                let recorder = std::mem::take(&mut *state.recorder.borrow_mut());
                recorder.into_trace()
            }
        }
    }
}
