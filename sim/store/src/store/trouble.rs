//! What can be wrong with a store: errors of an operation, warnings about a file.

use std::fmt;

use skep_trace::Text;
use thiserror::Error;

use crate::error::{DiskError, Errno};

/// Why an operation could not be done. Each names the file and the reason.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoreError {
    /// The disk refused.
    #[error(transparent)]
    Disk(DiskError),
    /// A symbolic link where the store keeps something: neither followed nor replaced.
    #[error("{0} is a symbolic link; it is neither followed nor replaced")]
    Symlink(Text),
    /// A directory, FIFO, socket or device where a file belongs, or no directory where one does.
    #[error("{0} is not of the right kind; nothing is read from it or written to it")]
    WrongKind(Text),
    /// Another user's.
    #[error("{path} belongs to user {owner}, whose files are not trusted")]
    NotOurs {
        /// What.
        path: Text,
        /// Whose.
        owner: u32,
    },
    /// Another process has had the lock for too long.
    #[error("{path} is locked; gave up after {waited_ms} ms")]
    Locked {
        /// The lock file.
        path: Text,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// A newer version's file is read by nobody older, and never overwritten.
    #[error("{path} was written by a newer version ({version}); it is left alone")]
    Newer {
        /// The file.
        path: Text,
        /// Its version.
        version: u64,
    },
    /// The file says that it belongs to another agent than its name does.
    #[error("{0} holds another agent's receipts; it is left alone")]
    OtherAgent(Text),
    /// The file cannot be read as what it should be.
    #[error("{path}: {reason}")]
    Damaged {
        /// The file.
        path: Text,
        /// What is wrong with it.
        reason: Text,
    },
    /// Every temporary name that was tried is taken.
    #[error("{0}: no free name for a temporary file beside it")]
    NoFreeName(Text),
}

impl From<DiskError> for StoreError {
    fn from(error: DiskError) -> Self {
        match error.errno {
            Errno::Loop => Self::Symlink(error.path),
            Errno::WrongKind => Self::WrongKind(error.path),
            _ => Self::Disk(error),
        }
    }
}

/// Something found on the way that fails nothing but that a person should hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file.
    pub file: Text,
    /// What is wrong with it.
    pub reason: Text,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
}
