//! Why an operation on a volume failed.

use std::fmt;

use skep_trace::Text;
use thiserror::Error;

/// One failed operation: what was tried, where, and why it did not work.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot {op} {path}: {errno}")]
pub struct DiskError {
    /// What kind of failure it was.
    pub errno: Errno,
    /// What was tried, as a verb.
    pub op: &'static str,
    /// The path that it was tried on.
    pub path: Text,
}

impl DiskError {
    /// A failure of `op` on `path`.
    pub fn new(errno: Errno, op: &'static str, path: &str) -> Self {
        Self { errno, op, path: path.into() }
    }
}

/// The kinds of failure that a store has to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Errno {
    /// No room is left, or a quota is reached.
    NoSpace,
    /// The file system takes no writes.
    ReadOnly,
    /// The permission bits or the owner do not allow it.
    PermissionDenied,
    /// Nothing stands there.
    NotFound,
    /// Something stands there already (also: a directory that is not empty).
    Exists,
    /// A symbolic link where none is followed, or too many of them.
    Loop,
    /// Something else stands there than the operation works on: a directory, a FIFO, a device.
    WrongKind,
    /// Anything else that a disk can say.
    Io,
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSpace => "no space is left",
            Self::ReadOnly => "the file system is read-only",
            Self::PermissionDenied => "permission is denied",
            Self::NotFound => "it does not exist",
            Self::Exists => "it exists already",
            Self::Loop => "it is a symbolic link",
            Self::WrongKind => "it is not of the right kind",
            Self::Io => "the disk reports an error",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_why() {
        let error = DiskError::new(Errno::NoSpace, "write", "/state/x");
        assert_eq!(error.to_string(), "cannot write /state/x: no space is left");
    }
}
