//! Frames on their way to clients, and the faults that stand in that way.
//!
//! A frame that waits belongs to one subscription as it stood when the frame was made. If that
//! subscription ends meanwhile, the frame is lost with it, as bytes in a socket are.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::RelayMsg;

use crate::ids::ConnId;

/// A frame for one subscription.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) conn: ConnId,
    pub(crate) generation: u64,
    pub(crate) message: Arc<RelayMsg>,
}

/// The faults that are switched on, and the frames that wait because of them.
#[derive(Debug, Default)]
pub(crate) struct Delivery {
    /// Events still to be lost.
    pub(crate) drop: u32,
    /// Events still to be delivered twice.
    pub(crate) duplicate: u32,
    /// How late live events are.
    pub(crate) delay_ms: u64,
    /// How late the end of stored events is said.
    pub(crate) eose_ms: u64,
    /// The next event is to be held back.
    pub(crate) reorder: bool,
    /// The event that is held back until another was delivered.
    held: Vec<Frame>,
    /// What waits for which timer.
    waiting: BTreeMap<u32, Vec<Frame>>,
    waiting_frames: usize,
    /// When the last delayed event is due, so that a shorter delay never overtakes it.
    last_due_ms: u64,
}

/// What is to be done with the frames of one live event.
#[derive(Debug)]
pub(crate) enum Way {
    /// Send them now.
    Now(Vec<Frame>),
    /// Send them later.
    Later(Vec<Frame>, u64),
    /// They are lost, or held back.
    Nowhere,
}

impl Delivery {
    /// Nothing stands in the way of a live event.
    pub(crate) fn is_clear(&self, now_ms: u64) -> bool {
        self.drop == 0
            && self.duplicate == 0
            && self.delay_ms == 0
            && !self.reorder
            && self.held.is_empty()
            && self.last_due_ms <= now_ms
    }

    /// Passes the frames of one live event through the faults.
    pub(crate) fn pass(&mut self, mut frames: Vec<Frame>, now_ms: u64) -> Way {
        if frames.is_empty() {
            return Way::Nowhere;
        }
        if self.drop > 0 {
            self.drop -= 1;
            return Way::Nowhere;
        }
        if self.duplicate > 0 {
            self.duplicate -= 1;
            frames = frames.into_iter().flat_map(|frame| [frame.clone(), frame]).collect();
        }
        if std::mem::take(&mut self.reorder) {
            self.held.append(&mut frames);
            return Way::Nowhere;
        }
        frames.append(&mut self.held);
        let due_ms = self.last_due_ms.max(now_ms + self.delay_ms);
        if due_ms == now_ms {
            return Way::Now(frames);
        }
        self.last_due_ms = due_ms;
        Way::Later(frames, due_ms - now_ms)
    }

    /// Lets frames wait for a timer.
    pub(crate) fn wait(&mut self, timer: u32, frames: Vec<Frame>) {
        self.waiting_frames += frames.len();
        self.waiting.insert(timer, frames);
    }

    /// How many frames wait for timers.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting_frames
    }

    /// The frames that waited for this timer.
    pub(crate) fn due(&mut self, timer: u32) -> Vec<Frame> {
        let frames = self.waiting.remove(&timer).unwrap_or_default();
        self.waiting_frames -= frames.len();
        frames
    }
}
