//! The reactions that show people how far their messages are. Nothing rests on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::{Hex32, HttpCall, NostrEvent, SharedEvent, Text};

use crate::effect::Out;
use crate::harness::Harness;
use crate::http::Ask;
use crate::inbox::Message;

const KIND_REACTION: u16 = 7;
const KIND_DELETION: u16 = 5;

/// How many messages are remembered for their reactions; older reactions just stay.
const REMEMBERED: usize = 1024;

/// The reactions that were published and not yet taken back, by message.
#[derive(Debug, Default)]
pub(crate) struct Reactions {
    published: BTreeMap<Hex32, Vec<SharedEvent>>,
}

impl Harness {
    /// The message waits for its turn.
    pub(crate) fn react_queued(&mut self, event: &NostrEvent, out: &mut Out<'_>) {
        self.react(event, "👀", out);
    }

    /// The turn's messages are with the agent.
    pub(crate) fn react_prompted(&mut self, out: &mut Out<'_>) {
        if !self.config.reactions {
            return;
        }
        let messages = self.turn.iter().flat_map(|turn| &turn.batch.messages);
        let events: Vec<SharedEvent> = messages.map(|message| message.event.clone()).collect();
        for event in &events {
            self.react(event, "💬", out);
        }
    }

    fn react(&mut self, event: &NostrEvent, with: &str, out: &mut Out<'_>) {
        if !self.config.reactions {
            return;
        }
        let tags = vec![vec!["e".into(), event.id().to_string().into()]];
        let reaction = self.event(KIND_REACTION, tags, with.into(), out);
        self.http.ask(HttpCall::Publish(reaction.clone()), Ask::Reaction, out);
        if self.reactions.published.len() >= REMEMBERED {
            self.reactions.published.pop_first();
        }
        self.reactions.published.entry(event.id()).or_default().push(reaction);
    }

    /// The messages are done with: their reactions are taken back.
    pub(crate) fn unreact(&mut self, messages: &[Message], out: &mut Out<'_>) {
        if !self.config.reactions {
            return;
        }
        for message in messages {
            let Some(reactions) = self.reactions.published.remove(&message.id) else { continue };
            let tags: Vec<Vec<Text>> = reactions
                .iter()
                .map(|reaction| vec!["e".into(), reaction.id().to_string().into()])
                .collect();
            let deletion = self.event(KIND_DELETION, tags, "".into(), out);
            self.http.ask(HttpCall::Publish(Arc::clone(&deletion)), Ask::Reaction, out);
        }
    }
}
