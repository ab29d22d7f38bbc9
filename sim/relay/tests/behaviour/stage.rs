//! A stage for the relay's core: acts go in, what the relay did comes out as short lines.

use std::sync::Arc;

use skep_plan::ChannelKind;
use skep_relay::{
    Channel, ConnId, Fault, HttpId, Keys, Party, Relay, RelayConfig, RelayEffect, RelayEvent,
};
use skep_trace::{
    ClientMsg, Filter, Hex32, HttpBody, HttpCall, NostrEvent, RelayMsg, SharedEvent, Text,
};

/// When every stage begins, in seconds since 1970.
pub(crate) const NOW_S: u64 = 1_000_000;

/// The relay's URL on every stage.
pub(crate) const URL: &str = "ws://relay";

/// A relay with one channel of each kind: `open`, `closed`, `dm`, and one archived: `gone`.
pub(crate) struct Stage {
    pub(crate) relay: Relay,
    pub(crate) now_ms: u64,
    out: Vec<RelayEffect>,
}

pub(crate) fn owner() -> Hex32 {
    Keys::named("owner").pubkey
}

pub(crate) fn agent() -> Hex32 {
    Keys::named("agent").pubkey
}

pub(crate) fn config() -> RelayConfig {
    let channel = |id: &str, kind, archived| Channel {
        id: id.into(),
        name: id.into(),
        kind,
        archived,
        members: vec![owner(), agent()],
    };
    let mut config = RelayConfig::new(URL, owner());
    config.born_s = NOW_S - 500;
    config.names = vec![(owner(), "Ada".into())];
    config.channels = vec![
        channel("open", ChannelKind::Stream, false),
        channel("closed", ChannelKind::Private, false),
        channel("dm", ChannelKind::Dm, false),
        channel("gone", ChannelKind::Stream, true),
    ];
    config
}

pub(crate) fn event(author: Hex32, kind: u16, tags: &[&[&str]], content: &str) -> NostrEvent {
    let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect()).collect();
    NostrEvent::new(author, NOW_S, kind, tags, content.into())
}

/// A message of the owner to the agent.
pub(crate) fn mention(channel: &str, content: &str) -> SharedEvent {
    let tags: &[&[&str]] = &[&["h", channel], &["p", &agent().to_string()]];
    Arc::new(event(owner(), 9, tags, content))
}

/// The same, so many seconds before now.
pub(crate) fn mention_before(channel: &str, content: &str, seconds: u64) -> SharedEvent {
    let mut event = (*mention(channel, content)).clone();
    event.created_at -= seconds;
    Arc::new(event)
}

/// The filter of a harness on a channel.
pub(crate) fn mentions(channel: &str, since: u64) -> Filter {
    Filter {
        kinds: Some(vec![9, 46_010, 40_007]),
        since: Some(since),
        tags: vec![('h', vec![channel.into()]), ('p', vec![agent().to_string().into()])],
        ..Filter::default()
    }
}

pub(crate) fn answer(challenge: &str, author: Hex32) -> NostrEvent {
    event(author, 22_242, &[&["challenge", challenge], &["relay", URL]], "")
}

impl Stage {
    pub(crate) fn new(config: RelayConfig) -> Self {
        Self { relay: Relay::new(config), now_ms: NOW_S * 1_000, out: Vec::new() }
    }

    pub(crate) fn step(&mut self, event: RelayEvent) -> Vec<String> {
        self.relay.step(self.now_ms, event, &mut self.out);
        self.out.drain(..).map(|effect| line(&effect)).collect()
    }

    pub(crate) fn connect(&mut self, conn: u32, party: u32) -> Vec<String> {
        self.step(RelayEvent::Connected { conn: ConnId(conn), party: Party(party) })
    }

    pub(crate) fn say(&mut self, conn: u32, message: ClientMsg) -> Vec<String> {
        self.step(RelayEvent::Message(ConnId(conn), Arc::new(message)))
    }

    /// Connects and answers the challenge, which is the `conn`th.
    pub(crate) fn login(&mut self, conn: u32, party: u32, author: Hex32) {
        self.connect(conn, party);
        let answer = answer(&format!("challenge-{conn}"), author);
        let said = self.say(conn, ClientMsg::Auth(Arc::new(answer)));
        assert_eq!(said, [format!("{conn} OK true ")]);
    }

    pub(crate) fn req(&mut self, conn: u32, sub: &str, filter: Filter) -> Vec<String> {
        self.say(conn, ClientMsg::Req { sub: sub.into(), filters: vec![filter] })
    }

    pub(crate) fn publish(&mut self, event: SharedEvent, to: Option<u32>) -> Vec<String> {
        self.step(RelayEvent::Publish { event, to: to.map(Party) })
    }

    pub(crate) fn http(&mut self, call: HttpCall) -> Vec<String> {
        self.step(RelayEvent::Http(HttpId(1), Arc::new(call)))
    }

    pub(crate) fn fault(&mut self, fault: Fault) -> Vec<String> {
        self.step(RelayEvent::Fault(fault))
    }

    pub(crate) fn later(&mut self, ms: u64, timer: u32) -> Vec<String> {
        self.now_ms += ms;
        self.step(RelayEvent::Timer(timer))
    }
}

fn line(effect: &RelayEffect) -> String {
    match effect {
        RelayEffect::Send(conn, message) => format!("{} {}", conn.0, words(message)),
        RelayEffect::Reply(_, reply) => format!("{} {}", reply.status, body(&reply.body)),
        RelayEffect::Close(conn) => format!("{} is closed", conn.0),
        RelayEffect::SetTimer { timer, after_ms } => format!("timer {timer} in {after_ms}"),
        RelayEffect::Down(down) => format!("down: {down}"),
    }
}

fn words(message: &RelayMsg) -> String {
    match message {
        RelayMsg::Event { sub, event } => format!("EVENT {sub} {}", name(event)),
        RelayMsg::Ok { accepted, message, .. } => format!("OK {accepted} {message}"),
        RelayMsg::Eose { sub } => format!("EOSE {sub}"),
        RelayMsg::Closed { sub, message } => format!("CLOSED {sub} {message}"),
        RelayMsg::Notice(message) => format!("NOTICE {message}"),
        RelayMsg::Auth { challenge } => format!("AUTH {challenge}"),
        RelayMsg::Other(text) => format!("OTHER {text}"),
    }
}

fn body(body: &HttpBody) -> String {
    match body {
        HttpBody::Events(events) => {
            events.iter().map(|event| name(event)).collect::<Vec<_>>().join(", ")
        }
        HttpBody::Accepted { accepted, message, .. } => format!("{accepted} {message}"),
        HttpBody::Count(count) => count.to_string(),
        HttpBody::Other(text) => text.to_string(),
    }
}

/// A message by its text; whatever the relay itself tells by its kind and channel.
fn name(event: &NostrEvent) -> String {
    match event.kind {
        39_000 | 39_002 => format!("{} {}", event.kind, event.tag("d").unwrap_or("?")),
        44_100 | 44_101 => format!("{} {}", event.kind, event.tag("h").unwrap_or("?")),
        _ => event.content.to_string(),
    }
}
