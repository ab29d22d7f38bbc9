//! Small histories, true and untrue, held against an oracle that tries every order of every subset.

use proptest::prelude::*;
use skep_check::history::zones::{self, Zones};
use skep_check::history::{Entry, Finding, Last, Op, Promise, Result, judge, search};
use skep_trace::Text;

const STEPS: u64 = 100_000;

/// Whether some order explains every answer: all orders of all that was acknowledged and of any part
/// of what was not.
fn oracle(entries: &[Entry]) -> bool {
    let matter: Vec<&Entry> =
        entries.iter().filter(|entry| entry.result != Result::Failed).collect();
    place(&matter, &mut vec![false; matter.len()], None)
}

fn place(entries: &[&Entry], used: &mut Vec<bool>, value: Option<&Text>) -> bool {
    let open = |used: &[bool], at: usize| !used[at] && entries[at].end.is_some();
    if (0..entries.len()).all(|at| !open(used, at)) {
        return true;
    }
    (0..entries.len()).any(|at| {
        let entry = entries[at];
        let late = (0..entries.len()).any(|other| {
            open(used, other) && entries[other].end.is_some_and(|end| end < entry.start)
        });
        if used[at] || late {
            return false;
        }
        let Some(next) = next(entry, value.cloned()) else { return false };
        used[at] = true;
        let explained = place(entries, used, next.as_ref());
        used[at] = false;
        explained
    })
}

fn next(entry: &Entry, value: Option<Text>) -> Option<Option<Text>> {
    match (&entry.op, &entry.result) {
        (Op::Put(new), _) => Some(Some(new.clone())),
        (Op::Remove, _) => Some(None),
        (Op::RemoveIf(one), Result::Removed(true)) => (value.as_ref() == Some(one)).then_some(None),
        (Op::RemoveIf(one), Result::Removed(false)) => {
            (value.as_ref() != Some(one)).then_some(value)
        }
        (Op::RemoveIf(one), _) => Some(value.filter(|value| value != one)),
        (Op::Get, Result::Saw(seen)) => (*seen == value).then_some(value),
        (Op::Get, _) => Some(value),
    }
}

/// What an operation is, what it says, and where it stands in time.
fn entry(removes: bool) -> impl Strategy<Value = (u8, u8, u16, u16, bool)> {
    let kinds = if removes { 4u8 } else { 2 };
    (0..kinds, 0..5u8, 0..40u16, 1..14u16, prop::bool::weighted(0.15))
}

/// Entries with distinct moments and values that are written once.
fn history(drawn: Vec<(u8, u8, u16, u16, bool)>) -> Vec<Entry> {
    let value = |at: u8| Text::from(format!("v{at}"));
    let one = |(at, (kind, about, start, length, lost)): (usize, (u8, u8, u16, u16, bool))| {
        let at = at as u64;
        let seen = (about > 0).then(|| value(about - 1));
        let (op, result) = match kind {
            0 => (Op::Put(value(u8::try_from(at).expect("a history is short"))), Result::Done),
            1 => (Op::Get, Result::Saw(seen)),
            2 => (Op::Remove, Result::Done),
            _ => (Op::RemoveIf(value(about)), Result::Removed(start % 2 == 0)),
        };
        let result = if lost { Result::Unknown } else { result };
        // No two moments are equal: the place of an entry decides between equal ones.
        let start = u64::from(start) * 64 + at;
        let end = (!lost).then(|| start + u64::from(length) * 64 + 32);
        Entry { process: 0, key: "k".into(), op, result, clock_ms: 0, start, end }
    };
    drawn.into_iter().enumerate().map(one).collect()
}

fn at_the_end(last: Option<Text>) -> Entry {
    let (op, result) = (Op::Get, Result::Saw(last));
    Entry {
        process: 1,
        key: "k".into(),
        op,
        result,
        clock_ms: 0,
        start: 1 << 40,
        end: Some(1 << 41),
    }
}

fn found(finding: &Finding) -> bool {
    match finding {
        Finding::Holds => true,
        Finding::Broken(_) => false,
        Finding::Unknown(key) => panic!("{key} is not searched to its end"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn zones_say_what_the_oracle_says(drawn in prop::collection::vec(entry(false), 1..7)) {
        let entries = history(drawn);
        let said = match zones::check(&entries) {
            Zones::Hold => true,
            Zones::Broken(_) => false,
            Zones::CannotSay => panic!("nothing is removed and values are written once"),
        };
        prop_assert_eq!(said, oracle(&entries), "{:#?}", entries);
    }

    #[test]
    fn the_search_says_what_the_oracle_says(drawn in prop::collection::vec(entry(true), 1..7)) {
        let entries = history(drawn);
        let finding = search::check(&entries, STEPS);
        prop_assert_eq!(found(&finding), oracle(&entries), "{:#?}", entries);
        if let Finding::Broken(contradiction) = finding {
            prop_assert!(!oracle(&contradiction.entries), "shrunk to what can be: {:#?}", contradiction);
        }
    }

    #[test]
    fn all_of_it_says_what_the_oracle_says(
        drawn in prop::collection::vec(entry(true), 1..6),
        last in 0..6u8,
    ) {
        let mut entries = history(drawn);
        let last = (last > 0).then(|| Text::from(format!("v{}", last - 1)));
        let ends = Last::from([("k".into(), last.clone())]);
        let finding = judge(&entries, &ends, Promise::RealTime, STEPS);
        if let Finding::Broken(found) = &finding {
            let mut few = found.entries.clone();
            few.extend(found.last.clone().map(at_the_end));
            prop_assert!(!oracle(&few), "shown is what can be: {:#?}", found);
        }
        entries.push(at_the_end(last));
        prop_assert_eq!(found(&finding), oracle(&entries), "{:#?}", entries);
    }
}
