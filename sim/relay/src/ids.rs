//! Numbers that a shell gives to what it holds.

/// One WebSocket connection; the number is unique in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// One HTTP request that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HttpId(pub u32);

/// The program on the other end, over all its connections and all its lives.
///
/// Overlapping harnesses share one identity, so the relay cannot tell them apart by what they
/// say; whoever opens a connection knows, and says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Party(pub u32);
