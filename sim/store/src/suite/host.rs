//! What the suite needs of a store under test and of the ground it stands on.
//!
//! A host opens stores, each in a process of its own, and does to their directory what the world
//! does. Hosts differ in what they can do: nobody cuts the power of a real disk for a test. What a
//! host cannot do makes a check not applicable, never held.

use skep_trace::{Hex32, Receipt, Snapshot, Text};

use crate::ops::{StoreAnswer, StoreOp};
use crate::sim::{Choose, Traffic};
use crate::volume::Op;

/// Whose receipts a store keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The relay's URL.
    pub relay: Text,
    /// The agent identity's public key.
    pub pubkey: Hex32,
}

/// Why a check did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The store broke the rule: how, for a person.
    Violated(String),
    /// The rule cannot be checked here: why, for a person.
    NotApplicable(String),
}

/// What a check came to: what it saw, when the rule held.
pub type Verdict = Result<String, Failure>;

/// One process with one store open in it; numbered from 0 since the last [`Host::fresh`].
pub type Process = usize;

/// What one step of an operation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It stopped before this volume operation; the next step does it.
    Before(Op),
    /// It is complete.
    Done(StoreAnswer),
}

/// What a store may do without. A check that asks for more than the store has leaves that part out,
/// or is not applicable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// Compare-and-remove.
    RemoveIf,
    /// All receipts of a scope, listed.
    List,
    /// Receipts of threads beside those of their channels.
    Threads,
    /// Model and mode in each receipt.
    Configuration,
}

/// The name of the state directory, below the ground's own directory.
pub const STATE: &str = "state";

/// A change behind the store's back. Paths lie below the ground's own directory; the state
/// directory is [`STATE`] in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit<'a> {
    /// A file with these bytes and bits, in place of what stands there.
    File(&'a str, &'a [u8], u32),
    /// A directory with these bits.
    Dir(&'a str, u32),
    /// A symbolic link to another path below the ground, in place of what stands there.
    Link(&'a str, &'a str),
    /// A FIFO, in place of what stands there.
    Fifo(&'a str),
    /// Other bits.
    Chmod(&'a str, u32),
    /// Another user's.
    GiveAway(&'a str),
    /// Nothing. A directory goes with all that is in it.
    Remove(&'a str),
    /// No write in the state directory finds room, or room is made.
    Full(bool),
    /// The state directory takes no writes, or takes them again.
    ReadOnly(bool),
    /// The umask of processes that are opened from now on.
    Umask(u32),
}

/// Looks at a disk that a power cut left; it is told the way that was chosen at each doubt.
pub type Visit<'a, H> = dyn FnMut(&mut H, &[usize]) -> Result<(), Failure> + 'a;

/// Opens stores and changes the world around them.
pub trait Host: Sized {
    /// Ends every process and begins with an empty disk, without a state directory.
    fn fresh(&mut self);

    /// Opens a store in a process of its own.
    ///
    /// # Errors
    /// When it hangs.
    fn open(&mut self, scope: &Scope, now_ms: u64) -> Result<Process, Failure>;

    /// What a process has warned of since the last call, from its opening on.
    fn warnings(&mut self, process: Process) -> Vec<Text>;

    /// Carries out an operation.
    ///
    /// # Errors
    /// When it hangs.
    fn apply(&mut self, process: Process, op: StoreOp, now_ms: u64)
    -> Result<StoreAnswer, Failure>;

    /// Every receipt of the process's scope.
    ///
    /// # Errors
    /// When it hangs, or the store cannot say.
    fn list(&mut self, process: Process, now_ms: u64) -> Result<Vec<Receipt>, Failure>;

    /// All that stands below the ground's own directory.
    fn look(&mut self) -> Snapshot;

    /// Changes something from outside.
    ///
    /// # Errors
    /// When this host cannot.
    fn edit(&mut self, edit: Edit<'_>) -> Result<(), Failure>;

    /// Whether the store has this. What is asked of a store without it is not applicable.
    fn offers(&self, _feature: Feature) -> bool {
        true
    }

    /// How long an unused entry lives; `None` is for ever.
    fn life_ms(&self) -> Option<u64>;

    /// How much the volume has read and written; `None` where nobody counts.
    fn traffic(&self) -> Option<Traffic>;

    /// Fills the store of a scope with so many receipts, for rules about cost.
    ///
    /// # Errors
    /// When this host cannot.
    fn bulk(&mut self, scope: &Scope, receipts: usize) -> Result<(), Failure>;

    /// Begins an operation that is carried out step by step.
    ///
    /// # Errors
    /// When this host cannot stop inside an operation.
    fn begin(&mut self, process: Process, op: StoreOp, now_ms: u64) -> Result<(), Failure>;

    /// Carries the begun operation one step further.
    fn step(&mut self, process: Process) -> Step;

    /// The process holds a lock.
    fn holds_lock(&self, process: Process) -> bool;

    /// Kills a process: nothing that it does afterwards counts.
    fn kill(&mut self, process: Process);

    /// Cuts the power and looks at what is left, once for each disk that is possible, but at most
    /// `most` times; says how often. It is what might have been: all processes are dead each time,
    /// and live on where they were when all is seen.
    ///
    /// # Errors
    /// What a visit says, or that this host cannot.
    fn power_losses(&mut self, most: usize, visit: &mut Visit<'_, Self>) -> Result<usize, Failure>;

    /// Cuts the power for good: every process is dead, and the disk is one that is possible.
    ///
    /// # Errors
    /// When this host cannot.
    fn power_loss(&mut self, choice: &mut dyn Choose) -> Result<(), Failure>;

    /// Makes all that is on the disk durable, so that a power cut takes nothing of it back. Does
    /// nothing where nobody cuts the power.
    fn make_durable(&mut self);

    /// Remembers the disk as it is, for [`Host::back`].
    fn keep(&mut self);

    /// Puts the disk back as it was kept, without a process on it. `false`: this host cannot, and
    /// whoever wants that disk makes it again.
    fn back(&mut self) -> bool;

    /// How many schedules of one question are tried. `None`: every one.
    fn schedules(&self) -> Option<u64>;

    /// Runs each list of operations in a process of its own, all at the same time.
    ///
    /// # Errors
    /// When this host cannot.
    fn race(
        &mut self,
        scope: &Scope,
        work: Vec<Vec<StoreOp>>,
    ) -> Result<Vec<Vec<StoreAnswer>>, Failure>;
}
