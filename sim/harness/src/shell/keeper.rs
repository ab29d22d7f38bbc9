//! The store's operations, one after the other.

use std::collections::VecDeque;
use std::future::{self, Future};
use std::pin::Pin;
use std::rc::Rc;

use skep_store::{Store, StoreAnswer, StoreConfig, StoreOp, Volume};
use skep_trace::Text;

/// What the store did.
pub(super) struct Kept {
    /// The answer to the question with this number; the opening answers none.
    pub(super) answer: Option<(u32, StoreAnswer)>,
    /// What it found wrong meanwhile.
    pub(super) warnings: Vec<Text>,
}

enum Done<V> {
    Opened(Rc<Store<V>>, Kept),
    Answered(Kept),
}

type Running<V> = Pin<Box<dyn Future<Output = Done<V>>>>;

/// The store, and what it is asked.
pub(super) struct Keeper<V> {
    store: Option<Rc<Store<V>>>,
    waiting: VecDeque<(u32, StoreOp)>,
    running: Option<Running<V>>,
}

impl<V: Volume + 'static> Keeper<V> {
    /// A store that opens as soon as it is waited for; none where nothing is ever remembered
    /// (H-10).
    pub(super) fn new(volume: V, config: StoreConfig, now_ms: u64, remembers: bool) -> Self {
        let opening = async move {
            let (store, warnings) = Store::open(volume, config, now_ms).await;
            let warnings = warnings.iter().map(|warning| warning.to_string().into()).collect();
            Done::Opened(Rc::new(store), Kept { answer: None, warnings })
        };
        let running: Option<Running<V>> = if remembers { Some(Box::pin(opening)) } else { None };
        Self { store: None, waiting: VecDeque::new(), running }
    }

    pub(super) fn ask(&mut self, ticket: u32, op: StoreOp) {
        self.waiting.push_back((ticket, op));
    }

    pub(super) fn is_busy(&self) -> bool {
        self.running.is_some() || !self.waiting.is_empty()
    }

    /// The next thing that the store does. Dropping the future loses nothing.
    pub(super) async fn next(&mut self, now_ms: u64) -> Kept {
        if self.running.is_none()
            && let Some(store) = self.store.clone()
            && let Some((ticket, op)) = self.waiting.pop_front()
        {
            self.running = Some(Box::pin(answer(store, ticket, op, now_ms)));
        }
        let Some(running) = &mut self.running else { return future::pending().await };
        let done = running.as_mut().await;
        self.running = None;
        match done {
            Done::Opened(store, kept) => {
                self.store = Some(store);
                kept
            }
            Done::Answered(kept) => kept,
        }
    }
}

async fn answer<V: Volume>(store: Rc<Store<V>>, ticket: u32, op: StoreOp, now_ms: u64) -> Done<V> {
    let answer = store.apply(op, now_ms).await;
    let warnings = store.take_warnings().iter().map(|it| it.to_string().into()).collect();
    Done::Answered(Kept { answer: Some((ticket, answer)), warnings })
}
