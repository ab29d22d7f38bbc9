//! What a reader of the agent's standard output makes of its effects, line by line.

use std::sync::Arc;

use skep_trace::Frame;

use super::event::AgentEffect;

/// A standard output without bytes, for worlds that carry frames as values. A frame passes as it
/// is, unless half a line stands before it: then both together are one line.
#[derive(Clone, Debug, Default)]
pub struct FramePipe {
    half: Vec<u8>,
}

impl FramePipe {
    /// The line that this effect completes, if it completes one.
    pub fn read(&mut self, effect: &AgentEffect) -> Option<Arc<Frame>> {
        match effect {
            AgentEffect::Send(frame) if self.half.is_empty() => Some(Arc::clone(frame)),
            AgentEffect::Send(frame) => {
                let mut line = std::mem::take(&mut self.half);
                line.extend(frame.to_line().bytes());
                Some(Arc::new(Frame::from_line(&String::from_utf8_lossy(&line))))
            }
            AgentEffect::SendBytes(bytes) => {
                self.half.extend(bytes);
                None
            }
            _ => None,
        }
    }
}
