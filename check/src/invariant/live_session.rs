//! H-13: a prompt goes only to a session that was created or loaded on this agent connection.

use super::{Broken, Invariant, Tally};
use crate::expect::history;
use crate::facts::Facts;
use crate::facts::moment::{Moment, Seen};

/// The rule; all it needs is in the facts.
pub(crate) struct LiveSession;

impl Invariant for LiveSession {
    fn rule(&self) -> &'static str {
        "H-13"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        let Seen::Prompt(prompt) = &moment.seen else { return };
        let prompt = facts.prompts.get(*prompt);
        let agent = facts.processes.get(prompt.process);
        if !agent.greeted {
            return;
        }
        tally.came_up();
        if !prompt.on_live_session {
            tally.broke(|| {
                let session = facts.session_name(prompt.session);
                Broken::by_harness(moment, "the harness prompted a session that it had not loaded")
                    .saying(format!("{session} was neither opened nor loaded on {}", agent.process))
                    .because(history(prompt.session, prompt.life, facts))
            });
        }
    }
}
