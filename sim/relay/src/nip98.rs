//! Tickets: the header by which an HTTP request says who makes it (NIP-98).
//!
//! A test relay asks for a ticket that can be read. That it fits the request is checked, and a
//! ticket that does not is worth a line in the story, no refusal.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use skep_trace::{NostrEvent, Text, hex};

use crate::bytes;
use crate::keys::Keys;
use crate::signature;

/// The kind of a ticket.
pub const TICKET: u16 = 27_235;

/// The word before the ticket.
const SCHEME: &str = "Nostr ";

/// How far a ticket's date may lie from the relay's clock, as NIP-98 advises.
const FRESH_S: u64 = 60;

/// What a ticket is for.
#[derive(Clone, Copy, Debug)]
pub struct Errand<'a> {
    /// The whole URL.
    pub url: &'a str,
    /// The body that is posted.
    pub body: &'a [u8],
    /// The date, in seconds since 1970.
    pub now_s: u64,
}

/// The value of the `Authorization` header for a POST. The nonce makes two tickets for equal
/// requests in one second differ.
pub fn header(keys: &Keys, errand: Errand<'_>, nonce: &str) -> String {
    let tags = [
        ["u", errand.url],
        ["method", "POST"],
        ["nonce", nonce],
        ["payload", &digest(errand.body)],
    ];
    let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect()).collect();
    let ticket = NostrEvent::new(keys.pubkey, errand.now_s, TICKET, tags, "".into());
    format!("{SCHEME}{}", STANDARD.encode(bytes::event_json(&ticket).to_string()))
}

/// Reads the header.
pub(crate) fn read(header: Option<&[u8]>) -> Result<NostrEvent, &'static str> {
    let header = header.ok_or("auth-required: there is no ticket")?;
    let ticket = header.strip_prefix(SCHEME.as_bytes()).ok_or("auth-required: no Nostr ticket")?;
    let json = STANDARD.decode(ticket).map_err(|_| "auth-required: the ticket is no base64")?;
    let json: Value =
        serde_json::from_slice(&json).map_err(|_| "auth-required: the ticket is no JSON")?;
    let ticket = NostrEvent::from_json(&json).ok_or("auth-required: the ticket is no event")?;
    if ticket.kind == TICKET { Ok(ticket) } else { Err("auth-required: the event is no ticket") }
}

/// What does not fit.
pub(crate) fn doubts(ticket: &NostrEvent, errand: Errand<'_>) -> Vec<&'static str> {
    let payload = ticket.tag("payload");
    let doubts = [
        (ticket.tag("u") != Some(errand.url), "a ticket is for another URL"),
        (ticket.tag("method") != Some("POST"), "a ticket is for another method"),
        (payload.is_some_and(|it| it != digest(errand.body)), "a ticket is for another body"),
        (ticket.created_at.abs_diff(errand.now_s) > FRESH_S, "a ticket is too old or too new"),
        (!signature::authentic(ticket), "a ticket is not signed by its author"),
    ];
    doubts.into_iter().filter_map(|(wrong, doubt)| wrong.then_some(doubt)).collect()
}

fn digest(body: &[u8]) -> String {
    hex::encode(&Sha256::digest(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRAND: Errand<'_> = Errand { url: "http://relay/query", body: b"[]", now_s: 1_000 };

    fn ticket() -> String {
        header(Keys::named("agent"), ERRAND, "n1")
    }

    #[test]
    fn a_ticket_fits_its_errand_and_no_other() {
        let ticket = read(Some(ticket().as_bytes())).unwrap();
        assert_eq!(ticket.pubkey, Keys::named("agent").pubkey);
        assert!(doubts(&ticket, ERRAND).is_empty());
        for (other, doubt) in [
            (Errand { url: "http://relay/count", ..ERRAND }, "a ticket is for another URL"),
            (Errand { body: b"[{}]", ..ERRAND }, "a ticket is for another body"),
            (Errand { now_s: 1_061, ..ERRAND }, "a ticket is too old or too new"),
        ] {
            assert_eq!(doubts(&ticket, other), [doubt]);
        }
    }

    #[test]
    fn the_nonce_tells_equal_tickets_apart_and_nothing_else_does() {
        assert_eq!(ticket(), ticket());
        assert_ne!(ticket(), header(Keys::named("agent"), ERRAND, "n2"));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let note = NostrEvent::new(Keys::named("agent").pubkey, 0, 9, Vec::new(), "".into());
        let note = format!("Nostr {}", STANDARD.encode(bytes::event_json(&note).to_string()));
        for header in [None, Some("Bearer x"), Some("Nostr %"), Some("Nostr e30="), Some(&note)] {
            assert!(read(header.map(str::as_bytes)).unwrap_err().starts_with("auth-required: "));
        }
    }
}
