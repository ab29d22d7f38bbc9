//! Hands from outside: what a scenario, a test or a person does to the disk behind the store's
//! back. All of it is on the disk at once, and no permission stands in its way.

use std::collections::BTreeMap;
use std::rc::Rc;

use skep_trace::{Entry, EntryKind, Snapshot, Text};

use super::disk::Disk;
use super::inode::{Body, Change, Content, Ino, Inode, Names};
use super::tree::Place;
use crate::error::Errno;
use crate::path::join;

/// The user that no permission stops.
const ROOT_USER: u32 = 0;

/// A snapshot keeps the bytes of files up to this size: what a trace can carry.
const SNAPSHOT_BYTES: u64 = 1 << 20;

/// A remembered part of the disk.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    body: SavedBody,
    mode: u32,
    owner: u32,
}

#[derive(Clone, Debug)]
enum SavedBody {
    File(Rc<Vec<u8>>),
    Dir(BTreeMap<Text, Saved>),
    Symlink(Text),
    Special,
}

impl Disk {
    /// What stands at the path.
    pub(super) fn find(&self, path: &str) -> Result<Place, Errno> {
        self.tree.resolve(ROOT_USER, path, false)
    }

    /// Puts a new inode at the path, in place of what stands there.
    pub(super) fn put(&mut self, path: &str, inode: Inode) -> Result<(), Errno> {
        let place = self.find(path)?;
        let ino = self.tree.add(inode);
        self.tree.names_mut(place.dir)?.change_durably(&Change::Set(place.name, ino));
        Ok(())
    }

    /// Writes a file, keeping inode, owner and bits of the one that stands there.
    pub(super) fn put_bytes(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Errno> {
        let ino = self.find(path)?.ino()?;
        *self.tree.content(ino)? = Content::synced(Rc::new(bytes));
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &str) -> Result<(), Errno> {
        let place = self.find(path)?;
        place.ino()?;
        self.tree.names_mut(place.dir)?.change_durably(&Change::Remove(place.name));
        Ok(())
    }

    pub(super) fn move_name(&mut self, from: &str, to: &str) -> Result<(), Errno> {
        let (from, to) = (self.find(from)?, self.find(to)?);
        let ino = from.ino()?;
        self.tree.names_mut(from.dir)?.change_durably(&Change::Remove(from.name));
        self.tree.names_mut(to.dir)?.change_durably(&Change::Set(to.name, ino));
        Ok(())
    }

    pub(super) fn set_mode(&mut self, path: &str, mode: u32) -> Result<(), Errno> {
        let ino = self.find(path)?.ino()?;
        let inode = self.tree.get_mut(ino);
        (inode.mode, inode.synced_mode) = (mode, mode);
        Ok(())
    }

    pub(super) fn set_owner(&mut self, path: &str, owner: u32) -> Result<(), Errno> {
        let ino = self.find(path)?.ino()?;
        self.tree.get_mut(ino).owner = owner;
        Ok(())
    }

    pub(super) fn save(&self, ino: Ino) -> Saved {
        let inode = self.tree.get(ino);
        let body = match &inode.body {
            Body::File(content) => SavedBody::File(Rc::clone(&content.now)),
            Body::Dir(names) => {
                let entries = names.now.iter().map(|(name, ino)| (name.clone(), self.save(*ino)));
                SavedBody::Dir(entries.collect())
            }
            Body::Symlink(target) => SavedBody::Symlink(target.clone()),
            Body::Special => SavedBody::Special,
        };
        Saved { body, mode: inode.mode, owner: inode.owner }
    }

    /// Makes what was saved anew, under fresh inodes.
    pub(super) fn revive(&mut self, saved: &Saved) -> Ino {
        let body = match &saved.body {
            SavedBody::File(bytes) => Body::File(Content::synced(Rc::clone(bytes))),
            SavedBody::Dir(entries) => Body::Dir(self.revive_names(entries)),
            SavedBody::Symlink(target) => Body::Symlink(target.clone()),
            SavedBody::Special => Body::Special,
        };
        self.tree.add(Inode::new(body, saved.mode, saved.owner))
    }

    fn revive_names(&mut self, entries: &BTreeMap<Text, Saved>) -> Names {
        let now: BTreeMap<Text, Ino> =
            entries.iter().map(|(name, saved)| (name.clone(), self.revive(saved))).collect();
        Names { synced: now.clone(), now, changes: Vec::new() }
    }

    /// Gives a directory the content that was saved; the directory itself stays the same inode,
    /// since processes may have it open.
    pub(super) fn restore(&mut self, path: &str, saved: &Saved) -> Result<(), Errno> {
        let SavedBody::Dir(entries) = &saved.body else { return Err(Errno::WrongKind) };
        let ino = self.find(path)?.ino()?;
        let names = self.revive_names(entries);
        *self.tree.names_mut(ino)? = names;
        self.set_mode(path, saved.mode)
    }

    /// What stands below a path; nothing if nothing does.
    pub(super) fn snapshot(&self, path: &str) -> Snapshot {
        let mut entries = BTreeMap::new();
        if let Some(ino) = self.find(path).ok().and_then(|place| place.found) {
            self.look(ino, "", &mut entries);
        }
        Snapshot { entries }
    }

    fn look(&self, ino: Ino, path: &str, entries: &mut BTreeMap<Text, Entry>) {
        let inode = self.tree.get(ino);
        let kind = match &inode.body {
            Body::Dir(_) => EntryKind::Dir,
            Body::Symlink(target) => EntryKind::Symlink(target.clone()),
            Body::Special => EntryKind::Special,
            Body::File(content) if inode.len() <= SNAPSHOT_BYTES => EntryKind::file(&content.now),
            Body::File(_) => EntryKind::File { len: inode.len(), bytes: None },
        };
        let name = if path.is_empty() { "." } else { path };
        entries.insert(name.into(), Entry { kind, mode: inode.mode });
        if let Body::Dir(names) = &inode.body {
            for (name, ino) in &names.now {
                let below = if path.is_empty() { name.to_string() } else { join(path, name) };
                self.look(*ino, &below, entries);
            }
        }
    }
}
