//! H-20 and H-21: a discarded session does not come back, neither out of the memory of the life
//! that discarded it, nor from the disk or a sibling.
//!
//! What counts as a discard, and whom it binds from when on, is told by the facts
//! ([`crate::facts::discard`]). Each comeback is told once, under the rule it breaks first.

use super::{Broken, Invariant, Tally};
use crate::expect::history;
use crate::facts::Facts;
use crate::facts::moment::{Moment, Seen};

/// H-20: the life that discarded a session prompts it again.
#[derive(Default)]
pub(crate) struct FromMemory {
    known: usize,
}

/// H-21: a session is loaded after its discard, or prompted by another life.
#[derive(Default)]
pub(crate) struct FromDisk {
    known: usize,
}

impl Invariant for FromMemory {
    fn rule(&self) -> &'static str {
        "H-20"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        count(&mut self.known, facts, tally);
        see(true, moment, facts, tally);
    }
}

impl Invariant for FromDisk {
    fn rule(&self) -> &'static str {
        "H-21"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        count(&mut self.known, facts, tally);
        see(false, moment, facts, tally);
    }
}

/// Every discard is an occasion to come back.
fn count(known: &mut usize, facts: &Facts, tally: &mut Tally) {
    while *known < facts.discards.count() {
        *known += 1;
        tally.came_up();
    }
}

fn see(from_memory: bool, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
    let Some(comeback) = moment.comeback.filter(|it| it.from_memory == from_memory) else { return };
    tally.broke(|| {
        let life = match &moment.seen {
            Seen::Prompt(prompt) => Some(facts.prompts.get(*prompt).life),
            Seen::Load { process, .. } => Some(facts.processes.get(*process).life),
            _ => None,
        };
        let how = if matches!(moment.seen, Seen::Load { .. }) { "loaded" } else { "prompted" };
        let causes = life.map(|life| history(comeback.session, life, facts)).unwrap_or_default();
        Broken::by_harness(moment, "a discarded session came back")
            .saying(format!("{} was {how} again", facts.session_name(comeback.session)))
            .because(causes)
    });
}
