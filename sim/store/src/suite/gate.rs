//! The real disk with a gate before each operation: for stopping, killing and counting.
//!
//! A process here is no process of the operating system: killing it is never letting it act again
//! and closing its files, which is all that the disk ever hears of a kill.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use skep_trace::Text;

use crate::error::DiskError;
use crate::real::{RealFile, RealVolume};
use crate::sim::Traffic;
use crate::volume::{Create, Meta, Op, Open, Volume};

/// One process's gate.
#[derive(Debug, Default)]
pub(super) struct Gate {
    pub(super) stepwise: bool,
    pub(super) dead: bool,
    pub(super) locked: bool,
    pub(super) pending: Option<Op>,
}

/// The real disk behind a gate.
#[derive(Clone, Debug)]
pub struct GatedVolume {
    volume: RealVolume,
    pub(super) gate: Rc<RefCell<Gate>>,
    traffic: Rc<Cell<Traffic>>,
}

struct Turn<'a> {
    gate: &'a RefCell<Gate>,
    op: Op,
    waited: bool,
}

impl Future for Turn<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let mut gate = self.gate.borrow_mut();
        let acts = !gate.dead && (self.waited || !gate.stepwise);
        gate.pending = if acts { None } else { Some(self.op) };
        drop(gate);
        self.waited = true;
        if acts { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl GatedVolume {
    pub(super) fn new(traffic: &Rc<Cell<Traffic>>) -> Self {
        Self { volume: RealVolume::new(0), gate: Rc::default(), traffic: Rc::clone(traffic) }
    }

    async fn turn(&self, op: Op) {
        Turn { gate: &self.gate, op, waited: false }.await;
        self.count(|traffic| traffic.operations += 1);
    }

    fn count(&self, add: impl FnOnce(&mut Traffic)) {
        let mut traffic = self.traffic.get();
        add(&mut traffic);
        self.traffic.set(traffic);
    }
}

impl Volume for GatedVolume {
    type File = RealFile;

    async fn open(&self, path: &str, how: Open) -> Result<RealFile, DiskError> {
        self.turn(if how.create == Create::Never { Op::Open } else { Op::Create }).await;
        self.volume.open(path, how).await
    }

    async fn read(&self, file: &RealFile, limit: u64) -> Result<Vec<u8>, DiskError> {
        self.turn(Op::Read).await;
        let bytes = self.volume.read(file, limit).await?;
        self.count(|traffic| traffic.read += bytes.len() as u64);
        Ok(bytes)
    }

    async fn write(&self, file: &RealFile, bytes: &[u8]) -> Result<(), DiskError> {
        self.turn(Op::Write).await;
        self.count(|traffic| traffic.written += bytes.len() as u64);
        self.volume.write(file, bytes).await
    }

    async fn sync(&self, file: &RealFile) -> Result<(), DiskError> {
        self.turn(Op::Sync).await;
        self.volume.sync(file).await
    }

    async fn stat(&self, file: &RealFile) -> Result<Meta, DiskError> {
        self.turn(Op::Stat).await;
        self.volume.stat(file).await
    }

    async fn lstat(&self, path: &str) -> Result<Meta, DiskError> {
        self.turn(Op::Lstat).await;
        self.volume.lstat(path).await
    }

    async fn chmod(&self, path: &str, mode: u32) -> Result<(), DiskError> {
        self.turn(Op::Chmod).await;
        self.volume.chmod(path, mode).await
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), DiskError> {
        self.turn(Op::Rename).await;
        self.volume.rename(from, to).await
    }

    async fn link(&self, from: &str, to: &str) -> Result<(), DiskError> {
        self.turn(Op::Link).await;
        self.volume.link(from, to).await
    }

    async fn unlink(&self, path: &str) -> Result<(), DiskError> {
        self.turn(Op::Unlink).await;
        self.volume.unlink(path).await
    }

    async fn mkdir(&self, path: &str, mode: Option<u32>) -> Result<(), DiskError> {
        self.turn(Op::Mkdir).await;
        self.volume.mkdir(path, mode).await
    }

    async fn sync_dir(&self, path: &str) -> Result<(), DiskError> {
        self.turn(Op::SyncDir).await;
        self.volume.sync_dir(path).await
    }

    async fn list(&self, path: &str) -> Result<Vec<Text>, DiskError> {
        self.turn(Op::List).await;
        self.volume.list(path).await
    }

    async fn try_lock(&self, file: &RealFile) -> Result<bool, DiskError> {
        self.turn(Op::TryLock).await;
        let locked = self.volume.try_lock(file).await?;
        self.gate.borrow_mut().locked |= locked;
        Ok(locked)
    }

    async fn unlock(&self, file: RealFile) {
        self.turn(Op::Unlock).await;
        self.gate.borrow_mut().locked = false;
        self.volume.unlock(file).await;
    }

    async fn wait(&self, ms: u64) {
        self.turn(Op::Wait(ms)).await;
        self.volume.wait(ms).await;
    }

    fn unique(&self) -> Text {
        self.volume.unique()
    }

    fn user(&self) -> u32 {
        self.volume.user()
    }
}
