//! H-80: every message that was delivered reaches the agent, or its loss is announced.
//!
//! A mention that a life was given is that life's duty. It is done when a prompt that held it was
//! answered or still runs, when it was handed into a running turn, or when the channel was told.
//! It is dropped when the life ends (under `delivery=live`; under `durable` the next life takes it
//! over), when the harness leaves the channel, and when the owner rotates or cancels the
//! conversation. Judged at the end of the trace, for lives that are then at rest. A harness that
//! tells what it holds must hold what is open. One that does not may be waiting for a retry after
//! any failure: it is to blame once it prompted the conversation again without the message.

use std::collections::BTreeMap;

use skep_trace::policy::Delivery;

use super::{Broken, Invariant, Tally};
use crate::expect::cause;
use crate::facts::Facts;
use crate::facts::ids::{LifeId, MessageId};
use crate::facts::moment::{Command, Moment, Seen};
use crate::facts::prompt::PromptEnd;
use crate::facts::scope::Scope;

/// The rule, with the duties of each life and the record that gave each.
#[derive(Default)]
pub(crate) struct LostMessage {
    duties: BTreeMap<(LifeId, MessageId), usize>,
}

/// How a duty stands at the end.
enum Standing {
    Done,
    Lost(usize),
}

impl Invariant for LostMessage {
    fn rule(&self) -> &'static str {
        "H-80"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        match &moment.seen {
            // What was still on its way to a life that has ended reached nobody.
            Seen::Delivered { life, message, .. }
                if binds(*message, facts) && facts.lives.get(*life).ended.is_none() =>
            {
                tally.came_up();
                self.duties.entry((*life, *message)).or_insert(moment.record);
            }
            Seen::Command { life, command: Command::Rotate | Command::Cancel, message, .. } => {
                if let Some(scope) = facts.scope(*life, *message) {
                    self.drop_scope(*life, &scope, facts);
                }
            }
            Seen::Left { life, channels, .. } => {
                for channel in channels {
                    let scope = Scope { channel: channel.clone(), root: None };
                    self.drop_scope(*life, &scope, facts);
                }
            }
            Seen::LifeEnded(life) if !is_durable(*life, facts) => {
                self.duties.retain(|(own, _), _| own != life);
            }
            _ => {}
        }
    }

    fn end(&mut self, facts: &Facts, tally: &mut Tally) {
        for ((life, message), given) in &self.duties {
            if let Standing::Lost(record) = standing(*life, *message, *given, facts) {
                tally.broke(|| lost(*message, *given, record, facts));
            }
        }
    }
}

impl LostMessage {
    fn drop_scope(&mut self, life: LifeId, scope: &Scope, facts: &Facts) {
        self.duties.retain(|(own, message), _| {
            *own != life || !facts.scope(life, *message).is_some_and(|own| own.fits(scope))
        });
    }
}

/// What the life did not come to is fetched by the next one.
fn is_durable(life: LifeId, facts: &Facts) -> bool {
    facts.lives.get(life).settings.policies.delivery == Delivery::Durable
}

/// In a direct message nobody but the owner may prompt.
fn binds(message: MessageId, facts: &Facts) -> bool {
    let message = facts.messages.get(message);
    let dm = message.channel.as_deref().is_some_and(|channel| facts.is_dm(channel));
    !dm || message.event.as_deref().is_some_and(|event| facts.is_owner(event))
}

fn standing(life: LifeId, message: MessageId, given: usize, facts: &Facts) -> Standing {
    let own = facts.messages.get(message);
    let reached = own.prompts.iter().map(|id| facts.prompts.get(*id)).any(|prompt| {
        facts.same_identity(prompt.life, life) && (prompt.end.is_none() || prompt.answered())
    });
    if reached || own.steered.is_some() || own.announced.is_some() {
        return Standing::Done;
    }
    let Some(heir) = heir(life, facts) else { return Standing::Done };
    let heir_facts = facts.lives.get(heir);
    let since = last_attempt(message, life, facts).unwrap_or(given).max(heir_facts.started);
    let Some(rest) = heir_facts.settled.filter(|rest| *rest > since) else { return Standing::Done };
    match &heir_facts.held {
        Some((_, held)) if held.contains(&own.id) => Standing::Done,
        Some((record, _)) if *record > since => Standing::Lost((*record).max(since)),
        _ if failed(heir, message, given, facts) => {
            facts.missed_chance(message, since).map_or(Standing::Done, Standing::Lost)
        }
        _ => Standing::Lost(rest),
    }
}

/// The life that owes the message now: the one that got it, or the one after it.
fn heir(life: LifeId, facts: &Facts) -> Option<LifeId> {
    let home = facts.lives.get(life).home;
    let living = |id: &LifeId| facts.lives.get(*id).alive() && facts.lives.get(*id).home == home;
    let mut later = facts.lives.iter().map(|(id, _)| id).filter(|id| *id > life);
    Some(life).filter(living).or_else(|| {
        let ended = facts.lives.get(life).ended.is_some();
        later.find(living).filter(|_| ended)
    })
}

/// The record at which the identity's last prompt that held it went wrong.
fn last_attempt(message: MessageId, life: LifeId, facts: &Facts) -> Option<usize> {
    let prompts = facts.messages.get(message).prompts.iter().rev();
    let mut prompts = prompts.map(|prompt| facts.prompts.get(*prompt));
    let last = prompts.find(|prompt| facts.same_identity(prompt.life, life))?;
    last.end.as_ref().map(|(record, _)| *record)
}

/// Something that the message needs went wrong, or is still awaited.
fn failed(life: LifeId, message: MessageId, given: usize, facts: &Facts) -> bool {
    let mut processes = facts.processes.iter().filter(|(_, process)| process.life == life);
    !facts.messages.get(message).prompts.is_empty()
        || facts.setbacks.since(life, given).next().is_some()
        || processes
            .any(|(_, process)| process.open().next().is_some() || process.ended > Some(given))
}

fn lost(message: MessageId, given: usize, record: usize, facts: &Facts) -> Broken {
    let own = facts.messages.get(message);
    let prompts = own.prompts.iter().map(|id| facts.prompts.get(*id));
    let tries = prompts.map(|prompt| {
        let fate = match &prompt.end {
            Some((_, PromptEnd::HarnessGone)) | None => "prompted here".to_owned(),
            Some(_) => format!("prompted here; that prompt {}", prompt.fate()),
        };
        cause(prompt.record, fate)
    });
    let detail = match own.prompts.len() {
        0 => "it was never prompted, not announced, and is not held",
        _ => "its prompt failed, it was not announced, and is not held",
    };
    Broken::at(record, facts, "a message was lost")
        .saying(detail)
        .because([cause(given, "the message was delivered here")])
        .because(tries)
}
