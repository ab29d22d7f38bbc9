//! The state directories of a simulated run, all on one disk.

use std::sync::Arc;

use skep_plan::DiskOp;
use skep_store::sim::{Choose, OutsideError};
use skep_store::{SimDisk, Store, StoreAnswer, StoreConfig, StoreOp, poll};
use skep_trace::{Receipt, Snapshot, Text, What};

use crate::world::WorldError;

/// More volume operations than any store operation needs.
pub(crate) const MOST_OPERATIONS: usize = 100_000;

/// The directories, and what they looked like when they were last told of.
pub(crate) struct States {
    pub(crate) disk: SimDisk,
    dirs: Vec<StateDir>,
}

struct StateDir {
    name: Text,
    path: Text,
    last: Option<Arc<Snapshot>>,
    /// What its stores answered then.
    receipts: Vec<Receipt>,
}

/// The first way is the least that can have happened.
struct Nothing;

impl Choose for Nothing {
    fn choose(&mut self, _: usize) -> usize {
        0
    }
}

fn ours(what: impl std::fmt::Display) -> WorldError {
    WorldError::Ours(what.to_string())
}

fn refused(error: &OutsideError) -> WorldError {
    match error {
        OutsideError::NotRemembered(_) => WorldError::Act(error.to_string()),
        // Something to change is not there, and only a harness could have put it there.
        OutsideError::NoStoreFile(_) | OutsideError::Disk { .. } => {
            WorldError::Harness(error.to_string())
        }
    }
}

impl States {
    pub(crate) fn new() -> Self {
        Self { disk: SimDisk::new(), dirs: Vec::new() }
    }

    /// Cuts the power. The worst is supposed: nothing that was not synced is there afterwards.
    pub(crate) fn power_loss(&self) {
        self.disk.power_loss_by(&mut Nothing);
    }

    /// Where a state directory is.
    pub(crate) fn path(&mut self, name: &Text) -> Text {
        let place = self.place(name);
        self.dirs[place].path.clone()
    }

    fn place(&mut self, name: &Text) -> usize {
        if let Some(place) = self.dirs.iter().position(|dir| dir.name == *name) {
            return place;
        }
        let path = format!("/state/{name}").into();
        self.dirs.push(StateDir { name: name.clone(), path, last: None, receipts: Vec::new() });
        self.dirs.len() - 1
    }

    /// Writes a receipt as an earlier life would have.
    pub(crate) fn give(
        &self,
        config: StoreConfig,
        op: StoreOp,
        now_ms: u64,
    ) -> Result<(), WorldError> {
        let volume = self.disk.process();
        let put = async {
            let (store, _) = Store::open(volume, config, now_ms).await;
            store.apply(op, now_ms).await
        };
        match poll::run(put, MOST_OPERATIONS) {
            Some(StoreAnswer::Done) => Ok(()),
            other => Err(ours(format!("the given receipt was not stored: {other:?}"))),
        }
    }

    /// Puts a raw file below a state directory, and tells what that looks like then.
    pub(crate) fn give_file(
        &mut self,
        state: &Text,
        path: &str,
        bytes: &[u8],
        mode: u32,
    ) -> Result<What, WorldError> {
        let dir = self.path(state);
        self.disk.make_dir("/state", 0o700).map_err(ours)?;
        self.disk.make_dir(&dir, 0o700).map_err(ours)?;
        self.disk.put_file(&format!("{dir}/{path}"), bytes, mode).map_err(ours)?;
        let place = self.place(state);
        Ok(self.look(place, true).0)
    }

    /// Carries out a scenario's act on a directory, and tells what it looks like now.
    pub(crate) fn carry_out(&mut self, state: &Text, op: &DiskOp) -> Result<What, WorldError> {
        let place = self.place(state);
        let path = self.dirs[place].path.clone();
        self.disk.carry_out(&path, op).map_err(|error| refused(&error))?;
        Ok(self.look(place, true).0)
    }

    /// What every directory looks like, and what the stores in it answer. `configs` says which
    /// stores those are; it is only asked where something changed.
    pub(crate) fn tell(
        &mut self,
        now_ms: u64,
        configs: &dyn Fn(&str, &str) -> Vec<StoreConfig>,
    ) -> Vec<What> {
        let mut told = Vec::new();
        for place in 0..self.dirs.len() {
            let (disk, changed) = self.look(place, false);
            told.push(disk);
            if changed {
                let StateDir { name, path, .. } = &self.dirs[place];
                let stores = configs(name, path).into_iter();
                let mut receipts: Vec<_> =
                    stores.flat_map(|config| self.receipts(config, now_ms)).collect();
                receipts.sort();
                self.dirs[place].receipts = receipts;
            }
            let StateDir { name, receipts, .. } = &self.dirs[place];
            told.push(What::Receipts { state: name.clone(), receipts: receipts.clone() });
        }
        told
    }

    /// A directory as it looks now, and whether it changed since it was last told of.
    fn look(&mut self, place: usize, baseline: bool) -> (What, bool) {
        let seen = self.disk.snapshot(&self.dirs[place].path);
        let StateDir { name, last, .. } = &mut self.dirs[place];
        let same = last.as_ref().filter(|last| ***last == seen).cloned();
        let changed = same.is_none();
        let snapshot = same.unwrap_or_else(|| Arc::new(seen));
        // After the scenario's own act the stores are asked again, whatever it looks like.
        *last = (!baseline).then(|| snapshot.clone());
        (What::Disk { state: name.clone(), snapshot, baseline }, changed)
    }

    /// Read on a copy of the disk: a look changes nothing, not even a leftover file.
    fn receipts(&self, config: StoreConfig, now_ms: u64) -> Vec<Receipt> {
        let copy = self.disk.fork();
        let list = async {
            let (store, _) = Store::open(copy.process(), config, now_ms).await;
            store.list(now_ms).await
        };
        poll::run(list, MOST_OPERATIONS).and_then(Result::ok).unwrap_or_default()
    }
}
