//! `expect turn="done"`, `expect turn="failed" retryable=#true`: how a message's turn ends.
//!
//! - *done*: some prompt that held the message was answered `end_turn`, in this step or before.
//! - *failed*: none was by the end of the step, and a failure shows: a prompt that held it ended
//!   in another way, the session for it was refused or its agent died over it, the harness said
//!   so, or it still holds the message although it came to rest.
//! - *retryable*: see [`super::retry`].
//!
//! A step without a mention of its own means the earlier mentions that are still open.

use std::collections::BTreeMap;

use skep_trace::{Hex32, Note, What};

use super::obstacle::{Obstacle, obstacle};
use super::retry::{Holders, Retry, came, holders, sent};
use super::{Bind, Found, Stretch, Watch};
use crate::expectation::{TurnOutcome, WantedTurn};
use crate::facts::Facts;
use crate::facts::ids::MessageId;
use crate::facts::moment::Moment;
use crate::facts::process::Wants;
use crate::facts::prompt::Prompt;
use crate::verdict::{Blame, Verdict};

/// Watches for the end of turns.
pub(crate) struct TurnWatch {
    wanted: WantedTurn,
    never: bool,
    /// The mentions of this step.
    own: Vec<MessageId>,
    /// Mentions of earlier steps that were still open when this one began.
    earlier: Vec<MessageId>,
    /// Failures that a harness reported, by message.
    noted: BTreeMap<Hex32, usize>,
    found: Option<Found>,
    /// Messages whose retry only later steps can show.
    later: Vec<Retry>,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Its turn ended well, at this record.
    Done(usize),
    /// It did not, as this record shows.
    Failed(usize),
    /// Neither yet.
    Open,
}

impl TurnWatch {
    pub(crate) fn new(wanted: WantedTurn, never: bool) -> Self {
        Self {
            wanted,
            never,
            own: Vec::new(),
            earlier: Vec::new(),
            noted: BTreeMap::new(),
            found: None,
            later: Vec::new(),
        }
    }

    /// The messages that are meant.
    fn meant(&self, facts: &Facts) -> Vec<MessageId> {
        match &self.wanted.message {
            Some(label) => {
                let id = facts.names.event(label).and_then(|id| facts.messages.find(id));
                id.into_iter().collect()
            }
            None if self.own.is_empty() => self.earlier.clone(),
            None => self.own.clone(),
        }
    }

    fn fate(&self, message: MessageId, facts: &Facts) -> Fate {
        let own = facts.messages.get(message);
        let mut prompts = own.prompts.iter().map(|prompt| facts.prompts.get(*prompt));
        let done = prompts.clone().find(|prompt| prompt.done());
        if let Some((record, _)) = done.and_then(|prompt| prompt.end.as_ref()) {
            return Fate::Done(*record);
        }
        let running = |prompt: &Prompt| prompt.end.is_none();
        match prompts.next_back() {
            Some(prompt) if running(prompt) => return Fate::Open,
            Some(Prompt { end: Some((record, _)), .. }) => return Fate::Failed(*record),
            _ => {}
        }
        let noted = self.noted.get(&own.id).copied();
        let failed = noted.or_else(|| held_back(message, facts)).or_else(|| held(message, facts));
        failed.map_or(Fate::Open, Fate::Failed)
    }

    /// It ended in the way that is looked for.
    fn ends_so(&self, message: MessageId, facts: &Facts) -> bool {
        match (self.wanted.outcome, self.fate(message, facts)) {
            (TurnOutcome::Done, fate) => matches!(fate, Fate::Done(_)),
            (TurnOutcome::Failed { .. }, fate) => matches!(fate, Fate::Failed(_)),
            (TurnOutcome::Stopped(reason), _) => stopped(message, reason, facts),
        }
    }

    /// Waiting brings no better end: a turn that went well will not fail any more.
    fn is_decided(&self, message: MessageId, facts: &Facts) -> bool {
        let waits_for_success = self.wanted.outcome == TurnOutcome::Done;
        self.ends_so(message, facts)
            || !waits_for_success && matches!(self.fate(message, facts), Fate::Done(_))
    }

    fn judge(&mut self, facts: &Facts, stretch: &Stretch) -> Found {
        let meant = self.meant(facts);
        if meant.is_empty() {
            let label = match &self.wanted.message {
                Some(label) => format!("no message has the name {label}"),
                None => "no mention in this step, and none still open".to_owned(),
            };
            return Found::violated(
                Blame::Scenario,
                "there is no turn to judge",
                label,
                stretch.end(),
            );
        }
        let mut first = None;
        for message in meant {
            let found = self.judge_message(message, facts, stretch);
            if found.verdict != Verdict::Held {
                return found;
            }
            first.get_or_insert(found);
        }
        first.expect("at least one message is meant")
    }

    fn judge_message(&mut self, message: MessageId, facts: &Facts, stretch: &Stretch) -> Found {
        let fate = self.fate(message, facts);
        match (self.wanted.outcome, fate) {
            (TurnOutcome::Done, Fate::Done(record)) => {
                Found::held(format!("ended well, at {}", facts.instant(record)))
            }
            (TurnOutcome::Done, _) => not_done(message, fate, facts, stretch),
            (TurnOutcome::Stopped(reason), _) => {
                if stopped(message, reason, facts) {
                    return Found::held(format!("ended with `{reason}`"));
                }
                let mut found = not_done(message, fate, facts, stretch);
                found.title = format!("the turn did not end with `{reason}`");
                found
            }
            (TurnOutcome::Failed { .. }, Fate::Done(record)) => {
                let label = format!("ended well, at {}", facts.instant(record));
                let title = "the turn went well, though it was to fail";
                Found::violated(Blame::Harness, title, label, record).because(sent(message, facts))
            }
            (TurnOutcome::Failed { .. }, Fate::Open) => not_failed(message, facts, stretch),
            (TurnOutcome::Failed { retryable: None }, Fate::Failed(record)) => {
                Found::held(format!("failed, at {}", facts.instant(record)))
            }
            (TurnOutcome::Failed { retryable: Some(wanted) }, Fate::Failed(record)) => {
                let retry = Retry { message, failed: record, wanted, to: stretch.to };
                retry.at_close(facts).unwrap_or_else(|| {
                    self.later.push(retry);
                    Found::held(format!("failed, at {}", facts.instant(record)))
                })
            }
        }
    }
}

impl Watch for TurnWatch {
    fn begin(&mut self, facts: &Facts) {
        let open = |id: &MessageId| {
            let message = facts.messages.get(*id);
            message.event.as_ref().is_some_and(|event| facts.is_mention(event))
                && message.announced.is_none()
                && !message.prompts.iter().any(|prompt| facts.prompts.get(*prompt).done())
        };
        self.earlier = facts.messages.iter().map(|(id, _)| id).filter(open).collect();
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        match moment.what {
            What::Published(event) if facts.is_mention(event) => {
                self.own.extend(facts.messages.find(event.id()));
            }
            What::Note { note: Note::TurnFailed { messages, .. }, .. } => {
                for id in messages {
                    self.noted.insert(*id, moment.record);
                }
            }
            _ => {}
        }
        None
    }

    fn unmet(&self, facts: &Facts) -> bool {
        let meant = self.meant(facts);
        !self.never && (meant.is_empty() || !meant.iter().all(|id| self.is_decided(*id, facts)))
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        let found = if self.never {
            let meant = self.meant(facts);
            let hit = meant.iter().find(|id| self.ends_so(**id, facts));
            match hit.map(|id| (id, self.fate(*id, facts))) {
                Some((id, Fate::Done(record) | Fate::Failed(record))) => {
                    let label = format!("violated once, at {}", facts.instant(record));
                    let title = "a turn ended in the way it must not";
                    Found::violated(Blame::Harness, title, label, record).because(sent(*id, facts))
                }
                _ => Found::held("no turn ended so"),
            }
        } else {
            self.judge(facts, stretch)
        };
        self.found = Some(found);
    }

    fn found(&self, facts: &Facts) -> Found {
        let later = self.later.iter().find_map(|retry| retry.at_end(facts));
        let found = later.or_else(|| self.found.clone());
        found.unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}

/// Some prompt that held it was answered with this reason.
fn stopped(message: MessageId, reason: &str, facts: &Facts) -> bool {
    let prompts = &facts.messages.get(message).prompts;
    prompts.iter().any(|prompt| facts.prompts.get(*prompt).stopped(reason))
}

/// A session for a message that waits was refused, or never came because its agent died. After a
/// definitive answer to a load the turn goes on.
fn held_back(message: MessageId, facts: &Facts) -> Option<usize> {
    facts.messages.get(message).deliveries.iter().find_map(|delivery| {
        let scope = facts.scope(delivery.life, message)?;
        let mut setbacks = facts.setbacks.since(delivery.life, delivery.record);
        let about_it = setbacks.find(|setback| match &setback.wants {
            Wants::Load { session, .. } => {
                let own = facts.sessions.get(*session).scope();
                let settings = facts.lives.get(delivery.life).settings;
                let definitive = setback.code.is_some_and(|code| settings.definitive(code));
                !definitive && own.is_none_or(|own| own.fits(&scope))
            }
            Wants::New { channel } => {
                channel.as_ref().is_none_or(|channel| *channel == scope.channel)
            }
            _ => false,
        });
        about_it.map(|setback| setback.record)
    })
}

/// A harness that came to rest holds it: whatever it waits for, its turn did not end.
fn held(message: MessageId, facts: &Facts) -> Option<usize> {
    match holders(message, 0, facts) {
        Holders::Some(record) => Some(record),
        Holders::None(_) | Holders::Untold => None,
    }
}

fn not_done(message: MessageId, fate: Fate, facts: &Facts, stretch: &Stretch) -> Found {
    let prompts = &facts.messages.get(message).prompts;
    let last = prompts.last().map(|prompt| facts.prompts.get(*prompt));
    let Obstacle { blame, sentence, causes } = obstacle(facts, stretch, None);
    let (title, mut label, record) = match (last, fate) {
        (None, _) => {
            ("the message never reached the agent", "not prompted".to_owned(), stretch.end())
        }
        (Some(prompt), Fate::Failed(record)) => {
            let label = format!("the prompt {}, at {}", prompt.fate(), facts.instant(record));
            ("the turn did not end well", label, record)
        }
        (Some(prompt), _) => {
            ("the turn did not end", format!("the prompt {}", prompt.fate()), stretch.end())
        }
    };
    let blame = match last {
        Some(prompt) if !prompt.on_live_session => Blame::Harness,
        _ => blame,
    };
    // A refusal is told already.
    let told = blame == Blame::Agent && matches!(fate, Fate::Failed(_));
    if let Some(sentence) = sentence.filter(|_| !told) {
        label = format!("{label}: {sentence}");
    }
    Found::violated(blame, title, label, record).because(came(message, facts)).because(causes)
}

fn not_failed(message: MessageId, facts: &Facts, stretch: &Stretch) -> Found {
    let Obstacle { blame, sentence, causes } = obstacle(facts, stretch, None);
    let blame = if blame == Blame::Agent { Blame::Harness } else { blame };
    let why = sentence.map(|sentence| format!(": {sentence}")).unwrap_or_default();
    let label = format!("open at {}{why}", facts.instant(stretch.end()));
    Found::violated(blame, "the turn neither ended nor failed", label, stretch.end())
        .because(came(message, facts))
        .because(causes)
}
