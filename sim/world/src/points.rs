//! Where a conversation between a harness and its agent stands, as far as kills at a point of the
//! protocol depend on it: the same in all worlds.

use skep_plan::Point;
use skep_trace::{Call, Frame, Update};

/// One conversation, followed frame by frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Points {
    asked: Option<Point>,
}

impl Points {
    /// The point that the harness is at once the agent has this frame of it, if it is one.
    pub fn request(&mut self, frame: &Frame) -> Option<Point> {
        let point = match frame.call()? {
            Call::SessionNew(_) => Point::NewSent,
            Call::SessionLoad { .. } => Point::LoadSent,
            Call::SessionPrompt { .. } => Point::PromptSent,
            _ => return None,
        };
        self.asked = Some(point);
        Some(point)
    }

    /// The point that the harness is at once it has this frame of the agent, if it is one.
    pub fn answer(&self, frame: &Frame) -> Option<Point> {
        match (frame, self.asked?) {
            (Frame::Response { .. }, Point::NewSent) => Some(Point::NewAnswered),
            (Frame::Response { .. }, Point::LoadSent) => Some(Point::LoadAnswered),
            (Frame::Response { .. }, Point::PromptSent) => Some(Point::PromptAnswered),
            (Frame::Notification(Call::SessionUpdate { update, .. }), Point::LoadSent) => {
                // Housekeeping is no history.
                (!matches!(update, Update::Other(_))).then_some(Point::MidReplay)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Frame {
        Frame::from_line(text)
    }

    #[test]
    fn a_load_goes_from_sent_over_its_replay_to_answered() {
        let mut points = Points::default();
        let load = line(
            r#"{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}"#,
        );
        let chunk = line(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}}}"#,
        );
        let commands = line(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update"}}}"#,
        );
        assert_eq!(points.answer(&chunk), None, "nothing was asked yet");
        assert_eq!(points.request(&load), Some(Point::LoadSent));
        assert_eq!(points.answer(&commands), None);
        assert_eq!(points.answer(&chunk), Some(Point::MidReplay));
        let answered = line(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(points.answer(&answered), Some(Point::LoadAnswered));
    }
}
