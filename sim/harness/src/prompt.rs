//! The words of a prompt: where the conversation takes place, and what was said.

use std::fmt::Write;
use std::sync::Arc;

use skep_trace::{NostrEvent, Text};

use crate::channel::Channel;
use crate::config::HarnessConfig;
use crate::inbox::Message;

/// What a heartbeat turn says.
const HEARTBEAT: &str = "[Heartbeat]\nNobody wrote. If there is work of your own to do, do it now.";

/// The text blocks of the prompt for some messages of a channel; for none, of a heartbeat.
pub(crate) fn blocks(
    channel: Option<&Channel>,
    messages: &[Message],
    config: &HarnessConfig,
) -> Arc<[Text]> {
    let Some(channel) = channel.filter(|_| !messages.is_empty()) else {
        return match messages {
            [] => [Text::from(HEARTBEAT)].into(),
            // The agent left the channel at this very instant; what was said is still worth saying.
            _ => [said(None, messages)].into(),
        };
    };
    [channel.words(config).context.clone(), said(Some(channel), messages)].into()
}

fn said(channel: Option<&Channel>, messages: &[Message]) -> Text {
    let mut text = String::with_capacity(384 * messages.len());
    if let [message] = messages {
        text.push_str("[Buzz event: @mention]\n");
        describe(&mut text, channel, message);
    } else {
        write_to(&mut text, format_args!("[Buzz events — {} events]\n", messages.len()));
        for (index, message) in messages.iter().enumerate() {
            write_to(&mut text, format_args!("--- event {}\n", index + 1));
            describe(&mut text, channel, message);
        }
    }
    text.into()
}

fn describe(text: &mut String, channel: Option<&Channel>, message: &Message) {
    let event = &message.event;
    write_to(text, format_args!("Event ID: {}\n", message.id));
    if let Some(channel) = channel {
        write_to(text, format_args!("Channel: {} ({})\n", channel.name, channel.id));
    }
    write_to(text, format_args!("Kind: {}\nFrom: {}\n", event.kind, event.pubkey));
    write_to(text, format_args!("Time: {}\nContent: {}\nTags: ", event.created_at, event.content));
    tags(text, event);
    text.push('\n');
}

fn tags(text: &mut String, event: &NostrEvent) {
    for (index, tag) in event.tags.iter().enumerate() {
        text.push_str(if index == 0 { "[" } else { ", [" });
        for (index, part) in tag.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            text.push_str(part);
        }
        text.push(']');
    }
}

fn write_to(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("writing to a string never fails");
}

#[cfg(test)]
mod tests {
    use skep_trace::Hex32;

    use super::*;
    use crate::inbox::Inbox;
    use crate::scope::Scope;

    fn messages(texts: &[&str]) -> Vec<Message> {
        let mut inbox = Inbox::default();
        for text in texts {
            let tags = vec![vec!["h".into(), "c1".into()]];
            let event = NostrEvent::new(Hex32([2; 32]), 7, 9, tags, (*text).into());
            inbox.push(Scope::Heartbeat, event.into()).unwrap();
        }
        inbox.take(0).map(|batch| batch.messages).unwrap_or_default()
    }

    fn prompt(messages: &[Message]) -> Arc<[Text]> {
        let config = HarnessConfig::new("ws://r", Hex32([1; 32]), Hex32([2; 32]), "/w");
        blocks(Some(&Channel::unknown("c1".into(), 0)), messages, &config)
    }

    #[test]
    fn a_prompt_names_each_event_on_a_line_of_its_own() {
        let messages = messages(&["one", "two"]);
        let blocks = prompt(&messages);
        assert!(blocks[0].starts_with("[Context]"));
        for message in &messages {
            assert!(blocks[1].lines().any(|line| line == format!("Event ID: {}", message.id)));
        }
        assert!(blocks[1].contains("Content: two\nTags: [h, c1]\n"));
    }

    #[test]
    fn a_single_message_is_a_mention() {
        let blocks = prompt(&messages(&["one"]));
        assert!(blocks[1].starts_with("[Buzz event: @mention]\nEvent ID: "));
    }
}
