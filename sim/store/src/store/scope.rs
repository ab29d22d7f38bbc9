//! What a receipt belongs to, compared by value and not by spelling (S-7, H-53).

use skep_trace::{Hex32, Text};

use crate::ops::Key;

/// One receipt's key in the file. The agent is the file's business.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryKey {
    pub(super) relay: Text,
    pub(super) channel: Text,
    pub(super) root: Option<Hex32>,
}

impl EntryKey {
    pub(super) fn new(relay: &Text, key: &Key, fold: bool) -> Self {
        let channel = if fold { fold_hex(&key.channel) } else { key.channel.clone() };
        Self { relay: relay.clone(), channel, root: key.root }
    }
}

/// An id that is made of hex digits (a UUID, or 16 or 32 bytes) in lower case; any other text as
/// it is, since folding it could merge what is not the same.
pub(super) fn fold_hex(id: &Text) -> Text {
    if is_hex_id(id) && id.bytes().any(|byte| byte.is_ascii_uppercase()) {
        id.to_ascii_lowercase().into()
    } else {
        id.clone()
    }
}

fn is_hex_id(id: &str) -> bool {
    let dashed = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    match id.len() {
        36 => id.bytes().enumerate().all(dashed),
        32 | 64 => id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        _ => false,
    }
}

/// A relay's URL as receipts name it: scheme and host in lower case, no default port, no slash at
/// the end. What may carry a secret (user, password, query) is no part of it (H-91).
///
/// A text that is no URL stays as it is.
pub fn canonical_relay(url: &str) -> Text {
    let Some((scheme, rest)) = url.trim().split_once("://") else { return url.trim().into() };
    let scheme = scheme.to_ascii_lowercase();
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let port = match &*scheme {
        "ws" | "http" => ":80",
        "wss" | "https" => ":443",
        _ => "",
    };
    let host = host.strip_suffix(port).unwrap_or(&host);
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{scheme}://{host}{slash}{path}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_relay_has_one_name() {
        for spelling in [
            "wss://relay.example",
            "WSS://Relay.Example/",
            "wss://relay.example:443",
            "wss://user:secret@relay.example/?token=secret",
        ] {
            assert_eq!(&*canonical_relay(spelling), "wss://relay.example", "{spelling}");
        }
    }

    #[test]
    fn what_makes_a_relay_another_one_stays() {
        for url in ["ws://relay:7777", "wss://relay.example/Team", "ws://relay:443", "relay"] {
            assert_eq!(&*canonical_relay(url), url);
        }
    }

    #[test]
    fn hex_ids_fold_and_names_do_not() {
        let uuid: Text = "9F0C1d2e-0000-4000-8000-00000000000A".into();
        assert_eq!(&*fold_hex(&uuid), uuid.to_lowercase());
        for name in ["General", "CAFE", "9F0C1d2e-0000-4000-8000-00000000000Z"] {
            assert_eq!(&*fold_hex(&name.into()), name);
        }
    }
}
