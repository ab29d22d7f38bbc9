//! Every order of one key's operations, tried depth first with a memory (Wing and Gong, 1993; Lowe,
//! 2017), up to a bound: with conditional removes there is no better way. Beyond the bound nobody
//! knows, and that is the answer.

use std::collections::BTreeSet;

use skep_trace::Text;

use super::{Contradiction, Entry, Finding, Moment, Op, Result};

/// Which operations an order holds already, and the value that they leave.
type Place = (Vec<u64>, Option<Text>);

/// What trying came to.
enum Tried {
    Explained,
    Contradicts,
    TooMany,
}

/// Judges one key. What is there at the end is a get like others. A history that no order explains
/// is shrunk to as few entries as still show it.
pub fn check(entries: &[Entry], most_steps: u64) -> Finding {
    match explain(entries, most_steps) {
        Tried::Explained => Finding::Holds,
        Tried::TooMany => {
            Finding::Unknown(entries.first().map_or_else(|| "".into(), |entry| entry.key.clone()))
        }
        Tried::Contradicts => {
            let few = shrunk(entries.to_vec(), most_steps);
            let why = "no order of these explains their answers".to_owned();
            Finding::Broken(Contradiction::new(why, &few.iter().collect::<Vec<_>>(), None))
        }
    }
}

/// The fewest of these entries that still contradict each other; all of them, if they do not.
pub fn fewest(entries: &[Entry], most_steps: u64) -> Vec<Entry> {
    match explain(entries, most_steps) {
        Tried::Contradicts => shrunk(entries.to_vec(), most_steps),
        Tried::Explained | Tried::TooMany => entries.to_vec(),
    }
}

/// Takes entries away while what is left is still a contradiction.
fn shrunk(mut entries: Vec<Entry>, most_steps: u64) -> Vec<Entry> {
    loop {
        let before = entries.len();
        let mut at = 0;
        while at < entries.len() {
            let still =
                |smaller: &Vec<Entry>| matches!(explain(smaller, most_steps), Tried::Contradicts);
            match without(&entries, at).filter(still) {
                Some(smaller) => entries = smaller,
                None => at += 1,
            }
        }
        // What could not go may be able to now that others are gone.
        if entries.len() == before {
            return entries;
        }
    }
}

/// The history without one entry, if whatever explains all of it explains that too. What saw
/// something and changed nothing can always go. A put can go with all that saw it, since without it
/// the key has the value from before, and so can a remove that nobody saw; unless a conditional
/// remove did not find what is then there.
fn without(entries: &[Entry], at: usize) -> Option<Vec<Entry>> {
    let gone = &entries[at];
    let looked_in_vain = |entry: &Entry| entry.result == Result::Removed(false);
    let Some(value) = gone.put() else {
        let tells = |entry: &Entry| looked_in_vain(entry) || entry.result == Result::Saw(None);
        let may_go = !gone.may_write() || !entries.iter().any(tells);
        return may_go.then(|| [&entries[..at], &entries[at + 1..]].concat());
    };
    let removes_it = |entry: &Entry| entry.op == Op::RemoveIf(value.clone()) && entry.may_write();
    if entries.iter().any(|entry| looked_in_vain(entry) || removes_it(entry)) {
        return None;
    }
    let saw = |entry: &Entry| matches!(&entry.result, Result::Saw(Some(seen)) if seen == value);
    let stays = |entry: &&Entry| entry.put() != Some(value) && !saw(entry);
    Some(entries.iter().filter(stays).cloned().collect())
}

fn explain(entries: &[Entry], most_steps: u64) -> Tried {
    let matter = |entry: &&Entry| match entry.result {
        Result::Failed => false,
        Result::Unknown => !matches!(entry.op, Op::Get),
        _ => true,
    };
    let mut entries: Vec<&Entry> = entries.iter().filter(matter).collect();
    entries.sort_by_key(|entry| entry.start);
    let mut seen: BTreeSet<Place> = BTreeSet::new();
    let mut stack: Vec<Place> = vec![(vec![0; entries.len().div_ceil(64)], None)];
    let mut steps = 0;
    while let Some((done, value)) = stack.pop() {
        let Some(first_end) = first_end_of_the_rest(&entries, &done) else {
            return Tried::Explained;
        };
        for (at, entry) in entries.iter().enumerate() {
            if entry.start > first_end {
                break;
            }
            if has(&done, at) {
                continue;
            }
            steps += 1;
            if steps > most_steps {
                return Tried::TooMany;
            }
            let Some(next) = after(entry, value.as_ref()) else { continue };
            let mut more = done.clone();
            more[at / 64] |= 1 << (at % 64);
            let place = (more, next);
            if seen.insert(place.clone()) {
                stack.push(place);
            }
        }
    }
    Tried::Contradicts
}

fn has(done: &[u64], at: usize) -> bool {
    done[at / 64] >> (at % 64) & 1 == 1
}

/// The first end among acknowledged operations that are left; `None`: none is.
fn first_end_of_the_rest(entries: &[&Entry], done: &[u64]) -> Option<Moment> {
    let rest = entries.iter().enumerate().filter(|(at, _)| !has(done, *at));
    rest.filter_map(|(_, entry)| entry.end).min()
}

/// The value after an operation, if its answer fits the value before.
fn after(entry: &Entry, value: Option<&Text>) -> Option<Option<Text>> {
    let kept = || value.cloned();
    match (&entry.op, &entry.result) {
        (Op::Put(new), _) => Some(Some(new.clone())),
        (Op::Remove, _) => Some(None),
        (Op::RemoveIf(expected), Result::Removed(did)) => {
            let fits = value == Some(expected);
            (fits == *did).then(|| if fits { None } else { kept() })
        }
        // An order need not hold what nobody answered; if it does, the remove found its value.
        (Op::RemoveIf(expected), _) => (value == Some(expected)).then_some(None),
        (Op::Get, Result::Saw(seen)) => (seen.as_ref() == value).then(kept),
        (Op::Get, _) => Some(kept()),
    }
}
