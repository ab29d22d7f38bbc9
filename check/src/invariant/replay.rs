//! H-40: history that is replayed during a load is not published: neither to the observer feed,
//! nor to the channel.
//!
//! Frames may be coalesced and batched, so texts are compared, and by how often they stand there:
//! within one life a replayed text must not be published more often than it was seen live (as the
//! agent's output outside of a load, in a prompt, or in a message). Live output that repeats old
//! text is therefore no breach. Live chunks are joined before they are searched. A feed may show
//! one text in several ways (each chunk, then the whole answer), so the places where a text can
//! stand are counted each for itself: the kind of event, the path in its JSON, and the types of
//! the objects on that path.

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
    said: Vec<Said>,
    ids: BTreeSet<Hex32>,
}

/// A published text, and the place where it stood.
struct Said {
    /// The record that published it.
    record: usize,
    place: String,
    text: String,
}

/// Every text of a published event with its place.
fn texts(event: &NostrEvent, record: usize) -> Vec<Said> {
    let mut said = Vec::new();
    let place = event.kind.to_string();
    match serde_json::from_str(&event.content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => walk(&value, &place, record, &mut said),
        _ => said.push(Said { record, place, text: event.content.to_string() }),
    }
    said
}

fn walk(value: &Value, place: &str, record: usize, said: &mut Vec<Said>) {
    match value {
        Value::String(text) => {
            said.push(Said { record, place: place.to_owned(), text: text.clone() });
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, place, record, said)),
        Value::Object(fields) => {
            let words = ["type", "kind", "sessionUpdate"].map(|key| fields.get(key));
            let types = words.into_iter().flatten().filter_map(Value::as_str);
            let place = types.fold(place.to_owned(), |place, word| format!("{place}<{word}>"));
            for (key, field) in fields {
                walk(field, &format!("{place}.{key}"), record, said);
            }
        }
        _ => {}
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

    /// How often a text was published at a place.
    fn published(&self, place: &str, text: &str) -> usize {
        let there = self.said.iter().filter(|said| said.place == place);
        there.map(|said| count_in(&said.text, text)).sum()
    }

    /// A replayed text that stands in the newest event, and too often by now.
    fn leaked(&self, record: usize) -> Option<(&Text, usize)> {
        let newest = self.said.iter().rev().take_while(|said| said.record == record);
        let newest: Vec<&Said> = newest.collect();
        let leaked = |text: &Text| {
            let mut places = newest.iter().filter(|said| count_in(&said.text, text) > 0);
            places.any(|said| self.published(&said.place, text) > self.live(text))
        };
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
        speech.said.extend(texts(event, moment.record));
        if let Some((text, record)) = speech.leaked(moment.record) {
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
    fn places_tell_types_apart_and_ignore_positions() {
        let frames = json!({"frames": [
            {"type": "update", "text": "a"}, {"type": "update", "text": "b"},
            {"type": "ended", "text": "ab"},
        ]});
        let mut said = Vec::new();
        walk(&frames, "24200", 0, &mut said);
        let texts = said.iter().filter(|said| said.place.ends_with(".text"));
        let places: Vec<_> = texts.map(|said| said.place.as_str()).collect();
        assert_eq!(places[0], "24200.frames<update>.text");
        assert_eq!(places[0], places[1]);
        assert_ne!(places[1], places[2]);
    }

    #[test]
    fn short_texts_are_compared_whole() {
        assert_eq!(count_in("token", "ok"), 0);
        assert_eq!(count_in("ok", "ok"), 1);
    }
}
