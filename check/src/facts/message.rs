//! Messages: who wrote what to which channel, to whom it was delivered, what became of it.

use std::collections::BTreeMap;

use skep_trace::{Hex32, SharedEvent, Text};

use super::ids::{LifeId, MessageId, PromptId};
use super::scope::{channel_tag, marked_root};

/// The kinds that a mention can have (they are what a harness subscribes to).
pub(crate) const MESSAGE_KINDS: [u16; 3] = [9, 46010, 40007];

/// A message that the relay sent to a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// To whom.
    pub(crate) life: LifeId,
    /// On which connection.
    pub(crate) conn: u32,
    /// The record of it.
    pub(crate) record: usize,
}

/// One message.
#[derive(Debug)]
pub(crate) struct MessageFacts {
    /// Its id.
    pub(crate) id: Hex32,
    /// The event, once it was seen.
    pub(crate) event: Option<SharedEvent>,
    /// Its channel, in lower case.
    pub(crate) channel: Option<Text>,
    /// The thread that its tags name.
    pub(crate) root: Option<Hex32>,
    /// The record that published it.
    pub(crate) published: Option<usize>,
    /// When the relay sent it to whom.
    pub(crate) deliveries: Vec<Delivery>,
    /// The prompts that held it.
    pub(crate) prompts: Vec<PromptId>,
    /// The record that handed it into a running turn.
    pub(crate) steered: Option<usize>,
    /// The record of the notice that told the channel of its loss.
    pub(crate) announced: Option<usize>,
}

impl MessageFacts {
    /// Its text; empty when only its id was seen.
    pub(crate) fn content(&self) -> &str {
        self.event.as_ref().map_or("", |event| &event.content)
    }

    fn learn(&mut self, event: &SharedEvent) {
        if self.event.is_none() {
            self.event = Some(event.clone());
            self.channel = channel_tag(event);
            self.root = marked_root(event);
        }
    }
}

/// All messages so far.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    list: Vec<MessageFacts>,
    places: BTreeMap<Hex32, MessageId>,
}

impl Messages {
    /// The facts of a message.
    pub(crate) fn get(&self, id: MessageId) -> &MessageFacts {
        &self.list[id.0]
    }

    pub(crate) fn get_mut(&mut self, id: MessageId) -> &mut MessageFacts {
        &mut self.list[id.0]
    }

    /// Every message, the earliest seen first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (MessageId, &MessageFacts)> {
        self.list.iter().enumerate().map(|(place, message)| (MessageId(place), message))
    }

    /// The place of a message that is known by its id alone.
    pub(crate) fn place(&mut self, id: Hex32) -> MessageId {
        if let Some(place) = self.places.get(&id) {
            return *place;
        }
        let place = MessageId(self.list.len());
        self.places.insert(id, place);
        self.list.push(MessageFacts {
            id,
            event: None,
            channel: None,
            root: None,
            published: None,
            deliveries: Vec::new(),
            prompts: Vec::new(),
            steered: None,
            announced: None,
        });
        place
    }

    /// The place of a message whose event was seen.
    pub(crate) fn see(&mut self, event: &SharedEvent) -> MessageId {
        let place = self.place(event.id());
        self.list[place.0].learn(event);
        place
    }

    /// The place of a message that was seen already.
    pub(crate) fn find(&self, id: Hex32) -> Option<MessageId> {
        self.places.get(&id).copied()
    }
}
