//! What can go wrong at a relay, as data.

use skep_plan::RelayFault;
use skep_trace::{RelayMsg, Text};

use crate::ids::Party;
use crate::relay::{Relay, RelayEffect, say};

/// A fault of a scenario, its names replaced by ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Closes the connections of one party, or of all.
    Disconnect(Option<Party>),
    /// Loses the next so many events that somebody is subscribed to. They are kept all the same,
    /// so that whoever asks again gets them.
    Drop(u32),
    /// Delivers the next so many live events twice.
    Duplicate(u32),
    /// Delivers live events so many milliseconds later, from now on; 0 ends it.
    Delay(u64),
    /// Holds the next live event back until the one after it was delivered.
    Reorder,
    /// Closes every subscription to a channel.
    CloseSubscription {
        /// The channel's id.
        channel: Text,
        /// Why, as the wire says it.
        message: Text,
    },
    /// Challenges every connection anew.
    ReAuth,
    /// Refuses requests and publications for so many seconds.
    RateLimit(u64),
    /// Says so many milliseconds late that stored events are over, from now on; 0 ends it.
    SlowEose(u64),
    /// Closes every connection and takes no new ones for so many milliseconds.
    Restart(u64),
}

impl Fault {
    /// The fault that a scenario names, with the ids behind its names.
    pub fn resolve(
        fault: &RelayFault,
        party: impl Fn(&str) -> Party,
        channel: impl Fn(&str) -> Text,
    ) -> Self {
        match fault {
            RelayFault::Disconnect { harness } => Self::Disconnect(harness.as_deref().map(party)),
            RelayFault::Drop { count } => Self::Drop(*count),
            RelayFault::Duplicate { count } => Self::Duplicate(*count),
            RelayFault::Delay { ms } => Self::Delay(*ms),
            RelayFault::Reorder => Self::Reorder,
            RelayFault::CloseSubscription { channel: name, message } => {
                Self::CloseSubscription { channel: channel(name), message: message.clone() }
            }
            RelayFault::ReAuth => Self::ReAuth,
            RelayFault::RateLimit { seconds } => Self::RateLimit(*seconds),
            RelayFault::SlowEose { ms } => Self::SlowEose(*ms),
            RelayFault::Restart { down_ms } => Self::Restart(*down_ms),
        }
    }
}

impl Relay {
    /// Something goes wrong.
    pub(crate) fn fault(&mut self, fault: Fault, out: &mut Vec<RelayEffect>) {
        match fault {
            Fault::Disconnect(party) => self.disconnect(party, out),
            Fault::Drop(count) => self.delivery.drop += count,
            Fault::Duplicate(count) => self.delivery.duplicate += count,
            Fault::Delay(ms) => self.delivery.delay_ms = ms,
            Fault::Reorder => self.delivery.reorder = true,
            Fault::CloseSubscription { channel, message } => {
                self.close_subscriptions(&channel, None, &message, out);
            }
            Fault::ReAuth => self.challenge_again(out),
            Fault::RateLimit(seconds) => self.limit(seconds, out),
            Fault::SlowEose(ms) => self.delivery.eose_ms = ms,
            Fault::Restart(down_ms) => {
                self.disconnect(None, out);
                out.push(RelayEffect::Down(true));
                self.down = Some(self.set_timer(down_ms, out));
            }
        }
    }

    fn disconnect(&mut self, party: Option<Party>, out: &mut Vec<RelayEffect>) {
        let closed = self.conns.close_all(party);
        out.extend(closed.into_iter().map(RelayEffect::Close));
    }

    /// Connections stay authenticated meanwhile: the relay asks, it does not distrust.
    fn challenge_again(&mut self, out: &mut Vec<RelayEffect>) {
        for index in 0..self.conns.len() {
            let challenge = self.new_challenge();
            let conn = self.conns.nth(index);
            conn.challenge = challenge.clone();
            say(out, conn.id, RelayMsg::Auth { challenge });
        }
    }

    fn limit(&mut self, seconds: u64, out: &mut Vec<RelayEffect>) {
        self.limited_until_ms = self.now_ms + seconds * 1_000;
        let Some(limited) = self.limited() else { return };
        for conn in self.conns.iter_mut().filter(|conn| conn.identity.is_some()) {
            say(out, conn.id, RelayMsg::Notice(limited.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids() {
        let resolve =
            |fault| Fault::resolve(&fault, |_| Party(3), |name| format!("id of {name}").into());
        let harness = Some("h".into());
        assert_eq!(resolve(RelayFault::Disconnect { harness }), Fault::Disconnect(Some(Party(3))));
        let fault =
            RelayFault::CloseSubscription { channel: "c".into(), message: "error: no".into() };
        let closed =
            Fault::CloseSubscription { channel: "id of c".into(), message: "error: no".into() };
        assert_eq!(resolve(fault), closed);
    }
}
