//! What people say, as Nostr events: shared by all worlds, so that they all hear the same words.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use skep_plan::{Message, TagForm};
use skep_relay::Keys;
use skep_trace::{Hex32, NostrEvent, SharedEvent, Text};

use crate::mint::{EPOCH_S, Mint};

/// A message of a person in a channel.
pub const KIND_MESSAGE: u16 = 9;
/// A control frame of the owner, sealed to the agent.
pub const KIND_CONTROL: u16 = 24200;

/// Writes events and remembers which names they have.
#[derive(Debug)]
pub struct Composer {
    mint: Mint,
    threads: BTreeMap<Text, SharedEvent>,
    messages: BTreeMap<Text, SharedEvent>,
    said: u32,
}

impl Composer {
    /// A composer that has said nothing.
    pub fn new(mint: Mint) -> Self {
        Self { mint, threads: BTreeMap::new(), messages: BTreeMap::new(), said: 0 }
    }

    /// The message with this name, or the root of the thread with this name.
    pub fn event(&self, name: &str) -> Option<&SharedEvent> {
        self.messages.get(name).or_else(|| self.threads.get(name))
    }

    /// The root of a thread that nobody in the scenario wrote: a real event, said by the owner
    /// before the run began, so that a harness that asks for it gets it.
    pub fn open_thread(&mut self, name: &Text, channel: &Text) -> SharedEvent {
        // An hour before everything else, so that no subscription takes it for news.
        let created_at = EPOCH_S - 3_600;
        let tags = vec![vec!["h".into(), channel.clone()]];
        let content = format!("thread {name}").into();
        let owner = Keys::named("owner").pubkey;
        let event = Arc::new(NostrEvent::new(owner, created_at, KIND_MESSAGE, tags, content));
        self.threads.insert(name.clone(), event.clone());
        event
    }

    /// A message as an event. Its thread must be known: a message's label or an opened thread.
    pub fn message(
        &mut self,
        message: &Message,
        author: Hex32,
        agent: Hex32,
        created_at: u64,
    ) -> SharedEvent {
        self.said += 1;
        let channel = self.mint.channel(&message.channel);
        let mut tags = vec![tag(&["h", &message.channel_spelling.apply(&channel)])];
        if message.mention {
            tags.push(tag(&["p", &message.key_spelling.apply(&agent.to_string())]));
        }
        tags.extend(self.thread_tags(message));
        let content = self.content(message);
        let event = Arc::new(NostrEvent::new(author, created_at, KIND_MESSAGE, tags, content));
        if let Some(label) = &message.label {
            self.messages.insert(label.clone(), event.clone());
        }
        event
    }

    /// The owner's control frame that switches a channel's model.
    pub fn switch_model(
        &mut self,
        channel: &str,
        model: &str,
        agent: Hex32,
        created_at: u64,
    ) -> SharedEvent {
        self.said += 1;
        let channel = self.mint.channel(channel);
        let body = json!({
            "type": "switch_model", "channelId": &*channel, "modelId": model, "n": self.said,
        });
        let tags = vec![
            tag(&["p", &agent.to_string()]),
            tag(&["agent", &agent.to_string()]),
            tag(&["frame", "control"]),
        ];
        let owner = Keys::named("owner").pubkey;
        let content = body.to_string().into();
        let event = NostrEvent::new(owner, created_at, KIND_CONTROL, tags, content);
        Arc::new(event.sealed(agent))
    }

    /// Two events of one author in one second with equal content have equal ids, so each message
    /// that the scenario does not word itself has a number.
    fn content(&self, message: &Message) -> Text {
        message
            .text
            .clone()
            .unwrap_or_else(|| format!("message {} in {}", self.said, message.channel).into())
    }

    fn thread_tags(&self, message: &Message) -> Vec<Vec<Text>> {
        let id = |name: &Text| self.event(name).map(|event| event.id().to_string());
        let Some(root) = message.root.as_ref().and_then(id) else { return Vec::new() };
        let parent = message.reply_to.as_ref().and_then(id).unwrap_or_else(|| root.clone());
        mark(message.form, &message.spelling.apply(&root), &parent, root == parent)
    }
}

/// The `e` tags that mark a thread in one of the ways that are found in the wild (case E11).
fn mark(form: TagForm, root: &str, parent: &str, direct: bool) -> Vec<Vec<Text>> {
    match form {
        TagForm::Marked if direct => vec![tag(&["e", root, "", "reply"])],
        TagForm::Marked => vec![tag(&["e", root, "", "root"]), tag(&["e", parent, "", "reply"])],
        TagForm::RootOnly => vec![tag(&["e", root, "", "root"])],
        TagForm::ReplyOnly => vec![tag(&["e", root, "", "reply"])],
        TagForm::Both => vec![tag(&["e", root, "", "root"]), tag(&["e", root, "", "reply"])],
        TagForm::Positional => vec![tag(&["e", root]), tag(&["e", parent])],
        TagForm::Unmarked => vec![tag(&["e", root])],
        TagForm::MentionFirst => vec![tag(&["e", parent, "", "mention"]), tag(&["e", root])],
        TagForm::FifthSlot => vec![tag(&["e", root, "", "", "root"])],
        TagForm::Short => vec![tag(&["e", &root[..63], "", "reply"])],
        TagForm::NotHex => vec![tag(&["e", &"z".repeat(64), "", "reply"])],
        TagForm::Empty => vec![tag(&["e", "", "", "reply"])],
    }
}

fn tag(parts: &[&str]) -> Vec<Text> {
    parts.iter().map(|part| Text::from(*part)).collect()
}
