//! The process groups that a run has started and not yet seen end.
//!
//! Every child runs in a group of its own and stands in this list from before its start until its
//! group was killed and its leader reaped. Whatever ends a run (a panic, Ctrl-C, TERM, the end of
//! a test) kills what is still listed: nothing is left behind.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process_group};

static LIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A listed group; dropping it kills the group and takes it off the list.
#[derive(Debug)]
pub(crate) struct Group(i32);

impl Group {
    /// Lists the group that this process leads.
    pub(crate) fn led_by(pid: u32) -> Self {
        let pid = i32::try_from(pid).expect("process ids are small");
        list().insert(pid);
        Self(pid)
    }

    /// Sends a signal to every process of the group. A group that is gone already is no error.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.0) {
            let _gone = kill_process_group(pid, signal);
        }
    }

    /// Any process of the group is still there.
    pub(crate) fn alive(&self) -> bool {
        Pid::from_raw(self.0).is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        list().remove(&self.0);
    }
}

/// Kills everything that is still listed; for the end of the process.
pub fn kill_all() {
    for pid in list().iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _gone = kill_process_group(pid, Signal::KILL);
    }
}

fn list() -> std::sync::MutexGuard<'static, BTreeSet<i32>> {
    // A panic elsewhere leaves the list whole: it is only ever inserted into and removed from.
    LIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
