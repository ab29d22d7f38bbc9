//! The strongest question that costs nothing: an acknowledged put of a key that nobody ever tried to
//! remove is still there, in this value or a later one.
//!
//! Where each process writes keys of its own, a key that is gone is a whole file that was written
//! from an old reading of it.

use skep_trace::Text;

use super::{Contradiction, Entry, Op};

/// What is lost of one key, if anything is.
pub fn check(entries: &[Entry], last: &Option<Text>) -> Option<Contradiction> {
    let removed = entries.iter().any(|entry| entry.may_write() && !matches!(entry.op, Op::Put(_)));
    if last.is_some() || removed {
        return None;
    }
    let lost = entries.iter().rfind(|entry| entry.wrote())?;
    let why = "this was acknowledged, nobody tried to remove it, and nothing is there".to_owned();
    Some(Contradiction::new(why, &[lost], Some(last)))
}
