//! H-81: a message is prompted once in one life, unless that prompt failed, was cancelled, or its
//! agent died.

use super::{Broken, Invariant, Tally};
use crate::expect::cause;
use crate::facts::Facts;
use crate::facts::ids::{MessageId, PromptId};
use crate::facts::moment::{Moment, Seen};
use crate::facts::prompt::Prompt;

/// The rule; all it needs is in the facts.
pub(crate) struct DoubledMessage;

impl Invariant for DoubledMessage {
    fn rule(&self) -> &'static str {
        "H-81"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        let Seen::Prompt(id) = &moment.seen else { return };
        let prompt = facts.prompts.get(*id);
        for (place, message) in prompt.messages.iter().enumerate() {
            tally.came_up();
            if prompt.messages[..place].contains(message) {
                tally.broke(|| {
                    Broken::by_harness(moment, "a message was prompted twice")
                        .saying("both times in this prompt")
                });
            } else if let Some(earlier) = earlier(*message, *id, facts) {
                tally.broke(|| {
                    Broken::by_harness(moment, "a message was prompted twice").because([cause(
                        earlier.record,
                        format!("it was prompted here; that prompt {}", earlier.fate()),
                    )])
                });
            }
        }
    }
}

/// A prompt of the same life that held the message and has not gone wrong.
fn earlier(message: MessageId, prompt: PromptId, facts: &Facts) -> Option<&Prompt> {
    let life = facts.prompts.get(prompt).life;
    let earlier = facts.messages.get(message).prompts.iter();
    let mut earlier = earlier.filter(|other| **other != prompt).map(|id| facts.prompts.get(*id));
    earlier.find(|earlier| {
        let running = earlier.end.is_none() && earlier.cancelled.is_none();
        earlier.life == life && (earlier.done() || running)
    })
}
