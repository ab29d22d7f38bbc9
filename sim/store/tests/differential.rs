//! The simulated disk against the real one: the same operations, the same answers.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use skep_store::poll::run;
use skep_store::{DiskError, Errno, Kind, Open, RealVolume, SimDisk, Volume, real};
use skep_trace::Snapshot;

/// One operation, on names in one directory.
#[derive(Clone, Debug)]
enum Step {
    Open(usize, Open, &'static str),
    Close(usize),
    Read(usize),
    Write(usize, u8),
    Sync(usize),
    Stat(usize),
    Lock(usize),
    Unlock(usize),
    /// Opens a file, renames another one over it, and reads through the handle.
    Replace(usize, &'static str, &'static str),
    Lstat(&'static str),
    Chmod(&'static str, u32),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    Unlink(&'static str),
    Mkdir(&'static str, Option<u32>),
    SyncDir(&'static str),
    List(&'static str),
}

/// What an operation answers, without what cannot be equal (paths, numbers of inodes).
#[derive(Debug, PartialEq)]
enum Answer {
    Done,
    Bytes(Vec<u8>),
    Meta(Kind, u32, u64, bool),
    Locked(bool),
    Names(Vec<String>),
    Failed(Errno),
    NoHandle,
}

/// Handles that an operation may use.
const SLOTS: usize = 3;

const NAMES: [&str; 7] = ["a", "b", "dir", "dir/a", "link", "dangling", "fifo"];

fn names() -> impl Strategy<Value = &'static str> {
    select(NAMES.as_slice())
}

/// All but the FIFO: it must keep its name, or a reader would open it under another one and the
/// next writer would not be refused.
fn movable() -> impl Strategy<Value = &'static str> {
    select(NAMES[..NAMES.len() - 1].to_vec())
}

fn opens() -> impl Strategy<Value = Open> {
    let plain = [Open::READ, Open::APPEND, Open::CREATE_NEW, Open::OVERWRITE];
    let modes = [None, Some(0o600), Some(0o640)];
    (select(plain.to_vec()), select(modes.to_vec()), any::<bool>())
        .prop_map(|(open, mode, follow)| Open { mode, follow, ..open })
}

fn steps() -> impl Strategy<Value = Step> {
    let slot = || 0..SLOTS;
    let modes = || select(vec![0o700, 0o755, 0o750]);
    prop_oneof![
        4 => (slot(), opens(), names())
            .prop_filter("the simulated FIFO never has a reader", |(_, how, name)| {
                !(how.read && *name == "fifo")
            })
            .prop_map(|(slot, how, name)| Step::Open(slot, how, name)),
        1 => slot().prop_map(Step::Close),
        2 => slot().prop_map(Step::Read),
        3 => (slot(), any::<u8>()).prop_map(|(slot, byte)| Step::Write(slot, byte)),
        1 => slot().prop_map(Step::Sync),
        1 => slot().prop_map(Step::Stat),
        3 => slot().prop_map(Step::Lock),
        1 => slot().prop_map(Step::Unlock),
        2 => (slot(), select(vec!["a", "b", "dir/a"]), select(vec!["a", "b", "dir/a"]))
            .prop_map(|(slot, from, to)| Step::Replace(slot, from, to)),
        2 => names().prop_map(Step::Lstat),
        1 => (names(), modes()).prop_map(|(name, mode)| Step::Chmod(name, mode)),
        3 => (movable(), movable()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => (movable(), movable()).prop_map(|(from, to)| Step::Link(from, to)),
        2 => names().prop_map(Step::Unlink),
        2 => (names(), proptest::option::of(modes())).prop_map(|(name, mode)| Step::Mkdir(name, mode)),
        1 => names().prop_map(Step::SyncDir),
        1 => names().prop_map(Step::List),
    ]
}

/// A volume with a few handles open on it.
struct Bench<V: Volume> {
    volume: V,
    dir: String,
    slots: [Option<V::File>; SLOTS],
}

impl<V: Volume> Bench<V> {
    fn new(volume: V, dir: &str) -> Self {
        Self { volume, dir: dir.to_owned(), slots: [const { None }; SLOTS] }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.dir)
    }

    async fn step(&mut self, step: &Step) -> Answer {
        let answer = self.names(step).await;
        answer.unwrap_or_else(|failed| Answer::Failed(failed.errno))
    }

    async fn names(&mut self, step: &Step) -> Result<Answer, DiskError> {
        match *step {
            Step::Open(slot, how, name) => {
                // The one thing that a volume has to close itself before it opens.
                self.slots[slot] = None;
                self.slots[slot] = Some(self.volume.open(&self.path(name), how).await?);
            }
            Step::Close(slot) => self.slots[slot] = None,
            Step::Unlock(slot) => {
                let Some(file) = self.slots[slot].take() else { return Ok(Answer::NoHandle) };
                self.volume.unlock(file).await;
            }
            Step::Replace(slot, from, to) => {
                self.slots[slot] = None;
                let file = self.volume.open(&self.path(to), Open::READ).await?;
                self.volume.rename(&self.path(from), &self.path(to)).await?;
                let bytes = self.volume.read(&file, 64).await?;
                self.slots[slot] = Some(file);
                return Ok(Answer::Bytes(bytes));
            }
            Step::Lstat(name) => {
                let meta = self.volume.lstat(&self.path(name)).await?;
                let mode = if meta.kind == Kind::Symlink { 0 } else { meta.mode };
                return Ok(Answer::Meta(meta.kind, mode, meta.len, true));
            }
            Step::Chmod(name, mode) => self.volume.chmod(&self.path(name), mode).await?,
            Step::Rename(from, to) => {
                self.volume.rename(&self.path(from), &self.path(to)).await?;
            }
            Step::Link(from, to) => self.volume.link(&self.path(from), &self.path(to)).await?,
            Step::Unlink(name) => self.volume.unlink(&self.path(name)).await?,
            Step::Mkdir(name, mode) => self.volume.mkdir(&self.path(name), mode).await?,
            Step::SyncDir(name) => self.volume.sync_dir(&self.path(name)).await?,
            Step::List(name) => {
                let names = self.volume.list(&self.path(name)).await?;
                return Ok(Answer::Names(names.iter().map(ToString::to_string).collect()));
            }
            _ => return self.handles(step).await,
        }
        Ok(Answer::Done)
    }

    async fn handles(&mut self, step: &Step) -> Result<Answer, DiskError> {
        let (Step::Read(slot)
        | Step::Write(slot, _)
        | Step::Sync(slot)
        | Step::Stat(slot)
        | Step::Lock(slot)) = *step
        else {
            unreachable!("the others are operations on names");
        };
        let Some(file) = &self.slots[slot] else { return Ok(Answer::NoHandle) };
        Ok(match *step {
            Step::Read(_) => Answer::Bytes(self.volume.read(file, 64).await?),
            Step::Write(_, byte) => {
                self.volume.write(file, &[byte; 5]).await?;
                Answer::Done
            }
            Step::Sync(_) => {
                let fifo = self.volume.stat(file).await?.kind == Kind::Special;
                if !fifo {
                    self.volume.sync(file).await?;
                }
                Answer::Done
            }
            Step::Stat(_) => {
                let meta = self.volume.stat(file).await?;
                Answer::Meta(meta.kind, meta.mode, meta.len, false)
            }
            _ => Answer::Locked(self.volume.try_lock(file).await?),
        })
    }
}

fn simulated() -> (SimDisk, Bench<skep_store::SimVolume>) {
    let disk = SimDisk::new();
    let volume = disk.process_as(RealVolume::default().user(), 0o022);
    run(volume.mkdir("/state", Some(0o700)), 9).unwrap().unwrap();
    disk.put_link("/state/link", "a").unwrap();
    disk.put_link("/state/dangling", "nowhere").unwrap();
    disk.put_fifo("/state/fifo", 0o600).unwrap();
    let owner = volume.user();
    for name in ["link", "dangling", "fifo"] {
        disk.chown(&format!("/state/{name}"), owner).unwrap();
    }
    (disk, Bench::new(volume, "/state"))
}

fn on_disk() -> (tempfile::TempDir, Bench<RealVolume>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    rustix::fs::symlink("a", dir.path().join("link")).unwrap();
    rustix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("fifo"), fifo, mode, 0).unwrap();
    (dir, Bench::new(RealVolume::default(), &path))
}

/// Links have no bits of their own; the directory's own bits are tempfile's business.
fn comparable(mut snapshot: Snapshot) -> Snapshot {
    snapshot.entries.remove(".");
    for entry in snapshot.entries.values_mut() {
        if matches!(entry.kind, skep_trace::EntryKind::Symlink(_)) {
            entry.mode = 0;
        }
    }
    snapshot
}

/// Always the same cases, so that a red run is red again; a bound that keeps the test short.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(5342),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_same_operations_have_the_same_answers_on_both_disks(
        steps in prop::collection::vec(steps(), 1..40),
    ) {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
        let (disk, mut simulated) = simulated();
        let (dir, mut real) = on_disk();
        for (at, step) in steps.iter().enumerate() {
            let expected = run(real.step(step), 9).unwrap();
            let answer = run(simulated.step(step), 9).unwrap();
            prop_assert_eq!(answer, expected, "step {}: {:?}", at, step);
        }
        let seen = comparable(real::snapshot(dir.path().to_str().unwrap()));
        prop_assert_eq!(comparable(disk.snapshot("/state")), seen);
    }
}
