//! What one session belongs to: a channel, or a thread of it (H-50 to H-54).

use skep_trace::{Hex32, NostrEvent, Text};

/// A conversation, or one thread of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scope {
    /// The channel's id, in lower case.
    pub(crate) channel: Text,
    /// The thread's canonical root, where threads have sessions of their own.
    pub(crate) root: Option<Hex32>,
}

impl Scope {
    /// Both can be one scope. A missing root is another policy's session of the whole channel.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        let roots = match (self.root, other.root) {
            (Some(one), Some(two)) => one == two,
            _ => true,
        };
        self.channel == other.channel && roots
    }
}

/// A channel's id by value: spelling never matters.
pub(crate) fn channel_of(id: &str) -> Text {
    if id.bytes().any(|byte| byte.is_ascii_uppercase()) {
        id.to_ascii_lowercase().into()
    } else {
        id.into()
    }
}

/// The channel in an event's `h` tag.
pub(crate) fn channel_tag(event: &NostrEvent) -> Option<Text> {
    event.tag("h").map(channel_of)
}

/// The thread that an event's marked `e` tags name (H-54), as spelled there.
pub(crate) fn spelled_root(event: &NostrEvent) -> Option<&Text> {
    marked(event, "root").or_else(|| marked(event, "reply"))
}

/// The thread that an event's marked `e` tags name (H-54), by value.
pub(crate) fn marked_root(event: &NostrEvent) -> Option<Hex32> {
    spelled_root(event).and_then(|id| Hex32::parse(id))
}

fn marked<'e>(event: &'e NostrEvent, marker: &str) -> Option<&'e Text> {
    let fits = |tag: &&Vec<Text>| {
        tag.len() >= 4 && &*tag[0] == "e" && &*tag[3] == marker && Hex32::parse(&tag[1]).is_some()
    };
    event.tags.iter().find(fits).map(|tag| &tag[1])
}

/// One of the event's `p` tags is this key, however it is spelled (H-53).
pub(crate) fn names_key(event: &NostrEvent, key: Hex32) -> bool {
    event.tags.iter().any(|tag| {
        tag.len() >= 2 && &*tag[0] == "p" && Hex32::parse(&tag[1]).is_some_and(|named| named == key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(tags: &[&[&str]]) -> NostrEvent {
        let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect());
        NostrEvent::new(Hex32([1; 32]), 0, 9, tags.collect(), "".into())
    }

    #[test]
    fn the_root_marker_wins_over_the_reply_marker() {
        let (root, reply) = ("ab".repeat(32), "cd".repeat(32));
        let nested = event(&[&["e", &reply, "", "reply"], &["e", &root, "", "root"]]);
        assert_eq!(marked_root(&nested), Hex32::parse(&root));
        let direct = event(&[&["e", &reply, "", "reply"]]);
        assert_eq!(marked_root(&direct), Hex32::parse(&reply));
    }

    #[test]
    fn positional_and_malformed_tags_name_no_thread() {
        let root = "ab".repeat(32);
        let fifth: &[&str] = &["e", &root, "", "", "root"];
        for tag in [&["e", &root][..], &["e", "ab", "", "root"], fifth] {
            assert_eq!(marked_root(&event(&[tag])), None);
        }
    }
}
