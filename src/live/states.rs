//! The state directories of a live run: real ones, below the run's own folder.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skep_plan::DiskOp;
use skep_store::damage::damaged;
use skep_store::{RealVolume, Store, StoreAnswer, StoreConfig, StoreOp, poll, real};
use skep_trace::{Entry, EntryKind, Receipt, Snapshot, Text, What};
use skep_world::WorldError;

use crate::tampering::Tampering;

/// On the real disk every future of a store is ready at once.
const MOST_OPERATIONS: usize = 100_000;

/// The directories, and what they looked like when they were last told of.
#[derive(Debug)]
pub(super) struct States {
    root: PathBuf,
    seed: u64,
    dirs: Vec<StateDir>,
    remembered: BTreeMap<(Text, Text), Snapshot>,
}

#[derive(Debug)]
struct StateDir {
    name: Text,
    last: Option<Arc<Snapshot>>,
    /// What it looked like when a step left something in it first.
    first: Option<Arc<Snapshot>>,
    /// What its stores answered then.
    receipts: Vec<Receipt>,
}

impl States {
    /// Directories below `root`, which is there.
    pub(super) fn new(root: PathBuf, seed: u64) -> Self {
        Self { root, seed, dirs: Vec::new(), remembered: BTreeMap::new() }
    }

    /// Where a state directory is.
    pub(super) fn path(&mut self, name: &Text) -> String {
        let place = self.place(name);
        self.dir(place).to_string_lossy().into_owned()
    }

    fn dir(&self, place: usize) -> PathBuf {
        self.root.join(&*self.dirs[place].name)
    }

    fn place(&mut self, name: &Text) -> usize {
        if let Some(place) = self.dirs.iter().position(|dir| dir.name == *name) {
            return place;
        }
        self.dirs.push(StateDir {
            name: name.clone(),
            last: None,
            first: None,
            receipts: Vec::new(),
        });
        self.dirs.len() - 1
    }

    /// Writes a receipt as an earlier life would have.
    pub(super) fn give(
        &self,
        config: StoreConfig,
        op: StoreOp,
        now_ms: u64,
    ) -> Result<(), WorldError> {
        let put = async {
            let (store, _) = Store::open(RealVolume::new(self.seed), config, now_ms).await;
            store.apply(op, now_ms).await
        };
        match poll::run(put, MOST_OPERATIONS) {
            Some(StoreAnswer::Done) => Ok(()),
            other => Err(WorldError::Ours(format!("the given receipt was not stored: {other:?}"))),
        }
    }

    /// Puts a raw file below a state directory, and tells what that looks like then.
    pub(super) fn give_file(
        &mut self,
        state: &Text,
        path: &str,
        bytes: &[u8],
        mode: u32,
    ) -> Result<What, WorldError> {
        let place = self.place(state);
        let dir = self.dir(place);
        let file = dir.join(path);
        let put = || {
            fs::create_dir_all(file.parent().unwrap_or(&dir))?;
            set_mode(&dir, 0o700)?;
            write(&file, bytes)?;
            set_mode(&file, mode)
        };
        put().map_err(ours)?;
        Ok(self.look(place, true).0)
    }

    /// Carries out a scenario's act on a directory, and tells what it looks like now.
    pub(super) fn carry_out(&mut self, state: &Text, op: &DiskOp) -> Result<What, WorldError> {
        let place = self.place(state);
        let dir = self.dir(place);
        let changes = !matches!(op, DiskOp::Fill(_) | DiskOp::Snapshot(_) | DiskOp::Restore(_));
        if changes && !dir.is_dir() {
            let text =
                format!("there is no state directory `{name}` yet", name = self.dirs[place].name);
            return Err(WorldError::Harness(text));
        }
        match op {
            DiskOp::Fill(_) => {
                let why = "a full disk needs a file system of its own; play it in the simulator";
                return Err(WorldError::Unsupported(why.to_owned()));
            }
            DiskOp::ReadOnly(on) => read_only(&dir, *on)?,
            DiskOp::Snapshot(name) => {
                let snapshot = real::snapshot(&dir.to_string_lossy());
                self.remembered.insert((state.clone(), name.clone()), snapshot);
            }
            DiskOp::Restore(name) => {
                let known = self.remembered.get(&(state.clone(), name.clone()));
                let known = known.ok_or_else(|| {
                    WorldError::Act(format!("nothing is remembered under `{name}`"))
                })?;
                fs::create_dir_all(&dir).and_then(|()| empty(&dir)).map_err(ours)?;
                lay_out(known, &dir).map_err(ours)?;
            }
            _ => change_files(&dir, op)?,
        }
        Ok(self.look(place, true).0)
    }

    /// Tampers with a directory. Nobody is told: what the harness finds is as if it had done it.
    pub(super) fn tamper(&mut self, name: &Text, tampering: Tampering) -> Result<(), WorldError> {
        let place = self.place(name);
        let first = self.dirs[place].first.clone();
        super::tamper::tamper(&self.dir(place), first.as_deref(), tampering).map_err(ours)
    }

    /// What every directory looks like, and what the stores in it answer. `configs` says which
    /// stores those are, for a directory; it is only asked where something changed.
    pub(super) fn tell(
        &mut self,
        now_ms: u64,
        configs: &dyn Fn(&str, &str) -> Vec<StoreConfig>,
    ) -> Result<Vec<What>, WorldError> {
        let mut told = Vec::new();
        for place in 0..self.dirs.len() {
            let (disk, changed) = self.look(place, false);
            told.push(disk);
            if changed {
                self.dirs[place].receipts = self.receipts(place, now_ms, configs)?;
            }
            let StateDir { name, receipts, .. } = &self.dirs[place];
            told.push(What::Receipts { state: name.clone(), receipts: receipts.clone() });
        }
        Ok(told)
    }

    /// A directory as it looks now, and whether it changed since it was last told of.
    fn look(&mut self, place: usize, baseline: bool) -> (What, bool) {
        let seen = real::snapshot(&self.dir(place).to_string_lossy());
        let StateDir { name, last, first, .. } = &mut self.dirs[place];
        let same = last.as_ref().filter(|last| ***last == seen).cloned();
        let changed = same.is_none();
        let snapshot = same.unwrap_or_else(|| Arc::new(seen));
        let holds = |entry: &Entry| matches!(entry.kind, EntryKind::File { .. });
        if !baseline && first.is_none() && snapshot.entries.values().any(holds) {
            *first = Some(snapshot.clone());
        }
        // After the scenario's own act the stores are asked again, whatever it looks like.
        *last = (!baseline).then(|| snapshot.clone());
        (What::Disk { state: name.clone(), snapshot, baseline }, changed)
    }

    /// Read on a copy of the directory: a look changes nothing, not even a leftover file.
    fn receipts(
        &self,
        place: usize,
        now_ms: u64,
        configs: &dyn Fn(&str, &str) -> Vec<StoreConfig>,
    ) -> Result<Vec<Receipt>, WorldError> {
        let snapshot = self.dirs[place].last.clone().unwrap_or_default();
        let copy = self.root.join(".copy");
        let made = fs::create_dir(&copy).and_then(|()| lay_out(&snapshot, &copy));
        let mut receipts = Vec::new();
        if made.is_ok() {
            for config in configs(&self.dirs[place].name, &copy.to_string_lossy()) {
                let list = async {
                    let volume = RealVolume::new(self.seed);
                    let (store, _) = Store::open(volume, config, now_ms).await;
                    store.list(now_ms).await
                };
                let listed = poll::run(list, MOST_OPERATIONS).and_then(Result::ok);
                receipts.extend(listed.unwrap_or_default());
            }
        }
        set_mode(&copy, 0o700).and_then(|()| fs::remove_dir_all(&copy)).map_err(ours)?;
        made.map_err(ours)?;
        receipts.sort();
        Ok(receipts)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn ours(error: io::Error) -> WorldError {
    WorldError::Ours(format!("a state directory cannot be used: {error}"))
}

fn read_only(dir: &Path, on: bool) -> Result<(), WorldError> {
    if rustix::process::geteuid().is_root() {
        let why = "nothing is read-only to root; play it in the simulator or as another user";
        return Err(WorldError::Unsupported(why.to_owned()));
    }
    set_mode(dir, if on { 0o500 } else { 0o700 }).map_err(ours)
}

fn change_files(dir: &Path, op: &DiskOp) -> Result<(), WorldError> {
    let files = store_files(dir).map_err(ours)?;
    if files.is_empty() {
        let text = format!("there is no store file in `{}`", dir.display());
        return Err(WorldError::Harness(text));
    }
    files.iter().try_for_each(|file| change_file(file, op)).map_err(ours)
}

/// The files that a store keeps its receipts in: not its lock, not what it left or set aside.
pub(super) fn store_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let is_store = entry.file_name().to_string_lossy().ends_with(".json");
        if is_store && (kind.is_file() || kind.is_symlink()) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

#[expect(clippy::disallowed_methods, reason = "the live world's disk is the real one")]
fn change_file(file: &Path, op: &DiskOp) -> io::Result<()> {
    match op {
        DiskOp::Delete => fs::remove_file(file),
        DiskOp::Chmod { mode } => set_mode(file, *mode),
        DiskOp::Symlink => {
            let target = file.with_file_name(format!(
                "{}.moved",
                file.file_name().unwrap_or_default().to_string_lossy()
            ));
            fs::rename(file, &target)?;
            symlink(&target, file)
        }
        _ => write(file, &damaged(fs::read(file)?, op)),
    }
}

pub(super) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[expect(clippy::disallowed_methods, reason = "the live world's disk is the real one")]
pub(super) fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(file, bytes)
}

/// Takes everything out of a directory.
pub(super) fn empty(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        match path.symlink_metadata()?.is_dir() {
            true => fs::remove_dir_all(path)?,
            false => fs::remove_file(path)?,
        }
    }
    Ok(())
}

/// Puts what was seen into an empty directory. Bits come last: they may forbid what is to be done.
pub(super) fn lay_out(snapshot: &Snapshot, dir: &Path) -> io::Result<()> {
    let at = |path: &str| if path == "." { dir.to_owned() } else { dir.join(path) };
    for (path, entry) in &snapshot.entries {
        let place = at(path);
        match &entry.kind {
            EntryKind::Dir => fs::create_dir_all(place)?,
            EntryKind::File { bytes: Some(bytes), .. } => write(&place, bytes)?,
            EntryKind::File { len, .. } => fs::File::options()
                .write(true)
                .create(true)
                .truncate(true)
                .open(place)?
                .set_len(*len)?,
            EntryKind::Symlink(target) => symlink(&**target, place)?,
            // Nobody keeps receipts in it.
            EntryKind::Special => {}
        }
    }
    for (path, entry) in snapshot.entries.iter().rev() {
        if matches!(entry.kind, EntryKind::Dir | EntryKind::File { .. }) {
            set_mode(&at(path), entry.mode)?;
        }
    }
    Ok(())
}
