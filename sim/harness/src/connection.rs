//! The flow of a relay connection: handshake (NIP-42), loss, and what is redone after it (H-82).

use skep_mutant::Mutant;
use skep_trace::{ClientMsg, Filter, NostrEvent, RelayMsg, Text};

use crate::channel::SUB_PREFIX;
use crate::effect::{HarnessEffect, Out};
use crate::harness::Harness;
use crate::link::{CONNECT_MS, HANDSHAKE_MS, LinkState, silence_s};
use crate::timer::Slot;

/// The subscription to words about the agent's memberships.
pub(crate) const MEMBERSHIP_SUB: &str = "membership-notif";

/// The subscription to the owner's control frames.
pub(crate) const CONTROL_SUB: &str = "agent-observer-control";

const KIND_AUTH: u16 = 22242;

impl Harness {
    pub(crate) fn connect(&mut self, out: &mut Out<'_>) {
        self.link.state = LinkState::Connecting;
        self.timers.set(Slot::Handshake, CONNECT_MS, out);
        out.push(HarnessEffect::Connect);
    }

    pub(crate) fn on_connected(&mut self, out: &mut Out<'_>) {
        self.link.state = LinkState::Greeting;
        self.timers.set(Slot::Handshake, HANDSHAKE_MS, out);
    }

    pub(crate) fn on_handshake_timeout(&mut self, out: &mut Out<'_>) {
        out.push(HarnessEffect::Disconnect);
        self.on_connection_lost("the handshake took too long", out);
    }

    pub(crate) fn on_connection_lost(&mut self, why: &str, out: &mut Out<'_>) {
        self.timers.cancel(Slot::Handshake, out);
        self.timers.cancel(Slot::RateGate, out);
        self.timers.cancel(Slot::Resubscribe, out);
        match self.link.lost(out.now_ms) {
            Some(0) => {
                out.log(|| format!("relay connection lost ({why}), reconnecting"));
                self.connect(out);
            }
            Some(wait_ms) => {
                out.log(|| format!("no relay connection ({why}), next attempt in {wait_ms} ms"));
                self.timers.set(Slot::Reconnect, wait_ms, out);
            }
            None => {
                out.log(|| format!("giving up on the relay: {why}"));
                self.exit(1, out);
            }
        }
    }

    /// Gives the connection up and opens another.
    fn reconnect(&mut self, why: &str, out: &mut Out<'_>) {
        out.push(HarnessEffect::Disconnect);
        self.on_connection_lost(why, out);
    }

    pub(crate) fn on_relay(&mut self, message: &RelayMsg, out: &mut Out<'_>) {
        match message {
            RelayMsg::Event { sub, event } => self.on_event(sub, event, out),
            RelayMsg::Ok { accepted, message, .. } => self.on_ok(*accepted, message, out),
            RelayMsg::Auth { challenge } => self.on_challenge(challenge, out),
            RelayMsg::Closed { sub, message } => self.on_closed(sub, message, out),
            RelayMsg::Notice(text) => {
                out.log(|| format!("relay notice: {text}"));
                self.on_silence_wanted(text, out);
            }
            RelayMsg::Eose { sub } => self.on_stored_told(sub),
            RelayMsg::Other(_) => {}
        }
    }

    /// The relay has told everything that it had stored: from now on it tells what happens.
    fn on_stored_told(&mut self, sub: &str) {
        let id = sub.strip_prefix(SUB_PREFIX);
        if let Some(channel) = id.and_then(|id| self.channels.get_mut(id)) {
            channel.caught_up = true;
        }
    }

    /// A challenge is answered whenever it comes, also in mid-connection.
    fn on_challenge(&mut self, challenge: &Text, out: &mut Out<'_>) {
        let tags = vec![
            vec!["challenge".into(), challenge.clone()],
            vec!["relay".into(), self.config.relay_url.clone()],
        ];
        let proof = self.event(KIND_AUTH, tags, "".into(), out);
        out.send(ClientMsg::Auth(proof));
        if self.link.state == LinkState::Greeting {
            self.link.state = LinkState::Proving;
            self.timers.set(Slot::Handshake, HANDSHAKE_MS, out);
        }
    }

    /// The first answer after the proof is the answer to it; of later ones only a refused
    /// authentication matters.
    fn on_ok(&mut self, accepted: bool, message: &str, out: &mut Out<'_>) {
        if self.link.state != LinkState::Proving {
            if !accepted && message.starts_with("auth") {
                self.reconnect(message, out);
            }
        } else if accepted {
            self.on_open(out);
        } else if self.link.opened_before || message.starts_with("error:") {
            self.reconnect(message, out);
        } else {
            out.log(|| format!("the relay refuses the agent: {message}"));
            self.exit(1, out);
        }
    }

    fn on_open(&mut self, out: &mut Out<'_>) {
        self.timers.cancel(Slot::Handshake, out);
        let first = !self.link.opened_before;
        self.link.opened(out.now_ms);
        if first {
            self.subscribe_to_words(out);
            self.discover(out);
            return;
        }
        if self.config.mutants.has(Mutant::NoResubscribe) {
            return;
        }
        self.subscribe_to_channels(out);
        self.subscribe_to_words(out);
        if self.discovered {
            self.show_presence(out);
        }
        self.publish_observed(out);
    }

    fn subscribe_to_channels(&mut self, out: &mut Out<'_>) {
        let overlap_s = self.config.overlap_s();
        let since_s = self.config.mutants.has(Mutant::NoGapFetch).then(|| out.now_s() + 1);
        for channel in self.channels.iter_mut() {
            channel.closed.reopened();
            out.send(channel.request(&self.pubkey_text, overlap_s, since_s));
        }
    }

    /// Subscribes to what is said about the agent, beside what is said to it.
    fn subscribe_to_words(&mut self, out: &mut Out<'_>) {
        let since = self.membership_s.saturating_sub(self.config.overlap_s());
        self.subscribe(MEMBERSHIP_SUB, &[44100, 44101], since, out);
        if self.config.settings.observer && self.config.owner.is_some() {
            self.subscribe(CONTROL_SUB, &[24200], out.now_s(), out);
        }
    }

    fn subscribe(&mut self, sub: &str, kinds: &[u16], since: u64, out: &mut Out<'_>) {
        let filter = Filter {
            kinds: Some(kinds.to_vec()),
            since: Some(since),
            tags: vec![('p', vec![self.pubkey_text.clone()])],
            ..Filter::default()
        };
        self.ask_relay(ClientMsg::Req { sub: sub.into(), filters: vec![filter] }, out);
    }

    /// Subscribes to one channel's messages, if there is a connection; else the next one will.
    pub(crate) fn subscribe_to_channel(&mut self, id: &str, out: &mut Out<'_>) {
        if self.link.is_open()
            && let Some(channel) = self.channels.get(id)
        {
            let request = channel.request(&self.pubkey_text, self.config.overlap_s(), None);
            self.ask_relay(request, out);
        }
    }

    /// Says something that the relay must hear, as soon as it wants to hear anything.
    pub(crate) fn ask_relay(&mut self, message: ClientMsg, out: &mut Out<'_>) {
        if self.link.gated {
            self.link.park(message);
        } else {
            out.send(message);
        }
    }

    fn on_closed(&mut self, sub: &Text, message: &str, out: &mut Out<'_>) {
        out.log(|| format!("subscription {sub} was closed: {message}"));
        let gone = ["restricted: not a channel member", "restricted: channel access revoked"]
            .contains(&message);
        if self.on_silence_wanted(message, out) {
            return self.reopen(sub, out);
        }
        match sub.strip_prefix(SUB_PREFIX) {
            Some(id) if gone => self.on_removed(id, out),
            _ if message.starts_with("restricted") || message.contains("auth") => {
                self.reconnect(message, out);
            }
            _ => self.reopen(sub, out),
        }
    }

    /// Opens a subscription again that the relay closed: at once, but a relay that keeps closing
    /// it is asked ever more seldom.
    fn reopen(&mut self, sub: &str, out: &mut Out<'_>) {
        let id = sub.strip_prefix(SUB_PREFIX);
        let closed = match id {
            None => &mut self.words_closed,
            Some(id) => match self.channels.get_mut(id) {
                Some(channel) => &mut channel.closed,
                None => return,
            },
        };
        closed.again();
        if let Some(wait_ms) = closed.wait_ms() {
            return self.timers.ensure(Slot::Resubscribe, wait_ms, out);
        }
        self.reopen_subscriptions(out);
    }

    pub(crate) fn reopen_subscriptions(&mut self, out: &mut Out<'_>) {
        if !self.link.is_open() {
            // The next connection opens them all.
            return;
        }
        if self.words_closed.reopened() {
            self.subscribe_to_words(out);
        }
        let closed = self
            .channels
            .iter_mut()
            .filter_map(|channel| channel.closed.reopened().then(|| channel.id.clone()));
        let ids: Vec<Text> = closed.collect();
        for id in ids {
            self.subscribe_to_channel(&id, out);
        }
    }

    /// The relay asks for silence: says whether it did.
    fn on_silence_wanted(&mut self, message: &str, out: &mut Out<'_>) -> bool {
        let Some(seconds) = silence_s(message) else { return false };
        self.link.gated = true;
        self.timers.set(Slot::RateGate, seconds * 1_000, out);
        true
    }

    pub(crate) fn on_gate_open(&mut self, out: &mut Out<'_>) {
        for message in self.link.ungate() {
            out.send(message);
        }
        self.publish_observed(out);
    }

    /// An event of the agent identity, dated now.
    pub(crate) fn event(
        &self,
        kind: u16,
        tags: Vec<Vec<Text>>,
        content: Text,
        out: &Out<'_>,
    ) -> skep_trace::SharedEvent {
        NostrEvent::new(self.config.pubkey, out.now_s(), kind, tags, content).into()
    }
}
