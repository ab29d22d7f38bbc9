//! Whether an event fits a filter (NIP-01).
//!
//! Ids and authors compare by value, tags as text: a tag that spells an id in upper case is
//! another text, as on public relays. An empty list fits nothing.

use skep_trace::{Filter, NostrEvent, Text};

/// A stored event fits the filter.
pub fn fits(filter: &Filter, event: &NostrEvent) -> bool {
    filter.since.is_none_or(|since| since <= event.created_at)
        && filter.until.is_none_or(|until| event.created_at <= until)
        && fits_live(filter, event)
}

/// A live event fits the filter. What is published now is delivered whatever date its author
/// gave it: `since` and `until` choose among stored events.
pub fn fits_live(filter: &Filter, event: &NostrEvent) -> bool {
    asks_for_kind(filter, event.kind).unwrap_or(true)
        && filter.authors.as_ref().is_none_or(|authors| authors.contains(&event.pubkey))
        && filter.tags.iter().all(|(name, values)| tagged(event, *name, values))
        // Last, because reading an id may cost a hash.
        && filter.ids.as_ref().is_none_or(|ids| ids.contains(&event.id()))
}

/// The filter names that kind; `None` when it names no kinds at all.
#[expect(clippy::manual_contains, reason = "lists of kinds are short, and `contains` is no walk")]
pub(crate) fn asks_for_kind(filter: &Filter, kind: u16) -> Option<bool> {
    Some(filter.kinds.as_ref()?.iter().any(|asked| *asked == kind))
}

/// One of the event's tags has that name and one of these values.
fn tagged(event: &NostrEvent, name: char, values: &[Text]) -> bool {
    event.tags.iter().any(|tag| match &tag[..] {
        [first, value, ..] => is_letter(first, name) && values.contains(value),
        _ => false,
    })
}

fn is_letter(text: &str, letter: char) -> bool {
    text.len() == letter.len_utf8() && text.starts_with(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use skep_trace::Hex32;

    /// The same question asked of JSON, clause by clause, the slow way.
    fn naive(filter: &serde_json::Value, event: &serde_json::Value) -> bool {
        filter.as_object().unwrap().iter().all(|(key, wanted)| match key.as_str() {
            "ids" => listed(wanted, &event["id"]),
            "authors" => listed(wanted, &event["pubkey"]),
            "kinds" => listed(wanted, &event["kind"]),
            "since" => event["created_at"].as_u64() >= wanted.as_u64(),
            "until" => event["created_at"].as_u64() <= wanted.as_u64(),
            "limit" => true,
            tag => event["tags"].as_array().unwrap().iter().any(|parts| {
                parts[0].as_str() == Some(&tag[1..])
                    && parts.get(1).is_some_and(|value| listed(wanted, value))
            }),
        })
    }

    fn listed(list: &serde_json::Value, value: &serde_json::Value) -> bool {
        list.as_array().unwrap().contains(value)
    }

    fn text() -> impl Strategy<Value = Text> {
        prop_oneof!["h", "e", "c1", "C1", "hh", ""].prop_map(|text| Text::from(&*text))
    }

    fn event() -> impl Strategy<Value = NostrEvent> {
        let tags = prop::collection::vec(prop::collection::vec(text(), 1..4), 0..4);
        (0..3u8, 0..4u64, 0..3u16, tags).prop_map(|(author, created_at, kind, tags)| {
            NostrEvent::new(Hex32([author; 32]), created_at, kind, tags, "".into())
        })
    }

    fn filter() -> impl Strategy<Value = Filter> {
        let maybe = prop::option::of::<std::ops::Range<u64>>;
        let tags = prop::collection::vec(
            (prop::sample::select(vec!['h', 'e']), prop::collection::vec(text(), 0..3)),
            0..2,
        );
        let authors = prop::option::of(prop::collection::vec(0..3u8, 0..3));
        let kinds = prop::option::of(prop::collection::vec(0..3u16, 0..3));
        (authors, kinds, maybe(0..4), maybe(0..4), tags).prop_map(
            |(authors, kinds, since, until, mut tags)| {
                // One condition a letter, as in a JSON object.
                tags.dedup_by_key(|(letter, _)| *letter);
                let authors = authors.map(|list| list.iter().map(|n| Hex32([*n; 32])).collect());
                Filter { authors, kinds, since, until, tags, ..Filter::default() }
            },
        )
    }

    proptest! {
        #[test]
        fn matching_agrees_with_a_naive_model(filter in filter(), event in event(), own in any::<bool>()) {
            let ids = own.then(|| vec![event.id()]);
            let filter = Filter { ids, ..filter };
            prop_assert_eq!(fits(&filter, &event), naive(&filter.to_json(), &event.to_json()));
        }
    }

    fn tagged_event(name: &str, value: &str) -> NostrEvent {
        let tags = vec![vec![name.into(), value.into()]];
        NostrEvent::new(Hex32([1; 32]), 5, 9, tags, "".into())
    }

    #[test]
    fn a_tag_spelled_in_upper_case_is_another_text() {
        let filter = Filter { tags: vec![('e', vec!["ab".into()])], ..Filter::default() };
        assert!(fits(&filter, &tagged_event("e", "ab")));
        assert!(!fits(&filter, &tagged_event("e", "AB")));
        assert!(!fits(&filter, &tagged_event("ee", "ab")));
    }

    #[test]
    fn dates_choose_among_stored_events_only() {
        let filter = Filter { since: Some(6), ..Filter::default() };
        assert!(!fits(&filter, &tagged_event("e", "ab")));
        assert!(fits_live(&filter, &tagged_event("e", "ab")));
    }

    #[test]
    fn an_empty_list_fits_nothing() {
        for filter in [
            Filter { ids: Some(Vec::new()), ..Filter::default() },
            Filter { authors: Some(Vec::new()), ..Filter::default() },
            Filter { kinds: Some(Vec::new()), ..Filter::default() },
            Filter { tags: vec![('e', Vec::new())], ..Filter::default() },
        ] {
            assert!(!fits(&filter, &tagged_event("e", "ab")));
        }
    }
}
