//! What a state directory held before and after, where that is what a judgement is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use skep_check::verdict::{Judgement, Subject};
use skep_trace::{Entry, EntryKind, Record, Snapshot, Text, What};

use super::clean::{COLUMNS, clean, fit};
use super::names::Names;
use super::paint::{Paint, Tone};
use super::wire::listing::receipt;
use crate::outcome::TestOutcome;

/// More lines than this hide what changed.
const MOST_LINES: usize = 8;

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Gone(String),
    New(String),
}

/// The difference that a judgement is about, under a heading; empty when it is about no disk.
pub fn difference(
    test: &TestOutcome,
    judgement: &Judgement,
    names: &Names,
    paint: Paint,
) -> String {
    let records = &test.trace.records;
    let end = judgement.record.map_or(records.len(), |record| record + 1).min(records.len());
    let seen = &records[..end];
    let mut text = String::new();
    for state in looked_at(test, judgement, seen) {
        let receipts = receipts_difference(seen, &state, names);
        let changes = if receipts.is_empty() { files_difference(seen, &state) } else { receipts };
        if !changes.is_empty() {
            text.push_str(&format!("  the state directory {}, before and after:\n", clean(&state)));
            text.push_str(&draw(&changes, paint));
        } else if let Some(remembered) = remembered(seen, &state, names) {
            text.push_str(&format!("  the store in {} remembers {remembered}\n", clean(&state)));
        }
    }
    text
}

/// The state directories that a judgement looks at.
fn looked_at(test: &TestOutcome, judgement: &Judgement, seen: &[Record]) -> BTreeSet<Text> {
    let state = |record: &Record| match &record.what {
        What::Disk { state, .. } | What::Receipts { state, .. } => Some(state.clone()),
        _ => None,
    };
    if let Some(state) = judgement.record.and_then(|record| seen.get(record)).and_then(state) {
        return BTreeSet::from([state]);
    }
    let by_rule = matches!(judgement.subject, Subject::Invariant("H-90" | "H-91"));
    let by_line = test
        .line(judgement)
        .is_some_and(|line| line.code.ends_with("/receipt") || line.code.ends_with("/file"));
    if by_rule || by_line { seen.iter().filter_map(state).collect() } else { BTreeSet::new() }
}

/// The receipts of a state directory, the newest look first.
fn looks<'a>(
    seen: &'a [Record],
    state: &'a str,
    names: &'a Names,
) -> impl Iterator<Item = BTreeSet<String>> + 'a {
    seen.iter().rev().filter_map(move |record| match &record.what {
        What::Receipts { state: of, receipts } if &**of == state => {
            Some(receipts.iter().map(|one| receipt(one, names)).collect())
        }
        _ => None,
    })
}

/// What the store last answered, where nothing has changed that could be shown.
fn remembered(seen: &[Record], state: &str, names: &Names) -> Option<String> {
    let receipts: Vec<String> = looks(seen, state, names).next()?.into_iter().collect();
    let list = if receipts.is_empty() { "nothing".to_owned() } else { receipts.join("; ") };
    Some(fit(&list, COLUMNS - 40))
}

fn receipts_difference(seen: &[Record], state: &str, names: &Names) -> Vec<Change> {
    let mut last_two = looks(seen, state, names);
    let after = last_two.next().unwrap_or_default();
    let before = last_two.next().unwrap_or_default();
    let gone = before.difference(&after).cloned().map(Change::Gone);
    let new = after.difference(&before).cloned().map(Change::New);
    gone.chain(new).collect()
}

/// The files of a state directory that the last look found changed, a line each: `- x`, `+ x`.
pub fn changes(seen: &[Record], state: &str) -> Vec<String> {
    let (before, after) = last_two_looks(seen, state);
    let paths: BTreeSet<&Text> = before.entries.keys().chain(after.entries.keys()).collect();
    let changed =
        paths.into_iter().filter(|path| before.entries.get(*path) != after.entries.get(*path));
    let lines = changed.flat_map(|path| {
        let line = |sign: &'static str, look: &Snapshot| {
            look.entries
                .get(path)
                .map(|entry| format!("{sign} {}", clean(&entry_text(path, entry))))
        };
        [line("-", &before), line("+", &after)]
    });
    lines.flatten().collect()
}

/// What a directory looked like before its last look, and then.
fn last_two_looks(seen: &[Record], state: &str) -> (Arc<Snapshot>, Arc<Snapshot>) {
    let snapshot = |record: &Record| match &record.what {
        What::Disk { state: of, snapshot, .. } if &**of == state => Some(snapshot.clone()),
        _ => None,
    };
    let mut last_two = seen.iter().rev().filter_map(snapshot);
    let after = last_two.next().unwrap_or_default();
    (last_two.next().unwrap_or_default(), after)
}

fn files_difference(seen: &[Record], state: &str) -> Vec<Change> {
    let (before, after) = last_two_looks(seen, state);
    let paths: BTreeSet<&Text> = before.entries.keys().chain(after.entries.keys()).collect();
    paths.into_iter().flat_map(|path| entry_difference(&before, &after, path)).collect()
}

fn entry_difference(before: &Snapshot, after: &Snapshot, path: &str) -> Vec<Change> {
    let (old, new) = (before.entries.get(path), after.entries.get(path));
    if old == new {
        return Vec::new();
    }
    let gone = old.map(|entry| Change::Gone(entry_text(path, entry)));
    let new_one = new.map(|entry| Change::New(entry_text(path, entry)));
    let mut changes: Vec<Change> = gone.into_iter().chain(new_one).collect();
    if let (Some(old), Some(new)) = (before.bytes(path), after.bytes(path)) {
        changes.extend(lines_difference(old, new));
    }
    changes
}

/// The lines that only one of two files has: enough for small files, which stores are.
fn lines_difference(old: &[u8], new: &[u8]) -> Vec<Change> {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let only = |these: &str, those: &str| {
        let those: BTreeSet<&str> = those.lines().collect();
        let only = these.lines().filter(|line| !those.contains(line));
        only.map(|line| format!("  {line}")).collect::<Vec<_>>()
    };
    let gone = only(&old, &new).into_iter().map(Change::Gone);
    gone.chain(only(&new, &old).into_iter().map(Change::New)).collect()
}

fn entry_text(path: &str, entry: &Entry) -> String {
    let kind = match &entry.kind {
        EntryKind::Dir => "a directory".to_owned(),
        EntryKind::File { len, .. } => format!("{len} bytes"),
        EntryKind::Symlink(target) => format!("a link to {target}"),
        EntryKind::Special => "no regular file".to_owned(),
    };
    format!("{path}  {:04o}  {kind}", entry.mode)
}

fn draw(changes: &[Change], paint: Paint) -> String {
    let mut text = String::new();
    for change in changes.iter().take(MOST_LINES) {
        let (sign, tone, said) = match change {
            Change::Gone(said) => ("-", Tone::Bad, said),
            Change::New(said) => ("+", Tone::Good, said),
        };
        let line = format!("{sign} {}", fit(&clean(said), COLUMNS - 6));
        text.push_str(&format!("    {}\n", paint.paint(tone, line)));
    }
    if changes.len() > MOST_LINES {
        let more = format!("    ⋮ {} lines more", changes.len() - MOST_LINES);
        text.push_str(&format!("{}\n", paint.paint(Tone::Faint, more)));
    }
    text
}
