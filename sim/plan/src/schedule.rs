//! How the hops between two parties differ in length.

/// Some hops take longer than the shortest: by how much is drawn from a seed of the schedule's own,
/// so that names and ids stay those of the run's seed. What one party sends another still comes in
/// the order in which it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Where the draws come from.
    pub seed: u64,
    /// The most that a hop takes longer, in milliseconds.
    pub spread_ms: u64,
}
