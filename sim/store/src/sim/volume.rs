//! One process's view of the simulated disk.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use skep_trace::Text;

use super::disk::{Disk, Fd, Pid};
use crate::error::{DiskError, Errno};
use crate::volume::{Create, Meta, Op, Open, Volume};

/// A simulated disk as one process sees it; clones belong to the same process.
#[derive(Clone, Debug)]
pub struct SimVolume {
    pub(super) disk: Rc<RefCell<Disk>>,
    pub(super) pid: Pid,
}

/// An open file on a simulated disk.
#[derive(Debug)]
pub struct SimFile {
    disk: Rc<RefCell<Disk>>,
    fd: Fd,
}

impl Drop for SimFile {
    fn drop(&mut self) {
        self.disk.borrow_mut().close(self.fd);
    }
}

/// The wait for an operation's turn: over at once, or after the process was polled once more, or
/// never.
struct Turn<'a> {
    volume: &'a SimVolume,
    op: Op,
    waited: bool,
}

impl Future for Turn<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut disk = self.volume.disk.borrow_mut();
        if disk.process(self.volume.pid).turn(self.op, self.waited) {
            disk.traffic.operations += 1;
            return Poll::Ready(());
        }
        drop(disk);
        if !self.waited {
            // An executor polls again by itself; a scheduler that polls by hand does not care.
            context.waker().wake_by_ref();
        }
        self.waited = true;
        Poll::Pending
    }
}

impl SimVolume {
    /// The number of its process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    fn turn(&self, op: Op) -> Turn<'_> {
        Turn { volume: self, op, waited: false }
    }

    /// An operation on a path.
    async fn at<T>(
        &self,
        op: Op,
        verb: &'static str,
        path: &str,
        act: impl FnOnce(&mut Disk, Pid) -> Result<T, Errno>,
    ) -> Result<T, DiskError> {
        self.turn(op).await;
        let done = act(&mut self.disk.borrow_mut(), self.pid);
        done.map_err(|errno| DiskError::new(errno, verb, path))
    }

    /// An operation on an open file.
    async fn on<T>(
        &self,
        op: Op,
        verb: &'static str,
        file: &SimFile,
        act: impl FnOnce(&mut Disk, Fd) -> Result<T, Errno>,
    ) -> Result<T, DiskError> {
        self.turn(op).await;
        let mut disk = self.disk.borrow_mut();
        let done = act(&mut disk, file.fd);
        done.map_err(|errno| DiskError::new(errno, verb, &disk.file(file.fd).path))
    }
}

impl Volume for SimVolume {
    type File = SimFile;

    async fn open(&self, path: &str, how: Open) -> Result<SimFile, DiskError> {
        let op = if how.create == Create::Never { Op::Open } else { Op::Create };
        self.turn(op).await;
        if self.disk.borrow().blocks(self.pid, path, how) {
            self.disk.borrow_mut().process(self.pid).pending = Some(op);
            pending::<()>().await;
        }
        let fd = self.disk.borrow_mut().open(self.pid, path, how);
        let fd = fd.map_err(|errno| DiskError::new(errno, "open", path))?;
        Ok(SimFile { disk: Rc::clone(&self.disk), fd })
    }

    async fn read(&self, file: &SimFile, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.on(Op::Read, "read", file, |disk, fd| disk.read(fd, limit)).await
    }

    async fn write(&self, file: &SimFile, bytes: &[u8]) -> Result<(), DiskError> {
        self.on(Op::Write, "write", file, |disk, fd| disk.write(fd, bytes)).await
    }

    async fn sync(&self, file: &SimFile) -> Result<(), DiskError> {
        let sync = |disk: &mut Disk, fd| {
            disk.sync(fd);
            Ok(())
        };
        self.on(Op::Sync, "sync", file, sync).await
    }

    async fn stat(&self, file: &SimFile) -> Result<Meta, DiskError> {
        self.on(Op::Stat, "look at", file, |disk, fd| Ok(disk.meta(disk.file(fd).ino))).await
    }

    async fn lstat(&self, path: &str) -> Result<Meta, DiskError> {
        self.at(Op::Lstat, "look at", path, |disk, pid| disk.lstat(pid, path)).await
    }

    async fn chmod(&self, path: &str, mode: u32) -> Result<(), DiskError> {
        self.at(Op::Chmod, "change the mode of", path, |disk, pid| disk.chmod(pid, path, mode))
            .await
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        self.at(Op::Rename, "rename", from, |disk, pid| disk.rename(pid, from, to)).await
    }

    async fn link(&self, from: &str, to: &str) -> Result<(), DiskError> {
        self.at(Op::Link, "link", from, |disk, pid| disk.link(pid, from, to)).await
    }

    async fn unlink(&self, path: &str) -> Result<(), DiskError> {
        self.at(Op::Unlink, "remove", path, |disk, pid| disk.unlink(pid, path)).await
    }

    async fn mkdir(&self, path: &str, mode: Option<u32>) -> Result<(), DiskError> {
        self.at(Op::Mkdir, "make", path, |disk, pid| disk.mkdir(pid, path, mode)).await
    }

    async fn sync_dir(&self, path: &str) -> Result<(), DiskError> {
        self.at(Op::SyncDir, "sync", path, |disk, pid| disk.sync_dir(pid, path)).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Text>, DiskError> {
        self.at(Op::List, "list", path, |disk, pid| disk.list(pid, path)).await
    }

    async fn try_lock(&self, file: &SimFile) -> Result<bool, DiskError> {
        self.on(Op::TryLock, "lock", file, |disk, fd| Ok(disk.try_lock(fd))).await
    }

    async fn unlock(&self, file: SimFile) {
        self.turn(Op::Unlock).await;
        drop(file);
    }

    async fn wait(&self, ms: u64) {
        self.turn(Op::Wait(ms)).await;
    }

    fn unique(&self) -> Text {
        let mut disk = self.disk.borrow_mut();
        let process = disk.process(self.pid);
        process.named += 1;
        format!("{}-{}", self.pid, process.named).into()
    }

    fn user(&self) -> u32 {
        self.disk.borrow().user(self.pid)
    }
}
