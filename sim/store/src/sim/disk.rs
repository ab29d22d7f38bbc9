//! One disk and the processes on it: files and their locks.
//!
//! What a name is and how it changes is in `names`; what a power loss leaves is in `power`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use skep_trace::Text;

use super::inode::{Body, Change, Content, Ino, Inode};
use super::outside::Saved;
use super::process::Process;
use super::tree::{self, Place, Tree};
use crate::error::Errno;
use crate::volume::{Create, Kind, Meta, Open};

/// The number of a process; never used twice on one disk.
pub type Pid = u32;

/// An open file description; never used twice.
pub(super) type Fd = u64;

/// How much was read and written, for rules about cost (S-50).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Operations of any kind.
    pub operations: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) tree: Tree,
    pub(super) processes: BTreeMap<Pid, Process>,
    pub(super) files: BTreeMap<Fd, OpenFile>,
    /// Who has the lock of an inode.
    pub(super) locks: BTreeMap<Ino, Fd>,
    /// Directories in which no write finds room.
    pub(super) full: BTreeSet<Ino>,
    /// Directories that take no writes.
    pub(super) read_only: BTreeSet<Ino>,
    pub(super) remembered: BTreeMap<Text, Saved>,
    pub(super) traffic: Traffic,
    next_fd: Fd,
}

#[derive(Clone, Debug)]
pub(super) struct OpenFile {
    pub(super) pid: Pid,
    pub(super) ino: Ino,
    pub(super) path: Text,
    /// The directory that it was opened in: what is full or read-only is a directory.
    dir: Ino,
    at: usize,
    how: Open,
}

impl Disk {
    pub(super) fn new() -> Self {
        Self {
            tree: Tree::new(),
            processes: BTreeMap::new(),
            files: BTreeMap::new(),
            locks: BTreeMap::new(),
            full: BTreeSet::new(),
            read_only: BTreeSet::new(),
            remembered: BTreeMap::new(),
            traffic: Traffic::default(),
            next_fd: 0,
        }
    }

    pub(super) fn process(&mut self, pid: Pid) -> &mut Process {
        self.processes.get_mut(&pid).expect("a volume belongs to a process of its disk")
    }

    /// The user of a process, for a permission check.
    pub(super) fn user(&self, pid: Pid) -> u32 {
        self.processes.get(&pid).expect("a volume belongs to a process of its disk").user
    }

    pub(super) fn open(&mut self, pid: Pid, path: &str, how: Open) -> Result<Fd, Errno> {
        // What must not be there is not looked for behind a link either.
        let follow = how.follow && how.create != Create::New;
        let place = self.tree.resolve(self.user(pid), path, follow)?;
        let ino = match place.found {
            None if how.create == Create::Never => return Err(Errno::NotFound),
            None => self.make_file(pid, &place, how)?,
            Some(_) if how.create == Create::New => return Err(Errno::Exists),
            Some(ino) => self.open_found(pid, ino, &place, how)?,
        };
        self.next_fd += 1;
        let file = OpenFile { pid, ino, path: path.into(), dir: place.dir, at: 0, how };
        self.files.insert(self.next_fd, file);
        Ok(self.next_fd)
    }

    /// Whether an open would wait for the other end of a FIFO: for ever, since there is none.
    pub(super) fn blocks(&self, pid: Pid, path: &str, how: Open) -> bool {
        let place = self.tree.resolve(self.user(pid), path, how.follow);
        let found = place.ok().and_then(|place| place.found);
        how.wait && found.is_some_and(|ino| self.tree.get(ino).kind() == Kind::Special)
    }

    fn make_file(&mut self, pid: Pid, place: &Place, how: Open) -> Result<Ino, Errno> {
        self.may_change(pid, place.dir)?;
        let process = self.process(pid);
        let mode = how.mode.unwrap_or(0o666 & !process.umask);
        let inode = Inode::new(Body::File(Content::empty()), mode, process.user);
        let ino = self.tree.add(inode);
        self.tree.change(place.dir, Change::Set(place.name.clone(), ino));
        Ok(ino)
    }

    fn open_found(&mut self, pid: Pid, ino: Ino, place: &Place, how: Open) -> Result<Ino, Errno> {
        match self.tree.get(ino).kind() {
            Kind::Symlink => return Err(Errno::Loop),
            Kind::Dir | Kind::Special if how.write => return Err(Errno::WrongKind),
            _ => {}
        }
        let read = if how.read { tree::READ } else { 0 };
        let write = if how.write { tree::WRITE } else { 0 };
        if !self.tree.allows(self.user(pid), ino, read | write) {
            return Err(Errno::PermissionDenied);
        }
        if how.write && self.read_only.contains(&place.dir) {
            return Err(Errno::ReadOnly);
        }
        if how.truncate {
            self.tree.content(ino)?.truncate();
        }
        Ok(ino)
    }

    pub(super) fn file(&self, fd: Fd) -> &OpenFile {
        self.files.get(&fd).expect("a handle of a living process is open")
    }

    pub(super) fn read(&mut self, fd: Fd, limit: u64) -> Result<Vec<u8>, Errno> {
        let file = self.file(fd);
        if !file.how.read {
            return Err(Errno::Io);
        }
        let bytes = match &self.tree.get(file.ino).body {
            Body::File(content) => {
                let end = content.now.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
                content.now[..end].to_vec()
            }
            Body::Special => Vec::new(),
            Body::Dir(_) | Body::Symlink(_) => return Err(Errno::WrongKind),
        };
        self.traffic.read += bytes.len() as u64;
        Ok(bytes)
    }

    /// A full disk takes the first half: the last room that was left.
    pub(super) fn write(&mut self, fd: Fd, bytes: &[u8]) -> Result<(), Errno> {
        let OpenFile { ino, dir, how, at, .. } = *self.file(fd);
        if !how.write {
            return Err(Errno::Io);
        }
        let full = self.full.contains(&dir);
        let taken = if full { &bytes[..bytes.len() / 2] } else { bytes };
        let content = self.tree.content(ino)?;
        let at = if how.append { content.now.len() } else { at };
        content.write(at, taken);
        self.traffic.written += taken.len() as u64;
        self.files.get_mut(&fd).expect("it was open just now").at = at + taken.len();
        if full { Err(Errno::NoSpace) } else { Ok(()) }
    }

    pub(super) fn sync(&mut self, fd: Fd) {
        let ino = self.file(fd).ino;
        self.tree.get_mut(ino).sync();
    }

    pub(super) fn meta(&self, ino: Ino) -> Meta {
        let inode = self.tree.get(ino);
        Meta {
            kind: inode.kind(),
            mode: inode.mode,
            len: inode.len(),
            inode: (0, ino),
            owner: inode.owner,
        }
    }

    pub(super) fn try_lock(&mut self, fd: Fd) -> bool {
        let ino = self.file(fd).ino;
        *self.locks.entry(ino).or_insert(fd) == fd
    }

    /// Closing a handle that its process's death has closed already does nothing.
    pub(super) fn close(&mut self, fd: Fd) {
        let Some(file) = self.files.remove(&fd) else { return };
        if self.locks.get(&file.ino) == Some(&fd) {
            self.locks.remove(&file.ino);
        }
        self.tree.sweep(self.files.values().map(|file| file.ino));
    }

    /// The process runs no further; what it wrote stays in the page cache, its locks are free.
    pub(super) fn kill(&mut self, pid: Pid) {
        self.process(pid).alive = false;
        let open = self.files.iter().filter(|(_, file)| file.pid == pid);
        for fd in open.map(|(fd, _)| *fd).collect::<Vec<_>>() {
            self.close(fd);
        }
    }

    /// Whether a process may make, rename or remove names in a directory.
    pub(super) fn may_change(&self, pid: Pid, dir: Ino) -> Result<(), Errno> {
        if self.read_only.contains(&dir) {
            Err(Errno::ReadOnly)
        } else if !self.tree.allows(self.user(pid), dir, tree::WRITE | tree::SEARCH) {
            Err(Errno::PermissionDenied)
        } else {
            Ok(())
        }
    }

    /// The content behind an inode, as processes read it.
    pub(super) fn bytes(&self, ino: Ino) -> Option<Rc<Vec<u8>>> {
        match &self.tree.get(ino).body {
            Body::File(content) => Some(Rc::clone(&content.now)),
            _ => None,
        }
    }
}
