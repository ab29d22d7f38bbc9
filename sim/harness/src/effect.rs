//! What a harness does: the output of its core.

use std::sync::Arc;

use skep_store::StoreOp;
use skep_trace::{ClientMsg, Frame, HttpCall, Note, SharedEvent, Text};

/// One thing to be done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum HarnessEffect {
    /// Open a relay connection; the old one, if any, is gone.
    Connect,
    /// Close the relay connection.
    Disconnect,
    /// Say this to the relay.
    Send(Arc<ClientMsg>),
    /// Make an HTTP call; its answer comes with the same number.
    Http(u32, Arc<HttpCall>),
    /// Start an agent process.
    StartAgent,
    /// Write a line to the agent.
    ToAgent(Arc<Frame>),
    /// Kill the agent process and all that it started.
    KillAgent,
    /// Start a timer. Every start has a number of its own, so an old one can fire harmlessly.
    SetTimer {
        /// Its number.
        timer: u32,
        /// When it fires, from now.
        after_ms: u64,
        /// Its firing never changes anything that a check can see.
        idle: bool,
    },
    /// Stop a timer.
    CancelTimer(u32),
    /// Ask the store; its answer comes with the same number.
    Store(u32, StoreOp),
    /// A word about itself.
    Note(Note),
    /// A log line.
    Log(Text),
    /// The process ends with this code.
    Exit(i32),
}

/// Where a step puts its effects, and the instant at which it runs.
pub(crate) struct Out<'a> {
    /// Unix time in milliseconds, as the core's clock tells it.
    pub(crate) now_ms: u64,
    /// The date, as everybody else's clock tells it.
    pub(crate) date_s: u64,
    pub(crate) logs: bool,
    pub(crate) effects: &'a mut Vec<HarnessEffect>,
}

impl Out<'_> {
    /// The instant in seconds, as Nostr counts.
    pub(crate) fn now_s(&self) -> u64 {
        self.date_s
    }

    pub(crate) fn push(&mut self, effect: HarnessEffect) {
        self.effects.push(effect);
    }

    pub(crate) fn send(&mut self, message: ClientMsg) {
        self.push(HarnessEffect::Send(Arc::new(message)));
    }

    pub(crate) fn publish(&mut self, event: SharedEvent) {
        self.send(ClientMsg::Event(event));
    }

    pub(crate) fn tell_agent(&mut self, frame: Frame) {
        self.push(HarnessEffect::ToAgent(Arc::new(frame)));
    }

    pub(crate) fn note(&mut self, note: Note) {
        self.push(HarnessEffect::Note(note));
    }

    /// A log line; it is only worded where somebody reads logs.
    pub(crate) fn log(&mut self, line: impl FnOnce() -> String) {
        if self.logs {
            self.push(HarnessEffect::Log(line().into()));
        }
    }
}
