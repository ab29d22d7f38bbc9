//! Who may ask for what, and who may publish what.

use skep_trace::{Filter, Hex32, NostrEvent, Text};

use crate::auth::AUTH;
use crate::channels::{Channels, JOINED, LEFT, METADATA, ROSTER};
use crate::signature;

/// What a client hears that asks for a channel it is not in.
pub const NOT_A_MEMBER: &str = "restricted: not a channel member";
/// What a member hears whose channel is taken away.
pub const REVOKED: &str = "restricted: channel access revoked";

/// Kinds that only the person they name may read: observer frames, notices of membership, usage.
const PERSONAL: [u16; 4] = [24_200, JOINED, LEFT, 44_200];

/// Kinds that only the relay itself writes.
const OWN: [u16; 4] = [METADATA, ROSTER, JOINED, LEFT];

/// Whether an identity may have a subscription with these filters.
pub(crate) fn may_ask(
    filters: &[Filter],
    identity: &Hex32,
    channels: &Channels,
) -> Result<(), &'static str> {
    for filter in filters {
        let named = values(filter, 'h').iter();
        let mut closed = named.filter_map(|channel| channels.members_only(channel));
        if closed.any(|members| !members.contains(identity)) {
            return Err(NOT_A_MEMBER);
        }
        if asks_for_personal(filter) && !names_only(identity, values(filter, 'p')) {
            return Err("restricted: these kinds are read by the person in their p tag only");
        }
    }
    Ok(())
}

/// Whether an identity may publish an event.
pub(crate) fn may_publish(
    event: &NostrEvent,
    identity: &Hex32,
    channels: &Channels,
) -> Result<(), &'static str> {
    if event.pubkey != *identity {
        return Err("invalid: the event's author is somebody else");
    }
    if event.kind == AUTH {
        return Err("invalid: an answer to a challenge is no event to publish");
    }
    if OWN.contains(&event.kind) {
        return Err("invalid: only the relay writes events of this kind");
    }
    if matches!(readers(event, channels), Readers::Members(all) if !all.contains(identity)) {
        return Err(NOT_A_MEMBER);
    }
    if !signature::authentic(event) {
        return Err("invalid: the event is not signed by its author");
    }
    Ok(())
}

/// Who may read an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers<'a> {
    /// Everybody.
    All,
    /// The members of its channel.
    Members(&'a [Hex32]),
    /// The person whom it names, if it names one.
    Named(Option<Hex32>),
}

impl Readers<'_> {
    /// That identity is one of them.
    pub(crate) fn include(&self, identity: &Hex32) -> bool {
        match self {
            Self::All => true,
            Self::Members(members) => members.contains(identity),
            Self::Named(person) => person.as_ref() == Some(identity),
        }
    }
}

/// Who may read that event.
pub(crate) fn readers<'a>(event: &NostrEvent, channels: &'a Channels) -> Readers<'a> {
    if PERSONAL.contains(&event.kind) {
        return Readers::Named(event.tag("p").and_then(Hex32::parse));
    }
    let members = event.tag("h").and_then(|channel| channels.members_only(channel));
    members.map_or(Readers::All, Readers::Members)
}

/// An event that fits a filter is kept from it all the same: a personal one is only shown to
/// who asked for it by name, though its `h` tag may fit a channel's filter.
pub(crate) fn hides(filter: &Filter, event: &NostrEvent) -> bool {
    PERSONAL.contains(&event.kind) && values(filter, 'p').is_empty()
}

fn asks_for_personal(filter: &Filter) -> bool {
    filter.kinds.as_ref().is_some_and(|kinds| kinds.iter().any(|kind| PERSONAL.contains(kind)))
}

fn names_only(identity: &Hex32, names: &[Text]) -> bool {
    !names.is_empty() && names.iter().all(|name| Hex32::parse(name).as_ref() == Some(identity))
}

fn values(filter: &Filter, letter: char) -> &[Text] {
    let found = filter.tags.iter().find(|(name, _)| *name == letter);
    found.map_or(&[], |(_, values)| values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::Channel;
    use skep_plan::ChannelKind;
    use skep_trace::Sig;

    const OWNER: Hex32 = Hex32([1; 32]);
    const AGENT: Hex32 = Hex32([2; 32]);

    fn channels() -> Channels {
        let channel = |id: &str, kind| Channel {
            id: id.into(),
            name: id.into(),
            kind,
            archived: false,
            members: vec![OWNER],
        };
        let both = vec![channel("open", ChannelKind::Stream), channel("closed", ChannelKind::Dm)];
        Channels::new(Hex32([9; 32]), OWNER, 0, both)
    }

    fn filter(kind: u16, letter: char, value: &str) -> Filter {
        let tags = vec![(letter, vec![value.into()])];
        Filter { kinds: Some(vec![kind]), tags, ..Filter::default() }
    }

    #[test]
    fn members_alone_read_a_closed_channel() {
        let ask = |id: &str, who| may_ask(&[filter(9, 'h', id)], &who, &channels());
        assert_eq!(ask("open", AGENT), Ok(()));
        assert_eq!(ask("closed", OWNER), Ok(()));
        assert_eq!(ask("closed", AGENT), Err(NOT_A_MEMBER));
        assert_eq!(ask("never heard of", AGENT), Ok(()));
    }

    #[test]
    fn personal_kinds_are_asked_for_by_name() {
        let ask = |filter| may_ask(&[filter], &AGENT, &channels());
        assert_eq!(ask(filter(24_200, 'p', &AGENT.to_string())), Ok(()));
        assert!(ask(filter(24_200, 'p', &OWNER.to_string())).is_err());
        assert!(ask(filter(24_200, 'h', "open")).is_err());
        let notice = NostrEvent::new(OWNER, 0, JOINED, vec![], "".into());
        assert_eq!(readers(&notice, &channels()), Readers::Named(None));
        assert!(hides(&Filter::default(), &notice));
        assert!(!hides(&filter(JOINED, 'p', &AGENT.to_string()), &notice));
    }

    #[test]
    fn authors_publish_their_own_signed_events_where_they_are_members() {
        let event = |kind, channel: &str| {
            NostrEvent::new(AGENT, 0, kind, vec![vec!["h".into(), channel.into()]], "".into())
        };
        let publish = |event: &NostrEvent| may_publish(event, &AGENT, &channels());
        assert_eq!(publish(&event(9, "open")), Ok(()));
        assert_eq!(publish(&event(9, "closed")), Err(NOT_A_MEMBER));
        assert!(publish(&event(JOINED, "open")).is_err());
        assert!(publish(&event(AUTH, "open")).is_err());
        assert!(may_publish(&event(9, "open"), &OWNER, &channels()).is_err());
        let mut forged = event(9, "open");
        forged.sig = Sig::Forged;
        assert!(publish(&forged).is_err());
    }
}
