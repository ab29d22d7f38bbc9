//! The words of the checks that only processes can be put to.

use skep_store::ops::{Lookup, StoreAnswer, StoreOp};
pub(super) use skep_store::suite::case::{NOW, get, put, remove, remove_if, scope, violated};
use skep_store::suite::{Failure, Host as _, Process};

use super::host::ProgramHost;

pub(super) fn not_applicable<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::NotApplicable(why.into()))
}

pub(super) fn demand(what: &str, is_so: bool) -> Result<(), Failure> {
    if is_so { Ok(()) } else { violated(what) }
}

impl ProgramHost {
    pub(super) fn opened(&mut self) -> Result<Process, Failure> {
        self.open(&scope(), NOW)
    }

    /// Carries out an operation that must succeed.
    pub(super) fn done(&mut self, process: Process, op: StoreOp) -> Result<(), Failure> {
        let what = op.to_string();
        match self.apply(process, op, NOW)? {
            StoreAnswer::Done => Ok(()),
            other => violated(format!("`{what}` is answered `{other}`")),
        }
    }

    /// A fresh disk with these receipts, written by a process that is gone again.
    pub(super) fn given(&mut self, receipts: &[(&str, &str)]) -> Result<(), Failure> {
        self.fresh();
        let process = self.opened()?;
        for (channel, session) in receipts {
            self.done(process, put(channel, session))?;
        }
        self.kill(process);
        Ok(())
    }

    /// What a new process finds under a key.
    pub(super) fn found(&mut self, channel: &str) -> Result<Option<String>, Failure> {
        let process = self.opened()?;
        let found = self.sees(process, channel);
        self.kill(process);
        found
    }

    /// What a process finds under a key.
    pub(super) fn sees(
        &mut self,
        process: Process,
        channel: &str,
    ) -> Result<Option<String>, Failure> {
        match self.apply(process, get(channel), NOW)? {
            StoreAnswer::Got(Lookup::Found { session }) => Ok(Some(session.to_string())),
            StoreAnswer::Got(Lookup::Absent) => Ok(None),
            other => violated(format!("`get {channel}` is answered `{other}`")),
        }
    }

    /// What a new process finds under each key, on one opening.
    pub(super) fn all_found(&mut self, channels: &[&str]) -> Result<Vec<Option<String>>, Failure> {
        let process = self.opened()?;
        let found = channels.iter().map(|channel| self.sees(process, channel)).collect();
        self.kill(process);
        found
    }
}
