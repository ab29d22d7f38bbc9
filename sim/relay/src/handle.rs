//! One relay core, shared by all the sockets that serve it.
//!
//! Everything that happens goes through [`RelayHandle::step`], one event at a time, and is told
//! to the [`Host`] in that order, as typed frames. Sockets only carry it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skep_trace::{ClientMsg, HttpCall, HttpReply, RelayMsg, Text};
use tokio::sync::{mpsc, watch};

use crate::bounds::Bounds;
use crate::ids::{ConnId, HttpId, Party};
use crate::relay::{Relay, RelayEffect, RelayEvent};

/// What a served relay needs of the world around it.
pub trait Host {
    /// Unix time in milliseconds: real, or simulated.
    fn now_ms(&mut self) -> u64;

    /// A number for a new connection, unique in the run, which may have several relays.
    fn number(&mut self) -> ConnId;

    /// Something happened. It is told while the relay is busy with it, so the host must not call
    /// the relay's handle from here.
    fn seen(&mut self, seen: Seen);

    /// How often a message really goes out that the relay says once: 0 loses it, 2 doubles it.
    /// It is asked before the message is seen, which it is once in any case.
    fn copies(&mut self, party: Party, message: &RelayMsg) -> usize {
        let _ = (party, message);
        1
    }
}

/// What happened at a served relay, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// A WebSocket connection was opened.
    Connected(ConnId, Party),
    /// A WebSocket connection is gone, whoever ended it.
    Disconnected(ConnId, Party),
    /// A client said something.
    ToRelay(ConnId, Party, Arc<ClientMsg>),
    /// The relay said something.
    FromRelay(ConnId, Party, Arc<RelayMsg>),
    /// An HTTP request was answered.
    Http(Party, Arc<HttpCall>, Arc<HttpReply>),
    /// Something that is no failure, and worth a line: a ticket for another URL, a slow client.
    Doubt(Party, Text),
}

/// Shares one relay.
pub struct RelayHandle<H> {
    shared: Arc<Shared<H>>,
}

struct Shared<H> {
    state: Mutex<State<H>>,
    changes: watch::Sender<Changes>,
}

struct State<H> {
    relay: Relay,
    host: H,
    lines: BTreeMap<ConnId, Line>,
    timers: BTreeSet<(u64, u32)>,
    effects: Vec<RelayEffect>,
    requests: u32,
}

/// The way to the socket of a connection. Dropping it ends the connection once everything said
/// before has been written.
struct Line {
    party: Party,
    frames: mpsc::Sender<Arc<RelayMsg>>,
}

/// What servers have to know at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    /// The relay takes no connections now.
    pub(crate) down: bool,
    /// How often it went down.
    pub(crate) downs: u64,
}

impl<H> Clone for RelayHandle<H> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<H> fmt::Debug for RelayHandle<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayHandle").finish_non_exhaustive()
    }
}

impl<H: Host> RelayHandle<H> {
    /// Shares a relay; the host is told what happens to it.
    pub fn new(relay: Relay, host: H) -> Self {
        let state = State {
            relay,
            host,
            lines: BTreeMap::new(),
            timers: BTreeSet::new(),
            effects: Vec::new(),
            requests: 0,
        };
        let changes = watch::Sender::new(Changes::default());
        Self { shared: Arc::new(Shared { state: Mutex::new(state), changes }) }
    }

    /// Lets something happen: a publication, a change of membership, a fault.
    pub fn step(&self, event: RelayEvent) {
        self.lock().step(event, &self.shared.changes);
    }

    /// Looks at the host.
    pub fn with_host<T>(&self, look: impl FnOnce(&mut H) -> T) -> T {
        look(&mut self.lock().host)
    }

    /// How many timers run: deliveries that are delayed, an end of downtime.
    pub fn timers(&self) -> usize {
        self.lock().timers.len()
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.lock().relay.bounds()
    }

    pub(crate) fn url(&self) -> Text {
        self.lock().relay.url().clone()
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.lock().host.now_ms()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<Changes> {
        self.shared.changes.subscribe()
    }

    /// Opens a connection; what the relay says to it comes out of the channel.
    pub(crate) fn connect(&self, party: Party) -> Connection<H> {
        let mut state = self.lock();
        let (sender, frames) = mpsc::channel(state.relay.bounds().outgoing);
        let conn = state.host.number();
        state.lines.insert(conn, Line { party, frames: sender });
        state.host.seen(Seen::Connected(conn, party));
        state.step(RelayEvent::Connected { conn, party }, &self.shared.changes);
        drop(state);
        Connection { conn, party, frames, handle: self.clone() }
    }

    /// Asks over HTTP.
    pub(crate) fn ask(&self, party: Party, call: HttpCall) -> Arc<HttpReply> {
        let mut state = self.lock();
        state.requests += 1;
        let call = Arc::new(call);
        let event = RelayEvent::Http(HttpId(state.requests), call.clone());
        let reply = state.step(event, &self.shared.changes);
        let reply = reply.expect("a relay answers a request in the step that asks");
        state.host.seen(Seen::Http(party, call, reply.clone()));
        reply
    }

    /// Tells the host of a request that never came to the relay.
    pub(crate) fn refused(&self, party: Party, call: HttpCall, reply: &Arc<HttpReply>) {
        self.lock().host.seen(Seen::Http(party, Arc::new(call), reply.clone()));
    }

    pub(crate) fn doubt(&self, party: Party, text: &str) {
        self.lock().host.seen(Seen::Doubt(party, text.into()));
    }

    /// Fires the timers that are due and tells in how many milliseconds the next one is.
    pub(crate) fn fire_timers(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            let (due_ms, timer) = *state.timers.first()?;
            let now_ms = state.host.now_ms();
            if due_ms > now_ms {
                return Some(due_ms - now_ms);
            }
            state.timers.pop_first();
            state.step(RelayEvent::Timer(timer), &self.shared.changes);
        }
    }

    // Whoever panicked while holding the lock did so in the host's code or in a bug of ours; the
    // sockets that are still served may go on and show it.
    fn lock(&self) -> MutexGuard<'_, State<H>> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: Host> State<H> {
    fn step(
        &mut self,
        event: RelayEvent,
        changes: &watch::Sender<Changes>,
    ) -> Option<Arc<HttpReply>> {
        let now_ms = self.host.now_ms();
        let mut effects = std::mem::take(&mut self.effects);
        self.relay.step(now_ms, event, &mut effects);
        let mut answer = None;
        for effect in effects.drain(..) {
            match effect {
                RelayEffect::Send(conn, message) => self.send(conn, message),
                RelayEffect::Reply(_, reply) => answer = Some(reply),
                RelayEffect::Close(conn) => self.forget(conn),
                RelayEffect::SetTimer { timer, after_ms } => {
                    self.timers.insert((now_ms + after_ms, timer));
                    changes.send_modify(|_| {});
                }
                RelayEffect::Down(down) => changes.send_modify(|changes| {
                    changes.down = down;
                    changes.downs += u64::from(down);
                }),
            }
        }
        self.effects = effects;
        answer
    }

    fn send(&mut self, conn: ConnId, message: Arc<RelayMsg>) {
        let Some(line) = self.lines.get(&conn) else { return };
        let party = line.party;
        let copies = self.host.copies(party, &message);
        if (0..copies).all(|_| line.frames.try_send(message.clone()).is_ok()) {
            self.host.seen(Seen::FromRelay(conn, party, message));
        } else {
            // The socket's side of the channel lives as long as the line, so it is full.
            self.host.seen(Seen::Doubt(party, "a client reads too slowly and is cut off".into()));
            self.forget(conn);
            let mut none = Vec::new();
            let now_ms = self.host.now_ms();
            self.relay.step(now_ms, RelayEvent::Disconnected(conn), &mut none);
        }
    }

    fn forget(&mut self, conn: ConnId) {
        if let Some(line) = self.lines.remove(&conn) {
            self.host.seen(Seen::Disconnected(conn, line.party));
        }
    }
}

/// One connection's end of the relay. Dropping it disconnects.
pub(crate) struct Connection<H: Host> {
    conn: ConnId,
    party: Party,
    frames: mpsc::Receiver<Arc<RelayMsg>>,
    handle: RelayHandle<H>,
}

impl<H: Host> Connection<H> {
    /// The next thing that the relay says; `None` once it has closed the connection.
    pub(crate) async fn next(&mut self) -> Option<Arc<RelayMsg>> {
        self.frames.recv().await
    }

    /// What it has said besides, without waiting.
    pub(crate) fn more(&mut self) -> Option<Arc<RelayMsg>> {
        self.frames.try_recv().ok()
    }

    /// The client says something.
    pub(crate) fn say(&self, message: ClientMsg) {
        let message = Arc::new(message);
        let mut state = self.handle.lock();
        if state.lines.contains_key(&self.conn) {
            state.host.seen(Seen::ToRelay(self.conn, self.party, message.clone()));
            let event = RelayEvent::Message(self.conn, message);
            state.step(event, &self.handle.shared.changes);
        }
    }
}

impl<H: Host> Drop for Connection<H> {
    fn drop(&mut self) {
        let mut state = self.handle.lock();
        if state.lines.contains_key(&self.conn) {
            state.forget(self.conn);
            state.step(RelayEvent::Disconnected(self.conn), &self.handle.shared.changes);
        }
    }
}
