//! Whether a failed turn's message is tried again, or lost.
//!
//! It is retryable when nothing announced its loss and the harness still holds it. Where no
//! harness tells what it holds, a prompt after the step shows it; without one it is enough that
//! there was no chance: no prompt of its conversation was sent any more by a life that has it.

use super::{Found, cause};
use crate::facts::Facts;
use crate::facts::ids::MessageId;
use crate::verdict::{Blame, Cause};

/// A failed turn of which it is asked whether it can be retried.
#[derive(Clone, Copy)]
pub(super) struct Retry {
    pub(super) message: MessageId,
    /// The record that shows the failure.
    pub(super) failed: usize,
    /// It is to be retryable, or is to be given up.
    pub(super) wanted: bool,
    /// The first record after the step.
    pub(super) to: usize,
}

impl Retry {
    /// The verdict when the step is over; `None` when only later steps can tell.
    pub(super) fn at_close(&self, facts: &Facts) -> Option<Found> {
        let fine = || Some(Found::held(format!("failed, at {}", facts.instant(self.failed))));
        if let Some(record) = facts.messages.get(self.message).announced {
            return if self.wanted { Some(self.given_up(record, facts)) } else { fine() };
        }
        match (holders(self.message, self.failed, facts), self.wanted) {
            (Holders::Untold, _) => None,
            (Holders::Some(_), true) | (Holders::None(_), false) => fine(),
            (Holders::None(record), true) => Some(self.lost(record, facts)),
            (Holders::Some(record), false) => Some(still_tried(record, facts)),
        }
    }

    /// What the rest of the trace shows, where it is not what was asked for.
    pub(super) fn at_end(&self, facts: &Facts) -> Option<Found> {
        let own = facts.messages.get(self.message);
        let prompts = own.prompts.iter().map(|prompt| facts.prompts.get(*prompt));
        let again = prompts.map(|prompt| prompt.record).find(|record| *record >= self.to);
        match (again, own.announced, self.wanted) {
            (Some(record), _, false) => Some(still_tried(record, facts)),
            (None, Some(record), true) => Some(self.given_up(record, facts)),
            (None, None, true) => {
                let chance = facts.missed_chance(self.message, self.to)?;
                Some(self.lost(chance, facts))
            }
            _ => None,
        }
    }

    fn given_up(&self, record: usize, facts: &Facts) -> Found {
        let label = format!("its loss was announced at {}", facts.instant(record));
        Found::violated(Blame::Harness, "a message was given up", label, record)
            .because([cause(self.failed, "its turn failed here")])
    }

    fn lost(&self, record: usize, facts: &Facts) -> Found {
        let label = format!("no longer held, and not announced, at {}", facts.instant(record));
        Found::violated(Blame::Harness, "a message was lost", label, record)
            .because(came(self.message, facts))
    }
}

fn still_tried(record: usize, facts: &Facts) -> Found {
    let label = format!("still tried, at {}", facts.instant(record));
    Found::violated(Blame::Harness, "a turn was to be given up, and was not", label, record)
}

/// Whether a harness holds a message.
pub(super) enum Holders {
    /// One does, as it told in this record.
    Some(usize),
    /// None does, as the last told in this record.
    None(usize),
    /// Nobody told since.
    Untold,
}

/// What the living harnesses that got the message tell of it since a record.
pub(super) fn holders(message: MessageId, since: usize, facts: &Facts) -> Holders {
    let own = facts.messages.get(message);
    let lives = own.deliveries.iter().map(|delivery| (delivery.record, delivery.life));
    let told = lives.filter_map(|(given, life)| {
        let life = facts.lives.get(life);
        let (record, messages) = life.held.as_ref()?;
        let fresh = life.ended.is_none() && *record >= since.max(given);
        fresh.then(|| (*record, messages.contains(&own.id)))
    });
    told.fold(Holders::Untold, |holders, (record, holds)| match holders {
        Holders::Some(_) => holders,
        _ if holds => Holders::Some(record),
        _ => Holders::None(record),
    })
}

/// The prompts that held a message, and how each ended.
pub(super) fn sent(message: MessageId, facts: &Facts) -> Vec<Cause> {
    let prompts = facts.messages.get(message).prompts.iter();
    prompts
        .map(|prompt| facts.prompts.get(*prompt))
        .map(|prompt| {
            let session = facts.session_name(prompt.session);
            cause(prompt.record, format!("prompted on {session} here; it {}", prompt.fate()))
        })
        .collect()
}

/// Where a message came from and what became of it.
pub(super) fn came(message: MessageId, facts: &Facts) -> Vec<Cause> {
    let own = facts.messages.get(message);
    let published = own.published.map(|record| cause(record, "the message, published here"));
    published.into_iter().chain(sent(message, facts)).collect()
}
