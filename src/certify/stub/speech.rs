//! What the stub says: a function of the conversation.

use std::time::Duration;

use super::conversation::{Conversation, Who};
use super::schema::least;
use super::tool::{self, Call};

/// Words of a slow answer, and the time between two of them.
const SLOW_WORDS: usize = 400;
const SLOW: Duration = Duration::from_millis(20);
/// Words of a dense answer, how many come with no pause between them, and the pause then: about a
/// second in all.
const DENSE_WORDS: usize = 2_000;
const DENSE_BURST: usize = 20;
const DENSE: Duration = Duration::from_millis(10);
/// How much of a prompt an answer repeats, in letters.
const ECHO_LETTERS: usize = 60;
/// Pieces that a long text is streamed in at most: word by word would be too many events.
const MOST_PIECES: usize = 40;

/// What a tool is called with: it leaves a line in a file.
const NOTE: &str = "echo a note >> skep-notes.txt";
/// The same where the user is to be asked first: agents that ask at all ask before something is
/// removed. There is nothing of that name.
const ASKED_NOTE: &str = "echo a note >> skep-notes.txt; rm -rf ./skep-nothing";

/// What is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Speech {
    /// It is refused at first: with this status, as long as the prompt is new.
    pub(super) refusal: Option<Refusal>,
    /// Nothing is said, whatever else stands here.
    pub(super) silent: bool,
    /// The text, in the pieces that it is streamed in.
    pub(super) pieces: Vec<String>,
    /// The time after so many pieces; no number stands for one.
    pub(super) pace: Duration,
    pub(super) burst: usize,
    /// The tool that is called.
    pub(super) tool: Option<Call>,
}

/// The refusal of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) prompt: String,
}

impl Speech {
    /// The answer to a conversation.
    pub(super) fn to(conversation: &Conversation) -> Self {
        if let Some(schema) = &conversation.wants_json {
            return Self::text(&least(schema).to_string());
        }
        let prompt = conversation.of_user().filter(|(_, text)| text.contains("skep:")).last();
        let Some((at, prompt)) = prompt else {
            let last = conversation.of_user().last().map_or("", |(_, text)| text);
            return Self::text(&echo(last));
        };
        // A wish of an earlier turn is fulfilled; what came after it wishes nothing.
        if conversation.of_user().last().is_some_and(|(last, _)| last > at + 1) {
            let last = conversation.of_user().last().map_or("", |(_, text)| text);
            return Self::text(&echo(last));
        }
        // An agent may join a prompt that was never answered with the one after it: the last counts.
        let wish = &prompt[prompt.rfind("skep:").unwrap_or(0)..];
        let has = |name: &str| wish.starts_with(name);
        match () {
            () if has("skep:fail-429") => Self::refused(429, prompt),
            () if has("skep:fail-500") => Self::refused(500, prompt),
            () if has("skep:silent") => Self { silent: true, ..Self::default() },
            () if has("skep:stall") => Self { pace: Duration::from_secs(60), ..Self::text("…") },
            () if has("skep:slow") => Self::counted(SLOW_WORDS, SLOW, 1),
            () if has("skep:dense") => Self::counted(DENSE_WORDS, DENSE, DENSE_BURST),
            () if has("skep:echo") => Self::text(wish.trim_start_matches("skep:echo").trim()),
            () if has("skep:recall") => Self::text(&recalled(conversation)),
            () if has("skep:tool") => Self::tool(conversation, at, NOTE),
            () if has("skep:ask") => Self::tool(conversation, at, ASKED_NOTE),
            () => Self::text(&echo(prompt)),
        }
    }

    fn text(text: &str) -> Self {
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        let size = words.len().div_ceil(MOST_PIECES).max(1);
        let pieces = words.chunks(size).map(<[&str]>::concat).collect();
        Self { pieces, ..Self::default() }
    }

    fn counted(words: usize, pace: Duration, burst: usize) -> Self {
        let pieces = (0..words).map(|word| format!("word {word} ")).collect();
        Self { pieces, pace, burst, ..Self::default() }
    }

    fn refused(status: u16, prompt: &str) -> Self {
        let refusal = Refusal { status, prompt: prompt.to_owned() };
        Self { refusal: Some(refusal), ..Self::text(&echo(prompt)) }
    }

    /// Calls a tool, unless that was done already or there is none that fits.
    fn tool(conversation: &Conversation, at: usize, command: &str) -> Self {
        let done = conversation.said[at..].iter().any(|(who, _)| *who == Who::Tool);
        let tools = if done { &[] } else { &*conversation.tools };
        match tool::call(tools, command) {
            Some(tool) => Self { tool: Some(tool), ..Self::default() },
            None => Self::text(&echo(&conversation.said[at].1)),
        }
    }

    /// What it comes to, in a few words.
    pub(super) fn summary(&self) -> String {
        match (&self.refusal, &self.tool) {
            (Some(refusal), _) => format!("refused with {}", refusal.status),
            (None, _) if self.silent => "nothing".to_owned(),
            (None, Some(call)) if call.name.is_empty() => "calls a tool without a name".to_owned(),
            (None, Some(call)) => format!("calls {}", call.name),
            (None, None) => self.whole(),
        }
    }

    /// The whole text.
    pub(super) fn whole(&self) -> String {
        self.pieces.concat()
    }
}

fn echo(prompt: &str) -> String {
    let said: String = prompt.chars().take(ECHO_LETTERS).collect();
    format!("reply to {}", said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The words that were to be remembered.
fn recalled(conversation: &Conversation) -> String {
    let mut words: Vec<&str> = Vec::new();
    for (_, text) in conversation.of_user() {
        for part in text.split("remember the word ").skip(1) {
            let word = part.split(|one: char| one.is_whitespace() || one == '.').next();
            words.extend(word.filter(|word| !words.contains(word)));
        }
    }
    format!("The words were: {}.", words.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::certify::stub::tool::Tool;

    fn said(turns: &[&str]) -> Speech {
        let mut conversation = Conversation::default();
        for turn in turns {
            conversation.say(Who::User, turn);
            conversation.say(Who::Model, "yes");
        }
        Speech::to(&conversation)
    }

    #[test]
    fn what_is_said_tells_whether_the_conversation_is_all_there() {
        let first = "Please remember the word amber-7. skep:remember";
        assert_eq!(said(&[first, "skep:recall"]).whole(), "The words were: amber-7.");
        assert_eq!(said(&["skep:recall"]).whole(), "The words were: .");
        assert_eq!(said(&["skep:echo a  b"]).whole(), "a  b");
        assert_eq!(said(&["skep:slow", "and now?"]).whole(), "reply to and now?");
        assert_eq!(said(&["skep:silent\n\nWell? skep:echo Yes."]).whole(), "Yes.");
    }

    #[test]
    fn trouble_is_wished_for_in_words() {
        let refusal = said(&["Once more. skep:fail-429"]).refusal.unwrap();
        assert_eq!((refusal.status, &*refusal.prompt), (429, "Once more. skep:fail-429"));
        assert_eq!(said(&["skep:fail-500"]).whole(), "reply to skep:fail-500");
        assert!(said(&["skep:silent"]).silent);
        let dense = said(&["skep:dense"]);
        let bursts = u32::try_from(dense.pieces.len() / dense.burst).unwrap();
        assert_eq!(dense.pieces.len(), 2_000);
        assert_eq!(dense.pace * bursts, Duration::from_secs(1));
    }

    #[test]
    fn a_tool_is_called_once_with_what_it_needs() {
        let schema = json!({
            "type": "object", "required": ["command", "description"],
            "properties": {"command": {"type": "array"}, "description": {"type": "string"}},
        });
        let mut conversation = Conversation::default();
        conversation.tools.push(Tool::function(&json!({"name": "shell"}), &schema));
        conversation.say(Who::User, "skep:tool");
        let call = Speech::to(&conversation).tool.unwrap();
        assert_eq!((&*call.name, &call.arguments["description"]), ("shell", &json!("a talk")));
        assert_eq!(call.arguments["command"][2], NOTE);
        conversation.say(Who::Tool, "done");
        assert_eq!(Speech::to(&conversation).tool, None);
        conversation.say(Who::Model, "it is done");
        conversation.say(Who::User, "skep:ask");
        let call = Speech::to(&conversation).tool.unwrap();
        assert_eq!(call.arguments["command"][2], ASKED_NOTE);
    }
}
