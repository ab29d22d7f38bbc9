//! Who is on the other end of a connection (NIP-42).

use skep_trace::{NostrEvent, Text};

use crate::signature;

/// The kind of an answer to a challenge.
pub const AUTH: u16 = 22_242;

/// How far an answer's date may lie from the relay's clock, as NIP-42 advises.
const FRESH_S: u64 = 600;

/// The challenge of one connection: a count is enough to make each unique, and legible.
pub(crate) fn challenge(count: u32) -> Text {
    format!("challenge-{count}").into()
}

/// Checks an answer to a challenge.
pub(crate) fn check(
    answer: &NostrEvent,
    challenge: &str,
    url: &str,
    now_s: u64,
) -> Result<(), &'static str> {
    if answer.kind != AUTH {
        return Err("auth-required: an answer to a challenge has kind 22242");
    }
    if answer.tag("challenge") != Some(challenge) {
        return Err("auth-required: that is not this connection's challenge");
    }
    if answer.tag("relay").map(bare) != Some(bare(url)) {
        return Err("auth-required: that answer is for another relay");
    }
    if answer.created_at.abs_diff(now_s) > FRESH_S {
        return Err("auth-required: that answer is too old or too new");
    }
    if !signature::authentic(answer) {
        return Err("auth-required: that answer is not signed by its author");
    }
    Ok(())
}

/// A URL without the slash that some write at its end.
fn bare(url: &str) -> &str {
    url.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use skep_trace::{Hex32, Sig};

    fn answer(challenge: &str, relay: &str) -> NostrEvent {
        let tags =
            vec![vec!["challenge".into(), challenge.into()], vec!["relay".into(), relay.into()]];
        NostrEvent::new(Hex32([1; 32]), 1_000, AUTH, tags, "".into())
    }

    fn check_it(answer: &NostrEvent) -> Result<(), &'static str> {
        check(answer, "challenge-1", "ws://relay/", 1_600)
    }

    #[test]
    fn a_signed_answer_to_this_challenge_is_taken() {
        assert_eq!(check_it(&answer("challenge-1", "ws://relay")), Ok(()));
    }

    #[test]
    fn anything_else_is_refused() {
        let mut forged = answer("challenge-1", "ws://relay");
        forged.sig = Sig::Forged;
        let mut note = answer("challenge-1", "ws://relay");
        note.kind = 9;
        let mut old = answer("challenge-1", "ws://relay");
        old.created_at = 999;
        let other = answer("challenge-2", "ws://relay");
        let elsewhere = answer("challenge-1", "ws://other");
        for wrong in [forged, note, old, other, elsewhere] {
            assert!(check_it(&wrong).unwrap_err().starts_with("auth-required: "));
        }
    }
}
