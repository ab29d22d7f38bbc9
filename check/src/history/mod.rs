//! Histories: what several processes did to one store, and whether any one store could have answered
//! so.
//!
//! A history is a list of [`Entry`]s and what was there at the end. The same judge serves simulated
//! and real processes: it knows no store, no disk and no clock, only which entry ended before which
//! began. Every value is written once, which is what makes most questions cheap.
//!
//! - [`judge()`]: all of it, key by key, the cheapest question first; start here.
//! - [`acknowledged`]: is anything gone that nobody removed?
//! - [`final_state`]: could the last value be the last?
//! - [`zones`]: the answers between, in n log n, where nothing is removed.
//! - [`search`]: the same with removes, by trying orders, up to a bound.
//! - [`clock`]: the other promise: the write with the latest clock wins.
//!
//! Each of them says why with the few entries that contradict each other.

pub mod acknowledged;
pub mod clock;
pub mod final_state;
pub mod search;
pub mod zones;

use std::collections::BTreeMap;
use std::fmt;

use skep_trace::Text;

/// A moment, counted over everything that happens in a history: what ended at a smaller moment than
/// another began was over before it.
pub type Moment = u64;

/// One operation of one process on one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who.
    pub process: u32,
    /// On what.
    pub key: Text,
    /// What was asked.
    pub op: Op,
    /// What came of it.
    pub result: Result,
    /// The clock that it was done by, in milliseconds; only [`Promise::Clock`] looks at it.
    pub clock_ms: u64,
    /// When it began.
    pub start: Moment,
    /// When its answer was there; `None`: its process died first, and nobody knows whether it
    /// happened.
    pub end: Option<Moment>,
}

/// What an operation asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Write this value.
    Put(Text),
    /// Forget the value.
    Remove,
    /// Forget the value if it is this one.
    RemoveIf(Text),
    /// Read the value.
    Get,
}

/// What an operation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Result {
    /// A put or remove is acknowledged.
    Done,
    /// A conditional remove found its value, or not.
    Removed(bool),
    /// A get saw this, or nothing.
    Saw(Option<Text>),
    /// It was refused: nothing of it may have happened.
    Failed,
    /// There was no answer.
    Unknown,
}

/// What is there at the end, by key; a key that is not listed was not looked at.
pub type Last = BTreeMap<Text, Option<Text>>;

/// What a store promises about writes that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// What was acknowledged before another operation began comes before it.
    RealTime,
    /// The write with the latest clock wins, whenever it came.
    Clock,
}

/// What a history comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// One store could have answered so.
    Holds,
    /// No store that keeps the promise can have.
    Broken(Contradiction),
    /// Nobody knows: there are more orders than were tried. Which key.
    Unknown(Text),
}

/// Entries that cannot all be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The key.
    pub key: Text,
    /// Why, for a person.
    pub why: String,
    /// The entries, by their beginning: as few as show it.
    pub entries: Vec<Entry>,
    /// What was there at the end, where that is part of it.
    pub last: Option<Option<Text>>,
}

/// Judges a history; `most_steps` bounds the search of each key.
///
/// Of several keys that are broken, the one with the fewest entries to look at is told.
pub fn judge(entries: &[Entry], last: &Last, promise: Promise, most_steps: u64) -> Finding {
    let mut broken: Option<Contradiction> = None;
    let mut unknown = None;
    for (key, entries) in by_key(entries) {
        let last = last.get(&key);
        match judge_key(&entries, last, promise, most_steps) {
            Finding::Holds => {}
            Finding::Unknown(key) => unknown = unknown.or(Some(key)),
            Finding::Broken(found) => {
                if broken.as_ref().is_none_or(|had| found.entries.len() < had.entries.len()) {
                    broken = Some(found);
                }
            }
        }
    }
    match (broken, unknown) {
        (Some(found), _) => Finding::Broken(found),
        (None, Some(key)) => Finding::Unknown(key),
        (None, None) => Finding::Holds,
    }
}

/// One key: the acknowledged set, the final state, zones, and the search where zones cannot say.
fn judge_key(
    entries: &[Entry],
    last: Option<&Option<Text>>,
    promise: Promise,
    most_steps: u64,
) -> Finding {
    let quick = match (promise, last) {
        (_, None) => None,
        (Promise::RealTime, Some(last)) => {
            acknowledged::check(entries, last).or_else(|| final_state::check(entries, last))
        }
        (Promise::Clock, Some(last)) => clock::check(entries, last),
    };
    if let Some(found) = quick {
        return Finding::Broken(found);
    }
    if promise == Promise::Clock {
        return Finding::Holds;
    }
    let whole = with_last(entries, last);
    match zones::check(&whole) {
        zones::Zones::Hold => Finding::Holds,
        zones::Zones::Broken(found) => {
            let entries = search::fewest(&found.entries, most_steps);
            Finding::Broken(Contradiction { entries, ..found })
        }
        zones::Zones::CannotSay => search::check(&whole, most_steps),
    }
}

/// The history with what was there at the end as a get after everything else.
fn with_last(entries: &[Entry], last: Option<&Option<Text>>) -> Vec<Entry> {
    let mut whole = entries.to_vec();
    if let (Some(last), Some(first)) = (last, entries.first()) {
        let moments = entries.iter().map(|entry| entry.end.unwrap_or(entry.start));
        let after = moments.chain(entries.iter().map(|entry| entry.start)).max().unwrap_or(0) + 1;
        whole.push(Entry {
            process: u32::MAX,
            key: first.key.clone(),
            op: Op::Get,
            result: Result::Saw(last.clone()),
            clock_ms: 0,
            start: after,
            end: Some(after + 1),
        });
    }
    whole
}

fn by_key(entries: &[Entry]) -> BTreeMap<Text, Vec<Entry>> {
    let mut keys: BTreeMap<Text, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        keys.entry(entry.key.clone()).or_default().push(entry.clone());
    }
    keys
}

impl Entry {
    /// It may have changed the value.
    pub fn may_write(&self) -> bool {
        !matches!(self.op, Op::Get)
            && !matches!(self.result, Result::Failed | Result::Removed(false))
    }

    /// It did change the value, and said so.
    pub fn wrote(&self) -> bool {
        self.may_write() && self.result != Result::Unknown
    }

    /// The value that it writes; `None`: it is no put.
    pub fn put(&self) -> Option<&Text> {
        match &self.op {
            Op::Put(value) => Some(value),
            _ => None,
        }
    }

    /// It was over before the other one began.
    pub fn before(&self, other: &Self) -> bool {
        self.end.is_some_and(|end| end < other.start)
    }
}

impl Contradiction {
    fn new(why: String, entries: &[&Entry], last: Option<&Option<Text>>) -> Self {
        let mut entries: Vec<Entry> = entries.iter().map(|entry| (*entry).clone()).collect();
        entries.sort_by_key(|entry| entry.start);
        entries.dedup();
        let key = entries.first().map_or_else(|| "".into(), |entry| entry.key.clone());
        Self { key, why, entries, last: last.cloned() }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.process {
            u32::MAX => "at the end ".to_owned(),
            process => format!("process {process:<3}"),
        };
        let end = self.end.map_or_else(|| "…".to_owned(), |end| end.to_string());
        let span = format!("{}–{end}", self.start);
        write!(f, "{who} {span:<11} {}", self.op)?;
        match &self.result {
            Result::Done => f.write_str(": done"),
            Result::Removed(true) => f.write_str(": removed"),
            Result::Removed(false) => f.write_str(": left"),
            Result::Saw(None) => f.write_str(": nothing"),
            Result::Saw(Some(value)) => write!(f, ": {value}"),
            Result::Failed => f.write_str(": refused"),
            Result::Unknown => f.write_str(": killed before an answer"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put(value) => write!(f, "put {value}"),
            Self::Remove => f.write_str("remove"),
            Self::RemoveIf(value) => write!(f, "remove if it is {value}"),
            Self::Get => f.write_str("get"),
        }
    }
}
