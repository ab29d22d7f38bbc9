//! The relay of the tiny world: it takes everything, and serves what was published.

use std::sync::Arc;

use skep_trace::{
    ClientMsg, Filter, HttpBody, HttpCall, HttpReply, NostrEvent, RelayMsg, SharedEvent, Text,
};

use super::{AGENT, STRANGER, World, tag};
use crate::event::HarnessEvent;

impl World {
    pub(crate) fn disconnect(&mut self) {
        self.connected = false;
        self.subs.clear();
        self.happens(HarnessEvent::Disconnected);
    }

    /// The relay says something of its own.
    pub(crate) fn relay_says(&mut self, message: RelayMsg) {
        self.happens(HarnessEvent::Relay(message.into()));
    }

    /// Delivers an event to the subscriptions that it matches.
    pub(crate) fn deliver(&mut self, event: &SharedEvent) {
        if !self.connected {
            return;
        }
        let subs = self.subs.iter();
        let matching = subs.filter(|(_, filters)| filters.iter().any(|it| matches(it, event)));
        for (sub, _) in matching {
            let message = RelayMsg::Event { sub: sub.clone(), event: event.clone() };
            self.events.push_back(HarnessEvent::Relay(message.into()));
        }
    }

    pub(super) fn on_message(&mut self, message: &ClientMsg) {
        match message {
            ClientMsg::Auth(_) => {
                let ok = RelayMsg::Ok { id: AGENT, accepted: true, message: "".into() };
                self.events.push_back(HarnessEvent::Relay(ok.into()));
            }
            ClientMsg::Req { sub, filters } => {
                self.subs.insert(sub.clone(), filters.clone());
                self.serve_stored(sub, filters);
            }
            ClientMsg::Close { sub } => {
                self.subs.remove(sub);
            }
            ClientMsg::Event(event) if event.kind == 24200 => {
                self.story.push(format!("observed {}", event.content));
            }
            ClientMsg::Event(_) | ClientMsg::Other(_) => {}
        }
    }

    fn serve_stored(&mut self, sub: &Text, filters: &[Filter]) {
        let stored = |event: &&SharedEvent| {
            filters.iter().any(|filter| {
                matches(filter, event) && filter.since.is_none_or(|since| event.created_at >= since)
            })
        };
        let found: Vec<SharedEvent> = self.published.iter().filter(stored).cloned().collect();
        let eose = RelayMsg::Eose { sub: sub.clone() };
        let events = found.into_iter().map(|event| RelayMsg::Event { sub: sub.clone(), event });
        let told = events.chain([eose]).map(|message| HarnessEvent::Relay(message.into()));
        self.events.extend(told);
    }

    pub(super) fn on_http(&mut self, ticket: u32, call: &HttpCall) {
        let body = match call {
            HttpCall::Query(filters) => HttpBody::Events(self.answer_query(&filters[0])),
            HttpCall::Publish(event) => {
                let about: Vec<_> = event.tags.iter().filter(|tag| &*tag[0] == "e").collect();
                self.story.push(format!("kind {} e={} {}", event.kind, about.len(), event.content));
                HttpBody::Accepted { id: event.id(), accepted: true, message: "".into() }
            }
            _ => HttpBody::Other("".into()),
        };
        self.events.push_back(HarnessEvent::Http(ticket, Ok(HttpReply::ok(body).into())));
    }

    fn answer_query(&self, filter: &Filter) -> Vec<SharedEvent> {
        let kind = filter.kinds.as_ref().map_or(0, |kinds| kinds[0]);
        let metadata = |(id, channel_kind): &(&str, &str)| {
            let tags = vec![tag(&["d", id]), tag(&["name", id]), tag(&["t", channel_kind])];
            Arc::new(NostrEvent::new(STRANGER, 0, kind, tags, "".into()))
        };
        self.channels.iter().map(metadata).collect()
    }
}

fn matches(filter: &Filter, event: &NostrEvent) -> bool {
    let kind = filter.kinds.as_ref().is_none_or(|kinds| kinds.contains(&event.kind));
    let tagged = filter.tags.iter().all(|(name, values)| {
        let named = |tag: &&Vec<Text>| *tag[0] == *name.to_string();
        event.tags.iter().filter(named).any(|tag| values.contains(&tag[1]))
    });
    kind && tagged
}
