//! A scenario's acts on a state directory.

use skep_plan::DiskOp;

use super::owner::{OutsideError, SimDisk};
use crate::damage::damaged;
use crate::path::join;
use crate::volume::Kind;

impl SimDisk {
    /// Carries out a scenario's act on a state directory.
    ///
    /// # Errors
    /// When there is nothing that it could happen to.
    pub fn carry_out(&self, dir: &str, op: &DiskOp) -> Result<(), OutsideError> {
        match op {
            DiskOp::Fill(full) => self.fill(dir, *full),
            DiskOp::ReadOnly(read_only) => self.read_only(dir, *read_only),
            DiskOp::Snapshot(name) => self.remember(dir, name),
            DiskOp::Restore(name) => self.restore(dir, name),
            _ => {
                let files = self.store_files(dir);
                if files.is_empty() {
                    return Err(OutsideError::NoStoreFile(dir.into()));
                }
                files.iter().try_for_each(|file| self.change_file(file, op))
            }
        }
    }

    /// The files that a store keeps its receipts in: not its lock, not what it left or set aside.
    fn store_files(&self, dir: &str) -> Vec<String> {
        let disk = self.disk.borrow();
        let Ok(ino) = disk.find(dir).and_then(|place| place.ino()) else { return Vec::new() };
        let Ok(names) = disk.tree.names(ino) else { return Vec::new() };
        let is_store = |name: &str, ino| {
            let kind = disk.tree.get(ino).kind();
            name.ends_with(".json") && matches!(kind, Kind::File | Kind::Symlink)
        };
        let files = names.now.iter().filter(|(name, ino)| is_store(name, **ino));
        files.map(|(name, _)| join(dir, name)).collect()
    }

    fn change_file(&self, file: &str, op: &DiskOp) -> Result<(), OutsideError> {
        match op {
            DiskOp::Delete => self.remove(file),
            DiskOp::Chmod { mode } => self.chmod(file, *mode),
            DiskOp::Symlink => {
                let target = format!("{file}.moved");
                self.outside(file, |disk| disk.move_name(file, &target))?;
                self.put_link(file, &target)
            }
            _ => {
                let bytes = damaged(self.bytes(file).unwrap_or_default(), op);
                self.outside(file, |disk| disk.put_bytes(file, bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/state/sessions.json";

    fn disk() -> SimDisk {
        let disk = SimDisk::new();
        disk.make_dir("/state", 0o700).unwrap();
        disk.put_file(FILE, b"0123456789", 0o600).unwrap();
        disk.put_file("/state/sessions.lock", b"", 0o600).unwrap();
        disk
    }

    fn after(op: &DiskOp) -> Vec<u8> {
        let disk = disk();
        disk.carry_out("/state", op).unwrap();
        disk.bytes(FILE).unwrap()
    }

    #[test]
    fn damage_is_done_to_the_bytes() {
        assert_eq!(after(&DiskOp::Corrupt), b"012###6789");
        assert_eq!(after(&DiskOp::Truncate { bytes: 7 }), b"012");
        assert_eq!(after(&DiskOp::NulTail { bytes: 2 }), b"0123456789\0\0");
        assert_eq!(after(&DiskOp::AppendGarbage), b"0123456789{\"half\":");
        assert_eq!(after(&DiskOp::Write(Box::from(*b"x"))), b"x");
    }

    #[test]
    fn a_link_takes_the_file_s_place() {
        let disk = disk();
        disk.carry_out("/state", &DiskOp::Symlink).unwrap();
        assert_eq!(disk.bytes(FILE), None);
        assert_eq!(disk.bytes("/state/sessions.json.moved").unwrap(), b"0123456789");
    }

    #[test]
    fn what_was_remembered_comes_back() {
        let disk = disk();
        let before = disk.snapshot("/state");
        disk.carry_out("/state", &DiskOp::Snapshot("then".into())).unwrap();
        disk.carry_out("/state", &DiskOp::Delete).unwrap();
        assert_ne!(disk.snapshot("/state"), before);
        disk.carry_out("/state", &DiskOp::Restore("then".into())).unwrap();
        assert_eq!(disk.snapshot("/state"), before);
    }

    #[test]
    fn an_act_on_nothing_is_refused() {
        let disk = SimDisk::new();
        disk.make_dir("/state", 0o700).unwrap();
        let refused = disk.carry_out("/state", &DiskOp::Corrupt);
        assert_eq!(refused, Err(OutsideError::NoStoreFile("/state".into())));
    }
}
