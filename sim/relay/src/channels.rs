//! Channels and who is in them, told as a relay tells it: kind 39000 describes a channel, 39002
//! lists its members, 44100 and 44101 say that one came or went.

use std::cell::OnceCell;
use std::sync::Arc;

use serde_json::json;
use skep_plan::ChannelKind;
use skep_trace::{Filter, Hex32, NostrEvent, SharedEvent, Text};

use crate::filter;

/// Describes a channel.
pub const METADATA: u16 = 39_000;
/// Lists a channel's members.
pub const ROSTER: u16 = 39_002;
/// Says that a member came.
pub const JOINED: u16 = 44_100;
/// Says that a member went.
pub const LEFT: u16 = 44_101;

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its UUID, as tags spell it.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// Its type.
    pub kind: ChannelKind,
    /// It is closed for good; harnesses leave it alone.
    pub archived: bool,
    /// Who is in it.
    pub members: Vec<Hex32>,
}

/// All channels of a relay.
#[derive(Debug)]
pub(crate) struct Channels {
    relay: Hex32,
    owner: Hex32,
    all: Vec<Told>,
}

/// A channel with the events that tell of it, made when first asked for.
#[derive(Debug)]
struct Told {
    channel: Channel,
    changed_s: u64,
    metadata: OnceCell<SharedEvent>,
    roster: OnceCell<SharedEvent>,
}

impl Channels {
    /// Channels as they are since `born_s`, described by the relay's own key.
    pub(crate) fn new(relay: Hex32, owner: Hex32, born_s: u64, channels: Vec<Channel>) -> Self {
        let tell = |channel| Told {
            channel,
            changed_s: born_s,
            metadata: OnceCell::new(),
            roster: OnceCell::new(),
        };
        Self { relay, owner, all: channels.into_iter().map(tell).collect() }
    }

    /// Somebody comes or goes. Answers what the relay says of it; `None` if it knows no such
    /// channel or nothing changed.
    pub(crate) fn change(
        &mut self,
        channel: &str,
        pubkey: Hex32,
        joins: bool,
        at_s: u64,
    ) -> Option<SharedEvent> {
        let told = self.all.iter_mut().find(|told| &*told.channel.id == channel)?;
        let members = &mut told.channel.members;
        if members.contains(&pubkey) == joins {
            return None;
        }
        if joins {
            members.push(pubkey);
        } else {
            members.retain(|member| *member != pubkey);
        }
        told.changed_s = at_s;
        told.metadata = OnceCell::new();
        told.roster = OnceCell::new();
        Some(self.notice(channel, pubkey, joins, at_s))
    }

    /// The members of a channel that others may not read; `None` where everybody may.
    pub(crate) fn members_only(&self, channel: &str) -> Option<&[Hex32]> {
        let told = self.all.iter().find(|told| &*told.channel.id == channel)?;
        let open = told.channel.kind == ChannelKind::Stream;
        (!open).then_some(&told.channel.members[..])
    }

    /// The descriptions and lists that fit the filter, if it asks for any by kind.
    pub(crate) fn fitting(&self, filter: &Filter, mut take: impl FnMut(&SharedEvent)) {
        let asked = |kind| filter::asks_for_kind(filter, kind) == Some(true);
        if asked(METADATA) {
            let all = self.all.iter().map(|told| self.metadata(told));
            all.filter(|event| filter::fits(filter, event)).for_each(&mut take);
        }
        if asked(ROSTER) {
            let all = self.all.iter().map(|told| self.roster(told));
            all.filter(|event| filter::fits(filter, event)).for_each(&mut take);
        }
    }

    fn metadata<'a>(&'a self, told: &'a Told) -> &'a SharedEvent {
        told.metadata.get_or_init(|| {
            let tags = metadata_tags(&told.channel);
            Arc::new(NostrEvent::new(self.relay, told.changed_s, METADATA, tags, "".into()))
        })
    }

    fn roster<'a>(&'a self, told: &'a Told) -> &'a SharedEvent {
        told.roster.get_or_init(|| {
            let role = |member: &Hex32| if *member == self.owner { "owner" } else { "member" };
            let mut tags = vec![tag(&["d", &told.channel.id])];
            let members = told.channel.members.iter();
            tags.extend(members.map(|m| tag(&["p", &m.to_string(), "", role(m)])));
            Arc::new(NostrEvent::new(self.relay, told.changed_s, ROSTER, tags, "".into()))
        })
    }

    fn notice(&self, channel: &str, pubkey: Hex32, joins: bool, at_s: u64) -> SharedEvent {
        let (kind, word) = if joins { (JOINED, "member_added") } else { (LEFT, "member_removed") };
        let tags = vec![tag(&["p", &pubkey.to_string()]), tag(&["h", channel])];
        let actor = self.owner.to_string();
        let content = json!({"type": word, "channel_id": channel, "actor": actor}).to_string();
        Arc::new(NostrEvent::new(self.relay, at_s, kind, tags, content.into()))
    }
}

fn metadata_tags(channel: &Channel) -> Vec<Vec<Text>> {
    let (access, word) = match channel.kind {
        ChannelKind::Stream => ("public", "stream"),
        ChannelKind::Private => ("private", "private"),
        ChannelKind::Dm => ("private", "dm"),
    };
    let mut tags = vec![tag(&["d", &channel.id]), tag(&["name", &channel.name]), tag(&[access])];
    if channel.kind == ChannelKind::Dm {
        tags.push(tag(&["hidden"]));
        tags.extend(channel.members.iter().map(|member| tag(&["p", &member.to_string()])));
    }
    tags.extend([tag(&["closed"]), tag(&["t", word])]);
    if channel.archived {
        tags.push(tag(&["archived", "true"]));
    }
    tags
}

fn tag(parts: &[&str]) -> Vec<Text> {
    parts.iter().map(|part| Text::from(*part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Hex32 = Hex32([1; 32]);
    const AGENT: Hex32 = Hex32([2; 32]);

    fn channels(kind: ChannelKind) -> Channels {
        let members = vec![OWNER, AGENT];
        let channel =
            Channel { id: "c1".into(), name: "general".into(), kind, archived: false, members };
        Channels::new(Hex32([9; 32]), OWNER, 100, vec![channel])
    }

    fn ask(channels: &Channels, kind: u16, letter: char, value: &str) -> Vec<SharedEvent> {
        let tags = vec![(letter, vec![value.into()])];
        let filter = Filter { kinds: Some(vec![kind]), tags, ..Filter::default() };
        let mut found = Vec::new();
        channels.fitting(&filter, |event| found.push(event.clone()));
        found
    }

    #[test]
    fn members_find_their_channels_and_what_they_are() {
        let channels = channels(ChannelKind::Stream);
        let rosters = ask(&channels, ROSTER, 'p', &AGENT.to_string());
        assert_eq!(rosters[0].tag("d"), Some("c1"));
        assert!(ask(&channels, ROSTER, 'p', &Hex32([3; 32]).to_string()).is_empty());
        let metadata = ask(&channels, METADATA, 'd', "c1");
        assert_eq!(
            (metadata[0].tag("name"), metadata[0].tag("t")),
            (Some("general"), Some("stream"))
        );
        assert!(channels.members_only("c1").is_none());
    }

    #[test]
    fn a_dm_is_hidden_and_names_its_members() {
        let channels = channels(ChannelKind::Dm);
        let metadata = &ask(&channels, METADATA, 'd', "c1")[0];
        let firsts: Vec<&str> = metadata.tags.iter().map(|tag| &*tag[0]).collect();
        assert_eq!(firsts, ["d", "name", "private", "hidden", "p", "p", "closed", "t"]);
        assert_eq!(metadata.tag("t"), Some("dm"));
        assert_eq!(channels.members_only("c1"), Some(&[OWNER, AGENT][..]));
    }

    #[test]
    fn who_leaves_is_told_and_no_longer_listed() {
        let mut channels = channels(ChannelKind::Private);
        let notice = channels.change("c1", AGENT, false, 200).unwrap();
        assert_eq!((notice.kind, notice.created_at, notice.tag("h")), (LEFT, 200, Some("c1")));
        assert_eq!(notice.tag("p"), Some(&*AGENT.to_string()));
        assert!(ask(&channels, ROSTER, 'p', &AGENT.to_string()).is_empty());
        assert!(channels.change("c1", AGENT, false, 201).is_none());
        assert_eq!(channels.change("c1", AGENT, true, 202).unwrap().kind, JOINED);
        assert_eq!(ask(&channels, ROSTER, 'p', &AGENT.to_string())[0].created_at, 202);
    }

    #[test]
    fn nobody_who_asks_for_messages_is_told_of_channels() {
        let channels = channels(ChannelKind::Stream);
        channels.fitting(&Filter::default(), |event| panic!("{event:?}"));
    }
}
