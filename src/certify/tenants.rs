//! What the processes of one home share: the folder that all of it is below, and who lives there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::live::strays::{self, Stray};

/// The processes of one home.
#[derive(Debug)]
pub(super) struct Tenants {
    folder: PathBuf,
    living: AtomicUsize,
}

impl Tenants {
    /// The home below a folder.
    pub(super) fn below(folder: &Path) -> Arc<Self> {
        Arc::new(Self { folder: folder.to_owned(), living: AtomicUsize::new(0) })
    }

    /// A process is started.
    pub(super) fn enter(&self) {
        self.living.fetch_add(1, Ordering::SeqCst);
    }

    /// A process is gone.
    pub(super) fn leave(&self) {
        self.living.fetch_sub(1, Ordering::SeqCst);
    }

    /// What belongs to the only process that lives, which is part of it; nothing where there is
    /// another one.
    pub(super) fn strays(&self) -> Vec<Stray> {
        match self.living.load(Ordering::SeqCst) {
            1 => strays::of(&self.folder),
            _ => Vec::new(),
        }
    }
}
