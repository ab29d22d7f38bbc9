//! The stores' operations. Where nobody could see the difference they run straight through; where
//! processes share a directory, or one is to be killed inside its store, each volume operation is
//! an entry of the queue of its own.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;

use skep_harness::HarnessEvent;
use skep_plan::Point;
use skep_store::{SimVolume, Store, StoreAnswer, StoreOp, poll};
use skep_trace::Note;

use super::{Due, EventWorld, Via};
use crate::states::MOST_OPERATIONS;

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
    /// The next life's store. Where resume is switched off there is none at all (H-10).
    pub(super) fn open_store(&mut self, host: usize) {
        let volume = self.states.disk.process();
        let dir = self.states.path(&self.stage.players[host].state);
        let config = self.stage.store_config(host, &dir, self.stage.mutants);
        let opening = Store::open(volume.clone(), config, self.unix_ms());
        let opened = poll::run(opening, MOST_OPERATIONS);
        let (store, warnings) = opened.expect("a store that works alone needs few operations");
        for warning in warnings {
            self.note_of(host, Note::StoreTrouble(warning.to_string().into()));
        }
        self.states.disk.stepwise(volume.pid(), self.interleave);
        let it = &mut self.harnesses[host].store;
        *it = StoreHost { volume: Some(volume), store: Some(store), ..StoreHost::default() };
    }

    /// The process is gone: what its store was doing stops where it is.
    pub(super) fn end_store(&mut self, host: usize) {
        let it = std::mem::take(&mut self.harnesses[host].store);
        if let Some(volume) = &it.volume {
            self.states.disk.kill(volume.pid());
        }
    }

    pub(super) fn power_loss(&mut self) {
        self.states.power_loss();
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
            self.give_back(host, store);
            self.answer(host, ticket, answer);
            self.next_operation(host);
        }
    }

    fn poll_later(&mut self, host: usize) {
        let life = self.harnesses[host].life;
        self.send(Due::Poll { host, life });
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
                self.give_back(host, store);
                if operation.writes && self.crash_at(host, Point::Stored) {
                    return;
                }
                self.answer(host, operation.ticket, answer);
                self.next_operation(host);
            }
        }
    }

    /// A store between two operations; what it found wrong is told.
    fn give_back(&mut self, host: usize, store: Store<SimVolume>) {
        for warning in store.take_warnings() {
            self.note_of(host, Note::StoreTrouble(warning.to_string().into()));
        }
        self.harnesses[host].store.store = Some(store);
    }

    fn set_trap(&self, host: usize) {
        let armed = self.armed.iter().find(|armed| armed.host == host && armed.at.in_store());
        if let Some(volume) = &self.harnesses[host].store.volume {
            self.states.disk.trap(volume.pid(), armed.map(|armed| armed.at));
        }
    }

    /// The store stands at the point at which its harness is to be killed; if so, it now is.
    fn trapped(&mut self, host: usize) -> bool {
        let volume = self.harnesses[host].store.volume.as_ref();
        if !volume.is_some_and(|volume| self.states.disk.trapped(volume.pid())) {
            return false;
        }
        [Point::TempWritten, Point::Renamed].into_iter().any(|point| self.crash_at(host, point))
    }

    fn answer(&mut self, host: usize, ticket: u32, answer: StoreAnswer) {
        let life = self.harnesses[host].life;
        let event = HarnessEvent::Stored(ticket, answer);
        self.send(Due::Harness { host, life, via: Via::Own, event });
    }
}
