//! H-83: in one life no two turns of one scope run at the same time.
//!
//! Where the earlier turn runs on another process, the end of that process may be noticed a
//! little late: it has a moment to show that it is gone.

use super::{Broken, Invariant, Tally};
use crate::expect::cause;
use crate::facts::Facts;
use crate::facts::ids::PromptId;
use crate::facts::moment::{Moment, Seen};
use crate::facts::prompt::{Prompt, PromptEnd};

/// How late the end of a killed process may be noticed.
const NOTICE_MS: u64 = 250;

/// The rule, with the pairs of turns that may yet turn out not to have overlapped.
#[derive(Default)]
pub(crate) struct ConcurrentTurns {
    suspects: Vec<Suspect>,
}

struct Suspect {
    earlier: PromptId,
    record: usize,
    at_ms: u64,
}

impl Invariant for ConcurrentTurns {
    fn rule(&self) -> &'static str {
        "H-83"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        self.clear(moment.at_ms, facts, tally);
        let Seen::Prompt(id) = &moment.seen else { return };
        let prompt = facts.prompts.get(*id);
        tally.came_up();
        let Some((earlier, running)) = running(*id, facts) else { return };
        if running.process == prompt.process {
            tally.broke(|| broken(moment.record, running, facts));
        } else {
            let (record, at_ms) = (moment.record, moment.at_ms);
            self.suspects.push(Suspect { earlier, record, at_ms });
        }
    }

    fn end(&mut self, facts: &Facts, tally: &mut Tally) {
        self.clear(u64::MAX, facts, tally);
    }
}

impl ConcurrentTurns {
    /// Decides on the pairs whose moment is over.
    fn clear(&mut self, now_ms: u64, facts: &Facts, tally: &mut Tally) {
        self.suspects.retain(|suspect| {
            let earlier = facts.prompts.get(suspect.earlier);
            let late = |at_ms: u64| at_ms.saturating_sub(suspect.at_ms) > NOTICE_MS;
            match &earlier.end {
                Some((record, PromptEnd::AgentDied | PromptEnd::HarnessGone))
                    if !late(facts.at_ms(*record)) =>
                {
                    false
                }
                None if !late(now_ms) => true,
                _ => {
                    tally.broke(|| broken(suspect.record, earlier, facts));
                    false
                }
            }
        });
    }
}

/// A turn of the same scope that was running when this prompt was sent.
fn running(id: PromptId, facts: &Facts) -> Option<(PromptId, &Prompt)> {
    let prompt = facts.prompts.get(id);
    let same = |other: &Prompt| {
        other.session == prompt.session || (prompt.scope.is_some() && other.scope == prompt.scope)
    };
    facts
        .prompts
        .running()
        .rev()
        .find(|(other, earlier)| *other < id && earlier.life == prompt.life && same(earlier))
}

fn broken(record: usize, earlier: &Prompt, facts: &Facts) -> Broken {
    Broken::at(record, facts, "two turns of one conversation ran at the same time")
        .because([cause(earlier.record, "the turn that was still running began here")])
}
