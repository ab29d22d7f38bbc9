//! What others may know of a harness while it runs.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use skep_trace::Hex32;

/// The state of a harness after its last step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// It hears people.
    pub ready: bool,
    /// The messages that it has taken and not answered.
    pub held: Vec<Hex32>,
    /// Something of its own is under way: a connection being opened or closed, an HTTP call, a
    /// store operation, bytes that the agent has not taken yet.
    pub working: bool,
    /// No turn runs, nothing is asked, nothing is owed.
    pub at_rest: bool,
    /// How many timers run that may change what can be seen.
    pub timers: usize,
    /// How many milliseconds of its clock remain until the first of those fires.
    pub next_timer_ms: Option<u64>,
    /// How many steps it has taken.
    pub steps: u64,
    /// It has ended with this code.
    pub exit: Option<i32>,
}

/// Shares the status of one harness with whoever runs it.
#[derive(Clone, Debug, Default)]
pub struct StatusHandle(Rc<RefCell<Status>>);

impl StatusHandle {
    /// The status as it stands.
    pub fn get(&self) -> Ref<'_, Status> {
        self.0.borrow()
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.0.borrow_mut());
    }
}
