//! What people do in the tiny world.

use std::sync::Arc;

use serde_json::json;
use skep_trace::{Hex32, NostrEvent, SharedEvent};

use super::{AGENT, OWNER, STRANGER, World, tag};

impl World {
    pub(crate) fn mention(&mut self, channel: &str) -> Hex32 {
        self.say(channel, OWNER, &[], None)
    }

    pub(crate) fn command(&mut self, channel: &str, command: &str) -> Hex32 {
        self.say(channel, OWNER, &[], Some(command))
    }

    pub(crate) fn reply(&mut self, channel: &str, tags: &[&[&str]]) -> Hex32 {
        self.say(channel, OWNER, tags, None)
    }

    pub(crate) fn say(
        &mut self,
        channel: &str,
        author: Hex32,
        tags: &[&[&str]],
        text: Option<&str>,
    ) -> Hex32 {
        let event = self.compose(channel, author, tags, text);
        self.publish(&event);
        event.id()
    }

    pub(crate) fn compose(
        &mut self,
        channel: &str,
        author: Hex32,
        tags: &[&[&str]],
        text: Option<&str>,
    ) -> SharedEvent {
        self.said += 1;
        let text = text.map_or_else(|| format!("m{}", self.said), str::to_owned);
        let mut all = vec![tag(&["h", channel]), tag(&["p", &AGENT.to_string()])];
        all.extend(tags.iter().map(|parts| tag(parts)));
        Arc::new(NostrEvent::new(author, self.now_ms / 1000, 9, all, text.into()))
    }

    pub(crate) fn publish(&mut self, event: &SharedEvent) {
        self.published.push(event.clone());
        self.deliver(event);
        self.drain();
    }

    /// The owner's control frame that switches a channel's model.
    pub(crate) fn switch_model(&mut self, channel: &str, model: &str) {
        let body = json!({"type": "switch_model", "channelId": channel, "modelId": model});
        let tags = vec![tag(&["p", &AGENT.to_string()])];
        let now_s = self.now_ms / 1000;
        let frame = NostrEvent::new(OWNER, now_s, 24200, tags, body.to_string().into());
        self.publish(&Arc::new(frame.sealed(AGENT)));
    }

    pub(crate) fn leave(&mut self, channel: &str) {
        self.membership(44101, channel);
    }

    pub(crate) fn join(&mut self, channel: &str) {
        self.membership(44100, channel);
    }

    /// The agent joins a channel in which somebody speaks at the same instant.
    pub(crate) fn join_saying(&mut self, channel: &str, event: &SharedEvent) {
        self.published.push(event.clone());
        self.membership(44100, channel);
    }

    fn membership(&mut self, kind: u16, channel: &str) {
        let tags = vec![tag(&["p", &AGENT.to_string()]), tag(&["h", channel])];
        let now_s = self.now_ms / 1000;
        self.publish(&Arc::new(NostrEvent::new(STRANGER, now_s, kind, tags, "".into())));
    }
}
