//! A host for stores that are Rust types over a [`Volume`], on either kind of disk.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use skep_trace::{Receipt, Snapshot, Text};

use super::host::{Edit, Failure, Host, Process, Scope, Step, Visit};
use crate::ops::{StoreAnswer, StoreOp};
use crate::poll::{poll, run};
use crate::sim::{Choose, Every, Traffic};
use crate::volume::{Op, Volume};

/// A store that needs more polls than this for one operation hangs: a bounded wait for a lock takes
/// a few hundred.
const MOST_POLLS: usize = 5_000;

/// A kind of store, on whatever volume.
pub trait Subject: Clone + Send + Sync + 'static {
    /// The store.
    type Store<V: Volume + 'static>: Handle + 'static;

    /// Opens one; what it warns of comes with it.
    fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        now_ms: u64,
    ) -> impl Future<Output = (Self::Store<V>, Vec<Text>)>;

    /// How long an unused entry lives; `None` is for ever.
    fn life_ms(&self) -> Option<u64>;

    /// Name and bytes of a file with so many receipts; `None`: the suite writes them one by one.
    fn bulk(&self, scope: &Scope, receipts: usize) -> Option<(String, Vec<u8>)>;
}

/// An open store.
pub trait Handle {
    /// Carries out an operation.
    fn apply(&self, op: StoreOp, now_ms: u64) -> impl Future<Output = StoreAnswer>;

    /// Every receipt, or why it cannot say.
    fn list(&self, now_ms: u64) -> impl Future<Output = Result<Vec<Receipt>, Text>>;

    /// What it has warned of since the last call.
    fn warnings(&self) -> Vec<Text>;
}

/// A disk to stand on.
pub trait Ground: Sized {
    /// What a process sees of it. Clones belong to the same process.
    type Volume: Volume + Clone + 'static;

    /// Empties it.
    fn fresh(&mut self);

    /// The ground's own directory.
    fn root(&self) -> String;

    /// A new process.
    fn process(&mut self) -> Self::Volume;

    /// Every operation of the process is pending once before it acts, or none.
    fn stepwise(&self, volume: &Self::Volume, on: bool);

    /// The operation that the process is stopped before.
    fn pending(&self, volume: &Self::Volume) -> Option<Op>;

    /// The process holds a lock.
    fn holds_lock(&self, volume: &Self::Volume) -> bool;

    /// Nothing that the process still does counts.
    fn kill(&self, volume: &Self::Volume);

    /// All that stands below its directory.
    fn look(&self) -> Snapshot;

    /// Changes something from outside.
    ///
    /// # Errors
    /// When it cannot.
    fn edit(&mut self, edit: Edit<'_>) -> Result<(), Failure>;

    /// What went over it.
    fn traffic(&self) -> Traffic;

    /// Another ground in the same state; `None` where there is no such thing.
    fn fork(&self) -> Option<Self>;

    /// Cuts the power of a fork.
    fn power_loss(&mut self, choice: &mut dyn Choose);

    /// Makes all that is there durable; does nothing where nobody cuts the power.
    fn make_durable(&self);

    /// How many schedules of one question are tried. `None`: every one.
    fn schedules(&self) -> Option<u64>;

    /// Runs each list in a thread of its own; `None` where there are none.
    fn race<S: Subject>(
        &self,
        subject: &S,
        scope: &Scope,
        work: Vec<Vec<StoreOp>>,
    ) -> Option<Vec<Vec<StoreAnswer>>>;
}

type Running = Pin<Box<dyn Future<Output = StoreAnswer>>>;

struct Slot<S, V> {
    volume: V,
    store: Rc<S>,
    running: Option<Running>,
    warnings: Vec<Text>,
}

type SlotOf<S, G> = Slot<<S as Subject>::Store<<G as Ground>::Volume>, <G as Ground>::Volume>;

/// Stores of one kind on one disk.
pub struct LocalHost<S: Subject, G: Ground> {
    subject: S,
    ground: G,
    kept: Option<G>,
    slots: BTreeMap<Process, SlotOf<S, G>>,
}

impl<S: Subject, G: Ground> LocalHost<S, G> {
    /// A host for such stores on this ground.
    pub fn new(subject: S, ground: G) -> Self {
        Self { subject, ground, kept: None, slots: BTreeMap::new() }
    }

    fn slot(&mut self, process: Process) -> &mut SlotOf<S, G> {
        self.slots.get_mut(&process).expect("a check uses processes that it opened")
    }

    fn state(&self) -> String {
        crate::path::join(&self.ground.root(), super::host::STATE)
    }
}

fn hangs(what: &str) -> Failure {
    Failure::Violated(format!("{what} hangs: it is still not done after {MOST_POLLS} polls"))
}

impl<S: Subject, G: Ground> Host for LocalHost<S, G> {
    fn fresh(&mut self) {
        self.slots.clear();
        self.ground.fresh();
    }

    fn open(&mut self, scope: &Scope, now_ms: u64) -> Result<Process, Failure> {
        let volume = self.ground.process();
        let state = self.state();
        let opening = self.subject.open(volume.clone(), &state, scope, now_ms);
        let (store, warnings) = run(opening, MOST_POLLS).ok_or_else(|| hangs("opening"))?;
        let process = self.slots.keys().next_back().map_or(0, |last| last + 1);
        let slot = Slot { volume, store: Rc::new(store), running: None, warnings };
        self.slots.insert(process, slot);
        Ok(process)
    }

    fn warnings(&mut self, process: Process) -> Vec<Text> {
        let slot = self.slot(process);
        let mut warnings = std::mem::take(&mut slot.warnings);
        warnings.extend(slot.store.warnings());
        warnings
    }

    fn apply(
        &mut self,
        process: Process,
        op: StoreOp,
        now_ms: u64,
    ) -> Result<StoreAnswer, Failure> {
        let what = format!("{op:?}");
        let store = Rc::clone(&self.slot(process).store);
        run(store.apply(op, now_ms), MOST_POLLS).ok_or_else(|| hangs(&what))
    }

    fn list(&mut self, process: Process, now_ms: u64) -> Result<Vec<Receipt>, Failure> {
        let store = Rc::clone(&self.slot(process).store);
        let listed = run(store.list(now_ms), MOST_POLLS).ok_or_else(|| hangs("list"))?;
        listed.map_err(|why| Failure::Violated(format!("list fails: {why}")))
    }

    fn look(&mut self) -> Snapshot {
        self.ground.look()
    }

    fn edit(&mut self, edit: Edit<'_>) -> Result<(), Failure> {
        self.ground.edit(edit)
    }

    fn life_ms(&self) -> Option<u64> {
        self.subject.life_ms()
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.ground.traffic())
    }

    fn bulk(&mut self, scope: &Scope, receipts: usize) -> Result<(), Failure> {
        let Some((name, bytes)) = self.subject.bulk(scope, receipts) else {
            let why = "nobody knows how to write so many receipts at once";
            return Err(Failure::NotApplicable(why.to_owned()));
        };
        self.ground.edit(Edit::Dir(super::host::STATE, 0o700))?;
        let path = format!("{}/{name}", super::host::STATE);
        self.ground.edit(Edit::File(&path, &bytes, 0o600))
    }

    fn begin(&mut self, process: Process, op: StoreOp, now_ms: u64) -> Result<(), Failure> {
        let slot = self.slot(process);
        let (store, volume) = (Rc::clone(&slot.store), slot.volume.clone());
        slot.running = Some(Box::pin(async move { store.apply(op, now_ms).await }));
        self.ground.stepwise(&volume, true);
        Ok(())
    }

    fn step(&mut self, process: Process) -> Step {
        let slot = self.slot(process);
        let volume = slot.volume.clone();
        let running = slot.running.as_mut().expect("a check steps what it began");
        match poll(running.as_mut()) {
            Poll::Ready(answer) => {
                slot.running = None;
                self.ground.stepwise(&volume, false);
                Step::Done(answer)
            }
            Poll::Pending => {
                let op = self.ground.pending(&volume);
                Step::Before(op.expect("a store waits for nothing but its volume"))
            }
        }
    }

    fn holds_lock(&self, process: Process) -> bool {
        self.slots.get(&process).is_some_and(|slot| self.ground.holds_lock(&slot.volume))
    }

    fn kill(&mut self, process: Process) {
        if let Some(slot) = self.slots.remove(&process) {
            self.ground.kill(&slot.volume);
        }
    }

    fn power_losses(&mut self, most: usize, visit: &mut Visit<'_, Self>) -> Result<usize, Failure> {
        let fork = |ground: &G| {
            let why = "nobody cuts the power of a real disk for a test";
            ground.fork().ok_or_else(|| Failure::NotApplicable(why.to_owned()))
        };
        // The processes live on; what happens to forks of their disk is what might have been.
        let first = fork(&self.ground)?;
        let ground = std::mem::replace(&mut self.ground, first);
        let slots = std::mem::take(&mut self.slots);
        let mut every = Every::new();
        let mut times = 0;
        let mut seen = Ok(());
        while seen.is_ok() && times < most && every.next_round() {
            self.ground = fork(&ground)?;
            self.ground.power_loss(&mut every);
            times += 1;
            seen = visit(self, &every.ways());
            self.slots.clear();
        }
        self.ground = ground;
        self.slots = slots;
        seen.map(|()| times)
    }

    fn power_loss(&mut self, choice: &mut dyn Choose) -> Result<(), Failure> {
        let Some(mut ground) = self.ground.fork() else {
            let why = "nobody cuts the power of a real disk for a test";
            return Err(Failure::NotApplicable(why.to_owned()));
        };
        ground.power_loss(choice);
        self.slots.clear();
        self.ground = ground;
        Ok(())
    }

    fn make_durable(&mut self) {
        self.ground.make_durable();
    }

    fn keep(&mut self) {
        self.kept = self.ground.fork();
    }

    fn back(&mut self) -> bool {
        let Some(ground) = self.kept.as_ref().and_then(Ground::fork) else { return false };
        self.slots.clear();
        self.ground = ground;
        true
    }

    fn schedules(&self) -> Option<u64> {
        self.ground.schedules()
    }

    fn race(
        &mut self,
        scope: &Scope,
        work: Vec<Vec<StoreOp>>,
    ) -> Result<Vec<Vec<StoreAnswer>>, Failure> {
        let raced = self.ground.race(&self.subject, scope, work);
        raced.ok_or_else(|| Failure::NotApplicable("there are no threads here".to_owned()))
    }
}
