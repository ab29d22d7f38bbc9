//! The relay as a state machine: what it hears goes in, what it says comes out.
//!
//! It knows no bytes, no sockets and no clock; a shell brings them. It never reads an event's id
//! or verifies a signature unless something asks for it, so that thousands of simulated runs a
//! second pay for neither.

use std::sync::Arc;

use skep_trace::{ClientMsg, Filter, Hex32, HttpCall, HttpReply, RelayMsg, SharedEvent, Text};

use crate::access;
use crate::archive::{Archive, Reader};
use crate::auth;
use crate::config::RelayConfig;
use crate::delivery::{Delivery, Frame};
use crate::fault::Fault;
use crate::ids::{ConnId, HttpId, Party};
use crate::subscriptions::Connections;

/// The longest name of a subscription.
const SUB_BYTES: usize = 256;

/// What a relay hears.
#[derive(Clone, Debug)]
pub enum RelayEvent {
    /// A connection was opened.
    Connected {
        /// Its number.
        conn: ConnId,
        /// Who opened it.
        party: Party,
    },
    /// A client said something.
    Message(ConnId, Arc<ClientMsg>),
    /// A client went away.
    Disconnected(ConnId),
    /// An HTTP request came.
    Http(HttpId, Arc<HttpCall>),
    /// A person who is not connected, or the director, publishes an event as it stands, whatever
    /// its signature.
    Publish {
        /// The event.
        event: SharedEvent,
        /// The only party that it is delivered to, live or as a stored event, in any of its
        /// lives; `None` is everybody. Other parties with the same identity never see it on a
        /// connection. HTTP queries do see it: they read the channel's history.
        to: Option<Party>,
    },
    /// Somebody joins or leaves a channel.
    Member {
        /// The channel's id.
        channel: Text,
        /// Who.
        pubkey: Hex32,
        /// They join.
        joins: bool,
        /// When, in seconds since 1970, as the notice says.
        at_s: u64,
    },
    /// Something goes wrong.
    Fault(Fault),
    /// A timer that was asked for has fired.
    Timer(u32),
}

/// What a relay does.
#[derive(Clone, Debug)]
pub enum RelayEffect {
    /// Says something to a client.
    Send(ConnId, Arc<RelayMsg>),
    /// Answers an HTTP request.
    Reply(HttpId, Arc<HttpReply>),
    /// Closes a connection; nothing more is heard of it.
    Close(ConnId),
    /// Asks to be woken.
    SetTimer {
        /// The timer's number, never used twice.
        timer: u32,
        /// In how long.
        after_ms: u64,
    },
    /// Takes no new connections (`true`), or takes them again.
    Down(bool),
}

/// The simulated relay.
#[derive(Debug)]
pub struct Relay {
    pub(crate) config: RelayConfig,
    pub(crate) archive: Archive,
    pub(crate) conns: Connections,
    pub(crate) delivery: Delivery,
    pub(crate) now_ms: u64,
    pub(crate) limited_until_ms: u64,
    /// The timer that ends the downtime.
    pub(crate) down: Option<u32>,
    challenges: u32,
    timers: u32,
    empty: Text,
}

impl Relay {
    /// A relay that nobody is connected to yet.
    pub fn new(mut config: RelayConfig) -> Self {
        Self {
            archive: Archive::new(&mut config),
            config,
            conns: Connections::default(),
            delivery: Delivery::default(),
            now_ms: 0,
            limited_until_ms: 0,
            down: None,
            challenges: 0,
            timers: 0,
            empty: "".into(),
        }
    }

    /// It takes no connections now.
    pub fn is_down(&self) -> bool {
        self.down.is_some()
    }

    /// Its URL.
    pub fn url(&self) -> &Text {
        &self.config.url
    }

    /// Its bounds, for the shells.
    pub fn bounds(&self) -> crate::bounds::Bounds {
        self.config.bounds
    }

    /// One step. `now_ms` is Unix time in milliseconds.
    pub fn step(&mut self, now_ms: u64, event: RelayEvent, out: &mut Vec<RelayEffect>) {
        self.now_ms = now_ms;
        match event {
            RelayEvent::Connected { conn, party } => self.connected(conn, party, out),
            RelayEvent::Message(conn, message) => self.heard(conn, &message, out),
            RelayEvent::Disconnected(conn) => self.conns.close(conn),
            RelayEvent::Http(id, call) => {
                let reply = self.http(&call, out);
                out.push(RelayEffect::Reply(id, Arc::new(reply)));
            }
            RelayEvent::Publish { event, to } => self.publish(&event, to, out),
            RelayEvent::Member { channel, pubkey, joins, at_s } => {
                self.member(&channel, pubkey, joins, at_s, out);
            }
            RelayEvent::Fault(fault) => self.fault(fault, out),
            RelayEvent::Timer(timer) => self.woken(timer, out),
        }
    }

    fn connected(&mut self, conn: ConnId, party: Party, out: &mut Vec<RelayEffect>) {
        if self.conns.len() >= self.config.bounds.connections {
            say(out, conn, RelayMsg::Notice("error: too many connections".into()));
            out.push(RelayEffect::Close(conn));
        } else if self.is_down() {
            out.push(RelayEffect::Close(conn));
        } else {
            let challenge = self.new_challenge();
            say(out, conn, RelayMsg::Auth { challenge: challenge.clone() });
            self.conns.open(conn, party, challenge);
        }
    }

    fn heard(&mut self, conn: ConnId, message: &Arc<ClientMsg>, out: &mut Vec<RelayEffect>) {
        if self.conns.get(conn).is_none() {
            return;
        }
        match &**message {
            ClientMsg::Auth(answer) => self.authenticate(conn, answer, out),
            ClientMsg::Req { sub, filters } => self.subscribe(conn, sub, filters, message, out),
            ClientMsg::Close { sub } => {
                if let Some(conn) = self.conns.get(conn) {
                    conn.close(sub);
                }
            }
            ClientMsg::Event(event) => self.take_from(conn, event, out),
            ClientMsg::Other(_) => {
                say(out, conn, RelayMsg::Notice("error: that is no message".into()));
            }
        }
    }

    fn authenticate(&mut self, id: ConnId, answer: &SharedEvent, out: &mut Vec<RelayEffect>) {
        let Some(conn) = self.conns.get(id) else { return };
        let now_s = self.now_ms / 1_000;
        let outcome = auth::check(answer, &conn.challenge, &self.config.url, now_s);
        if outcome.is_ok() {
            conn.identity = Some(answer.pubkey);
        }
        self.acknowledge(id, answer, outcome.map(|()| "").map_err(Text::from), out);
    }

    /// Says whether an event was taken.
    pub(crate) fn acknowledge(
        &self,
        conn: ConnId,
        event: &SharedEvent,
        outcome: Result<&'static str, Text>,
        out: &mut Vec<RelayEffect>,
    ) {
        let (accepted, message) = match outcome {
            Ok("") => (true, self.empty.clone()),
            Ok(word) => (true, word.into()),
            Err(why) => (false, why),
        };
        say(out, conn, RelayMsg::Ok { id: event.id(), accepted, message });
    }

    fn subscribe(
        &mut self,
        id: ConnId,
        sub: &Text,
        filters: &[Filter],
        request: &Arc<ClientMsg>,
        out: &mut Vec<RelayEffect>,
    ) {
        let reader = match self.may_subscribe(id, sub, filters) {
            Ok(Some(reader)) => reader,
            Ok(None) => return,
            Err(message) => {
                return say(out, id, RelayMsg::Closed { sub: sub.clone(), message });
            }
        };
        let generation = self.conns.subscribe(id, sub, request.clone());
        for event in self.archive.answer(filters, Some(reader)) {
            say(out, id, RelayMsg::Event { sub: sub.clone(), event });
        }
        let message = Arc::new(RelayMsg::Eose { sub: sub.clone() });
        if self.delivery.eose_ms == 0 {
            out.push(RelayEffect::Send(id, message));
        } else {
            let frames = vec![Frame { conn: id, generation, message }];
            self.send_later(frames, self.delivery.eose_ms, out);
        }
    }

    /// Who would read, or why they may not; `None` when the connection is gone.
    fn may_subscribe(
        &mut self,
        id: ConnId,
        sub: &str,
        filters: &[Filter],
    ) -> Result<Option<Reader>, Text> {
        let limited = self.limited();
        let bounds = self.config.bounds;
        let Some(conn) = self.conns.get(id) else { return Ok(None) };
        let Some(identity) = conn.identity else {
            return Err("auth-required: answer the challenge first".into());
        };
        if let Some(limited) = limited {
            return Err(limited);
        }
        if sub.len() > SUB_BYTES || filters.len() > bounds.filters {
            return Err("error: the request is too long".into());
        }
        if conn.count() >= bounds.subscriptions && !conn.has(sub) {
            return Err("error: too many subscriptions".into());
        }
        let party = conn.party;
        access::may_ask(filters, &identity, &self.archive.channels)?;
        Ok(Some(Reader { party, identity }))
    }

    fn member(
        &mut self,
        channel: &Text,
        pubkey: Hex32,
        joins: bool,
        at_s: u64,
        out: &mut Vec<RelayEffect>,
    ) {
        let changed = self.archive.channels.change(channel, pubkey, joins, at_s);
        let Some(notice) = changed else { return };
        if !joins {
            self.close_subscriptions(channel, Some(pubkey), &access::REVOKED.into(), out);
        }
        self.publish(&notice, None, out);
    }

    /// Ends subscriptions to a channel, of one identity or of all.
    pub(crate) fn close_subscriptions(
        &mut self,
        channel: &str,
        identity: Option<Hex32>,
        message: &Text,
        out: &mut Vec<RelayEffect>,
    ) {
        for conn in self.conns.iter_mut() {
            if identity.is_none() || conn.identity == identity {
                for sub in conn.close_channel(channel) {
                    say(out, conn.id, RelayMsg::Closed { sub, message: message.clone() });
                }
            }
        }
    }

    fn woken(&mut self, timer: u32, out: &mut Vec<RelayEffect>) {
        if self.down == Some(timer) {
            self.down = None;
            out.push(RelayEffect::Down(false));
        }
        let frames = self.delivery.due(timer);
        self.send_now(frames, out);
    }

    /// Sends what its subscription still stands for.
    pub(crate) fn send_now(&self, frames: Vec<Frame>, out: &mut Vec<RelayEffect>) {
        let standing =
            frames.into_iter().filter(|frame| self.conns.stands(frame.conn, frame.generation));
        out.extend(standing.map(|frame| RelayEffect::Send(frame.conn, frame.message)));
    }

    /// Sends frames after a while; at once, and with a NOTICE, where too many wait already.
    pub(crate) fn send_later(
        &mut self,
        frames: Vec<Frame>,
        after_ms: u64,
        out: &mut Vec<RelayEffect>,
    ) {
        if self.delivery.waiting() + frames.len() > self.config.bounds.waiting {
            for frame in &frames {
                let notice = "error: too many frames wait, this one is not delayed";
                say(out, frame.conn, RelayMsg::Notice(notice.into()));
            }
            return self.send_now(frames, out);
        }
        let timer = self.set_timer(after_ms, out);
        self.delivery.wait(timer, frames);
    }

    pub(crate) fn set_timer(&mut self, after_ms: u64, out: &mut Vec<RelayEffect>) -> u32 {
        self.timers += 1;
        out.push(RelayEffect::SetTimer { timer: self.timers, after_ms });
        self.timers
    }

    pub(crate) fn new_challenge(&mut self) -> Text {
        self.challenges += 1;
        auth::challenge(self.challenges)
    }

    /// The refusal that stands while the relay limits everybody's rate.
    pub(crate) fn limited(&self) -> Option<Text> {
        let left_ms = self.limited_until_ms.checked_sub(self.now_ms).filter(|left| *left > 0)?;
        Some(format!("rate-limited: too much, retry in {}s", left_ms.div_ceil(1_000)).into())
    }
}

pub(crate) fn say(out: &mut Vec<RelayEffect>, conn: ConnId, message: RelayMsg) {
    out.push(RelayEffect::Send(conn, Arc::new(message)));
}
