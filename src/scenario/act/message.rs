//! Messages: `mention`, `say` and `command`.

use skep_plan::{Message, Spelling, TagForm};

use crate::scenario::line::Line;
use crate::scenario::scope::Scope;

/// What a message can say of itself.
pub(super) const PROPS: &[&str] = &[
    "channel",
    "root",
    "reply-to",
    "text",
    "as",
    "by",
    "to",
    "relay",
    "spelling",
    "channel-spelling",
    "key-spelling",
    "form",
];

/// Spellings by their words.
const SPELLINGS: &[(&str, Spelling)] =
    &[("lower", Spelling::Lower), ("upper", Spelling::Upper), ("mixed", Spelling::Mixed)];

pub(super) fn read(line: &Line<'_>, scope: &mut Scope, mention: bool) -> Message {
    let spelling = |key| line.word_prop(key, "a spelling", SPELLINGS).unwrap_or_default();
    let message = Message {
        label: None,
        channel: scope.used_channel(line, "\"general\""),
        root: root(line, scope),
        reply_to: reply_to(line, scope),
        spelling: spelling("spelling"),
        channel_spelling: spelling("channel-spelling"),
        key_spelling: spelling("key-spelling"),
        form: line.word_prop("form", "a form of tags", TagForm::WORDS).unwrap_or_default(),
        by: line.name_prop("by").map(|word| scope.people.refer(line.at, &word)),
        to: scope.harness_prop(line, "to"),
        relay: line.name_prop("relay").map(|word| scope.relays.refer(line.at, &word)),
        mention,
        text: line.text_prop("text"),
    };
    refuse_idle_words(line, &message);
    // The label comes last: a message is no part of its own thread.
    Message { label: label(line, scope), ..message }
}

/// `command "!rotate"`: a mention with exactly this text.
pub(super) fn command(line: &Line<'_>, scope: &mut Scope) -> Message {
    let text = line.first_text("a command", "\"!rotate\"");
    if let Some(value) = line.node.prop("text") {
        let help = "the command is its text; remove `text=`, or write a `mention`";
        line.at.error(value.span, "a command has no `text=`", "not wanted", help);
    }
    Message { text: Some(text), ..read(line, scope, true) }
}

fn label(line: &Line<'_>, scope: &mut Scope) -> Option<skep_trace::Text> {
    let word = line.name_prop("as")?;
    if scope.threads.has(&word.text) {
        let title = format!("`{}` is the name of a thread already", word.text);
        let help = "give the message another label; a thread that begins with it names the label";
        line.at.error(word.span, title, "taken", help);
    }
    scope.messages.define(line.at, &word);
    Some(word.text)
}

/// A thread begins with the first message that names it, unless the name is a message's label.
fn root(line: &Line<'_>, scope: &mut Scope) -> Option<skep_trace::Text> {
    let word = line.name_prop("root")?;
    if !scope.messages.has(&word.text) {
        scope.threads.touch(line.at, &word);
    }
    Some(word.text)
}

fn reply_to(line: &Line<'_>, scope: &mut Scope) -> Option<skep_trace::Text> {
    let word = line.name_prop("reply-to")?;
    Some(scope.messages.refer(line.at, &word))
}

/// Words that change nothing would mislead a reader.
fn refuse_idle_words(line: &Line<'_>, message: &Message) {
    let threaded = message.root.is_some() || message.reply_to.is_some();
    let mentions = message.mention;
    for (key, has_effect, why) in [
        ("spelling", threaded, "there is no thread to spell: add `root=`, or remove it"),
        ("form", threaded, "there is no thread to mark: add `root=`, or remove it"),
        ("key-spelling", mentions, "a `say` names no agent: write `mention`, or remove it"),
    ] {
        if let (Some(value), false) = (line.node.prop(key), has_effect) {
            line.at.error(value.span, format!("`{key}=` changes nothing here"), "no effect", why);
        }
    }
}
