//! Everything a relay can answer from: the events it keeps, its channels, people's profiles.

use std::sync::Arc;

use skep_trace::{Filter, Hex32, SharedEvent};

use crate::access;
use crate::channels::Channels;
use crate::config::RelayConfig;
use crate::events::Events;
use crate::ids::Party;
use crate::profiles::{PROFILE, Profiles};

/// What a relay knows.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) events: Events,
    pub(crate) channels: Channels,
    profiles: Profiles,
    bound: usize,
}

/// Who reads: the party that a connection belongs to, and the identity that it speaks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) party: Party,
    pub(crate) identity: Hex32,
}

impl Archive {
    pub(crate) fn new(config: &mut RelayConfig) -> Self {
        let mut events = Events::new(config.bounds.events);
        for event in config.events.drain(..) {
            // Beyond the bound the rest is left out; nobody is connected yet who could be told.
            events.keep(event, None);
        }
        let channels = std::mem::take(&mut config.channels);
        Self {
            events,
            channels: Channels::new(config.pubkey, config.owner, config.born_s, channels),
            profiles: Profiles::new(config.born_s, config.names.drain(..)),
            bound: config.bounds.answers,
        }
    }

    /// What fits the filters, each filter's newest first. HTTP requests have no reader: the test
    /// relay does not hold an HTTP client's identity against it.
    pub(crate) fn answer(&self, filters: &[Filter], reader: Option<Reader>) -> Vec<SharedEvent> {
        let mut answer = Vec::new();
        for filter in filters {
            let limit = filter.limit.unwrap_or(self.bound).min(self.bound);
            self.collect(filter, reader, limit, &mut answer);
        }
        answer.truncate(self.bound);
        answer
    }

    /// How much fits the filters, whatever their limits.
    pub(crate) fn count(&self, filters: &[Filter]) -> u64 {
        let mut answer = Vec::new();
        for filter in filters {
            self.collect(filter, None, self.bound, &mut answer);
        }
        answer.len() as u64
    }

    /// Adds what fits one filter, unless another filter brought it already.
    fn collect(
        &self,
        filter: &Filter,
        reader: Option<Reader>,
        limit: usize,
        answer: &mut Vec<SharedEvent>,
    ) {
        let before = answer.len();
        let mut found = 0;
        let mut add = |event: SharedEvent| {
            found += 1;
            let known = answer[..before].iter().any(|other| Arc::ptr_eq(other, &event));
            if found <= limit && !known {
                answer.push(event);
            }
        };
        let kept = self.events.newest(filter, reader.map(|reader| reader.party));
        kept.filter(|event| reader.is_none_or(|reader| self.may_read(reader, filter, event)))
            .take(limit)
            .for_each(|event| add(event.clone()));
        self.channels.fitting(filter, |event| add(event.clone()));
        self.profiles.fitting(filter, |profile| {
            if !self.has_own(&profile) {
                add(profile);
            }
        });
    }

    fn may_read(&self, reader: Reader, filter: &Filter, event: &SharedEvent) -> bool {
        access::readers(event, &self.channels).include(&reader.identity)
            && !access::hides(filter, event)
    }

    /// The author published a profile; it counts, not ours.
    fn has_own(&self, profile: &SharedEvent) -> bool {
        let authors = Some(vec![profile.pubkey]);
        let filter = Filter { kinds: Some(vec![PROFILE]), authors, ..Filter::default() };
        self.events.newest(&filter, None).next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skep_trace::{NostrEvent, Text};

    fn event(created_at: u64, kind: u16, content: &str) -> SharedEvent {
        let content = Text::from(content);
        Arc::new(NostrEvent::new(Hex32([1; 32]), created_at, kind, Vec::new(), content))
    }

    fn archive(events: Vec<SharedEvent>) -> Archive {
        let mut config = RelayConfig::new("ws://relay", Hex32([1; 32]));
        config.events = events;
        config.bounds.answers = 3;
        Archive::new(&mut config)
    }

    #[test]
    fn limit_keeps_the_newest_and_count_ignores_it() {
        let archive = archive(vec![event(1, 9, "a"), event(2, 9, "b"), event(3, 9, "c")]);
        let newest = Filter { kinds: Some(vec![9]), limit: Some(2), ..Filter::default() };
        let answer = archive.answer(std::slice::from_ref(&newest), None);
        assert_eq!(answer.iter().map(|e| e.created_at).collect::<Vec<_>>(), [3, 2]);
        assert_eq!(archive.count(&[newest]), 3);
    }

    #[test]
    fn what_fits_two_filters_is_answered_once() {
        let archive = archive(vec![event(1, 9, "a"), event(2, 9, "b")]);
        let one = Filter { ids: Some(vec![event(1, 9, "a").id()]), ..Filter::default() };
        let both = [one, Filter::default()];
        assert_eq!(archive.answer(&both, None).len(), 2);
    }

    #[test]
    fn an_answer_is_bounded() {
        let archive = archive((0..9).map(|n| event(n, 9, "x")).collect());
        assert_eq!(archive.answer(&[Filter::default()], None).len(), 3);
    }

    #[test]
    fn a_published_profile_takes_the_place_of_the_made_one() {
        let authors = Some(vec![Hex32([1; 32])]);
        let filter = [Filter { kinds: Some(vec![0]), authors, ..Filter::default() }];
        assert!(archive(Vec::new()).answer(&filter, None)[0].content.contains("01010101"));
        let own = archive(vec![event(5, 0, "mine")]).answer(&filter, None);
        assert_eq!(own.iter().map(|event| &*event.content).collect::<Vec<_>>(), ["mine"]);
    }
}
