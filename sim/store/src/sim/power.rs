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

use super::choice::Choose;
use super::disk::Disk;
use super::inode::{Body, Content, Ino, Names};
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
        let mut left = vec![ROOT];
        while let Some(ino) = left.pop() {
            if settled.insert(ino) {
                self.settle(ino, choice);
                left.extend(self.tree.names(ino).iter().flat_map(|names| names.now.values()));
            }
        }
    }

    fn settle(&mut self, ino: Ino, choice: &mut dyn Choose) {
        let inode = self.tree.get_mut(ino);
        if inode.mode != inode.synced_mode && choice.choose(2) == 0 {
            inode.mode = inode.synced_mode;
        }
        inode.synced_mode = inode.mode;
        match &mut inode.body {
            Body::File(content) => settle_content(content, choice),
            Body::Dir(names) => settle_names(names, choice),
            Body::Symlink(_) | Body::Special => {}
        }
    }
}

fn settle_names(names: &mut Names, choice: &mut dyn Choose) {
    for change in std::mem::take(&mut names.changes) {
        if choice.choose(2) == 1 {
            change.apply(&mut names.synced);
        }
    }
    names.now.clone_from(&names.synced);
}

fn settle_content(content: &mut Content, choice: &mut dyn Choose) {
    if content.older.is_empty() {
        return;
    }
    let mut versions = std::mem::take(&mut content.older);
    versions.push(Rc::clone(&content.now));
    let mut lengths: Vec<usize> = versions.iter().map(|version| version.len()).collect();
    lengths.dedup();
    let length = lengths[pick(lengths.len(), choice)];
    let sectors = (0..length).step_by(SECTOR);
    let kept = sectors.map(|at| settle_sector(&versions, at, SECTOR.min(length - at), choice));
    content.now = Rc::new(kept.collect::<Vec<_>>().concat());
}

/// The sector's bytes in one of the versions; what lies behind a version's end is zeros.
fn settle_sector(
    versions: &[Rc<Vec<u8>>],
    at: usize,
    len: usize,
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
    let way = pick(ways.len(), choice);
    ways.swap_remove(way)
}

/// Asks only where there is something to ask.
fn pick(ways: usize, choice: &mut dyn Choose) -> usize {
    if ways == 1 { 0 } else { choice.choose(ways) }
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
            settle_content(&mut content, &mut every);
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
