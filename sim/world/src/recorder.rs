//! The trace in the making.

use skep_trace::{Header, Record, Trace, What};

/// Keeps what happened, in order. Bounded: past [`Recorder::MOST`] records a run is out of hand,
/// and the world says so instead of filling the memory.
#[derive(Debug, Default)]
pub struct Recorder {
    header: Header,
    records: Vec<Record>,
    now_ms: u64,
}

impl Recorder {
    /// More than any honest scenario makes; a flood of updates is cut here.
    pub const MOST: usize = 1_000_000;

    /// An empty trace with this header.
    pub fn new(header: Header) -> Self {
        Self { header, records: Vec::with_capacity(192), now_ms: 0 }
    }

    /// From now on records carry this instant.
    pub fn set_now(&mut self, now_ms: u64) {
        debug_assert!(now_ms >= self.now_ms, "time runs forwards");
        self.now_ms = now_ms;
    }

    /// Milliseconds since the run began.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Notes that something happened now.
    pub fn note(&mut self, what: What) {
        if self.records.len() < Self::MOST {
            self.records.push(Record { at_ms: self.now_ms, what });
        }
    }

    /// The bound was reached.
    pub fn full(&self) -> bool {
        self.records.len() >= Self::MOST
    }

    /// Everything so far.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The finished trace.
    pub fn into_trace(self) -> Trace {
        Trace { header: self.header, records: self.records }
    }
}
