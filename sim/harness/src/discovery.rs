//! Which channels there are: asked at the start, and told later (memberships).

use std::sync::Arc;

use skep_trace::{Filter, HttpBody, HttpCall, HttpReply, Note, SharedEvent, Text};

use crate::channel::Channel;
use crate::connection::{CONTROL_SUB, MEMBERSHIP_SUB};
use crate::effect::Out;
use crate::harness::Harness;
use crate::http::{Ask, Outcome};
use crate::lifecycle::Why;
use crate::scope::Scope;
use crate::timer::Slot;

const KIND_METADATA: u16 = 39000;
const KIND_MEMBERS: u16 = 39002;
const KIND_JOINED: u16 = 44100;
const KIND_LEFT: u16 = 44101;

/// How many channels are served; an agent in more is told so in the log.
const CHANNELS: usize = 1024;

impl Harness {
    /// Asks which channels the agent is a member of.
    pub(crate) fn discover(&mut self, out: &mut Out<'_>) {
        let mine = vec![('p', vec![self.pubkey_text.clone()])];
        let filter = Filter { kinds: Some(vec![KIND_MEMBERS]), tags: mine, ..Filter::default() };
        self.http.ask(HttpCall::Query(vec![filter]), Ask::Memberships, out);
    }

    pub(crate) fn on_http(
        &mut self,
        ticket: u32,
        answer: Result<Arc<HttpReply>, Text>,
        out: &mut Out<'_>,
    ) {
        match self.http.answered(ticket, answer, out.now_ms) {
            Outcome::Answered(ask, reply) => self.on_reply(ask, &reply, out),
            Outcome::Failed(Ask::Memberships | Ask::Metadata, why) => {
                out.log(|| format!("the channels could not be found: {why}"));
                self.exit(1, out);
            }
            Outcome::Failed(ask, why) => {
                out.log(|| format!("{ask:?} failed: {why}"));
                if ask == Ask::LateMetadata {
                    self.subscribe_to_new_channels(out);
                }
            }
            Outcome::Again => self.wait_for_http(out),
            Outcome::Unknown => {}
        }
    }

    pub(crate) fn retry_http(&mut self, out: &mut Out<'_>) {
        self.http.retry(out);
        self.wait_for_http(out);
    }

    fn wait_for_http(&mut self, out: &mut Out<'_>) {
        if let Some(due_ms) = self.http.next_due_ms() {
            self.timers.set(Slot::Http, due_ms.saturating_sub(out.now_ms), out);
        }
    }

    fn on_reply(&mut self, ask: Ask, reply: &HttpReply, out: &mut Out<'_>) {
        let HttpBody::Events(events) = &reply.body else { return };
        match ask {
            Ask::Memberships => self.on_memberships(events, out),
            Ask::Metadata => {
                self.on_metadata(events);
                self.on_discovered(out);
            }
            Ask::LateMetadata => {
                self.on_metadata(events);
                self.subscribe_to_new_channels(out);
            }
            Ask::Notice | Ask::Reaction => {}
        }
    }

    fn on_memberships(&mut self, events: &[SharedEvent], out: &mut Out<'_>) {
        for event in events {
            if let Some(id) = event.tag("d") {
                self.add_channel(&id.to_ascii_lowercase(), self.started_s, out);
            }
        }
        if self.channels.len() == 0 {
            return self.on_discovered(out);
        }
        let ids = self.channels.iter().map(|channel| channel.id.clone()).collect();
        self.ask_metadata(ids, Ask::Metadata, out);
    }

    fn add_channel(&mut self, id: &str, watermark_s: u64, out: &mut Out<'_>) {
        if self.channels.len() >= CHANNELS {
            return out.log(|| format!("channel {id} is one too many and is not served"));
        }
        let floor_s = watermark_s.saturating_sub(self.config.overlap_s());
        if self.channels.get(id).is_none() {
            self.channels.insert(Channel::unknown(id.into(), floor_s));
        }
    }

    pub(crate) fn ask_metadata(&mut self, ids: Vec<Text>, ask: Ask, out: &mut Out<'_>) {
        let tags = vec![('d', ids)];
        let filter = Filter { kinds: Some(vec![KIND_METADATA]), tags, ..Filter::default() };
        self.http.ask(HttpCall::Query(vec![filter]), ask, out);
    }

    fn on_metadata(&mut self, events: &[SharedEvent]) {
        for event in events {
            let Some(id) = event.tag("d").map(str::to_ascii_lowercase) else { continue };
            if event.tag("archived") == Some("true") {
                self.channels.remove(&id);
            } else if let Some(channel) = self.channels.get_mut(&id) {
                channel.learn(event);
            }
        }
    }

    /// The channels are known: subscribes to each, and says that it is there.
    fn on_discovered(&mut self, out: &mut Out<'_>) {
        out.log(|| format!("discovered {} channel(s)", self.channels.len()));
        self.discovered = true;
        self.subscribe_to_new_channels(out);
        if self.link.is_open() {
            self.show_presence(out);
        }
    }

    /// Subscribes to the channels that it was not yet. One that is new waits for its metadata: until
    /// then nobody knows whose messages count there, and the subscription asks for those that came
    /// meanwhile. Without a connection, the next one subscribes to all.
    fn subscribe_to_new_channels(&mut self, out: &mut Out<'_>) {
        let new = self.channels.iter_mut().filter(|channel| !channel.subscribed);
        let ids: Vec<Text> = new
            .map(|channel| {
                channel.subscribed = true;
                channel.id.clone()
            })
            .collect();
        for id in ids {
            self.subscribe_to_channel(&id, out);
        }
    }

    /// Something came through a subscription.
    pub(crate) fn on_event(&mut self, sub: &str, event: &SharedEvent, out: &mut Out<'_>) {
        match sub {
            MEMBERSHIP_SUB => self.on_membership(event, out),
            CONTROL_SUB => self.on_control(event, out),
            _ => self.on_channel_event(sub, event, out),
        }
    }

    fn on_membership(&mut self, event: &SharedEvent, out: &mut Out<'_>) {
        let Some(id) = event.tag("h").map(str::to_ascii_lowercase) else { return };
        if !self.seen.insert(event.id()) {
            return;
        }
        self.words_closed.works();
        self.membership_s = self.membership_s.max(event.created_at.min(out.now_s()));
        match event.kind {
            KIND_JOINED => self.on_joined(&id, event.created_at, out),
            KIND_LEFT => {
                if let Some(channel) = self.channels.get(&id) {
                    let close = channel.close();
                    self.ask_relay(close, out);
                }
                self.on_removed(&id, out);
            }
            _ => {}
        }
    }

    fn on_joined(&mut self, id: &str, created_at: u64, out: &mut Out<'_>) {
        if self.channels.get(id).is_some() {
            return;
        }
        out.log(|| format!("joined channel {id}"));
        self.add_channel(id, created_at, out);
        self.ask_metadata(vec![id.into()], Ask::LateMetadata, out);
    }

    /// The agent is no longer a member: nothing of the channel is kept, in memory or on disk.
    pub(crate) fn on_removed(&mut self, id: &str, out: &mut Out<'_>) {
        let Some(channel) = self.channels.remove(id) else { return };
        out.log(|| format!("left channel {id}"));
        let scopes = self.scopes_of(&channel.id);
        let inside = |scope: &Scope| scope.channel().is_some_and(|it| **it == *id);
        let dropped = self.inbox.drop_where(inside);
        if !dropped.is_empty() {
            let messages = dropped.iter().map(|message| message.id).collect();
            let why = "the agent left the channel".into();
            out.note(Note::TurnFailed { messages, retryable: false, why });
        }
        self.give_up_turn(inside, "the agent left the channel", out);
        for scope in scopes {
            self.discard(&scope, Why::Removed, out);
        }
    }
}
