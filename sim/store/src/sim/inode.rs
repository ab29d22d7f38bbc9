//! What stands behind a name: its state as every process sees it, and what is known to be on the
//! disk itself.

use std::collections::BTreeMap;
use std::rc::Rc;

use skep_trace::Text;

use crate::volume::Kind;

/// The number of an inode; never used twice.
pub(super) type Ino = u64;

/// The most versions of a file, or changes of a directory, that are kept unsynced. A kernel
/// writes back by itself sooner or later; here it does so with the oldest.
const UNSYNCED: usize = 64;

/// A file, directory, link or FIFO.
#[derive(Clone, Debug)]
pub(super) struct Inode {
    /// What it is, with its content.
    pub(super) body: Body,
    /// Permission bits as processes see them.
    pub(super) mode: u32,
    /// Permission bits on the disk.
    pub(super) synced_mode: u32,
    /// Whom it belongs to.
    pub(super) owner: u32,
}

/// What an inode is.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// A regular file.
    File(Content),
    /// A directory.
    Dir(Names),
    /// A symbolic link and where it points.
    Symlink(Text),
    /// A FIFO that nobody holds the other end of.
    Special,
}

impl Inode {
    /// A new inode. Its bits are part of its making: they are on the disk as soon as it is.
    pub(super) fn new(body: Body, mode: u32, owner: u32) -> Self {
        Self { body, mode, synced_mode: mode, owner }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Dir(_) => Kind::Dir,
            Body::Symlink(_) => Kind::Symlink,
            Body::Special => Kind::Special,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.now.len() as u64,
            _ => 0,
        }
    }

    /// What `fsync` does.
    pub(super) fn sync(&mut self) {
        self.synced_mode = self.mode;
        match &mut self.body {
            Body::File(content) => content.older.clear(),
            Body::Dir(names) => names.sync(),
            Body::Symlink(_) | Body::Special => {}
        }
    }
}

/// The content of a regular file.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// What processes read.
    pub(super) now: Rc<Vec<u8>>,
    /// Every content since the last sync, oldest first: a sector of any of them may be what a
    /// power loss leaves.
    pub(super) older: Vec<Rc<Vec<u8>>>,
}

impl Content {
    /// A new and empty file.
    pub(super) fn empty() -> Self {
        Self::default()
    }

    /// A file that is whole on the disk.
    pub(super) fn synced(bytes: Rc<Vec<u8>>) -> Self {
        Self { now: bytes, older: Vec::new() }
    }

    /// Writes at a place; a gap before it is filled with zeros.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.age();
        let end = at + bytes.len();
        let now = Rc::make_mut(&mut self.now);
        if now.len() < end {
            now.resize(end, 0);
        }
        now[at..end].copy_from_slice(bytes);
    }

    /// Throws the content away.
    pub(super) fn truncate(&mut self) {
        self.age();
        self.now = Rc::default();
    }

    fn age(&mut self) {
        self.older.push(Rc::clone(&self.now));
        if self.older.len() > UNSYNCED {
            self.older.remove(0);
        }
    }
}

/// The names in a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// What processes see.
    pub(super) now: BTreeMap<Text, Ino>,
    /// What is surely on the disk.
    pub(super) synced: BTreeMap<Text, Ino>,
    /// What happened since, in order: `synced` and all of them make `now`.
    pub(super) changes: Vec<Change>,
}

/// One change of a directory that the disk may or may not have.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A name stands for an inode.
    Set(Text, Ino),
    /// A name is gone.
    Remove(Text),
    /// A name is gone and another one stands for its inode: both or neither.
    Move(Text, Text, Ino),
}

impl Names {
    /// Changes the directory for every process; the disk hears of it at the next sync.
    pub(super) fn change(&mut self, change: Change) {
        change.apply(&mut self.now);
        self.changes.push(change);
        if self.changes.len() > UNSYNCED {
            self.changes.remove(0).apply(&mut self.synced);
        }
    }

    /// Changes the directory and the disk at once: a hand from outside.
    pub(super) fn change_durably(&mut self, change: &Change) {
        change.apply(&mut self.now);
        change.apply(&mut self.synced);
    }

    fn sync(&mut self) {
        for change in self.changes.drain(..) {
            change.apply(&mut self.synced);
        }
    }

    /// Every inode that a name may stand for, now or after a power loss.
    pub(super) fn mentioned(&self) -> impl Iterator<Item = Ino> {
        let changed = self.changes.iter().filter_map(|change| match change {
            Change::Set(_, ino) | Change::Move(_, _, ino) => Some(*ino),
            Change::Remove(_) => None,
        });
        self.now.values().chain(self.synced.values()).copied().chain(changed)
    }
}

impl Change {
    pub(super) fn apply(&self, names: &mut BTreeMap<Text, Ino>) {
        match self {
            Self::Set(name, ino) => {
                names.insert(name.clone(), *ino);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Move(from, to, ino) => {
                names.remove(from);
                names.insert(to.clone(), *ino);
            }
        }
    }
}
