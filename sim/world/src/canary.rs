//! The canary: what must never decide anything here, on request.

use skep_trace::What;

/// The records in the order of a map that hashes its keys with fresh random ones. Two runs of one
/// seed differ by it, and whoever compares them has to notice.
#[expect(clippy::disallowed_types, reason = "the canary is what the ban keeps out")]
pub(crate) fn in_hash_order(records: impl Iterator<Item = What>) -> Vec<What> {
    let hashed: std::collections::HashMap<usize, What> = records.enumerate().collect();
    hashed.into_values().collect()
}
