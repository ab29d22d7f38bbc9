//! The relays, and what their cores' effects do.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_harness::HarnessEvent;
use skep_relay::{ConnId, HttpId, Relay, RelayEffect, RelayEvent};
use skep_trace::{HttpCall, Life, What};

use super::queue::Class;
use super::{Due, EventWorld, Via};

/// One relay and who is connected to it.
pub(super) struct RelayHost {
    pub(super) core: Relay,
    /// Whose connection each one is: the harness's place, and its life.
    pub(super) conns: BTreeMap<ConnId, (usize, Life)>,
    /// Who asked, under which number of theirs, and what.
    pub(super) asked: BTreeMap<HttpId, Asked>,
    pub(super) next_http: u32,
}

/// An HTTP request that is not answered yet.
pub(super) struct Asked {
    pub(super) host: usize,
    pub(super) life: Life,
    pub(super) ticket: u32,
    pub(super) call: Arc<HttpCall>,
}

impl RelayHost {
    pub(super) fn new(core: Relay) -> Self {
        Self { core, conns: BTreeMap::new(), asked: BTreeMap::new(), next_http: 0 }
    }
}

impl EventWorld {
    pub(super) fn reach_relay(&mut self, relay: usize, event: RelayEvent) {
        self.note_to_relay(relay, &event);
        let mut effects = std::mem::take(&mut self.relay_effects);
        let now_ms = self.unix_ms();
        self.relays[relay].core.step(now_ms, event, &mut effects);
        for effect in effects.drain(..) {
            self.relay_effect(relay, effect);
        }
        self.relay_effects = effects;
    }

    fn note_to_relay(&mut self, relay: usize, event: &RelayEvent) {
        match event {
            RelayEvent::Message(conn, message) => {
                if let Some((_, harness)) = self.relays[relay].conns.get(conn) {
                    let (harness, message) = (harness.clone(), message.clone());
                    self.recorder.note(What::ToRelay { harness, conn: conn.0, message });
                }
            }
            RelayEvent::Publish { event, .. } => {
                self.recorder.note(What::Published(event.clone()));
            }
            RelayEvent::Disconnected(conn) => {
                if let Some((_, harness)) = self.relays[relay].conns.remove(conn) {
                    self.recorder.note(What::Disconnected { harness, conn: conn.0 });
                }
            }
            _ => {}
        }
    }

    fn relay_effect(&mut self, relay: usize, effect: RelayEffect) {
        match effect {
            RelayEffect::Send(conn, message) => {
                let Some((host, harness)) = self.relays[relay].conns.get(&conn).cloned() else {
                    return;
                };
                let life = harness.life;
                self.recorder.note(What::FromRelay {
                    harness,
                    conn: conn.0,
                    message: message.clone(),
                });
                self.on_connection(host, life, conn, HarnessEvent::Relay(message));
            }
            RelayEffect::Close(conn) => {
                let Some((host, harness)) = self.relays[relay].conns.remove(&conn) else { return };
                let life = harness.life;
                self.recorder.note(What::Disconnected { harness, conn: conn.0 });
                self.on_connection(host, life, conn, HarnessEvent::Disconnected);
            }
            RelayEffect::Reply(id, reply) => {
                let Some(asked) = self.relays[relay].asked.remove(&id) else { return };
                let (host, life) = (asked.host, asked.life.life);
                let answer = HarnessEvent::Http(asked.ticket, Ok(reply.clone()));
                self.recorder.note(What::Http { harness: asked.life, call: asked.call, reply });
                self.send(Due::Harness { host, life, via: Via::Own, event: answer });
            }
            RelayEffect::SetTimer { timer, after_ms } => {
                let due_ms = self.now_ms() + after_ms;
                let due = Due::Relay { relay, event: RelayEvent::Timer(timer) };
                self.queue.push(due_ms, Class::Timer, due);
            }
            // The core knows itself whether it is down; nobody else needs to be told.
            RelayEffect::Down(_) => {}
        }
    }

    fn on_connection(&mut self, host: usize, life: u32, conn: ConnId, event: HarnessEvent) {
        self.send(Due::Harness { host, life, via: Via::Conn(conn), event });
    }
}
