//! Names: how they come, change and go.

use skep_trace::Text;

use super::disk::{Disk, Pid};
use super::inode::{Body, Change, Ino, Inode, Names};
use super::tree::{self, Place};
use crate::error::Errno;
use crate::volume::{Kind, Meta};

impl Disk {
    fn place(&self, pid: Pid, path: &str) -> Result<Place, Errno> {
        self.tree.resolve(self.user(pid), path, false)
    }

    pub(super) fn lstat(&self, pid: Pid, path: &str) -> Result<Meta, Errno> {
        Ok(self.meta(self.place(pid, path)?.ino()?))
    }

    pub(super) fn chmod(&mut self, pid: Pid, path: &str, mode: u32) -> Result<(), Errno> {
        let place = self.place(pid, path)?;
        let ino = place.ino()?;
        let user = self.user(pid);
        let inode = self.tree.get_mut(ino);
        if inode.kind() == Kind::Symlink {
            return Err(Errno::Loop);
        }
        if user != 0 && user != inode.owner {
            return Err(Errno::PermissionDenied);
        }
        if self.read_only.contains(&place.dir) || self.read_only.contains(&ino) {
            return Err(Errno::ReadOnly);
        }
        inode.mode = mode;
        Ok(())
    }

    pub(super) fn mkdir(&mut self, pid: Pid, path: &str, mode: Option<u32>) -> Result<(), Errno> {
        let place = self.place(pid, path)?;
        if place.found.is_some() {
            return Err(Errno::Exists);
        }
        self.may_change(pid, place.dir)?;
        if self.full.contains(&place.dir) {
            return Err(Errno::NoSpace);
        }
        let process = self.process(pid);
        let mode = mode.unwrap_or(0o777 & !process.umask);
        let inode = Inode::new(Body::Dir(Names::default()), mode, process.user);
        let ino = self.tree.add(inode);
        self.tree.change(place.dir, Change::Set(place.name, ino));
        Ok(())
    }

    /// Within one directory it is one change, which a power loss takes back whole or not at all;
    /// between two it is one change of each.
    pub(super) fn rename(&mut self, pid: Pid, from: &str, to: &str) -> Result<(), Errno> {
        let (from, to) = (self.place(pid, from)?, self.place(pid, to)?);
        let ino = from.ino()?;
        self.may_change(pid, from.dir)?;
        self.may_change(pid, to.dir)?;
        if to.found == Some(ino) {
            return Ok(());
        }
        if self.tree.is_below(to.dir, ino) {
            return Err(Errno::Io);
        }
        if let Some(replaced) = to.found {
            if self.tree.is_below(from.dir, replaced) {
                return Err(Errno::Exists);
            }
            self.may_replace(ino, replaced)?;
        }
        if from.dir == to.dir {
            self.tree.change(from.dir, Change::Move(from.name, to.name, ino));
        } else {
            self.tree.change(from.dir, Change::Remove(from.name));
            self.tree.change(to.dir, Change::Set(to.name, ino));
        }
        Ok(())
    }

    fn may_replace(&self, ino: Ino, replaced: Ino) -> Result<(), Errno> {
        let is_dir = |ino| self.tree.get(ino).kind() == Kind::Dir;
        match (is_dir(ino), is_dir(replaced)) {
            (true, true) if !self.tree.names(replaced)?.now.is_empty() => Err(Errno::Exists),
            (one, other) if one != other => Err(Errno::WrongKind),
            _ => Ok(()),
        }
    }

    pub(super) fn link(&mut self, pid: Pid, from: &str, to: &str) -> Result<(), Errno> {
        let ino = self.place(pid, from)?.ino()?;
        let to = self.place(pid, to)?;
        if to.found.is_some() {
            return Err(Errno::Exists);
        }
        if self.tree.get(ino).kind() == Kind::Dir {
            return Err(Errno::PermissionDenied);
        }
        self.may_change(pid, to.dir)?;
        self.tree.change(to.dir, Change::Set(to.name, ino));
        Ok(())
    }

    pub(super) fn unlink(&mut self, pid: Pid, path: &str) -> Result<(), Errno> {
        let place = self.place(pid, path)?;
        let ino = place.ino()?;
        self.may_change(pid, place.dir)?;
        if self.tree.get(ino).kind() == Kind::Dir {
            return Err(Errno::WrongKind);
        }
        self.tree.change(place.dir, Change::Remove(place.name));
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, pid: Pid, path: &str) -> Result<(), Errno> {
        let ino = self.readable_dir(pid, path)?;
        self.tree.get_mut(ino).sync();
        Ok(())
    }

    pub(super) fn list(&self, pid: Pid, path: &str) -> Result<Vec<Text>, Errno> {
        let ino = self.readable_dir(pid, path)?;
        Ok(self.tree.names(ino)?.now.keys().cloned().collect())
    }

    fn readable_dir(&self, pid: Pid, path: &str) -> Result<Ino, Errno> {
        let ino = self.place(pid, path)?.ino()?;
        match self.tree.get(ino).kind() {
            Kind::Dir if self.tree.allows(self.user(pid), ino, tree::READ) => Ok(ino),
            Kind::Dir => Err(Errno::PermissionDenied),
            _ => Err(Errno::WrongKind),
        }
    }
}
