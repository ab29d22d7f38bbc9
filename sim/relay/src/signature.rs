//! Whether an event is what it claims to be: its id a hash of it, its signature its author's.

use skep_trace::{NostrEvent, Sig};

use crate::keys;

/// The event's id and signature hold. A signature that is still a state costs nothing to judge;
/// bytes that a foreign program sent cost one verification.
pub fn authentic(event: &NostrEvent) -> bool {
    match &event.sig {
        Sig::Valid => true,
        Sig::Forged => false,
        Sig::Bytes(bytes) => {
            let id = event.hash();
            event.claimed_id.is_none_or(|claimed| claimed == id)
                && keys::verify(&event.pubkey, &id, bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use skep_trace::Hex32;

    fn foreign() -> NostrEvent {
        let keys = Keys::named("foreigner");
        let mut event = NostrEvent::new(keys.pubkey, 7, 9, Vec::new(), "hello".into());
        event.sig = Sig::Bytes(Box::new(keys.sign(&event.id())));
        event
    }

    #[test]
    fn bytes_are_verified_and_states_are_believed() {
        let mut event = foreign();
        assert!(authentic(&event));
        event.sig = Sig::Valid;
        assert!(authentic(&event));
        event.sig = Sig::Forged;
        assert!(!authentic(&event));
    }

    #[test]
    fn a_changed_event_or_a_borrowed_id_is_noticed() {
        let mut changed = foreign();
        changed.content = "changed".into();
        assert!(!authentic(&changed));
        let mut claimed = foreign();
        claimed.claimed_id = Some(Hex32([1; 32]));
        assert!(!authentic(&claimed));
    }
}
