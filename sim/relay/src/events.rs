//! The events that a relay keeps, in the order of their dates.
//!
//! Which kinds are kept at all, and which replace an earlier one, is NIP-01's business; who may
//! read them is not decided here, save for events that were published to one party only.

use skep_trace::{Filter, Hex32, NostrEvent, SharedEvent};

use crate::filter;
use crate::ids::Party;

/// Everything that was published and is kept.
#[derive(Debug)]
pub(crate) struct Events {
    /// Oldest first; of one date, the first that came first.
    kept: Vec<Kept>,
    bound: usize,
}

/// One kept event. What most filters ask for first stands beside the pointer, so that a walk
/// over many events touches few of them.
#[derive(Debug)]
struct Kept {
    created_at: u64,
    kind: u16,
    to: Option<Party>,
    event: SharedEvent,
}

/// What became of an event that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// It is kept, or its kind is only passed on.
    Done,
    /// There is no room for it.
    Full,
}

impl Events {
    pub(crate) fn new(bound: usize) -> Self {
        Self { kept: Vec::new(), bound }
    }

    /// Keeps an event for everybody, or for one party.
    pub(crate) fn keep(&mut self, event: SharedEvent, to: Option<Party>) -> Keeping {
        match event.kind {
            20_000..30_000 => return Keeping::Done,
            0 | 3 | 10_000..20_000 | 30_000..40_000 if self.outdated(&event) => {
                return Keeping::Done;
            }
            0 | 3 | 10_000..20_000 | 30_000..40_000 => {
                self.kept.retain(|kept| !replaces(&event, &kept.event));
            }
            _ => {}
        }
        if self.kept.len() >= self.bound {
            return Keeping::Full;
        }
        let (created_at, kind) = (event.created_at, event.kind);
        let place = self.kept.partition_point(|kept| kept.created_at <= created_at);
        self.kept.insert(place, Kept { created_at, kind, to, event });
        Keeping::Done
    }

    /// The same event is kept already. Compares ids, but only where everything cheaper is equal.
    pub(crate) fn holds(&self, event: &NostrEvent) -> bool {
        let start = self.kept.partition_point(|kept| kept.created_at < event.created_at);
        self.kept[start..]
            .iter()
            .take_while(|kept| kept.created_at == event.created_at)
            .filter(|kept| kept.kind == event.kind && kept.event.pubkey == event.pubkey)
            .any(|kept| kept.event.id() == event.id())
    }

    /// Erases the author's own events with these ids (NIP-09).
    pub(crate) fn erase(&mut self, author: &Hex32, ids: &[Hex32]) {
        self.kept.retain(|kept| kept.event.pubkey != *author || !ids.contains(&kept.event.id()));
    }

    /// The events that fit, newest first, as one party may see them (`None`: as all may).
    pub(crate) fn newest<'a>(
        &'a self,
        filter: &'a Filter,
        reader: Option<Party>,
    ) -> impl Iterator<Item = &'a SharedEvent> {
        let since = filter.since.unwrap_or(0);
        self.kept
            .iter()
            .rev()
            .take_while(move |kept| kept.created_at >= since)
            .filter(|kept| filter::asks_for_kind(filter, kept.kind) != Some(false))
            .filter(move |kept| reader.is_none() || kept.to.is_none() || kept.to == reader)
            .map(|kept| &kept.event)
            .filter(|event| filter::fits(filter, event))
    }

    fn outdated(&self, event: &NostrEvent) -> bool {
        self.kept
            .iter()
            .any(|kept| kept.event.created_at > event.created_at && replaces(event, &kept.event))
    }
}

/// Two events of which a relay keeps only the newer one.
fn replaces(new: &NostrEvent, old: &NostrEvent) -> bool {
    new.pubkey == old.pubkey
        && new.kind == old.kind
        && (new.kind < 30_000 || new.tag("d") == old.tag("d"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn event(created_at: u64, kind: u16, content: &str) -> SharedEvent {
        let tags = vec![vec!["d".into(), "x".into()]];
        Arc::new(NostrEvent::new(Hex32([1; 32]), created_at, kind, tags, content.into()))
    }

    fn contents(events: &Events, filter: &Filter, reader: Option<Party>) -> Vec<String> {
        events.newest(filter, reader).map(|event| event.content.to_string()).collect()
    }

    fn everything(events: &Events) -> Vec<String> {
        contents(events, &Filter::default(), None)
    }

    #[test]
    fn the_newest_come_first_whatever_order_they_came_in() {
        let mut events = Events::new(9);
        for (created_at, content) in [(2, "b"), (1, "a"), (3, "d"), (2, "c")] {
            events.keep(event(created_at, 9, content), None);
        }
        assert_eq!(everything(&events), ["d", "c", "b", "a"]);
        let since = Filter { since: Some(2), until: Some(2), ..Filter::default() };
        assert_eq!(contents(&events, &since, None), ["c", "b"]);
    }

    #[test]
    fn ephemeral_events_are_passed_on_and_not_kept() {
        let mut events = Events::new(9);
        assert_eq!(events.keep(event(1, 24_200, "observer"), None), Keeping::Done);
        assert!(everything(&events).is_empty());
    }

    #[test]
    fn of_a_replaceable_kind_the_newer_one_stays() {
        let mut events = Events::new(9);
        for created_at in [2, 3, 1] {
            events.keep(event(created_at, 0, &format!("profile {created_at}")), None);
            events.keep(event(created_at, 30_174, &format!("memory {created_at}")), None);
        }
        assert_eq!(everything(&events), ["memory 3", "profile 3"]);
    }

    #[test]
    fn a_full_relay_says_so() {
        let mut events = Events::new(1);
        assert_eq!(events.keep(event(1, 9, "a"), None), Keeping::Done);
        assert_eq!(events.keep(event(2, 9, "b"), None), Keeping::Full);
        assert_eq!(everything(&events), ["a"]);
    }

    #[test]
    fn what_was_published_to_one_party_is_hidden_from_the_other() {
        let mut events = Events::new(9);
        events.keep(event(1, 9, "secret"), Some(Party(1)));
        assert_eq!(contents(&events, &Filter::default(), Some(Party(1))), ["secret"]);
        assert!(contents(&events, &Filter::default(), Some(Party(2))).is_empty());
    }

    #[test]
    fn authors_erase_their_own_events_only() {
        let mut events = Events::new(9);
        let mine = event(1, 7, "eyes");
        events.keep(mine.clone(), None);
        assert!(events.holds(&mine));
        events.erase(&Hex32([2; 32]), &[mine.id()]);
        assert!(events.holds(&mine));
        events.erase(&mine.pubkey, &[mine.id()]);
        assert!(!events.holds(&mine));
    }
}
