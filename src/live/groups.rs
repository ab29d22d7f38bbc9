//! What a run has started and not yet seen end: process groups, and directories for the time being.
//!
//! Every child runs in a group of its own and stands in this list from its start until its group
//! was killed. Whatever ends a run (a panic, Ctrl-C, TERM, the end of a test) kills what is still
//! listed and removes the directories, with what left its group and belongs to one of them: nothing
//! is left behind.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use super::strays;

static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Everything is being cleaned up: nothing more is started.
static OVER: AtomicBool = AtomicBool::new(false);

/// A listed process with its group; dropping it kills both and takes it off the list.
#[derive(Debug)]
pub(crate) struct Group(i32);

impl Group {
    /// Starts a process as the leader of a group and lists it, in one go: what is cleaned up in
    /// between finds it either listed or not started.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let mut live = list(&LIVE);
        if OVER.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = command.process_group(0).spawn()?;
        let pid = i32::try_from(child.id()).expect("process ids are small");
        live.insert(pid);
        Ok((child, Self(pid)))
    }

    /// Lists a process and the group that it leads, if it leads one.
    pub(crate) fn led_by(pid: u32) -> Self {
        let pid = i32::try_from(pid).expect("process ids are small");
        list(&LIVE).insert(pid);
        Self(pid)
    }

    /// Somebody of the group, or the process itself, is there.
    pub(crate) fn lives(&self) -> bool {
        Pid::from_raw(self.0).is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }

    /// Sends a signal to the process and all of its group. What is gone already is no error.
    pub(crate) fn signal_all(&self, signal: Signal) {
        signal_all(self.0, signal);
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.0) {
            let _gone = kill_process(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal_all(Signal::KILL);
        list(&LIVE).remove(&self.0);
    }
}

/// The name, in a folder for the time being, under which a small disk may be mounted.
pub(crate) const DISK: &str = "disk";

/// A directory for the time being; dropping it removes it with all that is in it.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one, for this user alone, at a path short enough for a socket.
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("skep-").tempdir()?.keep();
        list(&FOLDERS).insert(folder.clone());
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        strays::stop_all(&self.0);
        remove(&self.0);
        list(&FOLDERS).remove(&self.0);
    }
}

/// Kills and removes everything that is still listed; for the end of the process.
pub fn clean_up() {
    OVER.store(true, Ordering::SeqCst);
    list(&LIVE).iter().for_each(|pid| signal_all(*pid, Signal::KILL));
    list(&FOLDERS).iter().for_each(|folder| {
        strays::stop_all(folder);
        remove(folder);
    });
}

fn signal_all(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid)
        && kill_process_group(pid, signal).is_err()
    {
        // It leads no group: then it stands for itself.
        let _gone = kill_process(pid, signal);
    }
}

/// Something that is just being killed may still write: it is tried again while that helps.
fn remove(folder: &Path) {
    const TRIES: usize = 5;
    // Where nothing is mounted, this is refused and does nothing.
    let _not_mounted = unmount(folder.join(DISK), UnmountFlags::DETACH);
    for _ in 0..TRIES {
        if std::fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
    }
}

fn list<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves a list whole: it is only ever inserted into and removed from.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
