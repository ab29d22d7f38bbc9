//! H-2: an agent that did not offer `loadSession` is never asked to load.

use super::{Broken, Invariant, Tally};
use crate::facts::Facts;
use crate::facts::moment::{Moment, Seen};

/// The rule; all it needs is in the facts.
pub(crate) struct LoadOffered;

impl Invariant for LoadOffered {
    fn rule(&self) -> &'static str {
        "H-2"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        let Seen::Load { process, session, resume: false } = &moment.seen else { return };
        let agent = facts.processes.get(*process);
        // A trace that begins in mid-connection does not show what was offered.
        if !agent.greeted {
            return;
        }
        tally.came_up();
        if !agent.offers.load {
            tally.broke(|| {
                let session = facts.session_name(*session);
                let detail =
                    format!("{} was asked for {session} and offers no load", agent.process);
                Broken::by_harness(moment, "the harness asked for a load that was not offered")
                    .saying(detail)
            });
        }
    }
}
