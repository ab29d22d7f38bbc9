//! A profile (kind 0) for every author that anybody asks for: harnesses wait for one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use skep_trace::{Filter, Hex32, NostrEvent, SharedEvent, Sig, Text};

use crate::filter;
use crate::keys::Keys;

/// Says who an author is.
pub const PROFILE: u16 = 0;

/// How many made profiles are remembered; beyond, one is made again each time it is asked for.
const REMEMBERED: usize = 4_096;

/// The names of people and agents.
#[derive(Debug)]
pub(crate) struct Profiles {
    born_s: u64,
    names: BTreeMap<Hex32, Text>,
    made: Mutex<BTreeMap<Hex32, SharedEvent>>,
}

impl Profiles {
    /// Profiles that were written at `born_s`.
    pub(crate) fn new(born_s: u64, names: impl IntoIterator<Item = (Hex32, Text)>) -> Self {
        Self { born_s, names: names.into_iter().collect(), made: Mutex::default() }
    }

    /// The profiles of the authors that the filter names, if it asks for profiles.
    pub(crate) fn fitting(&self, filter: &Filter, take: impl FnMut(SharedEvent)) {
        if filter::asks_for_kind(filter, PROFILE) == Some(true) {
            let authors = filter.authors.as_deref().unwrap_or_default();
            let profiles = authors.iter().map(|author| self.profile(*author));
            profiles.filter(|event| filter::fits(filter, event)).for_each(take);
        }
    }

    fn profile(&self, author: Hex32) -> SharedEvent {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = made.get(&author) {
            return event.clone();
        }
        let event = Arc::new(self.make(author));
        if made.len() < REMEMBERED {
            made.insert(author, event.clone());
        }
        event
    }

    /// An author whose key is unknown here cannot have signed, and the event says so.
    fn make(&self, author: Hex32) -> NostrEvent {
        let name = self.names.get(&author).map_or_else(|| author.short().into(), Text::clone);
        let content = json!({"name": &*name, "display_name": &*name}).to_string();
        let mut event = NostrEvent::new(author, self.born_s, PROFILE, Vec::new(), content.into());
        if Keys::of(&author).is_none() {
            event.sig = Sig::Forged;
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_profile() {
        let known = Keys::named("profiled").pubkey;
        let stranger = Hex32([0xee; 32]);
        let profiles = Profiles::new(100, [(known, "Ada".into())]);
        let authors = Some(vec![known, stranger]);
        let filter = Filter { kinds: Some(vec![0]), authors, ..Filter::default() };
        let mut made = Vec::new();
        profiles.fitting(&filter, |event| made.push(event));
        assert!(made[0].content.contains("Ada"));
        assert_eq!(made[0].sig, Sig::Valid);
        assert!(made[1].content.contains("eeeeeeee"));
        assert_eq!(made[1].sig, Sig::Forged);
    }

    #[test]
    fn only_who_asks_for_profiles_gets_them() {
        let profiles = Profiles::new(100, []);
        let authors = Some(vec![Hex32([1; 32])]);
        let notes = Filter { kinds: Some(vec![9]), authors: authors.clone(), ..Filter::default() };
        let anything = Filter { authors, ..Filter::default() };
        for filter in [notes, anything] {
            profiles.fitting(&filter, |event| panic!("{event:?}"));
        }
    }
}
