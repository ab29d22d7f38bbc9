//! The relay connection: where it stands, and when it is tried again.

use skep_trace::ClientMsg;

/// How long a connection may take to open, in milliseconds.
pub(crate) const CONNECT_MS: u64 = 30_000;

/// How long the relay may take to speak, and again to answer the authentication.
pub(crate) const HANDSHAKE_MS: u64 = 20_000;

/// Attempts at the first connection; a relay that refuses all of them is not there.
const FIRST_ATTEMPTS: u32 = 6;

/// The longest wait between two attempts later on: a relay that was there comes back.
const RECONNECT_CAP_MS: u64 = 60_000;

/// A connection that held for so long was a good one: the next loss is a new matter.
const STABLE_MS: u64 = 60_000;

/// How many messages wait for a relay that asked for silence; it asks seldom and for seconds.
const PARKED: usize = 256;

/// Where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// There is none.
    Down,
    /// It is being opened.
    Connecting,
    /// It is open; the relay speaks first.
    Greeting,
    /// The challenge was answered.
    Proving,
    /// It is authenticated.
    Open,
}

/// The relay connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) state: LinkState,
    /// It was open before.
    pub(crate) opened_before: bool,
    attempts: u32,
    opened_ms: u64,
    /// The relay asked for silence.
    pub(crate) gated: bool,
    parked: Vec<ClientMsg>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self {
            state: LinkState::Down,
            opened_before: false,
            attempts: 0,
            opened_ms: 0,
            gated: false,
            parked: Vec::new(),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state == LinkState::Open
    }

    /// What is not urgent may be said now.
    pub(crate) fn is_free(&self) -> bool {
        self.is_open() && !self.gated
    }

    pub(crate) fn opened(&mut self, now_ms: u64) {
        self.state = LinkState::Open;
        self.opened_before = true;
        self.opened_ms = now_ms;
    }

    /// The connection is gone, or did not come about: how long the next attempt waits; `None`
    /// when there is to be none.
    pub(crate) fn lost(&mut self, now_ms: u64) -> Option<u64> {
        let held = self.state == LinkState::Open;
        if held && now_ms.saturating_sub(self.opened_ms) >= STABLE_MS {
            self.attempts = 0;
        }
        self.state = LinkState::Down;
        self.gated = false;
        self.parked.clear();
        self.attempts += 1;
        let doubled = |step: u32| (1_000 << step.min(10)).min(RECONNECT_CAP_MS);
        match (self.opened_before, self.attempts) {
            (false, attempts) if attempts >= FIRST_ATTEMPTS => None,
            (false, attempts) => Some(doubled(attempts - 1)),
            // A connection that was good is tried again at once.
            (true, 1) => Some(0),
            (true, attempts) => Some(doubled(attempts - 2)),
        }
    }

    /// Keeps a message for when the relay may be spoken to again.
    pub(crate) fn park(&mut self, message: ClientMsg) {
        if self.parked.len() < PARKED {
            self.parked.push(message);
        }
    }

    pub(crate) fn ungate(&mut self) -> Vec<ClientMsg> {
        self.gated = false;
        std::mem::take(&mut self.parked)
    }
}

/// The seconds of silence that a `rate-limited:` message asks for: at least two, five when it
/// does not say.
pub(crate) fn silence_s(message: &str) -> Option<u64> {
    let rest = message.strip_prefix("rate-limited:")?;
    let asked = rest.split_once("retry in ").and_then(|(_, tail)| {
        let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        tail[..digits].parse::<u64>().ok()
    });
    Some(asked.filter(|seconds| (2..=3_600).contains(seconds)).unwrap_or(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_connection_is_given_up_after_six_attempts() {
        let mut link = Link::new();
        let waits: Vec<_> = (0..6).map(|_| link.lost(0)).collect();
        let seconds = [1_000, 2_000, 4_000, 8_000, 16_000];
        assert_eq!(waits[..5], seconds.map(Some));
        assert_eq!(waits[5], None);
    }

    #[test]
    fn a_lost_connection_is_tried_at_once_and_then_ever_later_without_end() {
        let mut link = Link::new();
        link.opened(0);
        let waits: Vec<_> = (0..9).map(|_| link.lost(10).unwrap() / 1_000).collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        link.opened(100_000);
        assert_eq!(link.lost(100_000 + STABLE_MS), Some(0));
    }

    #[test]
    fn the_relay_says_how_long_it_wants_silence() {
        assert_eq!(silence_s("rate-limited: slow down, retry in 12s"), Some(12));
        assert_eq!(silence_s("rate-limited: slow down"), Some(5));
        assert_eq!(silence_s("rate-limited: retry in 1s"), Some(5));
        assert_eq!(silence_s("closed for lunch"), None);
    }
}
