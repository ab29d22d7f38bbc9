//! Operations on their way: who goes next, and who need not.
//!
//! What is explored are futures that stop before each volume operation, so a schedule is a list of
//! choices and a run takes microseconds.
//!
//! Two neighbours that cannot affect each other are tried in one order only (sleep sets: what was
//! tried first at a fork need not be tried again in its siblings until something happens that
//! matters to it). Sleep sets spare ways to a state, and no state.
//!
//! An operation that waits for a lock is left alone until another one gave a lock back or ended:
//! until then it would only find the lock taken again. How long it may wait is S-12's business.

use super::case::NOW;
use super::host::{Failure, Host, Process, Step};
use super::sequence::Fate;
use crate::ops::{StoreAnswer, StoreOp};
use crate::volume::Op;

/// Whether two operations of two processes come to the same in either order.
pub(crate) type Commutes = fn(Op, Op) -> bool;

/// One operation on its way.
struct Guest {
    process: Process,
    /// The volume operation that its next step does.
    before: Op,
    /// It waits for a lock that nobody has given back since.
    waits: bool,
    /// Going on with it now was tried at an earlier fork, and nothing happened since that makes a
    /// difference to it.
    spared: bool,
    killed: bool,
    /// The steps, counted over all guests, of its first act and of its end.
    began: usize,
    answer: Option<(usize, StoreAnswer)>,
}

/// One schedule's course.
pub(crate) struct Course {
    guests: Vec<Guest>,
    /// Who did what, in order.
    acts: Vec<(usize, Op)>,
    commutes: Commutes,
}

impl Guest {
    fn new(process: Process) -> Self {
        Self {
            process,
            before: Op::Lstat,
            waits: false,
            spared: false,
            killed: false,
            began: usize::MAX,
            answer: None,
        }
    }

    fn is_on_its_way(&self) -> bool {
        self.answer.is_none() && !self.killed
    }

    fn is_ready(&self) -> bool {
        self.is_on_its_way() && !self.waits
    }

    fn take(&mut self, step: Step, now: usize) {
        match step {
            Step::Before(op) => {
                self.before = op;
                self.waits = matches!(op, Op::Wait(_));
            }
            Step::Done(answer) => self.answer = Some((now, answer)),
        }
    }
}

impl Course {
    /// Opens a store for each operation and brings it to before its first act. All are open before
    /// any begins: what one remembers from then is old when it acts.
    pub(crate) fn begin<'a, H: Host>(
        host: &mut H,
        ops: impl Iterator<Item = &'a StoreOp> + Clone,
        commutes: Commutes,
    ) -> Result<Self, Failure> {
        let mut guests = Vec::new();
        for _ in ops.clone() {
            guests.push(Guest::new(host.open(&super::case::scope(), NOW)?));
        }
        for (guest, op) in guests.iter_mut().zip(ops) {
            host.begin(guest.process, op.clone(), NOW)?;
            guest.take(host.step(guest.process), 0);
        }
        Ok(Self { guests, acts: Vec::new(), commutes })
    }

    /// Some can go on.
    pub(crate) fn goes_on(&self) -> bool {
        self.guests.iter().any(Guest::is_ready)
    }

    /// Some wait, and nobody is left to wait for.
    pub(crate) fn is_stuck(&self) -> bool {
        !self.goes_on() && self.guests.iter().any(Guest::is_on_its_way)
    }

    /// Who can go on.
    pub(crate) fn ready(&self) -> Vec<usize> {
        self.those(Guest::is_ready)
    }

    /// Who can go on and was not tried in another schedule that comes to the same.
    pub(crate) fn unspared(&self) -> Vec<usize> {
        self.those(|guest| guest.is_ready() && !guest.spared)
    }

    /// Who is not done and not killed.
    pub(crate) fn on_their_way(&self) -> Vec<usize> {
        self.those(Guest::is_on_its_way)
    }

    fn those(&self, are: impl Fn(&Guest) -> bool) -> Vec<usize> {
        (0..self.guests.len()).filter(|at| are(&self.guests[*at])).collect()
    }

    /// These were tried before, at this fork.
    pub(crate) fn spare(&mut self, tried: &[usize]) {
        for at in tried {
            self.guests[*at].spared = true;
        }
    }

    /// Lets one go a step further.
    pub(crate) fn act<H: Host>(&mut self, host: &mut H, at: usize) {
        let now = self.acts.len();
        let guest = &mut self.guests[at];
        let did = guest.before;
        guest.began = guest.began.min(now);
        guest.take(host.step(guest.process), now);
        let freed = guest.answer.is_some() || did == Op::Unlock;
        self.acts.push((at, did));
        for guest in &mut self.guests {
            guest.waits &= !freed;
            guest.spared &= (self.commutes)(guest.before, did);
        }
    }

    /// Kills one where it stands.
    pub(crate) fn kill<H: Host>(&mut self, host: &mut H, at: usize) {
        host.kill(self.guests[at].process);
        self.guests[at].killed = true;
        for guest in &mut self.guests {
            (guest.waits, guest.spared) = (false, false);
        }
    }

    /// How many are done.
    pub(crate) fn answered(&self) -> usize {
        self.guests.iter().filter(|guest| guest.answer.is_some()).count()
    }

    /// What one will do when it goes on.
    pub(crate) fn before(&self, at: usize) -> Op {
        self.guests[at].before
    }

    /// What became of each so far.
    pub(crate) fn fates(&self) -> Vec<Fate> {
        let fate = |guest: &Guest| Fate { began: guest.began, answer: guest.answer.clone() };
        self.guests.iter().map(fate).collect()
    }

    /// Who did what, for a person.
    pub(crate) fn told(&self) -> String {
        let acts = self.acts.iter().map(|(at, op)| format!("{at}:{op:?}"));
        acts.collect::<Vec<_>>().join(" ")
    }
}
