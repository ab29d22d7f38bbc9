//! What one session belongs to: a conversation, or a thread of one (H-50 to H-54).

use skep_mutant::{Mutant, Mutants};
use skep_plan::ChannelKind;
use skep_store::Key;
use skep_trace::policy::SessionScope;
use skep_trace::{Hex32, NostrEvent, Text};

/// What one session belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// The harness's own heartbeat: never stored, never resumed (H-11).
    Heartbeat,
    /// A channel, or a thread of one.
    Talk(Key),
}

impl Scope {
    /// The key of its receipt; a heartbeat has none.
    pub(crate) fn key(&self) -> Option<&Key> {
        match self {
            Self::Heartbeat => None,
            Self::Talk(key) => Some(key),
        }
    }

    /// The channel that it lies in.
    pub(crate) fn channel(&self) -> Option<&Text> {
        self.key().map(|key| &key.channel)
    }
}

/// How messages are put into scopes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scoping {
    pub(crate) policy: SessionScope,
    pub(crate) mutants: Mutants,
}

impl Scoping {
    /// The scope of a message in a channel.
    pub(crate) fn of(self, event: &NostrEvent, channel: &Text, kind: ChannelKind) -> Scope {
        Scope::Talk(Key { channel: channel.clone(), root: self.root(event, kind) })
    }

    fn root(self, event: &NostrEvent, kind: ChannelKind) -> Option<Hex32> {
        let has = |mutant| self.mutants.has(mutant);
        if kind == ChannelKind::Dm {
            return if has(Mutant::DmThreads) { self.thread(event) } else { None };
        }
        match self.policy {
            SessionScope::Channel if has(Mutant::ThreadPerChannel) => self.thread(event),
            SessionScope::Channel => None,
            SessionScope::Thread if has(Mutant::ChannelPerThread) => None,
            SessionScope::Thread if has(Mutant::TopLevelShared) => self.thread(event),
            // A message at the top of a channel roots its own thread.
            SessionScope::Thread => self.thread(event).or_else(|| Some(event.id())),
        }
    }

    /// The root that the message's tags mark, if any. Only marked tags with a whole id count: a
    /// positional tag may mean root, parent or mention, and guessing splits conversations.
    fn thread(self, event: &NostrEvent) -> Option<Hex32> {
        let root = self.marked(event, "root");
        let reply = || self.marked(event, "reply");
        if self.mutants.has(Mutant::ReplyIsRoot) {
            return reply().or(root);
        }
        if self.mutants.has(Mutant::UnmarkedIsRoot) {
            return root.or_else(reply).or_else(|| self.unmarked(event));
        }
        root.or_else(reply)
    }

    fn marked(self, event: &NostrEvent, marker: &str) -> Option<Hex32> {
        let wanted = |tag: &&Vec<Text>| is_e(tag) && tag.get(3).is_some_and(|it| &**it == marker);
        event.tags.iter().filter(wanted).find_map(|tag| self.id(tag))
    }

    fn unmarked(self, event: &NostrEvent) -> Option<Hex32> {
        event.tags.iter().filter(|tag| is_e(tag)).find_map(|tag| self.id(tag))
    }

    fn id(self, tag: &[Text]) -> Option<Hex32> {
        let mut id = Hex32::parse(tag.get(1)?)?;
        let spelled_upper = tag[1].bytes().any(|byte| byte.is_ascii_uppercase());
        if spelled_upper && self.mutants.has(Mutant::RootCaseMatters) {
            // Ids are values here; another value is what another spelling would be to a text.
            id.0[0] ^= 0xff;
        }
        Some(id)
    }
}

fn is_e(tag: &[Text]) -> bool {
    tag.first().is_some_and(|name| &**name == "e")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Hex32 = Hex32([0xab; 32]);
    const PARENT: Hex32 = Hex32([0xcd; 32]);

    fn event(tags: &[&[&str]]) -> NostrEvent {
        let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect());
        NostrEvent::new(Hex32([1; 32]), 7, 9, tags.collect(), "hi".into())
    }

    fn root(policy: SessionScope, kind: ChannelKind, event: &NostrEvent) -> Option<Hex32> {
        let scoping = Scoping { policy, mutants: Mutants::NONE };
        scoping.of(event, &"c".into(), kind).key().unwrap().root
    }

    fn thread_root(event: &NostrEvent) -> Option<Hex32> {
        root(SessionScope::Thread, ChannelKind::Stream, event)
    }

    #[test]
    fn the_channel_policy_knows_no_threads() {
        let reply = event(&[&["e", &ROOT.to_string(), "", "reply"]]);
        assert_eq!(root(SessionScope::Channel, ChannelKind::Stream, &reply), None);
    }

    #[test]
    fn a_top_level_message_roots_its_own_thread() {
        let top = event(&[]);
        assert_eq!(thread_root(&top), Some(top.id()));
    }

    #[test]
    fn a_dm_is_always_one_conversation() {
        let reply = event(&[&["e", &ROOT.to_string(), "", "reply"]]);
        assert_eq!(root(SessionScope::Thread, ChannelKind::Dm, &reply), None);
    }

    #[test]
    fn every_spelling_of_a_root_is_one_value() {
        let upper = event(&[&["e", &ROOT.to_upper(), "", "reply"]]);
        assert_eq!(thread_root(&upper), Some(ROOT));
    }

    #[test]
    fn a_nested_reply_belongs_to_its_root_not_to_its_parent() {
        let nested = event(&[
            &["e", &PARENT.to_string(), "", "reply"],
            &["e", &ROOT.to_string(), "", "root"],
        ]);
        assert_eq!(thread_root(&nested), Some(ROOT));
    }

    #[test]
    fn positional_and_malformed_tags_leave_a_message_at_the_top() {
        let root = ROOT.to_string();
        for tag in [
            vec!["e", &root],
            vec!["e", &root, "", "", "root"],
            vec!["e", &root, "", "mention"],
            vec!["e", &root[..63], "", "reply"],
            vec!["e", "", "", "root"],
        ] {
            let event = event(&[&tag]);
            assert_eq!(thread_root(&event), Some(event.id()), "{tag:?}");
        }
    }
}
