//! Operations and answers as a file spells them.

use crate::ops::{Lookup, StoreAnswer, StoreOp};

/// The words that operations begin with.
pub const OPS: [&str; 4] = ["get", "put", "remove", "remove-if"];

/// The word for an answer: `done`, `failed`, `removed`, `kept`, `absent`, `incompatible`, or `found`
/// and the session.
pub fn answer_word(answer: &StoreAnswer) -> String {
    match answer {
        StoreAnswer::Done => "done".to_owned(),
        StoreAnswer::Failed(_) => "failed".to_owned(),
        StoreAnswer::Removed(true) => "removed".to_owned(),
        StoreAnswer::Removed(false) => "kept".to_owned(),
        StoreAnswer::Got(Lookup::Absent) => "absent".to_owned(),
        StoreAnswer::Got(Lookup::Incompatible { .. }) => "incompatible".to_owned(),
        StoreAnswer::Got(Lookup::Found { session }) => format!("found {session}"),
    }
}

/// An operation as a line.
pub(super) fn operation(op: &StoreOp) -> String {
    match op {
        StoreOp::Get { key, .. } => format!("get {:?}", &*key.channel),
        StoreOp::Put { key, session, .. } => {
            format!("put {:?} session={:?}", &*key.channel, &**session)
        }
        StoreOp::Remove { key } => format!("remove {:?}", &*key.channel),
        StoreOp::RemoveIf { key, expected } => {
            format!("remove-if {:?} session={:?}", &*key.channel, &**expected)
        }
        StoreOp::RemoveChannel { channel } => format!("remove {:?}", &**channel),
    }
}
