//! The simulated disk as a ground.

use skep_trace::Snapshot;

use super::case::scope;
use super::host::{Edit, Failure, STATE, Scope};
use super::local::{Ground, Subject};
use crate::ops::{StoreAnswer, StoreOp};
use crate::path::join;
use crate::sim::{Choose, OutsideError, SimDisk, SimVolume, Traffic};
use crate::volume::Op;

const ROOT: &str = "/ground";

/// The user that stores run as.
const USER: u32 = 1000;

/// Another user.
const STRANGER: u32 = 2000;

/// The umask until an edit changes it.
const UMASK: u32 = 0o022;

/// A simulated disk under the suite.
pub struct SimGround {
    disk: SimDisk,
    umask: u32,
}

/// A path, or a text with paths in it, as a person reads it: below the ground, and without the key
/// of the usual agent.
pub(crate) fn nameless(text: &str) -> String {
    text.replace(&format!("{ROOT}/"), "").replace(&scope().pubkey.to_string(), "@agent")
}

/// The path that a person means.
pub(crate) fn named(path: &str) -> String {
    path.replace("@agent", &scope().pubkey.to_string())
}

impl Default for SimGround {
    fn default() -> Self {
        let mut ground = Self { disk: SimDisk::new(), umask: UMASK };
        ground.fresh();
        ground
    }
}

impl Ground for SimGround {
    type Volume = SimVolume;

    fn fresh(&mut self) {
        self.disk = SimDisk::new();
        self.umask = UMASK;
        self.disk.make_dir(ROOT, 0o755).expect("a new disk takes a directory");
    }

    fn root(&self) -> String {
        ROOT.to_owned()
    }

    fn process(&mut self) -> SimVolume {
        self.disk.process_as(USER, self.umask)
    }

    fn stepwise(&self, volume: &SimVolume, on: bool) {
        self.disk.stepwise(volume.pid(), on);
    }

    fn pending(&self, volume: &SimVolume) -> Option<Op> {
        self.disk.pending(volume.pid())
    }

    fn holds_lock(&self, volume: &SimVolume) -> bool {
        self.disk.holds_lock(volume.pid())
    }

    fn kill(&self, volume: &SimVolume) {
        self.disk.kill(volume.pid());
    }

    fn look(&self) -> Snapshot {
        self.disk.snapshot(ROOT)
    }

    fn edit(&mut self, edit: Edit<'_>) -> Result<(), Failure> {
        self.change(&edit).map_err(|error| Failure::NotApplicable(error.to_string()))
    }

    fn traffic(&self) -> Traffic {
        self.disk.traffic()
    }

    fn fork(&self) -> Option<Self> {
        Some(Self { disk: self.disk.fork(), umask: self.umask })
    }

    fn power_loss(&mut self, choice: &mut dyn Choose) {
        self.disk.power_loss_by(choice);
    }

    fn make_durable(&self) {
        self.disk.make_durable();
    }

    fn schedules(&self) -> Option<u64> {
        None
    }

    fn race<S: Subject>(
        &self,
        _: &S,
        _: &Scope,
        _: Vec<Vec<StoreOp>>,
    ) -> Option<Vec<Vec<StoreAnswer>>> {
        None
    }
}

impl SimGround {
    fn change(&mut self, edit: &Edit<'_>) -> Result<(), OutsideError> {
        let disk = &self.disk;
        let at = |path: &str| join(ROOT, path);
        match *edit {
            Edit::File(path, bytes, mode) => disk.put_file(&at(path), bytes, mode),
            Edit::Dir(path, mode) => disk.make_dir(&at(path), mode),
            Edit::Link(path, target) => disk.put_link(&at(path), &at(target)),
            Edit::Fifo(path) => disk.put_fifo(&at(path), 0o600),
            Edit::Chmod(path, mode) => disk.chmod(&at(path), mode),
            Edit::GiveAway(path) => disk.chown(&at(path), STRANGER),
            Edit::Remove(path) => disk.remove(&at(path)),
            Edit::Full(full) => disk.fill(&at(STATE), full),
            Edit::ReadOnly(read_only) => disk.read_only(&at(STATE), read_only),
            Edit::Umask(umask) => {
                self.umask = umask;
                Ok(())
            }
        }
    }
}
