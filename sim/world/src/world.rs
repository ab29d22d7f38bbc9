//! What a director can ask of a world, simulated or live.

use skep_mutant::Mutants;
use skep_plan::{Act, Cast, Schedule};
use skep_trace::{Header, Record, Settled, Trace};
use thiserror::Error;

/// What a world is built from.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// Who takes part.
    pub cast: &'a Cast,
    /// Every choice comes from here.
    pub seed: u64,
    /// The fault of ours that is switched on.
    pub mutants: Mutants,
    /// What the trace says about itself.
    pub header: Header,
    /// The processes of one state directory are to be interleaved at every volume operation.
    pub interleave: bool,
    /// Hops are not all equally long. Only the event gear keeps such a schedule.
    pub schedule: Option<Schedule>,
}

/// A world could not do what it was asked.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WorldError {
    /// The act makes no sense here (starting what runs, a name that is not in the cast).
    #[error("{0}")]
    Act(String),
    /// This world cannot do that at all; the scenario is not applicable, for this reason.
    #[error("{0}")]
    Unsupported(String),
    /// The harness does not do what the run builds on: it does not become ready, takes more than
    /// it may, never comes to the point where it was to be killed, wrote no file to damage.
    #[error("{0}")]
    Harness(String),
    /// Something of ours failed (no port, no temporary directory).
    #[error("{0}")]
    Ours(String),
}

/// What a step's expectations have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Something is still awaited.
    Open,
    /// Nothing is.
    Met,
    /// Something is, but what came already cannot be mended by it. Where waiting takes real time,
    /// it is not worth much.
    Lost,
}

/// A place in which a scenario is played.
pub trait World {
    /// Builds up everything that stands before the first step: starts the harnesses that the cast
    /// says are started, and waits until they are ready.
    ///
    /// # Errors
    /// When the cast cannot be built here.
    fn open(&mut self) -> Result<(), WorldError>;

    /// A step begins.
    fn begin(&mut self, step: usize, title: &str);

    /// Carries out one act; `index` is its place in the step, `text` its line.
    ///
    /// # Errors
    /// When the act cannot be carried out.
    fn act(&mut self, index: usize, text: &str, act: &Act) -> Result<(), WorldError>;

    /// Goes on until nothing but timers is left to do and `outlook` says that all is met, of the
    /// records so far; while it does not, timers may fire. Ends with the step's snapshots.
    ///
    /// # Errors
    /// When something of ours failed meanwhile.
    fn settle(
        &mut self,
        step: usize,
        outlook: &mut dyn FnMut(&[Record]) -> Outlook,
    ) -> Result<Settled, WorldError>;

    /// Ends the run: every process is gone, nothing is left behind.
    fn close(self: Box<Self>) -> Trace;
}
