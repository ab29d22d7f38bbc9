//! The other promise: of all writes of a key the one with the latest clock wins, whenever it came.
//!
//! A store that merges by time of use may let a write vanish that was acknowledged last in real
//! time, if its clock was behind. That is no lost update where it is what the store promises; such
//! writes are listed as shadowed.

use skep_trace::Text;

use super::{Contradiction, Entry};

/// Why the last value is not the one with the latest clock, if it is not. Ties may go either way.
pub fn check(entries: &[Entry], last: &Option<Text>) -> Option<Contradiction> {
    let latest = entries.iter().filter(|entry| entry.wrote()).max_by_key(|entry| entry.clock_ms)?;
    let may_win = |entry: &&Entry| entry.may_write() && entry.clock_ms >= latest.clock_ms;
    let writes_last = |entry: &&Entry| entry.put() == last.as_ref();
    if entries.iter().filter(may_win).any(|entry| writes_last(&entry)) {
        return None;
    }
    let writer = entries.iter().find(|entry| last.is_some() && entry.put() == last.as_ref());
    let shown: Vec<&Entry> = writer.into_iter().chain([latest]).collect();
    let why = "an acknowledged write has a later clock than what is there".to_owned();
    Some(Contradiction::new(why, &shown, Some(last)))
}

/// Acknowledged writes that began after the winner had ended and lost to its clock.
pub fn shadowed<'a>(entries: &'a [Entry], last: &Option<Text>) -> Vec<&'a Entry> {
    let Some(winner) =
        entries.iter().find(|entry| entry.put().is_some() && entry.put() == last.as_ref())
    else {
        return Vec::new();
    };
    entries.iter().filter(|entry| entry.wrote() && winner.before(entry)).collect()
}
