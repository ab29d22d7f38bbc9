//! Reads and writes of one key, judged by zones (Gibbons and Korach, 1997).
//!
//! Each value with the put that wrote it and the gets that saw it is a cluster. Its zone lies between
//! the first end and the last beginning in it. A forward zone (the first end comes first) is a time
//! in which the key had this value all along: two of them must not overlap. A backward zone is a
//! time somewhere in which the value must have been there for a moment: it must not lie inside a
//! forward one. That is all, and it takes a sort.

use std::collections::BTreeMap;

use skep_trace::Text;

use super::{Contradiction, Entry, Moment, Op, Result};

/// What zones say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zones {
    /// Some order of the operations explains every answer.
    Hold,
    /// None does.
    Broken(Contradiction),
    /// Something is removed, or a value was written twice: clusters are not what they should be.
    CannotSay,
}

/// A value, who wrote it, who saw it.
#[derive(Default)]
struct Cluster<'a> {
    /// None: it was there before all (only of nothing).
    put: Option<&'a Entry>,
    gets: Vec<&'a Entry>,
}

/// A cluster in time.
struct Zone<'a> {
    low: Moment,
    high: Moment,
    forward: bool,
    /// The entries that make it so.
    shows: Vec<&'a Entry>,
}

/// Judges one key. What is there at the end is a get like others.
pub fn check(entries: &[Entry]) -> Zones {
    let removes = |entry: &Entry| !matches!(entry.op, Op::Put(_) | Op::Get);
    if entries.iter().any(|entry| removes(entry) && entry.result != Result::Failed) {
        return Zones::CannotSay;
    }
    let clusters = match clusters(entries) {
        Ok(clusters) => clusters,
        Err(zones) => return zones,
    };
    for cluster in clusters.values() {
        if let Some(found) = cluster.seen_too_early() {
            return Zones::Broken(found);
        }
    }
    let zones: Vec<Zone<'_>> = clusters.values().filter_map(Cluster::zone).collect();
    overlapping(&zones).or_else(|| enclosed(&zones)).map_or(Zones::Hold, Zones::Broken)
}

type Clusters<'a> = BTreeMap<Option<Text>, Cluster<'a>>;

fn clusters(entries: &[Entry]) -> std::result::Result<Clusters<'_>, Zones> {
    let mut clusters = Clusters::new();
    for entry in entries {
        let Some(value) = entry.put().filter(|_| entry.result != Result::Failed) else { continue };
        let cluster = clusters.entry(Some(value.clone())).or_default();
        if cluster.put.replace(entry).is_some() {
            return Err(Zones::CannotSay);
        }
    }
    for entry in entries {
        let Result::Saw(seen) = &entry.result else { continue };
        let known = seen.is_none() || clusters.contains_key(seen);
        if !known {
            let value = seen.as_deref().unwrap_or_default();
            let refused = entries.iter().find(|one| one.put().is_some_and(|put| **put == *value));
            let why = match refused {
                Some(_) => format!("{value} was seen, and its put was refused"),
                None => format!("{value} was seen, and nobody wrote it"),
            };
            let shown: Vec<&Entry> = refused.into_iter().chain([entry]).collect();
            return Err(Zones::Broken(Contradiction::new(why, &shown, None)));
        }
        clusters.entry(seen.clone()).or_default().gets.push(entry);
    }
    Ok(clusters)
}

impl<'a> Cluster<'a> {
    fn seen_too_early(&self) -> Option<Contradiction> {
        let put = self.put?;
        let early = self.gets.iter().find(|get| get.before(put))?;
        let why = "a get saw what was only written later".to_owned();
        Some(Contradiction::new(why, &[put, early], None))
    }

    /// `None`: an unacknowledged put that nobody saw need not have happened.
    fn zone(&self) -> Option<Zone<'a>> {
        let all = self.put.into_iter().chain(self.gets.iter().copied());
        let all: Vec<&Entry> = all.collect();
        // Moments are moved up by one here: the first of them may be 0, and what was there before all
        // ended before that.
        let ends = all.iter().filter_map(|entry| Some((entry.end? + 1, *entry)));
        let first_end = ends.min_by_key(|(end, _)| *end);
        let last_start =
            all.iter().map(|entry| (entry.start + 1, *entry)).max_by_key(|one| one.0)?;
        let (end, ender) = match (self.put, first_end) {
            (None, _) => (0, None),
            (Some(_), Some((end, ender))) => (end, Some(ender)),
            (Some(_), None) => return None,
        };
        let shows = self.put.into_iter().chain(ender).chain([last_start.1]).collect();
        let (start, forward) = (last_start.0, end < last_start.0);
        Some(Zone { low: end.min(start), high: end.max(start), forward, shows })
    }
}

/// Two values that the key had all along at the same time.
fn overlapping(zones: &[Zone<'_>]) -> Option<Contradiction> {
    let mut forward: Vec<&Zone<'_>> = zones.iter().filter(|zone| zone.forward).collect();
    forward.sort_by_key(|zone| zone.low);
    let pair = forward.windows(2).find(|pair| pair[1].low < pair[0].high)?;
    let why = "each of two values was there before the other one and after it".to_owned();
    Some(Contradiction::new(why, &[&pair[0].shows[..], &pair[1].shows[..]].concat(), None))
}

/// A value that must have been there for a moment while the key had another one all along.
fn enclosed(zones: &[Zone<'_>]) -> Option<Contradiction> {
    let mut forward: Vec<&Zone<'_>> = zones.iter().filter(|zone| zone.forward).collect();
    forward.sort_by_key(|zone| zone.low);
    for inner in zones.iter().filter(|zone| !zone.forward) {
        // Forward zones do not overlap here, so the last one that begins before it decides.
        let at = forward.partition_point(|zone| zone.low < inner.low);
        let Some(outer) = at.checked_sub(1).map(|at| forward[at]) else { continue };
        if inner.high < outer.high {
            let why = "a value was written while another one was there before it and after it";
            let shown = [&outer.shows[..], &inner.shows[..]].concat();
            return Some(Contradiction::new(why.to_owned(), &shown, None));
        }
    }
    None
}
