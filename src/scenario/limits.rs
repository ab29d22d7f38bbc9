//! How large a scenario file may be. All of it is checked before the text reaches the KDL parser,
//! which takes a file at its word: it recurses once a level and keeps every byte several times.

/// Length of a file. The largest scenario that anyone wants to read is far below it.
pub const MAX_BYTES: usize = 256 * 1024;

/// How deep blocks and block comments may nest. Scenarios need seven levels.
pub const MAX_DEPTH: usize = 32;

/// How many lines (KDL nodes) a file may hold, matrices written out.
pub const MAX_LINES: usize = 10_000;

/// How many files one file may use. A cast that is spread wider is no cast any more.
pub const MAX_USES: usize = 16;

/// How many tests one matrix may make. Beyond it nobody can say which cell matters.
pub const MAX_CELLS: usize = 256;
