//! Whether the value that is there at the end can have been written last.
//!
//! It can if a write of it, acknowledged or not, is not followed by an acknowledged write that began
//! after it had ended. A remove is a write of nothing.

use skep_trace::Text;

use super::{Contradiction, Entry, Op};

/// Why the last value cannot be the last, if it cannot.
pub fn check(entries: &[Entry], last: &Option<Text>) -> Option<Contradiction> {
    match last {
        Some(value) => of_value(entries, value, last),
        None => of_nothing(entries, last),
    }
}

fn of_value(entries: &[Entry], value: &Text, last: &Option<Text>) -> Option<Contradiction> {
    let mut writers = entries.iter().filter(|entry| entry.put() == Some(value));
    let Some(writer) = writers.next() else {
        let any: Vec<&Entry> = entries.iter().take(1).collect();
        return Some(Contradiction::new(format!("nobody wrote {value}"), &any, Some(last)));
    };
    if writers.next().is_some() {
        // Two wrote the same: which of them was last, only a search can say.
        return None;
    }
    if !writer.may_write() {
        let why = "a put that was refused is there all the same".to_owned();
        return Some(Contradiction::new(why, &[writer], Some(last)));
    }
    let later = overwrites(entries, writer)?;
    let why = format!("{value} is there, but a later operation was acknowledged");
    Some(Contradiction::new(why, &[writer, later], Some(last)))
}

/// The latest acknowledged write that began after this one had ended.
fn overwrites<'a>(entries: &'a [Entry], writer: &Entry) -> Option<&'a Entry> {
    let later = entries.iter().filter(|entry| entry.wrote() && writer.before(entry));
    later.max_by_key(|entry| entry.start)
}

fn of_nothing(entries: &[Entry], last: &Option<Text>) -> Option<Contradiction> {
    let first = entries.iter().filter(|entry| entry.wrote()).min_by_key(|entry| entry.start)?;
    let removes = || entries.iter().filter(|entry| entry.may_write() && entry.put().is_none());
    if removes().any(|remove| overwrites(entries, remove).is_none()) {
        return None;
    }
    let latest = entries.iter().filter(|entry| entry.wrote()).max_by_key(|entry| entry.start);
    let latest = latest.unwrap_or(first);
    let mut shown = vec![latest];
    shown.extend(removes().filter(|entry| matches!(entry.op, Op::Remove)).max_by_key(|r| r.start));
    let why = "nothing is there, but a put was acknowledged after the last remove".to_owned();
    Some(Contradiction::new(why, &shown, Some(last)))
}
