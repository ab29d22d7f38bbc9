//! A host that remembers what it was told, one line each.

use std::fmt;
use std::time::Duration;

use skep_plan::ChannelKind;
use skep_relay::{Channel, ConnId, Host, Keys, Relay, RelayConfig, RelayHandle, Seen};
use skep_trace::{ClientMsg, RelayMsg};

/// When every suite begins, in seconds since 1970.
pub(crate) const START_S: u64 = 1_000_000;

/// The relay's URL.
pub(crate) const URL: &str = "ws://relay:80";

pub(crate) struct Ear {
    clock: Box<dyn FnMut() -> Duration + Send>,
    numbers: u32,
    told: Vec<String>,
}

/// A relay with one channel, `open`, and few frames for those who read slowly.
pub(crate) fn relay(clock: impl FnMut() -> Duration + Send + 'static) -> RelayHandle<Ear> {
    let (owner, agent) = (Keys::named("owner").pubkey, Keys::named("agent").pubkey);
    let mut config = RelayConfig::new(URL, owner);
    config.bounds.outgoing = 50;
    config.bounds.frame_bytes = 10_000;
    config.channels = vec![Channel {
        id: "open".into(),
        name: "open".into(),
        kind: ChannelKind::Stream,
        archived: false,
        members: vec![owner, agent],
    }];
    let ear = Ear { clock: Box::new(clock), numbers: 0, told: Vec::new() };
    RelayHandle::new(Relay::new(config), ear)
}

impl Ear {
    pub(crate) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }
}

impl Host for Ear {
    fn now_ms(&mut self) -> u64 {
        let elapsed = (self.clock)().as_millis();
        START_S * 1_000 + u64::try_from(elapsed).unwrap()
    }

    fn number(&mut self) -> ConnId {
        self.numbers += 1;
        ConnId(self.numbers)
    }

    fn seen(&mut self, seen: Seen) {
        self.told.push(match seen {
            Seen::Connected(conn, _) => format!("{} connects", conn.0),
            Seen::Disconnected(conn, _) => format!("{} is gone", conn.0),
            Seen::ToRelay(conn, _, message) => format!("{} says {}", conn.0, said(&message)),
            Seen::FromRelay(conn, _, message) => format!("{} hears {}", conn.0, heard(&message)),
            Seen::Http(_, call, reply) => format!("http {} {}", call.path(), reply.status),
            Seen::Doubt(_, text) => text.to_string(),
        });
    }
}

impl fmt::Debug for Ear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.told.fmt(f)
    }
}

fn said(message: &ClientMsg) -> String {
    match message {
        ClientMsg::Event(event) => format!("EVENT {} {}", event.kind, event.content),
        ClientMsg::Req { sub, .. } => format!("REQ {sub}"),
        ClientMsg::Close { sub } => format!("CLOSE {sub}"),
        ClientMsg::Auth(_) => "AUTH".to_owned(),
        ClientMsg::Other(text) => format!("OTHER {text}"),
    }
}

fn heard(message: &RelayMsg) -> String {
    match message {
        RelayMsg::Event { sub, event } => format!("EVENT {sub} {}", event.content),
        RelayMsg::Ok { accepted, .. } => format!("OK {accepted}"),
        RelayMsg::Eose { sub } => format!("EOSE {sub}"),
        RelayMsg::Closed { sub, message } => format!("CLOSED {sub} {message}"),
        RelayMsg::Notice(text) => format!("NOTICE {text}"),
        RelayMsg::Auth { challenge } => format!("AUTH {challenge}"),
        RelayMsg::Other(text) => format!("OTHER {text}"),
    }
}
