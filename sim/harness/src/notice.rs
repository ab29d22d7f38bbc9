//! What the harness itself tells people: a loss, and trouble that the owner should know of.

use skep_store::Key;
use skep_trace::{HttpCall, SharedEvent, Text};

use crate::effect::Out;
use crate::harness::Harness;
use crate::http::Ask;

const KIND_MESSAGE: u16 = 9;

impl Harness {
    /// Tells people that their messages will not be answered (H-80): a reply to each.
    pub(crate) fn announce_loss(&mut self, events: &[SharedEvent], why: &str, out: &mut Out<'_>) {
        let Some(channel) = events.first().and_then(|event| event.tag("h")) else { return };
        let mut tags: Vec<Vec<Text>> = vec![vec!["h".into(), channel.into()]];
        for event in events {
            let id = event.id().to_string().into();
            tags.push(vec!["e".into(), id, "".into(), "reply".into()]);
        }
        let content = format!("This message could not be answered: {why}.");
        self.publish_notice(tags, content, out);
    }

    /// Tells the owner, in the channel that it is about.
    pub(crate) fn tell_owner(&mut self, key: &Key, what: &str, out: &mut Out<'_>) {
        let mut tags: Vec<Vec<Text>> = vec![vec!["h".into(), key.channel.clone()]];
        if let Some(owner) = self.config.owner {
            tags.push(vec!["p".into(), owner.to_string().into()]);
        }
        self.publish_notice(tags, format!("Trouble: {what}."), out);
    }

    fn publish_notice(&mut self, tags: Vec<Vec<Text>>, content: String, out: &mut Out<'_>) {
        let notice = self.event(KIND_MESSAGE, tags, content.into(), out);
        self.http.ask(HttpCall::Publish(notice), Ask::Notice, out);
    }
}
