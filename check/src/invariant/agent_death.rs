//! H-22: an agent's death is no discard. The next process is asked to load the conversation's
//! session; a fresh one is opened only where that cannot be.
//!
//! Judged at the first prompt of a conversation after the death: only then is it known whose a
//! new session is. Nothing is asked of a harness whose receipts are switched off, could not be
//! written, or are shared with another living harness; nor where the session reached its limit of
//! turns, was discarded, closed, refused a prompt, or was tried since.

use super::{Broken, Invariant, Tally};
use crate::expect::{cause, history};
use crate::facts::Facts;
use crate::facts::ids::{LifeId, SessionId};
use crate::facts::moment::{Moment, Seen};
use crate::facts::prompt::{Prompt, PromptEnd};

/// The rule, with the last death of each life's agents.
#[derive(Default)]
pub(crate) struct AgentDeath {
    deaths: Vec<(LifeId, usize)>,
}

impl Invariant for AgentDeath {
    fn rule(&self) -> &'static str {
        "H-22"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        match &moment.seen {
            Seen::ProcessEnded(process, _) => {
                let life = facts.processes.get(*process).life;
                if facts.lives.get(life).ended.is_none() {
                    self.deaths.retain(|(other, _)| *other != life);
                    self.deaths.push((life, moment.record));
                }
            }
            Seen::Prompt(prompt) => {
                let prompt = facts.prompts.get(*prompt);
                let death = self.deaths.iter().find(|(life, _)| *life == prompt.life);
                if let Some((_, death)) = death {
                    judge(prompt, *death, moment, facts, tally);
                }
            }
            _ => {}
        }
    }
}

fn judge(prompt: &Prompt, death: usize, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
    let own = facts.sessions.get(prompt.session);
    let mut since = facts.prompts.since(death).filter(|other| {
        other.life == prompt.life && other.scope == prompt.scope && other.record < prompt.record
    });
    if since.next().is_some() || !can_load(prompt, facts) {
        return;
    }
    let Some(before) = session_before(prompt, death, facts) else { return };
    tally.came_up();
    let fresh = own.opened().is_some_and(|opened| opened > death);
    if before != prompt.session && fresh && !may_be_gone(before, prompt.life, facts) {
        tally.broke(|| {
            let old = facts.session_name(before);
            Broken::by_harness(moment, "an agent's death cost the conversation its session")
                .saying(format!("{old} was not loaded again"))
                .because([cause(death, "the agent died here")])
                .because(history(before, prompt.life, facts))
        });
    }
}

/// The new process can load, and the harness has a store of its own to load from.
fn can_load(prompt: &Prompt, facts: &Facts) -> bool {
    let life = facts.lives.get(prompt.life);
    let offers = facts.processes.get(prompt.process).offers;
    let shared = facts.lives.iter().any(|(other, facts_of_other)| {
        other != prompt.life && facts_of_other.home == life.home && facts_of_other.ended.is_none()
    });
    (offers.load || offers.resume)
        && life.settings.resume
        && facts.asked.unwritable.is_empty()
        && !shared
}

/// The session that the conversation had in this life when the agent died.
fn session_before(prompt: &Prompt, death: usize, facts: &Facts) -> Option<SessionId> {
    let scope = prompt.scope.as_ref()?;
    let earlier = facts.prompts.iter().rev().map(|(_, earlier)| earlier);
    let mut earlier = earlier.filter(|earlier| {
        earlier.life == prompt.life
            && earlier.record < death
            && facts.processes.get(earlier.process).ended.is_some()
            && earlier.scope.as_ref() == Some(scope)
    });
    earlier.next().map(|earlier| earlier.session)
}

/// There is a reason, other than the death, not to load it.
fn may_be_gone(session: SessionId, life: LifeId, facts: &Facts) -> bool {
    let own = facts.sessions.get(session);
    let limit = usize::try_from(facts.lives.get(life).settings.max_turns).unwrap_or(0);
    let last = own.prompts.last().map(|prompt| facts.prompts.get(*prompt));
    let refused = last.and_then(|last| last.end.as_ref());
    facts.discards.any(session).is_some()
        || own.closed.is_some()
        || own.last_load > last.map(|last| last.record)
        || (limit > 0 && own.prompts.len() >= limit)
        || matches!(refused, Some((_, PromptEnd::Refused(_))))
}
