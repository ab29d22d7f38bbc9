//! H-91: no private key, token, prompt text or credential-bearing URL is written to the disk.
//!
//! Looked for are the secrets that the run is known to have, the texts of its messages (those
//! long enough to mean something), Nostr private keys in their usual spelling, private key blocks,
//! and URLs with a password. What the scenario itself wrote there is no breach.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::{Snapshot, Text};

use super::{Broken, Invariant, Tally};
use crate::facts::Facts;
use crate::facts::moment::{Moment, Seen};

/// Message texts shorter than this stand in files for other reasons.
const MEANINGFUL: usize = 8;
/// The length of a bech32-encoded private key behind its prefix.
const NSEC_LEN: usize = 59;

/// The rule, with the last look at each state directory.
#[derive(Default)]
pub(crate) struct DiskSecrets {
    last: BTreeMap<Text, Arc<Snapshot>>,
}

impl Invariant for DiskSecrets {
    fn rule(&self) -> &'static str {
        "H-91"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        let Seen::Disk { state, snapshot, baseline } = &moment.seen else { return };
        let last = self.last.entry((*state).clone()).or_default();
        if !*baseline {
            tally.came_up();
            let own = facts.states.get(state).and_then(|state| state.baseline.as_deref());
            for (path, _, bytes) in snapshot.files() {
                let Some(bytes) = bytes.filter(|bytes| last.bytes(path) != Some(*bytes)) else {
                    continue;
                };
                if let Some(what) = secret(&String::from_utf8_lossy(bytes), own, facts) {
                    let title = "a secret was written to the state directory";
                    tally.broke(|| {
                        Broken::by_harness(moment, title).saying(format!("{what} stands in {path}"))
                    });
                }
            }
        }
        *last = (**snapshot).clone();
    }
}

/// What must not stand in this text.
fn secret(text: &str, own: Option<&Snapshot>, facts: &Facts) -> Option<&'static str> {
    let brought = |part: &str| {
        let mut files = own.into_iter().flat_map(Snapshot::files);
        files.any(|(_, _, bytes)| {
            bytes.is_some_and(|bytes| String::from_utf8_lossy(bytes).contains(part))
        })
    };
    let stands = |part: &str| !part.is_empty() && text.contains(part) && !brought(part);
    if facts.asked.secrets.iter().any(|secret| stands(secret)) {
        return Some("a secret of this run");
    }
    if nsec(text).is_some_and(|key| !brought(key)) {
        return Some("a private key");
    }
    if stands("PRIVATE KEY-----") {
        return Some("a private key block");
    }
    if password(text).is_some_and(|url| !brought(url)) {
        return Some("a URL with a password");
    }
    let mut messages = facts.messages.iter().map(|(_, message)| message.content());
    let written = |content: &str| {
        content.len() >= MEANINGFUL && (stands(content) || stands(&escaped(content)))
    };
    messages.any(written).then_some("the text of a message")
}

/// The text as it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn nsec(text: &str) -> Option<&str> {
    text.match_indices("nsec1").find_map(|(at, prefix)| {
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        (end + 1 >= NSEC_LEN).then(|| &text[at..at + prefix.len() + end])
    })
}

/// `scheme://user:password@host`.
fn password(text: &str) -> Option<&str> {
    text.match_indices("://").find_map(|(at, scheme)| {
        let rest = &text[at + scheme.len()..];
        let stop = |c: char| c == '/' || c == '"' || c == '\'' || c.is_whitespace();
        let authority = &rest[..rest.find(stop).unwrap_or(rest.len())];
        let (user, _) = authority.rsplit_once('@')?;
        user.contains(':').then_some(authority)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_found_and_a_port_is_none() {
        assert_eq!(password(r#"{"relay":"ws://bob:hunter2@r/x"}"#), Some("bob:hunter2@r"));
        assert_eq!(password(r#"{"relay":"ws://127.0.0.1:8080/x@y"}"#), None);
    }

    #[test]
    fn a_private_key_is_known_by_its_spelling() {
        let key = format!("nsec1{}", "q".repeat(58));
        assert_eq!(nsec(&format!("key={key};")), Some(key.as_str()));
        assert_eq!(nsec("nsec1short"), None);
    }
}
