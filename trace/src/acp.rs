//! ACP frames: what one line on an agent's standard input or output says.
//!
//! Frames are typed so that a simulated run never touches JSON; the codec is for the edges
//! (real pipes, trace files). What the types do not name is kept in `extra`, so that nothing a
//! foreign program says is lost. Shapes follow protocol version 1 of the Agent Client Protocol.

mod answer;
mod call;
mod frame;

use std::sync::Arc;

pub use answer::Answer;
pub use call::{Call, Setup, Update};
pub use frame::{Frame, RpcError, RpcId};

/// Shared, immutable text: a frame is cloned into the trace without copying its strings.
pub type Text = Arc<str>;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn lines_survive_the_round_trip() {
        for line in [
            r#"{"id":1,"jsonrpc":"2.0","method":"session/new","params":{"_meta":{"channelId":"c"},"cwd":"/w","mcpServers":[],"systemPrompt":"x"}}"#,
            r#"{"id":"two","jsonrpc":"2.0","method":"session/load","params":{"cwd":"/w","mcpServers":[],"sessionId":"s1"}}"#,
            r#"{"id":3,"jsonrpc":"2.0","result":null}"#,
            r#"{"id":3,"jsonrpc":"2.0","result":{"modes":{},"sessionId":"s9"}}"#,
            r#"{"id":4,"jsonrpc":"2.0","result":{"stopReason":"end_turn"}}"#,
            r#"{"error":{"code":-32002,"data":{"sessionId":"s"},"message":"gone"},"id":5,"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":{"text":"hi","type":"text"},"sessionUpdate":"agent_message_chunk"}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
        ] {
            let frame = Frame::from_line(line);
            let read: Value = serde_json::from_str(line).unwrap();
            assert_eq!(frame.to_json(), read);
            assert_eq!(Frame::from_line(&frame.to_line()), frame);
        }
    }

    #[test]
    fn what_is_no_message_is_kept_as_garbage() {
        for line in ["hello", "{", "[]", r#"{"id":1}"#, r#"{"id":{},"result":1}"#] {
            assert_eq!(Frame::from_line(line), Frame::Garbage(line.into()));
        }
    }

    #[test]
    fn a_chunk_with_a_message_id_is_kept_verbatim() {
        let body = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m",
            "content": {"type": "text", "text": "hi"}});
        assert_eq!(Update::from_json(&body).to_json(), body);
    }
}
