//! Updates that come by and by, in the background of everything else.

use std::collections::VecDeque;
use std::sync::Arc;

use skep_trace::{Frame, Update};

use super::event::AgentEffect;
use super::replay::notification;
use super::step::Step;
use super::task::Task;

/// Frames that are sent one at a time, a gap before each. No cancel and no close ends it, only
/// the end of the process.
#[derive(Debug)]
pub(super) struct Stream {
    /// The timer that the next one waits for.
    pub(super) timer: u32,
    pub(super) gap_ms: u64,
    /// What is left, each with how often.
    pub(super) frames: VecDeque<(Arc<Frame>, u32)>,
}

impl Step<'_> {
    /// `chatter`: so many updates of the request's session, the first after one gap.
    pub(super) fn chatter(&mut self, task: &mut Task, update: Update, gap_ms: u64, count: u32) {
        let Some(id) = self.session_of(task) else { return };
        let frames = VecDeque::from([(Arc::new(notification(&id, update)), count)]);
        self.start(Stream { timer: 0, gap_ms, frames });
    }

    /// Begins a stream. Without a gap all of it is sent at once.
    pub(super) fn start(&mut self, mut stream: Stream) {
        stream.frames.retain(|(_, count)| *count > 0);
        if stream.gap_ms == 0 {
            while let Some(frame) = stream.take() {
                self.pass(frame);
            }
        } else if !stream.frames.is_empty() {
            self.arm(stream);
        }
    }

    fn arm(&mut self, mut stream: Stream) {
        stream.timer = self.set_timer(stream.gap_ms);
        self.agent.streams.push(stream);
    }

    /// Sends the next frame of the stream that waits for this timer; `false` where none does.
    pub(super) fn flow(&mut self, timer: u32) -> bool {
        let streams = &mut self.agent.streams;
        let Some(at) = streams.iter().position(|stream| stream.timer == timer) else {
            return false;
        };
        let mut stream = streams.remove(at);
        if let Some(frame) = stream.take() {
            self.pass(frame);
        }
        if !stream.frames.is_empty() {
            self.arm(stream);
        }
        true
    }

    fn pass(&mut self, frame: Arc<Frame>) {
        if self.agent.speaks {
            self.out.push(AgentEffect::Send(frame));
        }
    }
}

impl Stream {
    fn take(&mut self) -> Option<Arc<Frame>> {
        let (frame, left) = self.frames.front_mut()?;
        let frame = Arc::clone(frame);
        *left -= 1;
        if *left == 0 {
            self.frames.pop_front();
        }
        Some(frame)
    }
}
