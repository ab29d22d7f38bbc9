//! H-53: ids compare by value. Two spellings of one thread's root, or of one channel, belong to
//! one session as long as that session lives.

use super::{Broken, Invariant, Tally};
use crate::expect::cause;
use crate::facts::Facts;
use crate::facts::ids::{LifeId, MessageId, PromptId, SessionId};
use crate::facts::moment::{Moment, Seen};
use crate::facts::scope::{Scope, marked_root, spelled_root};

/// The rule, with the last prompt of each conversation of each life.
#[derive(Default)]
pub(crate) struct Spelling {
    last: Vec<(LifeId, Scope, PromptId, MessageId)>,
}

impl Invariant for Spelling {
    fn rule(&self) -> &'static str {
        "H-53"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        let Seen::Prompt(id) = &moment.seen else { return };
        let prompt = facts.prompts.get(*id);
        let named = prompt.messages.iter().find(|id| facts.scope(prompt.life, **id).is_some());
        let (Some(scope), Some(message)) = (&prompt.scope, named) else { return };
        let known = |(life, other, ..): &(LifeId, Scope, PromptId, MessageId)| {
            *life == prompt.life && other == scope
        };
        let before = self.last.iter().position(known).map(|place| self.last.swap_remove(place));
        if let Some((_, _, earlier, _)) = before.filter(|(.., said)| differ(*said, *message, facts))
        {
            tally.came_up();
            if was_split(earlier, prompt.session, facts) {
                tally.broke(|| broken(moment, earlier, prompt.session, facts));
            }
        }
        self.last.push((prompt.life, scope.clone(), *id, *message));
    }
}

/// The same root or the same channel, spelled differently.
fn differ(one: MessageId, two: MessageId, facts: &Facts) -> bool {
    let event = |id: MessageId| facts.messages.get(id).event.as_deref();
    let (Some(one), Some(two)) = (event(one), event(two)) else { return false };
    let same_root = marked_root(one).is_some() && marked_root(one) == marked_root(two);
    (same_root && spelled_root(one) != spelled_root(two)) || one.tag("h") != two.tag("h")
}

/// Another session is prompted although the earlier one could have been: its process lives, and
/// nothing discarded it.
fn was_split(earlier: PromptId, now: SessionId, facts: &Facts) -> bool {
    let earlier = facts.prompts.get(earlier);
    let process = facts.processes.get(earlier.process);
    earlier.session != now
        && process.ended.is_none()
        && process.live.contains(&earlier.session)
        && facts.discards.any(earlier.session).is_none()
        && facts.sessions.get(earlier.session).closed.is_none()
}

fn broken(moment: &Moment<'_>, earlier: PromptId, now: SessionId, facts: &Facts) -> Broken {
    let earlier = facts.prompts.get(earlier);
    let (old, new) = (facts.session_name(earlier.session), facts.session_name(now));
    Broken::by_harness(moment, "one thread was split by the spelling of its id")
        .saying(format!("it had {old}, and got {new}"))
        .because([cause(earlier.record, "the other spelling was prompted here")])
}
