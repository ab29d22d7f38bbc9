//! Histories that are known to be bad, each with the few entries that show it; and good ones that
//! look bad.

use skep_check::history::{Contradiction, Entry, Finding, Last, Op, Promise, Result, clock, judge};
use skep_trace::Text;

const STEPS: u64 = 100_000;

fn entry(process: u32, key: &str, op: Op, result: Result, span: (u64, u64)) -> Entry {
    let end = (result != Result::Unknown).then_some(span.1);
    Entry { process, key: key.into(), op, result, clock_ms: span.0, start: span.0, end }
}

fn put(process: u32, key: &str, value: &str, span: (u64, u64)) -> Entry {
    entry(process, key, Op::Put(value.into()), Result::Done, span)
}

fn lost_put(process: u32, key: &str, value: &str, start: u64) -> Entry {
    entry(process, key, Op::Put(value.into()), Result::Unknown, (start, 0))
}

fn get(process: u32, key: &str, seen: Option<&str>, span: (u64, u64)) -> Entry {
    entry(process, key, Op::Get, Result::Saw(seen.map(Into::into)), span)
}

fn remove(process: u32, key: &str, span: (u64, u64)) -> Entry {
    entry(process, key, Op::Remove, Result::Done, span)
}

fn last(pairs: &[(&str, Option<&str>)]) -> Last {
    let own = |(key, value): &(&str, Option<&str>)| ((*key).into(), value.map(Text::from));
    pairs.iter().map(own).collect()
}

fn real_time(entries: &[Entry], ends: &[(&str, Option<&str>)]) -> Finding {
    judge(entries, &last(ends), Promise::RealTime, STEPS)
}

fn broken(finding: Finding) -> Contradiction {
    match finding {
        Finding::Broken(found) => found,
        other => panic!("{other:?} is no contradiction"),
    }
}

#[test]
fn a_key_that_another_process_wrote_over_is_lost() {
    let entries = [put(1, "a", "1", (1, 4)), put(2, "b", "2", (2, 6)), put(1, "a", "3", (7, 8))];
    let found = broken(real_time(&entries, &[("a", Some("3")), ("b", None)]));
    assert_eq!((&*found.key, found.entries.len()), ("b", 1));
    assert_eq!(found.entries[0].to_string(), "process 2   2–6         put 2: done");
    assert!(found.why.contains("nobody tried to remove it"), "{}", found.why);
}

#[test]
fn an_old_value_must_not_come_back() {
    let entries = [put(1, "k", "old", (1, 2)), put(2, "k", "new", (3, 4))];
    let found = broken(real_time(&entries, &[("k", Some("old"))]));
    assert_eq!(found.entries.len(), 2);
    assert_eq!(real_time(&entries, &[("k", Some("new"))]), Finding::Holds);
}

#[test]
fn a_remove_must_not_be_undone_and_a_put_not_forgotten() {
    let entries = [put(1, "k", "v", (1, 2)), remove(2, "k", (3, 4))];
    assert_eq!(broken(real_time(&entries, &[("k", Some("v"))])).entries.len(), 2);
    assert_eq!(real_time(&entries, &[("k", None)]), Finding::Holds);
    let entries = [remove(2, "k", (1, 2)), put(1, "k", "v", (3, 4))];
    assert_eq!(broken(real_time(&entries, &[("k", None)])).entries.len(), 2);
}

#[test]
fn what_was_killed_may_or_may_not_have_happened() {
    let entries = [put(1, "k", "a", (1, 2)), lost_put(2, "k", "b", 3)];
    assert_eq!(real_time(&entries, &[("k", Some("a"))]), Finding::Holds);
    assert_eq!(real_time(&entries, &[("k", Some("b"))]), Finding::Holds);
    let seen = [entries[0].clone(), entries[1].clone(), get(3, "k", Some("b"), (4, 5))];
    assert_eq!(real_time(&seen, &[("k", Some("b"))]), Finding::Holds);
    // Once it was seen it has happened, and stays.
    broken(real_time(&seen, &[("k", Some("a"))]));
}

#[test]
fn a_refused_put_must_not_show() {
    let mut refused = put(1, "k", "full", (1, 2));
    refused.result = Result::Failed;
    let found = broken(real_time(&[refused.clone()], &[("k", Some("full"))]));
    assert!(found.why.contains("refused"), "{}", found.why);
    let seen = [refused, get(2, "k", Some("full"), (3, 4))];
    assert!(broken(real_time(&seen, &[])).why.contains("refused"));
}

#[test]
fn reads_must_not_go_back_in_time() {
    let entries = [
        put(1, "k", "a", (1, 2)),
        put(1, "k", "b", (3, 20)),
        get(2, "k", Some("b"), (4, 5)),
        get(3, "k", Some("a"), (6, 7)),
    ];
    let found = broken(real_time(&entries, &[("k", Some("b"))]));
    assert!(found.entries.len() <= 4, "{found:#?}");
}

#[test]
fn two_conditional_removes_cannot_both_find_one_value() {
    let removed =
        |process, span| entry(process, "k", Op::RemoveIf("v".into()), Result::Removed(true), span);
    let mut entries = vec![put(1, "k", "v", (1, 2)), removed(1, (3, 9)), removed(2, (4, 8))];
    entries.extend((0..20).map(|at| get(3, "k", None, (20 + 2 * at, 21 + 2 * at))));
    let found = broken(real_time(&entries, &[("k", None)]));
    assert_eq!(found.entries.len(), 3, "{found:#?}");
}

#[test]
fn beyond_the_bound_nobody_knows() {
    let mut entries: Vec<Entry> =
        (0..24).map(|at| put(at, "k", &format!("{at}"), (1 + u64::from(at), 1_000))).collect();
    entries.push(entry(30, "k", Op::RemoveIf("3".into()), Result::Removed(true), (40, 900)));
    entries.push(get(31, "k", Some("never"), (2_000, 2_001)));
    let finding = judge(&entries, &Last::new(), Promise::RealTime, 500);
    assert_eq!(finding, Finding::Unknown("k".into()));
}

#[test]
fn by_the_clock_the_latest_clock_wins_and_not_the_last_to_come() {
    let mut late = put(1, "k", "late", (1, 2));
    late.clock_ms = 9_000;
    let mut early = put(2, "k", "early", (3, 4));
    early.clock_ms = 1_000;
    let entries = [late, early];
    let by_clock = |value| judge(&entries, &last(&[("k", value)]), Promise::Clock, STEPS);
    assert_eq!(by_clock(Some("late")), Finding::Holds);
    assert_eq!(broken(by_clock(Some("early"))).entries.len(), 2);
    broken(by_clock(None));
    broken(real_time(&entries, &[("k", Some("late"))]));
    let shadowed = clock::shadowed(&entries, &Some("late".into()));
    assert_eq!(shadowed, [&entries[1]]);
}

#[test]
fn a_long_history_is_judged_at_once() {
    let mut entries = Vec::new();
    for at in 0..20_000u64 {
        let value = format!("v{at}");
        entries.push(put(1, "k", &value, (4 * at + 1, 4 * at + 2)));
        entries.push(get(2, "k", Some(&value), (4 * at + 3, 4 * at + 4)));
    }
    assert_eq!(real_time(&entries, &[("k", Some("v19999"))]), Finding::Holds);
}

#[test]
fn the_first_moment_may_be_nought() {
    let entries = [put(1, "k", "v", (0, 1)), get(2, "k", None, (2, 3))];
    assert_eq!(broken(real_time(&entries, &[])).entries.len(), 2);
}
