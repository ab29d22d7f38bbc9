//! H-40: history that is replayed during a load is not published: neither to the observer feed,
//! nor to the channel.
//!
//! Frames may be coalesced and batched, so texts are compared, and by how often they stand there:
//! within one life and one kind of event a replayed text must not be published more often than it
//! was seen live (as the agent's output outside of a load, in a prompt, or in a message). Live
//! output that repeats old text is therefore no breach. Live chunks are joined before they are
//! searched; in a published JSON object the fields are views of one thing and count once, the
//! items of a list add up.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use skep_trace::{Hex32, NostrEvent, Text};

use super::{Broken, Invariant, Tally};
use crate::expect::cause;
use crate::facts::Facts;
use crate::facts::ids::{LifeId, SessionId};
use crate::facts::moment::{Moment, Seen};

/// Texts shorter than this are compared whole: parts of ids and field names would fit them.
const SEARCHABLE: usize = 8;
/// Kinds that carry no text of a conversation: deletion, reaction, presence, typing.
const TEXTLESS: [u16; 4] = [5, 7, 20001, 20002];

/// The rule, with what each life heard and said.
#[derive(Default)]
pub(crate) struct Replay {
    lives: BTreeMap<LifeId, Speech>,
}

/// What one life heard from its agents, and what it published.
#[derive(Default)]
struct Speech {
    /// Replayed texts, and the first record of each.
    replayed: BTreeMap<Text, usize>,
    /// Live output, joined by session.
    output: BTreeMap<SessionId, String>,
    /// Other texts that were legitimately seen: prompts and messages.
    input: Vec<Text>,
    /// What was published, each id once.
    published: Vec<(u16, Content)>,
    ids: BTreeSet<Hex32>,
}

/// The content of a published event.
enum Content {
    Json(Value),
    Plain(Text),
}

impl Content {
    fn of(event: &NostrEvent) -> Self {
        match serde_json::from_str(&event.content) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => Self::Json(value),
            _ => Self::Plain(event.content.clone()),
        }
    }

    /// How often a text stands in it.
    fn count(&self, text: &str) -> usize {
        match self {
            Self::Json(value) => count_in_json(value, text),
            Self::Plain(content) => count_in(content, text),
        }
    }
}

fn count_in_json(value: &Value, text: &str) -> usize {
    match value {
        Value::String(own) => count_in(own, text),
        Value::Array(items) => items.iter().map(|item| count_in_json(item, text)).sum(),
        Value::Object(fields) => {
            fields.values().map(|field| count_in_json(field, text)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn count_in(content: &str, text: &str) -> usize {
    if text.len() < SEARCHABLE {
        usize::from(content == text)
    } else {
        content.matches(text).count()
    }
}

impl Speech {
    /// How often a text was seen live.
    fn live(&self, text: &str) -> usize {
        let output = self.output.values().map(|joined| joined.matches(text).count());
        let input = self.input.iter().map(|seen| seen.matches(text).count());
        output.chain(input).sum()
    }

    fn said(&self, kind: u16, text: &str) -> usize {
        let own = self.published.iter().filter(|(other, _)| *other == kind);
        own.map(|(_, content)| content.count(text)).sum()
    }

    /// A replayed text that stands in the newest event, and too often by now.
    fn leaked(&self) -> Option<(&Text, usize)> {
        let (kind, newest) = self.published.last()?;
        let leaked =
            |text: &Text| newest.count(text) > 0 && self.said(*kind, text) > self.live(text);
        self.replayed.iter().find(|(text, _)| leaked(text)).map(|(text, record)| (text, *record))
    }
}

impl Invariant for Replay {
    fn rule(&self) -> &'static str {
        "H-40"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        match &moment.seen {
            Seen::Update { process, session, text: Some(text), replay } => {
                let speech = self.lives.entry(facts.processes.get(*process).life).or_default();
                if !*replay {
                    speech.output.entry(*session).or_default().push_str(text);
                } else if !text.trim().is_empty() {
                    tally.came_up();
                    speech.replayed.entry((*text).into()).or_insert(moment.record);
                }
            }
            Seen::Prompt(prompt) => {
                let life = facts.prompts.get(*prompt).life;
                let texts = moment.call.as_ref().map(|seen| seen.call);
                if let Some(skep_trace::Call::SessionPrompt { prompt, .. }) = texts {
                    self.lives.entry(life).or_default().input.extend(prompt.iter().cloned());
                }
            }
            Seen::Delivered { life, message, .. } => {
                let content = facts.messages.get(*message).event.as_ref();
                let content = content.map(|event| event.content.clone());
                self.lives.entry(*life).or_default().input.extend(content);
            }
            Seen::Spoke { life, event } => self.spoke(*life, event, moment, tally),
            _ => {}
        }
    }
}

impl Replay {
    fn spoke(&mut self, life: LifeId, event: &NostrEvent, moment: &Moment<'_>, tally: &mut Tally) {
        if TEXTLESS.contains(&event.kind) || event.content.is_empty() {
            return;
        }
        let speech = self.lives.entry(life).or_default();
        if !speech.ids.insert(event.id()) {
            return;
        }
        speech.published.push((event.kind, Content::of(event)));
        if let Some((text, record)) = speech.leaked() {
            tally.broke(|| {
                let short: String = text.chars().take(40).collect();
                Broken::by_harness(moment, "replayed history was published again")
                    .saying(format!("`{short}` in an event of kind {}", event.kind))
                    .because([cause(record, "replayed here, during a load")])
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_an_object_count_once_and_items_of_a_list_add_up() {
        let batch = json!([
            {"text": "an old reply", "summary": "an old reply"},
            {"update": {"text": "an old reply"}}
        ]);
        assert_eq!(count_in_json(&batch, "an old reply"), 2);
    }

    #[test]
    fn short_texts_are_compared_whole() {
        assert_eq!(count_in("token", "ok"), 0);
        assert_eq!(count_in("ok", "ok"), 1);
    }
}
