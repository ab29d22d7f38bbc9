//! The disk as its owner has it.

use std::cell::RefCell;
use std::rc::Rc;

use skep_plan::Point;
use skep_trace::{EntryKind, Snapshot, Text};
use thiserror::Error;

use super::choice::{Choose, Seeded};
use super::disk::{Disk, Pid, Traffic};
use super::inode::{Body, Content, Inode, Names};
use super::process::Process;
use super::volume::SimVolume;
use crate::error::Errno;
use crate::volume::Op;

/// The user that processes run as unless they are told otherwise: not user 0, or no permission
/// would ever stand in their way.
const USER: u32 = 1000;

/// The umask of most systems.
const UMASK: u32 = 0o022;

/// A simulated disk. Clones are the same disk; [`SimDisk::fork`] makes another one.
#[derive(Clone, Debug)]
pub struct SimDisk {
    pub(super) disk: Rc<RefCell<Disk>>,
}

/// A change from outside that cannot be made on this disk.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OutsideError {
    /// Nothing there to change, or the wrong kind of thing.
    #[error("{path}: {errno}")]
    Disk {
        /// The path.
        path: Text,
        /// Why.
        errno: Errno,
    },
    /// The directory holds no store file.
    #[error("{0} holds no store file")]
    NoStoreFile(Text),
    /// Nothing was remembered under that name.
    #[error("nothing is remembered as `{0}`")]
    NotRemembered(Text),
}

impl Default for SimDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl SimDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self { disk: Rc::new(RefCell::new(Disk::new())) }
    }

    /// Another disk in the same state, with the same processes; the handles and futures of the
    /// first one stay with the first.
    pub fn fork(&self) -> Self {
        Self { disk: Rc::new(RefCell::new(self.disk.borrow().clone())) }
    }

    /// A new process of an ordinary user.
    pub fn process(&self) -> SimVolume {
        self.process_as(USER, UMASK)
    }

    /// A new process of this user, with this umask.
    pub fn process_as(&self, user: u32, umask: u32) -> SimVolume {
        let mut disk = self.disk.borrow_mut();
        let pid = disk.processes.keys().next_back().map_or(1, |last| last + 1);
        disk.processes.insert(pid, Process::new(user, umask));
        SimVolume { disk: Rc::clone(&self.disk), pid }
    }

    /// Kills a process: its locks are free, what it wrote stays in the page cache, and nothing
    /// that it still tries happens.
    pub fn kill(&self, pid: Pid) {
        self.disk.borrow_mut().kill(pid);
    }

    /// Cuts the power: every process is dead, and of what was not synced a part that the seed
    /// chooses is there.
    pub fn power_loss(&self, seed: u64) {
        self.power_loss_by(&mut Seeded::new(seed));
    }

    /// Cuts the power, with these choices of what is there afterwards.
    pub fn power_loss_by(&self, choice: &mut dyn Choose) {
        self.disk.borrow_mut().power_loss(choice);
    }

    /// Everything that processes see is on the disk itself: a power cut now takes nothing back.
    pub fn make_durable(&self) {
        self.disk.borrow_mut().sync_all();
    }

    /// From now on every operation of the process is pending exactly once before it acts.
    pub fn stepwise(&self, pid: Pid, on: bool) {
        self.disk.borrow_mut().process(pid).stepwise = on;
    }

    /// The operation that the process will do when it is polled next. `None`: it waits for none.
    pub fn pending(&self, pid: Pid) -> Option<Op> {
        self.disk.borrow_mut().process(pid).pending
    }

    /// Holds the process at a point inside the store: the operation that would follow never acts,
    /// and [`Self::trapped`] says so, stepwise or not. `None` lets it go on. The trap never springs at points
    /// outside the volume ([`Point::Stored`] is where the operation's future is ready).
    pub fn trap(&self, pid: Pid, point: Option<Point>) {
        self.disk.borrow_mut().process(pid).set_trap(point);
    }

    /// The process stands at the point that it was to be held at.
    pub fn trapped(&self, pid: Pid) -> bool {
        self.disk.borrow_mut().process(pid).trapped()
    }

    /// The process holds a lock.
    pub fn holds_lock(&self, pid: Pid) -> bool {
        let disk = self.disk.borrow();
        disk.locks.values().any(|fd| disk.files.get(fd).is_some_and(|file| file.pid == pid))
    }

    /// How much was read and written so far.
    pub fn traffic(&self) -> Traffic {
        self.disk.borrow().traffic
    }

    /// What stands below a directory; empty if it is not there.
    pub fn snapshot(&self, dir: &str) -> Snapshot {
        self.disk.borrow().snapshot(dir)
    }

    /// The bytes of a regular file.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let disk = self.disk.borrow();
        let ino = disk.find(path).ok()?.found?;
        disk.bytes(ino).map(|bytes| bytes.to_vec())
    }

    /// Makes a directory of the ordinary user. One that is there keeps what is in it, and gets the
    /// bits.
    ///
    /// # Errors
    /// When its parent is not there.
    pub fn make_dir(&self, path: &str, mode: u32) -> Result<(), OutsideError> {
        let there = self.snapshot(path).entries.get(".").map(|entry| entry.kind.clone());
        if there == Some(EntryKind::Dir) {
            return self.chmod(path, mode);
        }
        self.put(path, Body::Dir(Names::default()), mode)
    }

    /// Puts a file of the ordinary user there, in place of what stands there.
    ///
    /// # Errors
    /// When its directory is not there.
    pub fn put_file(&self, path: &str, bytes: &[u8], mode: u32) -> Result<(), OutsideError> {
        self.put(path, Body::File(Content::synced(Rc::new(bytes.to_vec()))), mode)
    }

    /// Puts a symbolic link there, in place of what stands there.
    ///
    /// # Errors
    /// When its directory is not there.
    pub fn put_link(&self, path: &str, target: &str) -> Result<(), OutsideError> {
        self.put(path, Body::Symlink(target.into()), 0o777)
    }

    /// Puts a FIFO there, in place of what stands there.
    ///
    /// # Errors
    /// When its directory is not there.
    pub fn put_fifo(&self, path: &str, mode: u32) -> Result<(), OutsideError> {
        self.put(path, Body::Special, mode)
    }

    /// Takes a name away, whatever stands behind it.
    ///
    /// # Errors
    /// When nothing stands there.
    pub fn remove(&self, path: &str) -> Result<(), OutsideError> {
        self.outside(path, |disk| disk.remove(path))
    }

    /// Changes permission bits.
    ///
    /// # Errors
    /// When nothing stands there.
    pub fn chmod(&self, path: &str, mode: u32) -> Result<(), OutsideError> {
        self.outside(path, |disk| disk.set_mode(path, mode))
    }

    /// Gives the file to another user.
    ///
    /// # Errors
    /// When nothing stands there.
    pub fn chown(&self, path: &str, owner: u32) -> Result<(), OutsideError> {
        self.outside(path, |disk| disk.set_owner(path, owner))
    }

    /// No write in the directory finds room any more (`true`), or room is made.
    ///
    /// # Errors
    /// When it is not there.
    pub fn fill(&self, dir: &str, full: bool) -> Result<(), OutsideError> {
        self.outside(dir, |disk| {
            let ino = disk.find(dir)?.ino()?;
            if full {
                disk.full.insert(ino)
            } else {
                disk.full.remove(&ino)
            };
            Ok(())
        })
    }

    /// The directory takes no writes any more (`true`), or takes them again.
    ///
    /// # Errors
    /// When it is not there.
    pub fn read_only(&self, dir: &str, read_only: bool) -> Result<(), OutsideError> {
        self.outside(dir, |disk| {
            let ino = disk.find(dir)?.ino()?;
            if read_only {
                disk.read_only.insert(ino)
            } else {
                disk.read_only.remove(&ino)
            };
            Ok(())
        })
    }

    /// Remembers all that stands below a directory, under a name.
    ///
    /// # Errors
    /// When it is not there.
    pub fn remember(&self, dir: &str, name: &str) -> Result<(), OutsideError> {
        self.outside(dir, |disk| {
            let saved = disk.save(disk.find(dir)?.ino()?);
            disk.remembered.insert(name.into(), saved);
            Ok(())
        })
    }

    /// Puts back what was remembered.
    ///
    /// # Errors
    /// When nothing was, or the directory is not there.
    pub fn restore(&self, dir: &str, name: &str) -> Result<(), OutsideError> {
        let saved = self.disk.borrow().remembered.get(name).cloned();
        let saved = saved.ok_or_else(|| OutsideError::NotRemembered(name.into()))?;
        self.outside(dir, |disk| disk.restore(dir, &saved))
    }

    fn put(&self, path: &str, body: Body, mode: u32) -> Result<(), OutsideError> {
        self.outside(path, |disk| disk.put(path, Inode::new(body, mode, USER)))
    }

    pub(super) fn outside<T>(
        &self,
        path: &str,
        act: impl FnOnce(&mut Disk) -> Result<T, Errno>,
    ) -> Result<T, OutsideError> {
        act(&mut self.disk.borrow_mut())
            .map_err(|errno| OutsideError::Disk { path: path.into(), errno })
    }
}
