//! The state directories, and the stores' operations on them.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use skep_harness::HarnessEvent;
use skep_plan::{DiskOp, GivenFile, GivenReceipt, Point};
use skep_relay::Keys;
use skep_store::{Config, Key, SimVolume, Store, StoreAnswer, StoreConfig, StoreOp, poll};
use skep_trace::{NameKind, Note, Receipt, Snapshot, Text, What};

use super::queue::Class;
use super::{Due, EventWorld, HOP_MS, Via};
use crate::world::WorldError;

/// More volume operations than any store operation needs.
const MOST_OPERATIONS: usize = 100_000;

/// One state directory of the scenario.
pub(super) struct StateDir {
    pub(super) name: Text,
    pub(super) path: Text,
    /// What it looked like when it was last told of.
    last: Option<Arc<Snapshot>>,
    /// What its stores answered then.
    receipts: Vec<Receipt>,
}

type Running = Pin<Box<dyn Future<Output = (Store<SimVolume>, StoreAnswer)>>>;

/// An operation that is under way.
struct Operation {
    ticket: u32,
    /// It changes the file: only then is there a point at which it is stored.
    writes: bool,
    running: Running,
}

/// A harness's store and what it is asked. Operations run one after another.
#[derive(Default)]
pub(super) struct StoreHost {
    volume: Option<SimVolume>,
    store: Option<Store<SimVolume>>,
    waiting: VecDeque<(u32, StoreOp)>,
    running: Option<Operation>,
}

impl EventWorld {
    /// The place of the state directory with this name.
    pub(super) fn state_place(&mut self, name: &Text) -> usize {
        if let Some(place) = self.states.iter().position(|state| state.name == *name) {
            return place;
        }
        let path = format!("/state/{name}").into();
        self.states.push(StateDir { name: name.clone(), path, last: None, receipts: Vec::new() });
        self.states.len() - 1
    }

    fn store_config(&self, host: usize) -> StoreConfig {
        let it = &self.harnesses[host];
        let (dir, url) = (&self.states[it.state].path, &self.relays[it.relay].url);
        let mut config = StoreConfig::new(dir, url, it.pubkey);
        config.mutants = self.mutants;
        config
    }

    /// The next life's store. Where resume is switched off there is none at all (H-10).
    pub(super) fn open_store(&mut self, host: usize) {
        let volume = self.disk.process();
        let config = self.store_config(host);
        let opening = Store::open(volume.clone(), config, self.unix_ms());
        let opened = poll::run(opening, MOST_OPERATIONS);
        let (store, warnings) = opened.expect("a store that works alone needs few operations");
        for warning in warnings {
            self.note_of(host, Note::StoreTrouble(warning.to_string().into()));
        }
        self.disk.stepwise(volume.pid(), self.interleave);
        let it = &mut self.harnesses[host].store;
        *it = StoreHost { volume: Some(volume), store: Some(store), ..StoreHost::default() };
    }

    /// The process is gone: what its store was doing stops where it is.
    pub(super) fn end_store(&mut self, host: usize) {
        let it = std::mem::take(&mut self.harnesses[host].store);
        if let Some(volume) = &it.volume {
            self.disk.kill(volume.pid());
        }
    }

    pub(super) fn power_loss(&mut self, _host: usize) {
        self.disk.power_loss(self.seed);
    }

    pub(super) fn ask_store(&mut self, host: usize, ticket: u32, op: StoreOp) {
        self.harnesses[host].store.waiting.push_back((ticket, op));
        self.next_operation(host);
    }

    fn next_operation(&mut self, host: usize) {
        let now_ms = self.unix_ms();
        let it = &mut self.harnesses[host].store;
        if it.running.is_some() {
            return;
        }
        let Some((ticket, op)) = it.waiting.pop_front() else { return };
        let writes = !matches!(op, StoreOp::Get { .. });
        let Some(store) = it.store.take() else { return };
        if self.interleave {
            let operation = async move {
                let answer = store.apply(op, now_ms).await;
                (store, answer)
            };
            it.running = Some(Operation { ticket, writes, running: Box::pin(operation) });
            self.poll_later(host);
        } else {
            let answer = poll::run(store.apply(op, now_ms), MOST_OPERATIONS);
            let answer = answer.unwrap_or_else(|| StoreAnswer::Failed("it never ended".into()));
            self.harnesses[host].store.store = Some(store);
            self.answer(host, ticket, answer);
            self.next_operation(host);
        }
    }

    fn poll_later(&mut self, host: usize) {
        let life = self.harnesses[host].life;
        self.queue.push(self.now_ms() + HOP_MS, Class::Work, Due::Poll { host, life });
    }

    /// One volume operation of a store that works step by step.
    pub(super) fn poll_store(&mut self, host: usize, life: u32) {
        let it = &mut self.harnesses[host];
        if it.life != life || it.core.is_none() {
            return;
        }
        let Some(mut operation) = it.store.running.take() else { return };
        if it.paused {
            it.store.running = Some(operation);
            return self.poll_later(host);
        }
        self.set_trap(host);
        match poll::poll(operation.running.as_mut()) {
            std::task::Poll::Pending if self.trapped(host) => {}
            std::task::Poll::Pending => {
                self.harnesses[host].store.running = Some(operation);
                self.poll_later(host);
            }
            std::task::Poll::Ready((store, answer)) => {
                self.harnesses[host].store.store = Some(store);
                if operation.writes && self.crash_at(host, Point::Stored) {
                    return;
                }
                self.answer(host, operation.ticket, answer);
                self.next_operation(host);
            }
        }
    }

    fn set_trap(&self, host: usize) {
        let armed = self.armed.iter().find(|armed| armed.host == host && armed.at.in_store());
        if let Some(volume) = &self.harnesses[host].store.volume {
            self.disk.trap(volume.pid(), armed.map(|armed| armed.at));
        }
    }

    /// The store stands at the point at which its harness is to be killed; if so, it now is.
    fn trapped(&mut self, host: usize) -> bool {
        let volume = self.harnesses[host].store.volume.as_ref();
        if !volume.is_some_and(|volume| self.disk.trapped(volume.pid())) {
            return false;
        }
        [Point::TempWritten, Point::Renamed].into_iter().any(|point| self.crash_at(host, point))
    }

    fn answer(&mut self, host: usize, ticket: u32, answer: StoreAnswer) {
        let life = self.harnesses[host].life;
        let event = HarnessEvent::Stored(ticket, answer);
        self.send(Due::Harness { host, life, via: Via::Own, event });
    }

    /// A receipt that an earlier life left: written by the store itself, without any fault.
    pub(super) fn give_receipt(&mut self, given: &GivenReceipt) -> Result<(), WorldError> {
        let host = self.harness(&given.harness)?;
        let agent = self.harnesses[host].agent_name.clone();
        let session: Text = format!("{agent}-given-{}", given.session).into();
        self.name(NameKind::Session, &given.session, session.clone());
        if given.known {
            let disk = self.disks.get_mut(&agent).expect("build made a disk for every agent");
            disk.give(&session, &[("earlier question", "earlier answer")]);
        }
        let root = match &given.root {
            Some(name) => {
                let relay = self.harnesses[host].relay;
                self.know_thread(name, &given.channel, relay);
                self.composer.event(name).map(|event| event.id())
            }
            None => None,
        };
        let key = Key { channel: self.mint.channel(&given.channel), root };
        let config = Config { model: given.model.clone(), mode: given.mode.clone() };
        let op = StoreOp::Put { key, session, config };
        let store = StoreConfig { mutants: skep_mutant::Mutants::NONE, ..self.store_config(host) };
        let (volume, now_ms) = (self.disk.process(), self.unix_ms());
        let put = async {
            let (store, _) = Store::open(volume, store, now_ms).await;
            store.apply(op, now_ms).await
        };
        match poll::run(put, MOST_OPERATIONS) {
            Some(StoreAnswer::Done) => Ok(()),
            other => Err(WorldError::Ours(format!("the given receipt was not stored: {other:?}"))),
        }
    }

    pub(super) fn give_file(&mut self, given: &GivenFile) -> Result<(), WorldError> {
        let place = self.state_place(&given.state);
        let dir = self.states[place].path.clone();
        let path = given.path.clone().unwrap_or_else(|| self.store_file(place));
        let outside = |error: skep_store::sim::OutsideError| WorldError::Act(error.to_string());
        self.disk.make_dir(&dir, 0o700).map_err(outside)?;
        self.disk.put_file(&format!("{dir}/{path}"), &given.bytes, given.mode).map_err(outside)
    }

    /// The name of the store file of the first harness that uses a directory.
    fn store_file(&self, place: usize) -> Text {
        let user = self.harnesses.iter().find(|harness| harness.state == place);
        let key = user.map_or_else(|| Keys::named("agent").pubkey, |harness| harness.pubkey);
        format!("sessions-{key}.json").into()
    }

    pub(super) fn disk(&mut self, state: &Text, op: &DiskOp) -> Result<(), WorldError> {
        let place = self.state_place(state);
        let path = self.states[place].path.clone();
        self.disk.carry_out(&path, op).map_err(|error| WorldError::Act(error.to_string()))?;
        self.look_at(place, true);
        Ok(())
    }

    /// Tells of every directory, what the stores answer, and what is held.
    pub(super) fn snapshots(&mut self) {
        for place in 0..self.states.len() {
            if self.look_at(place, false) {
                self.states[place].receipts = self.all_receipts(place);
            }
            let StateDir { name, receipts, .. } = &self.states[place];
            let (state, receipts) = (name.clone(), receipts.clone());
            self.recorder.note(What::Receipts { state, receipts });
        }
        for host in 0..self.harnesses.len() {
            let it = &self.harnesses[host];
            if let Some(core) = &it.core {
                let (harness, messages) = (it.life(), core.held());
                self.recorder.note(What::Held { harness, messages });
            }
        }
    }

    /// Tells of a directory. Says whether it changed since it was last told of.
    fn look_at(&mut self, place: usize, baseline: bool) -> bool {
        let seen = self.disk.snapshot(&self.states[place].path);
        let StateDir { name, last, .. } = &mut self.states[place];
        let same = last.as_ref().filter(|last| ***last == seen).cloned();
        let changed = same.is_none();
        let snapshot = same.unwrap_or_else(|| Arc::new(seen));
        *last = Some(snapshot.clone());
        self.recorder.note(What::Disk { state: name.clone(), snapshot, baseline });
        changed
    }

    /// What a store that is opened on the directory now answers, for every identity that uses it.
    fn all_receipts(&self, place: usize) -> Vec<Receipt> {
        let mut receipts = Vec::new();
        let mut asked = Vec::new();
        for host in 0..self.harnesses.len() {
            let it = &self.harnesses[host];
            let identity = (it.relay, it.pubkey);
            if it.state != place || asked.contains(&identity) {
                continue;
            }
            asked.push(identity);
            receipts.extend(self.read_receipts(host));
        }
        receipts.sort();
        receipts
    }

    /// Read on a copy of the disk: a look changes nothing, not even a leftover file.
    fn read_receipts(&self, host: usize) -> Vec<Receipt> {
        let config = StoreConfig { mutants: skep_mutant::Mutants::NONE, ..self.store_config(host) };
        let copy = self.disk.fork();
        let now_ms = self.unix_ms();
        let list = async {
            let (store, _) = Store::open(copy.process(), config, now_ms).await;
            store.list(now_ms).await
        };
        poll::run(list, MOST_OPERATIONS).and_then(Result::ok).unwrap_or_default()
    }
}
