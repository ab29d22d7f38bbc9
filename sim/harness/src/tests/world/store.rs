//! The store of the tiny world: a map, unless it refuses or holds its answers back.

use skep_store::{Config, Lookup, StoreAnswer, StoreOp};

use super::{World, key};
use crate::event::HarnessEvent;

impl World {
    /// A receipt that an earlier life left, of a session that the agent has.
    pub(crate) fn remember(&mut self, channel: &str, session: &str) {
        self.give(session);
        let config = Config::default();
        self.receipts.insert(key(channel, None), (session.into(), config));
    }

    pub(crate) fn receipt(&self, channel: &str) -> Option<&str> {
        self.receipts.get(&key(channel, None)).map(|(session, _)| &**session)
    }

    /// Lets the next store answer through that was held back.
    pub(crate) fn one_store_answer(&mut self) {
        self.events.extend(self.held_back.pop_front());
        self.drain();
    }

    /// Lets store answers through that were held back, and all later ones.
    pub(crate) fn store_answers(&mut self) {
        self.store_waits = false;
        self.events.append(&mut self.held_back);
        self.drain();
    }

    pub(super) fn on_store(&mut self, ticket: u32, op: StoreOp) {
        let answer = if self.store_refuses > 0 {
            self.store_refuses -= 1;
            StoreAnswer::Failed("disk full".into())
        } else {
            self.apply(op)
        };
        let event = HarnessEvent::Stored(ticket, answer);
        if self.store_waits {
            self.held_back.push_back(event);
        } else {
            self.events.push_back(event);
        }
    }

    fn apply(&mut self, op: StoreOp) -> StoreAnswer {
        match op {
            StoreOp::Get { key, config } => StoreAnswer::Got(match self.receipts.get(&key) {
                None => Lookup::Absent,
                Some((session, made)) if *made == config => {
                    Lookup::Found { session: session.clone() }
                }
                Some((session, _)) => Lookup::Incompatible { session: session.clone() },
            }),
            StoreOp::Put { key, session, config } => {
                self.receipts.insert(key, (session, config));
                StoreAnswer::Done
            }
            StoreOp::Remove { key } => {
                self.receipts.remove(&key);
                StoreAnswer::Done
            }
            StoreOp::RemoveIf { key, expected } => {
                let fits = self.receipts.get(&key).is_some_and(|(session, _)| *session == expected);
                if fits {
                    self.receipts.remove(&key);
                }
                StoreAnswer::Removed(fits)
            }
            StoreOp::RemoveChannel { channel } => {
                self.receipts.retain(|key, _| key.channel != channel);
                StoreAnswer::Done
            }
        }
    }
}
