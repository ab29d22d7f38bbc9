//! What a model's entry is kept under: a channel, or a thread of one, as one text.

use skep_trace::{Hex32, Text};

use crate::ops::Key;

/// Between a channel and a thread's root. Channels are UUIDs where the models come from.
const THREAD: char = '#';

/// A key as one text, its parts as they are.
pub(super) fn written(key: &Key) -> String {
    match key.root {
        Some(root) => format!("{}{THREAD}{root}", key.channel),
        None => key.channel.to_string(),
    }
}

/// A key as one text, for a store whose channels are UUIDs and not texts: by value.
pub(super) fn by_value(key: &Key) -> String {
    written(&Key { channel: folded(&key.channel), root: key.root })
}

/// The key of a text.
pub(super) fn read(text: &str) -> Key {
    let (channel, root) = text.rsplit_once(THREAD).unwrap_or((text, ""));
    match Hex32::parse(root) {
        Some(root) => Key { channel: channel.into(), root: Some(root) },
        None => Key { channel: text.into(), root: None },
    }
}

/// The text belongs to the channel: itself, or one of its threads.
pub(super) fn is_of(text: &str, channel: &str) -> bool {
    &*read(text).channel == channel
}

/// A UUID in lower case, anything else as it is.
pub(super) fn folded(channel: &Text) -> Text {
    let dashed = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let is_uuid = channel.len() == 36 && channel.bytes().enumerate().all(dashed);
    if is_uuid { channel.to_ascii_lowercase().into() } else { channel.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_text() {
        for root in [None, Some(Hex32([7; 32]))] {
            for channel in ["general", "a#b"] {
                let key = Key { channel: channel.into(), root };
                assert_eq!(read(&written(&key)), key);
            }
        }
    }

    #[test]
    fn only_uuids_have_a_value() {
        let key = |channel: &str| Key { channel: channel.into(), root: None };
        let uuid = "9F0C1D2E-0000-4ABC-8DEF-00000000000A";
        assert_eq!(by_value(&key(uuid)), uuid.to_lowercase());
        assert_eq!(by_value(&key("CAFE")), "CAFE");
    }
}
