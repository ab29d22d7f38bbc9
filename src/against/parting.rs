//! Where two traces go different ways.
//!
//! Processes that run side by side write their frames in an order that nobody settles. So each
//! conversation is held against its own counterpart: what a harness says to one agent process, what
//! that answers, and the events that a life exchanges with its relay.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use skep_trace::{ClientMsg, NostrEvent, RelayMsg, Side, Trace, What};

use super::plain::Plain;

/// Kinds that relays do not keep: presence and typing come as often as time passes.
const EPHEMERAL: std::ops::Range<u16> = 20_000..30_000;

/// The first difference between two traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Between whom: `h#2 → a#2`.
    pub between: String,
    /// The record of the tested build's trace; `None` where it says nothing more.
    pub tested: Option<usize>,
    /// The record of the other's.
    pub other: Option<usize>,
    /// Where in the two frames they differ first, as a JSON pointer; empty where one is missing.
    pub place: String,
}

/// A conversation in one direction. Those with agents come first: what a relay sees follows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    relay: bool,
    between: String,
}

/// A frame without what differs from run to run, and its record.
type Frames = Vec<(usize, Value)>;

/// Where they part first: among all conversations with agents, else among those with the relay.
pub fn find(tested: &Trace, other: &Trace) -> Option<Parting> {
    let (one, two) = (ways(tested), ways(other));
    let none = Frames::new();
    let keys: BTreeSet<&Way> = one.keys().chain(two.keys()).collect();
    let at = |trace: &Trace, record: Option<usize>| Some(trace.records.get(record?)?.at_ms);
    let partings = keys.into_iter().filter_map(|way| {
        let parting = part(way, one.get(way).unwrap_or(&none), two.get(way).unwrap_or(&none))?;
        let when = at(tested, parting.tested).or_else(|| at(other, parting.other));
        // Clocks are coarse: within an instant the order of the records tells.
        Some(((way.relay, when, parting.tested.or(parting.other)), parting))
    });
    partings.min_by_key(|(order, _)| *order).map(|(_, parting)| parting)
}

fn part(way: &Way, one: &Frames, two: &Frames) -> Option<Parting> {
    let place = (0..one.len().max(two.len()))
        .find(|at| one.get(*at).map(|(_, it)| it) != two.get(*at).map(|(_, it)| it))?;
    let (first, second) = (one.get(place), two.get(place));
    let pointer = match (first, second) {
        (Some((_, first)), Some((_, second))) => pointer(first, second),
        _ => String::new(),
    };
    Some(Parting {
        between: way.between.clone(),
        tested: first.map(|(record, _)| *record),
        other: second.map(|(record, _)| *record),
        place: pointer,
    })
}

/// The path to the first difference.
fn pointer(one: &Value, two: &Value) -> String {
    match (one, two) {
        (Value::Object(one), Value::Object(two)) => {
            let keys: BTreeSet<&String> = one.keys().chain(two.keys()).collect();
            let mut differs = keys.into_iter().filter(|key| one.get(*key) != two.get(*key));
            // Another id is told only where nothing else differs: it mostly follows from that.
            let first = differs.next();
            let differs = differs.next().filter(|_| first.is_some_and(|key| key == "id")).or(first);
            deeper(differs.map(|key| (key.clone(), one.get(key), two.get(key))))
        }
        (Value::Array(one), Value::Array(two)) => {
            let mut places = 0..one.len().max(two.len());
            let differs = places.find(|at| one.get(*at) != two.get(*at));
            deeper(differs.map(|at| (at.to_string(), one.get(at), two.get(at))))
        }
        _ => String::new(),
    }
}

fn deeper(differs: Option<(String, Option<&Value>, Option<&Value>)>) -> String {
    let Some((key, one, two)) = differs else { return String::new() };
    let rest = one.zip(two).map_or(String::new(), |(one, two)| pointer(one, two));
    format!("/{key}{rest}")
}

/// Every conversation of a trace.
fn ways(trace: &Trace) -> BTreeMap<Way, Frames> {
    let mut ways: BTreeMap<Way, (Plain, Frames)> = BTreeMap::new();
    for (record, happened) in trace.records.iter().enumerate() {
        if let Some((way, frame)) = frame(&happened.what) {
            let (plain, frames) = ways.entry(way).or_default();
            frames.push((record, plain.frame(&frame)));
        }
    }
    ways.into_iter().map(|(way, (_, frames))| (way, frames)).collect()
}

fn frame(what: &What) -> Option<(Way, Value)> {
    let event = |event: &NostrEvent| !EPHEMERAL.contains(&event.kind);
    Some(match what {
        What::Acp { agent, harness, from, frame, .. } => {
            let arrow = if *from == Side::Harness { '→' } else { '←' };
            let between = format!("{harness} {arrow} {agent}");
            (Way { relay: false, between }, frame.to_json())
        }
        What::ToRelay { harness, message, .. } => match &**message {
            ClientMsg::Event(said) if event(said) => {
                (Way { relay: true, between: format!("{harness} → relay") }, said.to_json())
            }
            _ => return None,
        },
        What::FromRelay { harness, message, .. } => match &**message {
            RelayMsg::Event { event: said, .. } if event(said) => {
                (Way { relay: true, between: format!("{harness} ← relay") }, said.to_json())
            }
            _ => return None,
        },
        _ => return None,
    })
}
