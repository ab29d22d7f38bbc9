//! What a harness and its agent say to each other.

use std::sync::Arc;

use serde_json::{Value, json};
use skep_trace::{Answer, Call, Frame, RpcError, RpcId, Setup, Side, Text, Update, What};

use super::{Story, channel_id};

impl Story {
    fn acp(&mut self, from: Side, frame: Frame) -> &mut Self {
        let (agent, harness) = (self.process.clone(), self.life.clone());
        self.happens(What::Acp { agent, harness, from, frame: Arc::new(frame), raw: None })
    }

    /// The harness asks its agent something.
    pub(crate) fn asks(&mut self, call: Call) -> &mut Self {
        self.next_rpc += 1;
        let id = RpcId::Number(self.next_rpc);
        self.open.push((call.method().to_owned(), id.clone()));
        self.acp(Side::Harness, Frame::Request { id, call })
    }

    fn answers(&mut self, outcome: Result<Answer, RpcError>) -> &mut Self {
        let (_, id) = self.open.pop().expect("the harness asked something");
        self.acp(Side::Agent, Frame::Response { id, outcome })
    }

    /// The agent answers the last request with this.
    pub(crate) fn grants(&mut self, result: Value) -> &mut Self {
        self.answers(Ok(Answer::from_json(result)))
    }

    /// The agent answers the last request with an error.
    pub(crate) fn refuses(&mut self, code: i64) -> &mut Self {
        self.answers(Err(RpcError::new(code, "no")))
    }

    pub(crate) fn wants_new(&mut self, channel: Option<&str>) -> &mut Self {
        self.asks(Call::SessionNew(setup(channel)))
    }

    /// The harness opens a session that says for which channel it is.
    pub(crate) fn opens(&mut self, session: &str, channel: &str) -> &mut Self {
        self.wants_new(Some(channel)).grants(json!({"sessionId": session}))
    }

    pub(crate) fn wants_load(&mut self, session: &str) -> &mut Self {
        self.asks(Call::SessionLoad { session_id: session.into(), setup: setup(None) })
    }

    pub(crate) fn loads(&mut self, session: &str) -> &mut Self {
        self.wants_load(session).grants(json!({}))
    }

    /// The harness prompts a session with messages.
    pub(crate) fn prompts(&mut self, session: &str, messages: &[&str]) -> &mut Self {
        let text = messages.iter().map(|label| {
            let event = &self.messages[*label];
            format!("[Buzz event: @mention]\nEvent ID: {}\nContent: {}", event.id(), event.content)
        });
        let prompt: Vec<Text> = vec![text.collect::<Vec<_>>().join("\n").into()];
        self.asks(Call::SessionPrompt { session_id: session.into(), prompt: prompt.into() })
    }

    pub(crate) fn stops(&mut self, reason: &str) -> &mut Self {
        self.grants(json!({"stopReason": reason}))
    }

    /// A whole turn that ends well.
    pub(crate) fn turn(&mut self, session: &str, messages: &[&str]) -> &mut Self {
        self.prompts(session, messages).stops("end_turn")
    }

    pub(crate) fn cancels(&mut self, session: &str) -> &mut Self {
        let call = Call::SessionCancel { session_id: session.into() };
        self.acp(Side::Harness, Frame::Notification(call))
    }

    /// The agent says something on a session.
    pub(crate) fn streams(&mut self, session: &str, text: &str) -> &mut Self {
        let update = Update::AgentMessageChunk(text.into());
        let call = Call::SessionUpdate { session_id: session.into(), update };
        self.acp(Side::Agent, Frame::Notification(call))
    }

    /// The agent asks its harness something.
    pub(crate) fn agent_asks(&mut self, id: i64) -> &mut Self {
        let method = "session/request_permission".into();
        let call = Call::Other { method, params: Arc::new(json!({"options": []})) };
        self.acp(Side::Agent, Frame::Request { id: RpcId::Number(id), call })
    }

    pub(crate) fn answers_agent(&mut self, id: i64) -> &mut Self {
        let outcome = Ok(Answer::from_json(json!({"outcome": {"outcome": "cancelled"}})));
        self.acp(Side::Harness, Frame::Response { id: RpcId::Number(id), outcome })
    }
}

/// A setup that names its channel in `_meta`, or does not.
fn setup(channel: Option<&str>) -> Setup {
    let meta = channel.map(|channel| Arc::new(json!({"channelId": channel_id(channel)})));
    Setup { cwd: "/w".into(), mcp_servers: Arc::new(json!([])), meta, extra: None }
}
