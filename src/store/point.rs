//! The calls of a process that can be disturbed one by one.

use super::strace::Call;

/// One write, sync or rename of an undisturbed run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// Which call: `fsync`.
    pub(crate) name: String,
    /// The so-manieth of that name in its thread, from 1.
    pub(crate) nth: usize,
    /// What kind of call.
    pub(crate) family: Family,
    /// The new file is in its place already.
    pub(crate) after_rename: bool,
}

/// What kind of call a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Content.
    Write,
    /// Content or names made durable.
    Sync,
    /// A name.
    Rename,
}

impl Point {
    /// The points among calls, in their order.
    pub(crate) fn of<'a>(calls: impl Iterator<Item = &'a Call>) -> Vec<Self> {
        let mut after_rename = false;
        let mut points = Vec::new();
        for call in calls.filter(|call| !call.failed) {
            let family = match &*call.name {
                "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => Family::Write,
                "fsync" | "fdatasync" => Family::Sync,
                "rename" | "renameat" | "renameat2" => Family::Rename,
                _ => continue,
            };
            points.push(Self { name: call.name.clone(), nth: call.nth, family, after_rename });
            after_rename |= family == Family::Rename;
        }
        points
    }

    /// The process is killed before the call, as `strace` is told.
    pub(crate) fn killed(&self) -> String {
        format!("{}:signal=SIGKILL:when={}", self.name, self.nth)
    }

    /// The call fails.
    pub(crate) fn failing(&self, error: &str) -> String {
        format!("{}:error={error}:when={}", self.name, self.nth)
    }

    /// The call does nothing and says that it worked.
    pub(crate) fn lying(&self) -> String {
        format!("{}:retval=0:when={}", self.name, self.nth)
    }

    /// What it can fail with.
    pub(crate) fn errors(&self) -> &'static [&'static str] {
        match self.family {
            Family::Write | Family::Rename => &["ENOSPC", "EIO"],
            Family::Sync => &["EIO"],
        }
    }
}
