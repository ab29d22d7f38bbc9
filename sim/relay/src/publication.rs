//! An event on its way in: who may publish it, whether it is kept, and who hears of it.

use std::sync::Arc;

use skep_trace::{Hex32, NostrEvent, RelayMsg, SharedEvent, Text};

use crate::access::{self, Readers};
use crate::delivery::{Frame, Way};
use crate::events::Keeping;
use crate::ids::{ConnId, Party};
use crate::relay::{Relay, RelayEffect, say};

/// Asks the relay to forget its author's events (NIP-09).
const DELETION: u16 = 5;

impl Relay {
    /// A client publishes an event on its connection.
    pub(crate) fn take_from(
        &mut self,
        id: ConnId,
        event: &SharedEvent,
        out: &mut Vec<RelayEffect>,
    ) {
        let Some(conn) = self.conns.get(id) else { return };
        let outcome = match conn.identity {
            Some(identity) => self.take(event, &identity, out),
            None => Err("auth-required: answer the challenge first".into()),
        };
        self.acknowledge(id, event, outcome, out);
    }

    /// Takes an event that an identity publishes, or says why not.
    pub(crate) fn take(
        &mut self,
        event: &SharedEvent,
        identity: &Hex32,
        out: &mut Vec<RelayEffect>,
    ) -> Result<&'static str, Text> {
        if let Some(limited) = self.limited() {
            return Err(limited);
        }
        access::may_publish(event, identity, &self.archive.channels)?;
        if self.archive.events.holds(event) {
            return Ok("duplicate: that event is here already");
        }
        if self.archive.events.keep(event.clone(), None) == Keeping::Full {
            return Err("error: the relay is full".into());
        }
        if event.kind == DELETION {
            self.archive.events.erase(identity, &named_ids(event));
        }
        self.go_live(event, None, out);
        Ok("")
    }

    /// The director publishes an event, whatever its signature.
    pub(crate) fn publish(
        &mut self,
        event: &SharedEvent,
        to: Option<Party>,
        out: &mut Vec<RelayEffect>,
    ) {
        if self.archive.events.keep(event.clone(), to) == Keeping::Full {
            for conn in self.conns.iter_mut() {
                let notice = "error: the relay is full, an event is not kept";
                say(out, conn.id, RelayMsg::Notice(notice.into()));
            }
        }
        self.go_live(event, to, out);
    }

    fn go_live(&mut self, event: &SharedEvent, to: Option<Party>, out: &mut Vec<RelayEffect>) {
        let readers = access::readers(event, &self.archive.channels);
        if self.delivery.is_clear(self.now_ms) {
            self.conns.each_that_wants(event, to, &readers, |conn, sub| {
                out.push(RelayEffect::Send(conn, frame(&sub.id, event)));
            });
            return;
        }
        let frames = self.frames(event, to, &readers);
        match self.delivery.pass(frames, self.now_ms) {
            Way::Now(frames) => self.send_now(frames, out),
            Way::Later(frames, after_ms) => self.send_later(frames, after_ms, out),
            Way::Nowhere => {}
        }
    }

    fn frames(&self, event: &SharedEvent, to: Option<Party>, readers: &Readers<'_>) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.conns.each_that_wants(event, to, readers, |conn, sub| {
            let message = frame(&sub.id, event);
            frames.push(Frame { conn, generation: sub.generation, message });
        });
        frames
    }
}

fn frame(sub: &Text, event: &SharedEvent) -> Arc<RelayMsg> {
    Arc::new(RelayMsg::Event { sub: sub.clone(), event: event.clone() })
}

/// The ids in an event's `e` tags.
fn named_ids(event: &NostrEvent) -> Vec<Hex32> {
    let named = event.tags.iter().filter(|tag| tag.first().is_some_and(|name| &**name == "e"));
    named.filter_map(|tag| Hex32::parse(tag.get(1)?)).collect()
}
