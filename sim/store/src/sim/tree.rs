//! Inodes and the paths to them.

use std::collections::{BTreeMap, BTreeSet};

use skep_trace::Text;

use super::inode::{Body, Change, Content, Ino, Inode, Names};
use crate::error::Errno;

/// The inode of `/`.
pub(super) const ROOT: Ino = 1;

/// Linux gives up after so many links in one path; so do we.
const MAX_LINKS: u32 = 40;

/// Read permission, as a bit of one class.
pub(super) const READ: u32 = 4;
/// Write permission.
pub(super) const WRITE: u32 = 2;
/// Search permission.
pub(super) const SEARCH: u32 = 1;

/// All inodes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    inodes: BTreeMap<Ino, Inode>,
    next: Ino,
    /// Inodes that were left by the last sweep.
    swept: usize,
}

/// Where a path leads: the directory, the name in it, and what stands there.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) dir: Ino,
    pub(super) name: Text,
    pub(super) found: Option<Ino>,
}

impl Place {
    /// What stands there.
    pub(super) fn ino(&self) -> Result<Ino, Errno> {
        self.found.ok_or(Errno::NotFound)
    }
}

impl Tree {
    /// An empty `/` that everybody may write to.
    pub(super) fn new() -> Self {
        let root = Inode::new(Body::Dir(Names::default()), 0o777, 0);
        Self { inodes: BTreeMap::from([(ROOT, root)]), next: ROOT + 1, swept: 1 }
    }

    pub(super) fn get(&self, ino: Ino) -> &Inode {
        self.inodes.get(&ino).expect("an inode that is named or open is kept")
    }

    pub(super) fn get_mut(&mut self, ino: Ino) -> &mut Inode {
        self.inodes.get_mut(&ino).expect("an inode that is named or open is kept")
    }

    /// A new inode without a name.
    pub(super) fn add(&mut self, inode: Inode) -> Ino {
        let ino = self.next;
        self.next += 1;
        self.inodes.insert(ino, inode);
        ino
    }

    pub(super) fn content(&mut self, ino: Ino) -> Result<&mut Content, Errno> {
        match &mut self.get_mut(ino).body {
            Body::File(content) => Ok(content),
            _ => Err(Errno::WrongKind),
        }
    }

    pub(super) fn names(&self, ino: Ino) -> Result<&Names, Errno> {
        match &self.get(ino).body {
            Body::Dir(names) => Ok(names),
            _ => Err(Errno::WrongKind),
        }
    }

    pub(super) fn names_mut(&mut self, ino: Ino) -> Result<&mut Names, Errno> {
        match &mut self.get_mut(ino).body {
            Body::Dir(names) => Ok(names),
            _ => Err(Errno::WrongKind),
        }
    }

    /// Changes a directory that is known to be one.
    pub(super) fn change(&mut self, dir: Ino, change: Change) {
        self.names_mut(dir).expect("a place's directory is one").change(change);
    }

    /// Whether a user has these rights (`READ | WRITE | SEARCH`). User 0 has all; there are no
    /// groups, so the group's bits count for nobody.
    pub(super) fn allows(&self, user: u32, ino: Ino, rights: u32) -> bool {
        let inode = self.get(ino);
        let class = if inode.owner == user { inode.mode >> 6 } else { inode.mode };
        user == 0 || class & rights == rights
    }

    /// Follows a path as a user; a link in the last component only when `follow`.
    pub(super) fn resolve(&self, user: u32, path: &str, follow: bool) -> Result<Place, Errno> {
        self.walk(user, ROOT, path, follow, &mut 0)
    }

    fn walk(
        &self,
        user: u32,
        start: Ino,
        path: &str,
        follow: bool,
        links: &mut u32,
    ) -> Result<Place, Errno> {
        let start = if path.starts_with('/') { ROOT } else { start };
        let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
        let mut place = Place { dir: start, name: "".into(), found: Some(start) };
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            place = self.step(user, place.ino()?, part)?;
            let Some(ino) = place.found else { continue };
            if let Body::Symlink(target) = &self.get(ino).body
                && (follow || !last)
            {
                *links += 1;
                if *links > MAX_LINKS {
                    return Err(Errno::Loop);
                }
                place = self.walk(user, place.dir, target, true, links)?;
            }
        }
        Ok(place)
    }

    fn step(&self, user: u32, dir: Ino, part: &str) -> Result<Place, Errno> {
        let names = self.names(dir)?;
        if !self.allows(user, dir, SEARCH) {
            return Err(Errno::PermissionDenied);
        }
        Ok(match names.now.get_key_value(part) {
            Some((name, ino)) => Place { dir, name: name.clone(), found: Some(*ino) },
            None => Place { dir, name: part.into(), found: None },
        })
    }

    pub(super) fn sync_all(&mut self) {
        self.inodes.values_mut().for_each(Inode::sync);
    }

    /// Whether one directory is the other, or lies somewhere below it.
    pub(super) fn is_below(&self, dir: Ino, above: Ino) -> bool {
        let below = |names: &Names| names.now.values().any(|ino| self.is_below(dir, *ino));
        dir == above || self.names(above).is_ok_and(below)
    }

    /// Frees what no name, no possible state after a power loss and no handle leads to. Cheap on
    /// average: it waits until there are twice as many inodes as the last time.
    pub(super) fn sweep(&mut self, open: impl Iterator<Item = Ino>) {
        if self.inodes.len() < 2 * self.swept + 64 {
            return;
        }
        let mut kept = BTreeSet::new();
        let mut left: Vec<Ino> = open.chain([ROOT]).collect();
        while let Some(ino) = left.pop() {
            if kept.insert(ino)
                && let Ok(names) = self.names(ino)
            {
                left.extend(names.mentioned());
            }
        }
        self.inodes.retain(|ino, _| kept.contains(ino));
        self.swept = self.inodes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir_in(tree: &mut Tree, dir: Ino, name: &str, mode: u32) -> Ino {
        let ino = tree.add(Inode::new(Body::Dir(Names::default()), mode, 7));
        tree.change(dir, Change::Set(name.into(), ino));
        ino
    }

    fn link_in(tree: &mut Tree, dir: Ino, name: &str, target: &str) {
        let ino = tree.add(Inode::new(Body::Symlink(target.into()), 0o777, 7));
        tree.change(dir, Change::Set(name.into(), ino));
    }

    #[test]
    fn links_are_followed_inside_a_path_and_at_its_end_on_request() {
        let mut tree = Tree::new();
        let real = dir_in(&mut tree, ROOT, "real", 0o700);
        let inner = dir_in(&mut tree, real, "inner", 0o700);
        link_in(&mut tree, ROOT, "link", "real");
        assert_eq!(tree.resolve(7, "/link/inner", false).unwrap().found, Some(inner));
        assert_eq!(tree.resolve(7, "/link", true).unwrap().found, Some(real));
        assert_ne!(tree.resolve(7, "/link", false).unwrap().found, Some(real));
    }

    #[test]
    fn a_link_to_itself_ends() {
        let mut tree = Tree::new();
        link_in(&mut tree, ROOT, "loop", "loop");
        assert_eq!(tree.resolve(7, "/loop", true).unwrap_err(), Errno::Loop);
    }

    #[test]
    fn search_permission_is_asked_of_every_directory() {
        let mut tree = Tree::new();
        let closed = dir_in(&mut tree, ROOT, "closed", 0o600);
        dir_in(&mut tree, closed, "inner", 0o700);
        assert_eq!(tree.resolve(7, "/closed/inner", false).unwrap_err(), Errno::PermissionDenied);
        assert!(tree.resolve(0, "/closed/inner", false).is_ok());
    }

    #[test]
    fn what_nothing_leads_to_is_freed() {
        let mut tree = Tree::new();
        for _ in 0..200 {
            tree.add(Inode::new(Body::Special, 0o600, 7));
        }
        tree.sweep(std::iter::empty());
        assert_eq!(tree.inodes.len(), 1);
    }
}
