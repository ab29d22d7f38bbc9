//! What the stub says: a function of the conversation.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, Who};

/// Words of a slow answer, and the time between two of them.
const SLOW_WORDS: usize = 400;
const SLOW: Duration = Duration::from_millis(20);
/// Pieces of a dense answer, and the time between two of them: about a second for all.
const DENSE_PIECES: usize = 2000;
const DENSE: Duration = Duration::from_micros(400);
/// How often a prompt that wishes for trouble has it.
const TROUBLES: u32 = 2;
/// How much of a prompt an answer repeats, in letters.
const ECHO_LETTERS: usize = 60;
/// Pieces that a long text is streamed in at most: word by word would be too many events.
const MOST_PIECES: usize = 40;

/// What is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Speech {
    /// It is refused with this status.
    pub(super) status: Option<u16>,
    /// Nothing is said at all.
    pub(super) silent: bool,
    /// The text, in the pieces that it is streamed in.
    pub(super) pieces: Vec<String>,
    /// The time after each piece.
    pub(super) pace: Duration,
    /// The tool that is called: its name and its arguments.
    pub(super) tool: Option<(String, Value)>,
}

impl Speech {
    /// The answer to a conversation; `asked` counts how often a prompt has been sent by now.
    pub(super) fn to(conversation: &Conversation, asked: &mut dyn FnMut(&str) -> u32) -> Self {
        if let Some(schema) = &conversation.wants_json {
            return Self::text(&filled(schema).to_string());
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
        let has = |wish: &str| prompt.contains(wish);
        for (wish, status) in [("skep:fail-429", 429), ("skep:fail-500", 500)] {
            if has(wish) && asked(prompt) <= TROUBLES {
                return Self { status: Some(status), ..Self::default() };
            }
        }
        match () {
            () if has("skep:silent") => Self { silent: true, ..Self::default() },
            () if has("skep:dense") => Self::dense(),
            () if has("skep:stall") => Self { pace: Duration::from_secs(60), ..Self::text("…") },
            () if has("skep:slow") => Self::slow(),
            () if has("skep:echo") => {
                let (_, text) = prompt.split_once("skep:echo").unwrap_or_default();
                Self::text(text.trim())
            }
            () if has("skep:recall") => Self::text(&recalled(conversation)),
            () if has("skep:tool") || has("skep:ask") => Self::tool(conversation, at, prompt),
            () => Self::text(&echo(prompt)),
        }
    }

    fn text(text: &str) -> Self {
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        let size = words.len().div_ceil(MOST_PIECES).max(1);
        let pieces = words.chunks(size).map(<[&str]>::concat).collect();
        Self { pieces, ..Self::default() }
    }

    fn slow() -> Self {
        let pieces = (0..SLOW_WORDS).map(|word| format!("word {word} ")).collect();
        Self { pieces, pace: SLOW, ..Self::default() }
    }

    fn dense() -> Self {
        let pieces = (0..DENSE_PIECES).map(|piece| format!("piece {piece} ")).collect();
        Self { pieces, pace: DENSE, ..Self::default() }
    }

    /// Calls a tool, unless that was done already or there is none that fits.
    fn tool(conversation: &Conversation, at: usize, prompt: &str) -> Self {
        let done = conversation.said[at..].iter().any(|(who, _)| *who == Who::Tool);
        match conversation.tools.iter().filter(|_| !done).find_map(call) {
            Some(tool) => Self { tool: Some(tool), ..Self::default() },
            None => Self::text(&echo(prompt)),
        }
    }

    /// What it comes to, in a few words.
    pub(super) fn summary(&self) -> String {
        match (self.status, &self.tool) {
            (Some(status), _) => format!("refused with {status}"),
            (None, _) if self.silent => "silence".to_owned(),
            (None, Some((name, _))) => format!("calls {name}"),
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

/// The call of a tool that runs a command, if it is one.
fn call((name, schema): &(String, Value)) -> Option<(String, Value)> {
    const SHELLS: [&str; 8] = [
        "bash",
        "shell",
        "shell_command",
        "exec_command",
        "run_shell_command",
        "run_command",
        "execute_command",
        "terminal",
    ];
    const COMMAND: &str = "echo a note >> skep-notes.txt";
    if !SHELLS.contains(&name.to_ascii_lowercase().as_str()) {
        return None;
    }
    let key = ["command", "cmd"].into_iter().find(|key| !schema["properties"][*key].is_null())?;
    let command = match schema["properties"][key]["type"].as_str() {
        Some("array") => json!(["sh", "-c", COMMAND]),
        _ => json!(COMMAND),
    };
    let mut arguments = match filled(schema) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    arguments.insert(key.to_owned(), command);
    Some((name.clone(), arguments.into()))
}

/// The least that a schema asks for.
fn filled(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind.unwrap_or("object").to_ascii_lowercase().as_str() {
        "string" => "a talk".into(),
        "integer" | "number" => 1000.into(),
        "boolean" => false.into(),
        "array" => Value::Array(Vec::new()),
        "null" => Value::Null,
        _ => {
            let required = schema["required"].as_array().into_iter().flatten();
            let names = required.filter_map(Value::as_str);
            let object: Map<_, _> =
                names.map(|name| (name.to_owned(), filled(&schema["properties"][name]))).collect();
            match object.is_empty() && schema["properties"].is_null() {
                true => json!({"title": "a talk"}),
                false => object.into(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As if every prompt were sent for the first time.
    fn answer(conversation: &Conversation) -> Speech {
        Speech::to(conversation, &mut |_| 1)
    }

    fn said(turns: &[&str]) -> Speech {
        let mut conversation = Conversation::default();
        for turn in turns {
            conversation.say(Who::User, turn);
            conversation.say(Who::Model, "yes");
        }
        answer(&conversation)
    }

    #[test]
    fn what_is_said_tells_whether_the_conversation_is_all_there() {
        let first = "Please remember the word amber-7. skep:remember";
        assert_eq!(said(&[first, "skep:recall"]).whole(), "The words were: amber-7.");
        assert_eq!(said(&["skep:recall"]).whole(), "The words were: .");
        assert_eq!(said(&["skep:echo a  b"]).whole(), "a  b");
        assert_eq!(said(&["skep:slow", "and now?"]).whole(), "reply to and now?");
        assert_eq!(said(&["skep:fail-429"]).status, Some(429));
        assert!(said(&["skep:silent"]).silent);
        assert!(said(&["skep:dense"]).whole().ends_with("piece 1999 "));
    }

    #[test]
    fn trouble_is_over_after_two_tries() {
        let mut conversation = Conversation::default();
        conversation.say(Who::User, "again: skep:fail-500");
        let tried = |times: u32| Speech::to(&conversation, &mut |_| times);
        assert_eq!([1, 2, 3].map(|times| tried(times).status), [Some(500), Some(500), None]);
        assert_eq!(tried(3).whole(), "reply to again: skep:fail-500");
    }

    #[test]
    fn a_tool_is_called_once_with_what_it_needs() {
        let schema = json!({
            "type": "object", "required": ["command", "description"],
            "properties": {"command": {"type": "array"}, "description": {"type": "string"}},
        });
        let mut conversation = Conversation::default();
        conversation.tools.push(("shell".to_owned(), schema));
        conversation.say(Who::User, "skep:tool");
        let (name, arguments) = answer(&conversation).tool.unwrap();
        assert_eq!((name.as_str(), &arguments["description"]), ("shell", &json!("a talk")));
        assert_eq!(arguments["command"][0], "sh");
        conversation.say(Who::Tool, "done");
        assert_eq!(answer(&conversation).tool, None);
    }
}
