//! State directories: what the store last answered, what last stood on the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::{Receipt, Snapshot, Text};

/// One state directory.
#[derive(Debug, Default)]
pub(crate) struct StateFacts {
    /// The store's last answer, and the record of it.
    pub(crate) receipts: Option<(usize, Vec<Receipt>)>,
    /// The last look at the disk, and the record of it.
    pub(crate) disk: Option<(usize, Arc<Snapshot>)>,
    /// What the disk looked like when the step began, or after the scenario's own last change.
    pub(crate) reference: Option<Arc<Snapshot>>,
    /// What the scenario itself put there last.
    pub(crate) baseline: Option<Arc<Snapshot>>,
}

/// All state directories seen so far, by name.
#[derive(Debug, Default)]
pub(crate) struct States {
    by_name: BTreeMap<Text, StateFacts>,
}

impl States {
    /// A directory's facts, once anything was seen of it.
    pub(crate) fn get(&self, name: &str) -> Option<&StateFacts> {
        self.by_name.get(name)
    }

    /// The names of the directories that were looked at.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Text> {
        self.by_name.keys()
    }

    /// A step begins: what stands there now is what it finds.
    pub(crate) fn begin_step(&mut self) {
        for state in self.by_name.values_mut() {
            state.reference = state.disk.as_ref().map(|(_, snapshot)| snapshot.clone());
        }
    }

    pub(crate) fn look(&mut self, name: &Text, record: usize, snapshot: &Arc<Snapshot>, own: bool) {
        let state = self.by_name.entry(name.clone()).or_default();
        state.disk = Some((record, snapshot.clone()));
        if own {
            state.reference = Some(snapshot.clone());
            state.baseline = Some(snapshot.clone());
        }
    }

    pub(crate) fn answer(&mut self, name: &Text, record: usize, receipts: &[Receipt]) {
        let state = self.by_name.entry(name.clone()).or_default();
        state.receipts = Some((record, receipts.to_vec()));
    }
}
