//! A real directory as a ground.
//!
//! Where user 0 runs the suite, the stores run as another user, or no permission would ever stand
//! in their way; what is done from outside is done as user 0.

use std::cell::Cell;
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Uid, chmod, chownat, mkdir, mknodat, symlink};
use rustix::io::Errno as Code;
use rustix::process::{geteuid, umask};
use rustix::thread::set_thread_res_uid;
use skep_trace::Snapshot;

use super::gate::GatedVolume;
use super::host::{Edit, Failure, STATE, Scope};
use super::local::{Ground, Handle, Subject};
use crate::ops::{StoreAnswer, StoreOp};
use crate::path::join;
use crate::poll::run;
use crate::real::{RealVolume, outside};
use crate::sim::{Choose, Traffic};
use crate::volume::Op;

/// The user that nobody is: who the stores run as where the suite runs as user 0.
const NOBODY: u32 = 65_534;

/// Another user.
const STRANGER: u32 = 64_321;

/// The umask until an edit changes it.
const UMASK: u32 = 0o022;

/// Schedules of one question: each of them syncs a real disk a dozen times.
const SCHEDULES: u64 = 24;

/// A real directory under the suite. It must be empty and the suite's own; the umask of the whole
/// process is changed, so nothing else should make files in it at the same time.
pub struct RealGround {
    root: String,
    traffic: Rc<Cell<Traffic>>,
    /// The suite runs as user 0, and its stores do not.
    steps_down: bool,
}

impl RealGround {
    /// The ground in this directory.
    ///
    /// # Panics
    /// When the directory cannot be given to the user that the stores run as.
    pub fn new(root: &str) -> Self {
        let steps_down = geteuid().is_root();
        let ground = Self { root: root.to_owned(), traffic: Rc::default(), steps_down };
        if steps_down {
            give(root, NOBODY).expect("user 0 may give its own directory away");
        }
        ground.become_user(NOBODY);
        ground
    }

    fn become_user(&self, user: u32) {
        if self.steps_down {
            set_thread_res_uid(None, Uid::from_raw(user), None)
                .expect("a thread of user 0 may change its user and back");
        }
    }

    /// Does something as whoever runs the suite.
    fn outside_the_store<T>(&self, act: impl FnOnce() -> T) -> T {
        self.become_user(0);
        let done = act();
        self.become_user(NOBODY);
        done
    }

    fn change(&self, edit: &Edit<'_>) -> std::io::Result<()> {
        if let Edit::Umask(bits) = *edit {
            umask(Mode::from_raw_mode(bits));
            return Ok(());
        }
        edit_real(&self.root, edit, self.steps_down.then_some(NOBODY))
    }

    fn clear(&self) {
        umask(Mode::from_raw_mode(UMASK));
        for name in crate::real::names(&self.root).unwrap_or_default() {
            outside::remove(&join(&self.root, &name)).expect("the ground is the suite's own");
        }
    }
}

impl Drop for RealGround {
    fn drop(&mut self) {
        self.become_user(0);
        self.clear();
    }
}

impl Ground for RealGround {
    type Volume = GatedVolume;

    fn fresh(&mut self) {
        self.outside_the_store(|| self.clear());
    }

    fn root(&self) -> String {
        self.root.clone()
    }

    fn process(&mut self) -> GatedVolume {
        GatedVolume::new(&self.traffic)
    }

    fn stepwise(&self, volume: &GatedVolume, on: bool) {
        volume.gate.borrow_mut().stepwise = on;
    }

    fn pending(&self, volume: &GatedVolume) -> Option<Op> {
        volume.gate.borrow().pending
    }

    fn holds_lock(&self, volume: &GatedVolume) -> bool {
        volume.gate.borrow().locked
    }

    fn kill(&self, volume: &GatedVolume) {
        volume.gate.borrow_mut().dead = true;
    }

    fn look(&self) -> Snapshot {
        self.outside_the_store(|| {
            let mut snapshot = crate::real::snapshot(&self.root);
            // Made by whoever runs the suite, and no part of any check.
            snapshot.entries.remove(".");
            snapshot
        })
    }

    fn edit(&mut self, edit: Edit<'_>) -> Result<(), Failure> {
        let why = match edit {
            Edit::Full(_) => "nobody fills a real disk for a test",
            Edit::ReadOnly(_) => "nobody mounts a file system for a test",
            Edit::GiveAway(_) if !self.steps_down => "only user 0 can give files away",
            _ => {
                let done = self.outside_the_store(|| self.change(&edit));
                return done.map_err(|error| Failure::NotApplicable(error.to_string()));
            }
        };
        Err(Failure::NotApplicable(why.to_owned()))
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn fork(&self) -> Option<Self> {
        None
    }

    fn power_loss(&mut self, _: &mut dyn Choose) {}

    fn make_durable(&self) {}

    fn schedules(&self) -> Option<u64> {
        Some(SCHEDULES)
    }

    fn race<S: Subject>(
        &self,
        subject: &S,
        scope: &Scope,
        work: Vec<Vec<StoreOp>>,
    ) -> Option<Vec<Vec<StoreAnswer>>> {
        let dir = join(&self.root, STATE);
        // A new thread has the user of the one that starts it.
        Some(std::thread::scope(|threads| {
            let racers: Vec<_> = work
                .into_iter()
                .map(|ops| threads.spawn(|| race_one(subject, &dir, scope, ops)))
                .collect();
            let answers = racers.into_iter().map(std::thread::ScopedJoinHandle::join);
            answers.map(|answers| answers.expect("a racer does not panic")).collect()
        }))
    }
}

/// Carries out what an edit changes in a real directory. What is made belongs to `owner`; `None` is
/// whoever makes it. What a directory alone cannot bring about (a umask, a full disk) is left out.
///
/// # Errors
/// When the system refuses.
pub fn edit_real(root: &str, edit: &Edit<'_>, owner: Option<u32>) -> std::io::Result<()> {
    let at = |path: &str| join(root, path);
    let mode = |bits: u32| Mode::from_raw_mode(bits);
    let made = |path: &str| owner.map_or(Ok(()), |owner| give(&at(path), owner));
    match *edit {
        Edit::File(path, bytes, bits) => {
            outside::remove(&at(path))?;
            outside::write(&at(path), bytes)?;
            chmod(at(path), mode(bits))?;
            made(path)?;
        }
        Edit::Dir(path, bits) => {
            mkdir(at(path), mode(0o700))?;
            chmod(at(path), mode(bits))?;
            made(path)?;
        }
        Edit::Link(path, target) => {
            outside::remove(&at(path))?;
            symlink(at(target), at(path))?;
            made(path)?;
        }
        Edit::Fifo(path) => {
            outside::remove(&at(path))?;
            mknodat(CWD, at(path), FileType::Fifo, mode(0o600), 0)?;
            made(path)?;
        }
        Edit::Chmod(path, bits) => chmod(at(path), mode(bits))?,
        Edit::GiveAway(path) => give(&at(path), STRANGER)?,
        Edit::Remove(path) => outside::remove(&at(path))?,
        Edit::Full(_) | Edit::ReadOnly(_) | Edit::Umask(_) => {}
    }
    Ok(())
}

fn give(path: &str, user: u32) -> Result<(), Code> {
    let (user, group) = (Some(Uid::from_raw(user)), Some(Gid::from_raw(user)));
    chownat(CWD, path, user, group, AtFlags::SYMLINK_NOFOLLOW)
}

/// One thread of a race. The real volume's futures are ready at once.
fn race_one<S: Subject>(
    subject: &S,
    dir: &str,
    scope: &Scope,
    ops: Vec<StoreOp>,
) -> Vec<StoreAnswer> {
    let ready = "the real volume's futures are ready at once";
    let opening = subject.open(RealVolume::new(0), dir, scope, super::case::NOW);
    let (store, _) = run(opening, 1).expect(ready);
    let apply = |op| run(store.apply(op, super::case::NOW), 1).expect(ready);
    ops.into_iter().map(apply).collect()
}
