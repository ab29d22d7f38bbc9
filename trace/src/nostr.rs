//! Relay frames: what a Nostr client and its relay say to each other (NIP-01, NIP-42, and the
//! HTTP queries beside them).
//!
//! An id is hashed when it is first read, a signature is made when bytes are: a simulated run
//! that never looks at either pays for neither.

mod event;
mod filter;
mod http;
mod message;

pub use event::{NostrEvent, SharedEvent, Sig};
pub use filter::Filter;
pub use http::{HttpBody, HttpCall, HttpReply};
pub use message::{ClientMsg, RelayMsg};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::hex::Hex32;

    fn event() -> NostrEvent {
        let tags = vec![vec!["h".into(), "c\n1".into()], vec!["p".into(), "q".into()]];
        NostrEvent::new(Hex32([1; 32]), 7, 9, tags, "say \"hi\"".into())
    }

    #[test]
    fn the_id_is_the_hash_of_the_canonical_form() {
        let canonical =
            json!([0, "01".repeat(32), 7, 9, [["h", "c\n1"], ["p", "q"]], "say \"hi\""]);
        let hash: [u8; 32] = Sha256::digest(canonical.to_string().as_bytes()).into();
        assert_eq!(event().id(), Hex32(hash));
    }

    #[test]
    fn messages_survive_the_round_trip() {
        let event = Arc::new(event().sealed(Hex32([2; 32])));
        for message in [
            RelayMsg::Event { sub: "s".into(), event: event.clone() },
            RelayMsg::Ok { id: event.id(), accepted: false, message: "auth-required: no".into() },
            RelayMsg::Eose { sub: "s".into() },
            RelayMsg::Other("junk".into()),
        ] {
            assert_eq!(RelayMsg::from_json(&message.to_json()), message);
        }
        let filter = Filter {
            kinds: Some(vec![9]),
            since: Some(1),
            tags: vec![('h', vec!["c".into()])],
            ..Filter::default()
        };
        let request = ClientMsg::Req { sub: "s".into(), filters: vec![filter] };
        assert_eq!(ClientMsg::from_json(&request.to_json()), request);
    }
}
