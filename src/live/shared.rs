//! What everything in a live run tells, and is told. All of it runs on one thread.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use skep_agent::AgentDisk;
use skep_plan::{AgentCast, Point};
use skep_relay::ConnId;
use skep_trace::{End, Header, Life, Record, Text, Trace, What};
use skep_world::Recorder;
use skep_world::stage::Player;
use tokio::sync::Notify;

use super::child::AgentState;
use super::clock::Clock;
use super::groups::Group;
use super::lane::{Lane, RunningLife};
use super::process::Last;
use crate::profile::Ready;
use crate::tampering::Tampering;

/// Shared by everyone in one run.
#[derive(Clone)]
pub(super) struct Shared(Rc<State>);

struct State {
    recorder: RefCell<Recorder>,
    clock: Clock,
    /// Something happened.
    changed: Arc<Notify>,
    conns: Cell<u32>,
    lanes: RefCell<Vec<Lane>>,
    agents: RefCell<Vec<AgentState>>,
    casts: RefCell<BTreeMap<Text, Arc<AgentCast>>>,
    disks: BTreeMap<Text, Rc<RefCell<AgentDisk>>>,
    /// How a harness shows that it is ready.
    ready: RefCell<Ready>,
    /// What is done to it at its edges.
    tampering: Cell<Option<Tampering>>,
    /// The sockets that a life has open to its relay.
    sockets: RefCell<BTreeMap<Life, Arc<AtomicUsize>>>,
}

impl Shared {
    pub(super) fn new(
        header: Header,
        seed: u64,
        clock: Clock,
        casts: BTreeMap<Text, Arc<AgentCast>>,
        players: &[Player],
    ) -> Self {
        let disk = |name: &Text| (name.clone(), Rc::new(RefCell::new(AgentDisk::new(name, seed))));
        Self(Rc::new(State {
            recorder: RefCell::new(Recorder::new(header)),
            clock,
            changed: Arc::new(Notify::new()),
            conns: Cell::new(0),
            lanes: RefCell::new(players.iter().map(Lane::new).collect()),
            agents: RefCell::new(Vec::new()),
            disks: casts.keys().map(disk).collect(),
            casts: RefCell::new(casts),
            ready: RefCell::new(Ready::Presence),
            tampering: Cell::new(None),
            sockets: RefCell::new(BTreeMap::new()),
        }))
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub(super) fn note(&self, what: What) {
        let mut recorder = self.0.recorder.borrow_mut();
        recorder.set_now(self.0.clock.run_ms());
        recorder.note(what);
        self.wake();
    }

    /// Whoever waits for something is to look again. They look and begin to wait without a break, all
    /// on one thread, so none of them misses it.
    pub(super) fn wake(&self) {
        self.0.changed.notify_waiters();
    }

    pub(super) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Waits until something is so; says whether it was within the time.
    pub(super) async fn wait(&self, most: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let waiting = async {
            while !done(self) {
                self.changed().await;
            }
        };
        tokio::time::timeout(most, waiting).await.is_ok()
    }

    pub(super) fn full(&self) -> bool {
        self.0.recorder.borrow().full()
    }

    pub(super) fn len(&self) -> usize {
        self.0.recorder.borrow().records().len()
    }

    pub(super) fn with_records(&self, look: &mut dyn FnMut(&[Record]) -> bool) -> bool {
        look(self.0.recorder.borrow().records())
    }

    /// Takes the trace; what happens from now on is nobody's.
    pub(super) fn take_trace(&self) -> Trace {
        std::mem::take(&mut *self.0.recorder.borrow_mut()).into_trace()
    }

    pub(super) fn next_conn(&self) -> ConnId {
        self.0.conns.set(self.0.conns.get() + 1);
        ConnId(self.0.conns.get())
    }

    pub(super) fn disk(&self, agent: &str) -> Rc<RefCell<AgentDisk>> {
        self.0.disks.get(agent).expect("every agent of the cast has a disk").clone()
    }

    pub(super) fn cast(&self, agent: &str) -> Option<Arc<AgentCast>> {
        self.0.casts.borrow().get(agent).cloned()
    }

    pub(super) fn set_cast(&self, agent: &Text, cast: Arc<AgentCast>) {
        self.0.casts.borrow_mut().insert(agent.clone(), cast);
    }

    pub(super) fn with_lane<T>(&self, host: usize, look: impl FnOnce(&mut Lane) -> T) -> T {
        look(&mut self.0.lanes.borrow_mut()[host])
    }

    pub(super) fn lanes(&self) -> usize {
        self.0.lanes.borrow().len()
    }

    pub(super) fn with_agents<T>(&self, look: impl FnOnce(&mut Vec<AgentState>) -> T) -> T {
        look(&mut self.0.agents.borrow_mut())
    }

    /// The life that a harness leads, or led last.
    pub(super) fn life(&self, host: usize) -> Life {
        self.with_lane(host, |lane| lane.life())
    }

    pub(super) fn runs(&self, host: usize) -> bool {
        self.with_lane(host, |lane| lane.running.is_some())
    }

    /// How a harness shows that it is ready.
    pub(super) fn ready(&self) -> Ready {
        self.0.ready.borrow().clone()
    }

    pub(super) fn set_ready(&self, ready: Ready) {
        *self.0.ready.borrow_mut() = ready;
    }

    /// What is done to the harnesses of this run at their edges.
    pub(super) fn tampering(&self) -> Option<Tampering> {
        self.0.tampering.get()
    }

    pub(super) fn set_tampering(&self, tampering: Option<Tampering>) {
        self.0.tampering.set(tampering);
    }

    /// A harness showed that it is ready; what counts is the first time in a life.
    pub(super) fn is_ready(&self, host: usize, life: &Life) {
        let first = self.with_lane(host, |lane| {
            let current = lane.life() == *life;
            let running = lane.running.as_mut().filter(|running| current && !running.ready);
            running.map(|running| running.ready = true).is_some()
        });
        if first {
            self.note(What::HarnessReady(life.clone()));
        }
    }

    /// A harness was started.
    pub(super) fn begin_life(&self, host: usize, pid: u32) -> Life {
        let life = self.with_lane(host, |lane| {
            lane.running = Some(RunningLife::new(Group::led_by(pid)));
            lane.pids.push(pid);
            lane.life()
        });
        self.wake();
        life
    }

    /// A harness has ended. One that was killed at a point takes the agent with it that was held
    /// there.
    pub(super) fn end_life(&self, host: usize, last: Last) {
        let (life, running) = self.with_lane(host, |lane| (lane.life(), lane.running.take()));
        let Some(running) = running else { return };
        let end = match last {
            Last::Exit(code) => End::Exit(code),
            Last::Signal(signal) => End::Signal { signal, by_us: running.by_us },
        };
        self.note(What::HarnessEnded(life.clone(), end));
        // Its group lives on as long as the run: a kill of the harness alone spares what it started.
        self.with_lane(host, |lane| {
            lane.fell = Some(end).filter(|_| !running.by_us);
            lane.past.push(running.group);
        });
        if running.doomed {
            self.kill_agents(&life);
        }
    }

    /// Kills the agents of a life.
    pub(super) fn kill_agents(&self, life: &Life) {
        self.with_agents(|agents| {
            for agent in agents.iter_mut().filter(|agent| agent.harness == *life && !agent.ended())
            {
                agent.kill();
            }
        });
    }

    /// The harness is at a point. If it is to be killed there, it is.
    pub(super) fn reached(&self, host: usize, at: Point) -> bool {
        self.with_lane(host, |lane| {
            let place = lane.armed.iter().position(|armed| *armed == at);
            let (Some(place), Some(running)) = (place, &mut lane.running) else { return false };
            lane.armed.remove(place);
            running.by_us = true;
            running.doomed = true;
            running.group.signal(Signal::KILL);
            true
        })
    }

    /// Counts a socket of this life until the ticket is dropped.
    pub(super) fn ticket(&self, life: &Life) -> Ticket {
        let mut sockets = self.0.sockets.borrow_mut();
        let count = sockets.entry(life.clone()).or_default().clone();
        count.fetch_add(1, Ordering::Relaxed);
        Ticket { count, changed: self.0.changed.clone() }
    }

    /// No socket of this life is open any more.
    pub(super) fn hung_up(&self, life: &Life) -> bool {
        let sockets = self.0.sockets.borrow();
        sockets.get(life).is_none_or(|count| count.load(Ordering::Relaxed) == 0)
    }
}

/// Stands for an open socket.
pub(super) struct Ticket {
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.changed.notify_waiters();
    }
}
