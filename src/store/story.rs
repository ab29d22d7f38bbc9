//! What was done to a store and what it answered, for whoever reads of a violation.

use std::collections::VecDeque;

use skep_store::ops::{StoreAnswer, StoreOp};
use skep_store::suite::{Edit, Failure, Process};
use skep_trace::Receipt;

use super::trouble::Trouble;
use crate::report::clean::{clean, fit};

/// The last acts; earlier ones have seldom to do with what went wrong.
const MOST_ACTS: usize = 24;
/// The widest line of a story, with the path of a ground in it that is taken out before it is shown.
const COLUMNS: usize = 130;

/// The last acts of a check.
#[derive(Debug, Default)]
pub(super) struct Story {
    acts: VecDeque<String>,
    left_out: usize,
}

impl Story {
    /// A process does something, or something happens to it.
    pub(super) fn act(&mut self, process: Process, what: &str) {
        self.line(&format!("process {process}  {what}"));
    }

    /// Something happens around the processes.
    pub(super) fn act_outside(&mut self, what: &str) {
        self.line(&format!("outside    {what}"));
    }

    /// A line as it stands: a system call, an entry of a history.
    pub(super) fn plain(&mut self, line: &str) {
        self.line(line);
    }

    /// Forgets what led here: something better is about to be told.
    pub(super) fn clear(&mut self) {
        self.acts.clear();
        self.left_out = 0;
    }

    fn line(&mut self, line: &str) {
        if self.acts.len() == MOST_ACTS {
            self.acts.pop_front();
            self.left_out += 1;
        }
        self.acts.push_back(fit(&clean(line), COLUMNS));
    }

    pub(super) fn answered(&mut self, process: Process, asked: &StoreOp, answered: &StoreAnswer) {
        self.act(process, &format!("{asked}: {answered}"));
    }

    pub(super) fn listed(&mut self, process: Process, receipts: &[Receipt]) {
        let pair = |receipt: &Receipt| format!("{}={}", receipt.channel, receipt.session);
        let pairs: Vec<_> = receipts.iter().take(6).map(pair).collect();
        let more = if receipts.len() > pairs.len() { ", …" } else { "" };
        self.act(process, &format!("list: {}{more} ({})", pairs.join(", "), receipts.len()));
    }

    pub(super) fn edited(&mut self, edit: &Edit<'_>) {
        let what = match edit {
            Edit::File(path, bytes, mode) => {
                format!("{path} is written: {} bytes, {mode:04o}", bytes.len())
            }
            Edit::Dir(path, mode) => format!("{path} is made a directory, {mode:04o}"),
            Edit::Link(path, target) => format!("{path} is made a link to {target}"),
            Edit::Fifo(path) => format!("{path} is made a FIFO"),
            Edit::Chmod(path, mode) => format!("{path} gets {mode:04o}"),
            Edit::GiveAway(path) => format!("{path} is given to another user"),
            Edit::Remove(path) => format!("{path} is removed"),
            Edit::Full(true) => "the disk is filled".to_owned(),
            Edit::Full(false) => "the disk has room again".to_owned(),
            Edit::ReadOnly(true) => "the disk is made read-only".to_owned(),
            Edit::ReadOnly(false) => "the disk is made writable".to_owned(),
            Edit::Umask(umask) => format!("umask {umask:03o} for new processes"),
        };
        self.act_outside(&what);
    }

    /// A process does not keep to the protocol: told, and a failure of the check.
    pub(super) fn trouble(&mut self, process: Process, trouble: Trouble) -> Failure {
        self.act(process, &trouble.to_string());
        trouble.into()
    }

    /// The lines, and how many came before them.
    pub(super) fn take(&mut self) -> (Vec<String>, usize) {
        (self.acts.drain(..).collect(), std::mem::take(&mut self.left_out))
    }
}
