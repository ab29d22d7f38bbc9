//! Kills at a point of the protocol or of the store.
//!
//! Points are seen where a scripted peer sees them: "sent" when the agent got the frame, before it
//! acts on it; "answered" when the answer reaches the harness, before it acts on it.

use skep_plan::Point;
use skep_trace::{End, Frame};

use super::EventWorld;
use super::agent_side::SIGKILL;

/// A kill that waits for its point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    /// The harness's place.
    pub(super) host: usize,
    pub(super) at: Point,
    /// What was not synced is lost as well.
    pub(super) power: bool,
}

impl EventWorld {
    /// Kills the harness if a kill waits for this point. Says whether it did.
    pub(super) fn crash_at(&mut self, host: usize, at: Point) -> bool {
        let Some(index) = self.armed.iter().position(|armed| armed.host == host && armed.at == at)
        else {
            return false;
        };
        let armed = self.armed.remove(index);
        self.end_harness(host, End::Signal { signal: SIGKILL, by_us: true }, armed.power);
        if armed.power {
            self.power_loss();
        }
        true
    }

    pub(super) fn crash_on_request(&mut self, process: usize, frame: &Frame) -> bool {
        let host = self.agents[process].harness;
        let Some(point) = self.harnesses[host].points.request(frame) else { return false };
        self.is_current(process) && self.crash_at(host, point)
    }

    /// An answer or update reaches the harness: says whether the harness was killed by it.
    pub(super) fn crash_on_answer(&mut self, host: usize, frame: &Frame) -> bool {
        let point = self.harnesses[host].points.answer(frame);
        point.is_some_and(|point| self.crash_at(host, point))
    }

    fn is_current(&self, process: usize) -> bool {
        let it = &self.agents[process];
        self.harnesses[it.harness].life == it.life
    }
}
