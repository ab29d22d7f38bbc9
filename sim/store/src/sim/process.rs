//! The processes that use a simulated disk, and where each of them is held up.

use skep_plan::Point;

use crate::volume::Op;

/// One process's standing at the disk.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) user: u32,
    pub(super) umask: u32,
    /// A killed process gets no turn any more.
    pub(super) alive: bool,
    /// Every operation waits once before it acts.
    pub(super) stepwise: bool,
    /// The operation that waits for its turn.
    pub(super) pending: Option<Op>,
    /// Names given by [`crate::Volume::unique`].
    pub(super) named: u64,
    trap: Option<Trap>,
}

/// A place inside the store where a process is held.
#[derive(Clone, Copy, Debug)]
struct Trap {
    point: Point,
    /// It has renamed something since the trap was set.
    renamed: bool,
    sprung: bool,
}

impl Process {
    pub(super) fn new(user: u32, umask: u32) -> Self {
        Self { user, umask, alive: true, stepwise: false, pending: None, named: 0, trap: None }
    }

    /// Whether the operation may act now. `waited`: it has asked before.
    pub(super) fn turn(&mut self, op: Op, waited: bool) -> bool {
        let pauses = self.stepwise || matches!(op, Op::Wait(_));
        let acts = self.alive && !self.is_caught(op) && (waited || !pauses);
        self.pending = if acts { None } else { Some(op) };
        acts
    }

    pub(super) fn set_trap(&mut self, point: Option<Point>) {
        self.trap = point.map(|point| Trap { point, renamed: false, sprung: false });
    }

    pub(super) fn trapped(&self) -> bool {
        self.trap.is_some_and(|trap| trap.sprung)
    }

    fn is_caught(&mut self, op: Op) -> bool {
        let Some(trap) = &mut self.trap else { return false };
        trap.sprung |= match trap.point {
            Point::TempWritten => op == Op::Rename,
            Point::Renamed => trap.renamed,
            _ => false,
        };
        trap.renamed |= op == Op::Rename;
        trap.sprung
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stepwise_operation_waits_once() {
        let mut process = Process::new(7, 0);
        process.stepwise = true;
        assert!(!process.turn(Op::Read, false));
        assert_eq!(process.pending, Some(Op::Read));
        assert!(process.turn(Op::Read, true));
        assert_eq!(process.pending, None);
    }

    #[test]
    fn the_killed_get_no_turn() {
        let mut process = Process::new(7, 0);
        process.alive = false;
        assert!(!process.turn(Op::Read, false));
        assert!(!process.turn(Op::Read, true));
    }

    #[test]
    fn a_trap_holds_before_the_rename_or_right_after_it() {
        let mut before = Process::new(7, 0);
        before.set_trap(Some(Point::TempWritten));
        assert!(before.turn(Op::Sync, false));
        assert!(!before.turn(Op::Rename, false));
        assert!(!before.turn(Op::Rename, true));
        assert!(before.trapped());

        let mut after = Process::new(7, 0);
        after.set_trap(Some(Point::Renamed));
        assert!(after.turn(Op::SyncDir, false));
        assert!(after.turn(Op::Rename, false));
        assert!(!after.turn(Op::SyncDir, false));
        assert!(after.trapped());
    }
}
