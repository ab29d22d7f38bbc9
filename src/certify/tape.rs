//! What happens, written down in its order by everyone who takes part.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use skep_trace::{Header, Process, Record, Sighting, Trace, What};

/// The trace of a certificate while it grows.
#[derive(Debug)]
pub(super) struct Tape {
    started: Instant,
    records: Mutex<Vec<Record>>,
    /// A process lived on after its input had ended.
    outlives: AtomicBool,
    /// Nothing is waited for any more.
    cut: AtomicBool,
}

impl Tape {
    pub(super) fn start() -> Self {
        Self {
            started: now(),
            records: Mutex::new(Vec::new()),
            outlives: AtomicBool::new(false),
            cut: AtomicBool::new(false),
        }
    }

    pub(super) fn note(&self, what: What) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that instants never go back.
        let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        records.push(Record { at_ms, what });
    }

    pub(super) fn saw(&self, agent: &Process, sighting: Sighting) {
        self.note(What::Sighting { agent: agent.clone(), sighting });
    }

    /// A process lived on after its input had ended.
    pub(super) fn outlived(&self) {
        self.outlives.store(true, Ordering::SeqCst);
    }

    /// Some process did.
    pub(super) fn outlives(&self) -> bool {
        self.outlives.load(Ordering::SeqCst)
    }

    /// The user wants to stop: from now on nothing is waited for.
    pub(super) fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst)
    }

    /// The time that was used up; all there is, once the tape was cut.
    pub(super) fn elapsed(&self) -> Duration {
        if self.is_cut() { Duration::MAX } else { self.started.elapsed() }
    }

    /// How much stands on it by now.
    pub(super) fn length(&self) -> usize {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether, from a place on, a process's model was asked with a text in which these words are.
    pub(super) fn model_heard(&self, from: usize, process: &Process, words: &str) -> bool {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.iter().skip(from).any(|record| {
            matches!(&record.what, What::Sighting { agent, sighting: Sighting::ModelAsked { said, .. } }
                if agent == process && said.iter().any(|text| text.contains(words)))
        })
    }

    /// What stands on it by now. Whoever still writes to it writes for nobody.
    pub(super) fn finish(&self, header: Header) -> Trace {
        let records = self.records.lock().map(|mut records| std::mem::take(&mut *records));
        Trace { header, records: records.unwrap_or_default() }
    }
}

/// The one place where a certificate reads the clock.
#[expect(clippy::disallowed_methods, reason = "agents are real processes in real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}
