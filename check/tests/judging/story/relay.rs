//! What people publish, what the relay delivers, what the harness publishes.

use std::sync::Arc;

use serde_json::json;
use skep_trace::{
    ClientMsg, Hex32, HttpBody, HttpCall, HttpReply, NameKind, NostrEvent, RelayMsg, Sig, Text,
    What,
};

use super::{OWNER, STRANGER, Story, channel_id, key_of};

/// A message in the making.
#[derive(Clone, Default)]
pub(crate) struct Said<'a> {
    pub(crate) channel: &'a str,
    pub(crate) root: Option<String>,
    pub(crate) text: &'a str,
    pub(crate) by_stranger: bool,
    pub(crate) by_harness: bool,
    pub(crate) to: Option<&'a str>,
}

impl Story {
    /// A message is published, and not delivered.
    pub(crate) fn says(&mut self, label: &str, said: Said<'_>) -> &mut Self {
        let key = key_of(said.to.unwrap_or("h")).to_string();
        let mut tags: Vec<Vec<Text>> =
            vec![vec!["h".into(), channel_id(said.channel).into()], vec!["p".into(), key.into()]];
        if let Some(root) = said.root {
            tags.push(vec!["e".into(), root.into(), "".into(), "root".into()]);
        }
        let author = match (said.by_stranger, said.by_harness) {
            (true, _) => STRANGER,
            (_, true) => key_of("h"),
            _ => OWNER,
        };
        let text = if said.text.is_empty() { format!("text of {label}") } else { said.text.into() };
        let event = Arc::new(NostrEvent::new(author, self.now_ms, 9, tags, text.into()));
        self.messages.insert(label.to_owned(), event.clone());
        self.named(NameKind::Message, label, &event.id().to_string());
        self.happens(What::Published(event))
    }

    /// A mention is published and delivered to the harness that acts.
    pub(crate) fn mention(&mut self, label: &str, channel: &str) -> &mut Self {
        self.says(label, Said { channel, ..Said::default() }).delivers(label)
    }

    /// A reply in a thread whose root is spelled so.
    pub(crate) fn reply(&mut self, label: &str, channel: &str, root: &str) -> &mut Self {
        let root = Some(root.to_owned());
        self.says(label, Said { channel, root, ..Said::default() }).delivers(label)
    }

    /// The relay gives a message to the harness that acts.
    pub(crate) fn delivers(&mut self, label: &str) -> &mut Self {
        let event = self.messages[label].clone();
        self.hears_relay(RelayMsg::Event { sub: "ch".into(), event })
    }

    /// The id of a message.
    pub(crate) fn id(&self, label: &str) -> Hex32 {
        self.messages[label].id()
    }

    /// The owner gives a command in a channel.
    pub(crate) fn command(&mut self, command: &str, channel: &str) -> &mut Self {
        let label = format!("{command}-{}", self.now_ms);
        self.says(&label, Said { channel, text: command, ..Said::default() }).delivers(&label)
    }

    /// The relay tells again what it told last: after a reconnect, say.
    pub(crate) fn hears_again(&mut self, record: usize) -> &mut Self {
        let again = self.records[record].what.clone();
        self.happens(again)
    }

    /// The owner asks for another model.
    pub(crate) fn switch_model(&mut self, channel: &str) -> &mut Self {
        self.switch_model_signed(channel, Sig::Valid)
    }

    pub(crate) fn switch_model_signed(&mut self, channel: &str, sig: Sig) -> &mut Self {
        let content =
            json!({"type": "switch_model", "channelId": channel_id(channel), "modelId": "m2"});
        let tags = vec![vec!["p".into(), key_of("h").to_string().into()]];
        let content = content.to_string().into();
        let mut event = NostrEvent::new(OWNER, self.now_ms, 24200, tags, content);
        event.sig = sig;
        let event = event.sealed(key_of("h"));
        self.hears_relay(RelayMsg::Event { sub: "control".into(), event: Arc::new(event) })
    }

    /// The relay tells the harness that it left a channel.
    pub(crate) fn removed_from(&mut self, channel: &str) -> &mut Self {
        let tags = vec![
            vec!["p".into(), key_of("h").to_string().into()],
            vec!["h".into(), channel_id(channel).into()],
        ];
        let event = NostrEvent::new(OWNER, self.now_ms, 44101, tags, "".into());
        self.hears_relay(RelayMsg::Event { sub: "membership".into(), event: Arc::new(event) })
    }

    /// The harness publishes an event over its connection.
    pub(crate) fn publishes(&mut self, kind: u16, content: &str) -> &mut Self {
        let event = NostrEvent::new(key_of("h"), self.now_ms, kind, Vec::new(), content.into());
        self.tells_relay(ClientMsg::Event(Arc::new(event.sealed(OWNER))))
    }

    /// The harness posts a notice about a message.
    pub(crate) fn announces(&mut self, label: &str) -> &mut Self {
        let tags = vec![
            vec![
                "h".into(),
                self.messages[label].tag("h").expect("a message has a channel").into(),
            ],
            vec!["e".into(), self.id(label).to_string().into(), "".into(), "reply".into()],
        ];
        let event = NostrEvent::new(key_of("h"), self.now_ms, 9, tags, "it failed".into());
        let accepted = HttpBody::Accepted { id: event.id(), accepted: true, message: "".into() };
        let (harness, reply) = (self.life.clone(), Arc::new(HttpReply::ok(accepted)));
        self.happens(What::Http {
            harness,
            call: Arc::new(HttpCall::Publish(Arc::new(event))),
            reply,
        })
    }
}
