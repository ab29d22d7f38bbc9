//! The observer feed: what the owner can watch of a turn (kind 24200, sealed to the owner).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skep_trace::{SharedEvent, Text, Update};

use crate::effect::Out;
use crate::harness::Harness;
use crate::timer::Slot;

const KIND_OBSERVER: u16 = 24200;

/// The shortest time between two events of the feed, in milliseconds: what comes meanwhile goes
/// into one.
const PACE_MS: u64 = 1_000;

/// How many frames wait for the next event; beyond that the oldest are left out.
const WAITING: usize = 256;

/// The feed, and what the faults of replay need to remember.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    on: bool,
    waiting: Vec<Value>,
    published_ms: u64,
    /// The fault in which the window of a failed load never closes.
    pub(crate) stuck: bool,
    replayed: BTreeSet<Text>,
}

impl Observer {
    pub(crate) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// The fault that takes equal text for replay: what was replayed.
    pub(crate) fn remember(&mut self, update: &Update) {
        if let Update::AgentMessageChunk(text) = update {
            self.replayed.insert(text.clone());
        }
    }

    /// The fault that takes equal text for replay: this was.
    pub(crate) fn eats(&self, update: &Update) -> bool {
        !self.replayed.is_empty() && update.text().is_some_and(|text| self.replayed.contains(text))
    }

    fn add(&mut self, frame: Value) {
        if self.waiting.len() == WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push(frame);
    }
}

impl Harness {
    pub(crate) fn observe_start(&mut self, out: &mut Out<'_>) {
        self.observe("turn_started", json!({}), out);
    }

    pub(crate) fn observe_update(&mut self, session: &Text, update: &Update, out: &mut Out<'_>) {
        if self.observer.on {
            let body = json!({"sessionId": &**session, "update": update.to_json()});
            self.observe("session_update", body, out);
        }
    }

    pub(crate) fn observe_end(&mut self, reason: &str, out: &mut Out<'_>) {
        if self.observer.on
            && let Some(turn) = &self.turn
        {
            let body = json!({"stopReason": reason, "output": turn.output, "tokens": turn.used});
            self.observe("turn_ended", body, out);
        }
    }

    fn observe(&mut self, kind: &str, mut body: Value, out: &mut Out<'_>) {
        if !self.observer.on {
            return;
        }
        body["type"] = Value::from(kind);
        if let Some(channel) = self.turn.as_ref().and_then(|turn| turn.scope().channel()) {
            body["channelId"] = Value::from(&**channel);
        }
        self.observer.add(body);
        self.publish_observed(out);
    }

    /// Publishes what waits, once the last event is old enough. A relay that takes nothing now gets
    /// it when it does again.
    pub(crate) fn publish_observed(&mut self, out: &mut Out<'_>) {
        let waiting = !self.observer.waiting.is_empty() && self.link.is_free();
        let Some(owner) = self.config.owner.filter(|_| waiting) else { return };
        let due_ms = self.observer.published_ms + PACE_MS;
        if out.now_ms < due_ms {
            return self.timers.ensure(Slot::Observer, due_ms - out.now_ms, out);
        }
        self.observer.published_ms = out.now_ms;
        let frames = std::mem::take(&mut self.observer.waiting);
        let content = json!({"frames": frames}).to_string();
        let tags = vec![
            vec!["p".into(), owner.to_string().into()],
            vec!["agent".into(), self.pubkey_text.clone()],
            vec!["frame".into(), "telemetry".into()],
        ];
        let event = self.event(KIND_OBSERVER, tags, content.into(), out);
        out.publish(SharedEvent::new((*event).clone().sealed(owner)));
    }
}
