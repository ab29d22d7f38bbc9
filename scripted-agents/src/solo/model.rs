//! What a prompt makes the agent do: its model, as a function of the conversation.
//!
//! Words that begin with `skep:` are wishes; a prompt without one is answered with its own words.

use std::collections::VecDeque;

use serde_json::{Value, json};

/// One thing that happens in a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Beat {
    /// An update goes out and becomes history, unless it is about the moment alone.
    Tell(Value),
    /// So many milliseconds pass.
    Wait(u64),
    /// The client is asked whether the tool call of this id may be made.
    Ask(String),
    /// The tool does its work: a line is added to a file in the session's directory.
    Work,
    /// The model says nothing, for ever.
    Silence,
    /// The model has failed for good.
    Fail,
}

/// What a turn is made of: the conversation so far, and where it happens.
pub(super) struct Scene<'a> {
    /// The whole text of the prompt.
    pub(super) prompt: &'a str,
    /// What the user said before, oldest first.
    pub(super) before: &'a [String],
    /// The number of the turn, from 1.
    pub(super) turn: usize,
    pub(super) cwd: &'a str,
}

/// Words of a slow answer, and the time between two of them.
const SLOW_WORDS: usize = 400;
const SLOW_MS: u64 = 15;
/// Bursts of a dense answer, and the pieces of each.
const DENSE_BURSTS: usize = 200;
const DENSE_PIECES: usize = 10;
/// Pieces that an answer is streamed in.
const PIECES: usize = 3;
/// How much of a prompt an answer repeats, in letters.
const ECHO_LETTERS: usize = 60;

/// What the agent does in answer to a prompt.
pub(super) fn play(scene: &Scene) -> VecDeque<Beat> {
    let mut beats = VecDeque::new();
    let wish = |name: &str| scene.prompt.split_whitespace().any(|word| word == name);
    if wish("skep:think") {
        let id = format!("t{}", scene.turn);
        beats.push_back(Beat::Tell(chunk("agent_thought_chunk", &id, "This needs a plan.")));
        beats.push_back(Beat::Tell(plan()));
    }
    if wish("skep:tool") {
        tool(&mut beats, scene, false);
    }
    if wish("skep:ask") {
        tool(&mut beats, scene, true);
    }
    if wish("skep:slow") {
        slow(&mut beats, scene);
    } else if wish("skep:dense") {
        dense(&mut beats, scene);
    } else if wish("skep:silent") {
        beats.push_back(Beat::Silence);
    } else if wish("skep:fail-500") {
        beats.push_back(Beat::Fail);
    } else {
        say(&mut beats, scene, &answer(scene));
    }
    beats.push_back(Beat::Tell(usage(scene.prompt.len())));
    beats
}

/// How full the agent's memory is.
pub(super) fn usage(used: usize) -> Value {
    json!({"sessionUpdate": "usage_update", "used": used, "size": 100_000})
}

fn answer(scene: &Scene) -> String {
    let wish = |name: &str| scene.prompt.split_whitespace().any(|word| word == name);
    if wish("skep:echo") {
        return scene.prompt.replace("skep:echo", "").trim().to_owned();
    }
    if wish("skep:recall") {
        let words: Vec<_> = scene.before.iter().filter_map(|text| planted(text)).collect();
        return format!("The words were: {}.", words.join(", "));
    }
    let said: String = scene.prompt.chars().take(ECHO_LETTERS).collect();
    let said: String = said.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    format!("reply to {} (turn {})", said.trim(), scene.turn)
}

/// The word after `remember the word`.
fn planted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("remember the word ")?;
    rest.split(|letter: char| letter.is_whitespace() || letter == '.').next()
}

/// One message in a few pieces, so that nobody takes a chunk for a message.
fn say(beats: &mut VecDeque<Beat>, scene: &Scene, text: &str) {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(PIECES).max(1);
    for piece in letters.chunks(size) {
        let piece: String = piece.iter().collect();
        let id = format!("a{}", scene.turn);
        beats.push_back(Beat::Tell(chunk("agent_message_chunk", &id, &piece)));
    }
}

fn slow(beats: &mut VecDeque<Beat>, scene: &Scene) {
    for word in 0..SLOW_WORDS {
        let id = format!("a{}", scene.turn);
        let text = format!("word {word} ");
        beats.push_back(Beat::Tell(chunk("agent_message_chunk", &id, &text)));
        beats.push_back(Beat::Wait(SLOW_MS));
    }
}

/// Bursts of pieces, with hardly any time between them.
fn dense(beats: &mut VecDeque<Beat>, scene: &Scene) {
    for burst in 0..DENSE_BURSTS {
        for piece in 0..DENSE_PIECES {
            let id = format!("a{}", scene.turn);
            let text = format!("word {} ", burst * DENSE_PIECES + piece);
            beats.push_back(Beat::Tell(chunk("agent_message_chunk", &id, &text)));
        }
        beats.push_back(Beat::Wait(1));
    }
}

fn tool(beats: &mut VecDeque<Beat>, scene: &Scene, asks: bool) {
    let id = format!("call-{}{}", scene.turn, if asks { "-asked" } else { "" });
    beats.push_back(Beat::Tell(json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": "Add a line to the notes",
        "kind": "edit", "status": "pending", "rawInput": {"line": "a note"},
        "locations": [{"path": format!("{}/skep-notes.txt", scene.cwd)}],
    })));
    if asks {
        beats.push_back(Beat::Ask(id.clone()));
    }
    beats.push_back(Beat::Work);
    beats.push_back(Beat::Tell(json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": "one line added"}}],
    })));
}

fn plan() -> Value {
    let entry = |content: &str, status: &str| json!({"content": content, "priority": "medium", "status": status});
    json!({
        "sessionUpdate": "plan",
        "entries": [entry("look", "completed"), entry("answer", "in_progress")],
    })
}

/// A chunk of text that says which message it belongs to.
pub(super) fn chunk(kind: &str, message: &str, text: &str) -> Value {
    json!({
        "sessionUpdate": kind, "messageId": message,
        "content": {"type": "text", "text": text},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(prompt: &str, before: &[&str]) -> String {
        let before: Vec<_> = before.iter().map(ToString::to_string).collect();
        answer(&Scene { prompt, before: &before, turn: 2, cwd: "/w" })
    }

    #[test]
    fn an_answer_is_a_function_of_the_conversation() {
        assert_eq!(said("hello", &[]), "reply to hello (turn 2)");
        assert_eq!(said("skep:echo a\nb", &[]), "a\nb");
        let before = ["Please remember the word amber-7. skep:remember", "more"];
        assert_eq!(said("skep:recall", &before), "The words were: amber-7.");
        assert_eq!(said("skep:recall", &[]), "The words were: .");
    }
}
