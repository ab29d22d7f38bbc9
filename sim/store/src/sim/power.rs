//! Power loss: which disks are possible afterwards, and the choice of one of them.
//!
//! What was synced is there. Of everything else any part may have reached the disk, in any order:
//! a directory keeps any subset of its unsynced changes, a file any of its unsynced lengths and
//! in each sector the bytes of any of its unsynced contents, permission bits the old value or the
//! new. A rename within one directory is one change, as every journalling file system has it.
//!
//! Only what can be reached afterwards is asked about, so that [`Every`](super::Every) enumerates
//! each disk once or nearly so.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::choice::{Choose, Doubt};
use super::disk::Disk;
use super::inode::{Body, Change, Content, Ino, Names};
use super::tree::ROOT;

/// Disks promise a sector, whatever the file system promises.
const SECTOR: usize = 512;

impl Disk {
    /// Ends every process and keeps, of what was not synced, what `choice` says.
    pub(super) fn power_loss(&mut self, choice: &mut dyn Choose) {
        for process in self.processes.values_mut() {
            process.alive = false;
        }
        self.files.clear();
        self.locks.clear();
        let mut settled = BTreeSet::new();
        let mut left = vec![(ROOT, String::new())];
        while let Some((ino, path)) = left.pop() {
            if settled.insert(ino) {
                self.settle(ino, &path, choice);
                let names = self.tree.names(ino).into_iter().flat_map(|names| &names.now);
                left.extend(names.map(|(name, ino)| (*ino, format!("{path}/{name}"))));
            }
        }
    }

    /// Makes all that is there durable.
    pub(super) fn sync_all(&mut self) {
        self.tree.sync_all();
    }

    fn settle(&mut self, ino: Ino, path: &str, choice: &mut dyn Choose) {
        let inode = self.tree.get_mut(ino);
        let (old, new) = (inode.synced_mode, inode.mode);
        let bits = || Doubt {
            what: format!("the bits of {path}"),
            ways: vec![format!("{old:04o}"), format!("{new:04o}")],
        };
        if old != new && choice.choose_of(2, &bits) == 0 {
            inode.mode = inode.synced_mode;
        }
        inode.synced_mode = inode.mode;
        match &mut inode.body {
            Body::File(content) => settle_content(content, path, choice),
            Body::Dir(names) => settle_names(names, path, choice),
            Body::Symlink(_) | Body::Special => {}
        }
    }
}

fn settle_names(names: &mut Names, path: &str, choice: &mut dyn Choose) {
    for change in std::mem::take(&mut names.changes) {
        let doubt = || Doubt {
            what: told(&change, path),
            ways: vec!["lost".to_owned(), "kept".to_owned()],
        };
        if choice.choose_of(2, &doubt) == 1 {
            change.apply(&mut names.synced);
        }
    }
    names.now.clone_from(&names.synced);
}

fn told(change: &Change, dir: &str) -> String {
    match change {
        Change::Set(name, _) => format!("the name {dir}/{name}"),
        Change::Remove(name) => format!("the removal of {dir}/{name}"),
        Change::Move(from, to, _) => format!("the rename of {dir}/{from} to {dir}/{to}"),
    }
}

fn settle_content(content: &mut Content, path: &str, choice: &mut dyn Choose) {
    if content.older.is_empty() {
        return;
    }
    let mut versions = std::mem::take(&mut content.older);
    versions.push(Rc::clone(&content.now));
    let mut lengths: Vec<usize> = versions.iter().map(|version| version.len()).collect();
    lengths.dedup();
    let doubt = || Doubt {
        what: format!("the length of {path}"),
        ways: numbered(lengths.iter().map(|length| format!("{length} bytes"))),
    };
    let length = lengths[pick(lengths.len(), choice, &doubt)];
    let sectors = (0..length).step_by(SECTOR);
    let kept =
        sectors.map(|at| settle_sector(&versions, at, SECTOR.min(length - at), path, choice));
    content.now = Rc::new(kept.collect::<Vec<_>>().concat());
}

/// The sector's bytes in one of the versions; what lies behind a version's end is zeros.
fn settle_sector(
    versions: &[Rc<Vec<u8>>],
    at: usize,
    len: usize,
    path: &str,
    choice: &mut dyn Choose,
) -> Vec<u8> {
    let mut ways: Vec<Vec<u8>> = Vec::new();
    for version in versions {
        let end = version.len().min(at + len);
        let mut bytes = version.get(at..end).unwrap_or_default().to_vec();
        bytes.resize(len, 0);
        if !ways.contains(&bytes) {
            ways.push(bytes);
        }
    }
    let doubt = || Doubt {
        what: format!("bytes {at} to {} of {path}", at + len),
        ways: numbered(ways.iter().map(|bytes| content_told(bytes))),
    };
    let way = pick(ways.len(), choice, &doubt);
    ways.swap_remove(way)
}

fn content_told(bytes: &[u8]) -> String {
    if bytes.iter().all(|byte| *byte == 0) { "zeros" } else { "written" }.to_owned()
}

/// Tells equal words apart by their number.
fn numbered(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for word in words {
        let again = (2..).map(|number| format!("{word}, {number}"));
        let free = [word.clone()].into_iter().chain(again).find(|word| !told.contains(word));
        told.extend(free);
    }
    told
}

/// Asks only where there is something to ask.
fn pick(ways: usize, choice: &mut dyn Choose, doubt: &dyn Fn() -> Doubt) -> usize {
    if ways == 1 { 0 } else { choice.choose_of(ways, doubt) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::choice::Every;

    fn outcomes(content: &Content) -> BTreeSet<Vec<u8>> {
        let mut every = Every::new();
        let mut outcomes = BTreeSet::new();
        while every.next_round() {
            let mut content = content.clone();
            settle_content(&mut content, "x", &mut every);
            outcomes.insert(content.now.to_vec());
        }
        outcomes
    }

    #[test]
    fn an_unsynced_write_is_there_or_not_or_only_its_length_is() {
        let mut content = Content::empty();
        content.write(0, b"new");
        let expected = [b"".to_vec(), b"\0\0\0".to_vec(), b"new".to_vec()];
        assert_eq!(outcomes(&content), BTreeSet::from(expected));
    }

    #[test]
    fn sectors_survive_each_for_itself() {
        let mut content = Content::synced(Rc::new(vec![b'a'; 2 * SECTOR]));
        content.write(0, &[b'b'; 2 * SECTOR]);
        assert_eq!(outcomes(&content).len(), 4);
    }

    #[test]
    fn what_was_synced_stays() {
        let content = Content::synced(Rc::new(b"kept".to_vec()));
        assert_eq!(outcomes(&content), BTreeSet::from([b"kept".to_vec()]));
    }
}
