//! What was said, normalised: chunks joined to messages, so that two tellings can be compared.
//!
//! The live stream is the oracle: a replay must tell the same.

use serde_json::Value;

use super::evidence::{Evidence, Exchange};
use super::probe::Probe;

/// The kinds of update that are history; all others are housekeeping.
pub(super) const HISTORY: [&str; 6] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
];

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Agent,
}

/// A message: what one side said until the other one did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) text: String,
    /// Blocks that are no text.
    pub(super) blocks: Vec<Value>,
    /// Where it begins: an index into the lines.
    pub(super) line: usize,
    id: Value,
}

/// A tool call with its end state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) status: String,
    /// It was announced by `tool_call`, so many times.
    pub(super) announced: usize,
    pub(super) line: usize,
}

/// What was said in a session, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<Tool>,
    pub(super) plans: usize,
}

impl Transcript {
    /// What a replay told.
    pub(super) fn replayed(evidence: &Evidence, load: &Exchange) -> Self {
        let mut transcript = Self::default();
        for (line, update) in evidence.updates(load) {
            transcript.take(line, update, true);
        }
        transcript
    }

    /// What was said live in a session before its load: by us in prompts, by the agent in answer,
    /// and by the agent after its answer.
    pub(super) fn live(evidence: &Evidence, load: &Exchange) -> Self {
        Self::said(evidence, &turns(evidence, load))
    }

    /// The same, of the turns that came to their own end before the load was asked for: of a turn
    /// that was cancelled or cut off nobody promised to keep anything.
    pub(super) fn complete(evidence: &Evidence, load: &Exchange) -> Self {
        let mut turns = turns(evidence, load);
        turns.retain(|turn| {
            let stop = evidence.result(turn).map(|result| &result["stopReason"]);
            stop.is_some_and(|stop| *stop != "cancelled")
                && turn.answers.first().is_some_and(|answer| *answer < load.request)
        });
        Self::said(evidence, &turns)
    }

    fn said(evidence: &Evidence, turns: &[&Exchange]) -> Self {
        let mut transcript = Self::default();
        for turn in turns {
            let prompt = &evidence.request(turn)["params"]["prompt"];
            let mut said = Message::new(Role::User, turn.request);
            for block in prompt.as_array().into_iter().flatten() {
                said.add(block);
            }
            transcript.messages.push(said);
            for (line, update) in evidence.updates(turn).into_iter().chain(evidence.late(turn)) {
                transcript.take(line, update, false);
            }
        }
        transcript
    }

    /// Takes out what the user said in prompts that failed: an agent may keep it or not.
    pub(super) fn forget_failed(&mut self, evidence: &Evidence, load: &Exchange) {
        let mut failed = prompts(evidence, load);
        failed.retain(|turn| evidence.error(turn).is_some());
        let failed = Self::said(evidence, &failed);
        let said = |message: &Message| {
            message.role == Role::User
                && failed.messages.iter().any(|wanted| wanted.is_told_by(message))
        };
        self.messages.retain(|message| !said(message));
    }

    /// The first message of one side in another telling that this one does not tell in its place.
    pub(super) fn lacks<'t>(&self, other: &'t Self, role: Role) -> Option<&'t Message> {
        let mut told = self.of(role).into_iter();
        other.of(role).into_iter().find(|wanted| !told.any(|one| wanted.is_told_by(one)))
    }

    /// The messages of one side.
    pub(super) fn of(&self, role: Role) -> Vec<&Message> {
        self.messages.iter().filter(|message| message.role == role).collect()
    }

    fn take(&mut self, line: usize, update: &Value, users: bool) {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "user_message_chunk" if users => self.chunk(Role::User, line, update),
            "agent_message_chunk" => self.chunk(Role::Agent, line, update),
            "tool_call" | "tool_call_update" => self.tool(line, update),
            "plan" => self.plans += 1,
            _ => {}
        }
    }

    /// Chunks of one side are one message; two ids of the user are two messages.
    fn chunk(&mut self, role: Role, line: usize, update: &Value) {
        let id = &update["messageId"];
        let fits = |last: &&mut Message| {
            let same = last.id == *id || last.id.is_null() || id.is_null();
            last.role == role && (same || role == Role::Agent)
        };
        if let Some(last) = self.messages.last_mut().filter(fits) {
            return last.add(&update["content"]);
        }
        let mut message = Message { id: id.clone(), ..Message::new(role, line) };
        message.add(&update["content"]);
        self.messages.push(message);
    }

    fn tool(&mut self, line: usize, update: &Value) {
        let text = |key: &str| update[key].as_str().map(str::to_owned);
        let id = text("toolCallId").unwrap_or_default();
        let at = self.tools.iter().position(|tool| tool.id == id).unwrap_or_else(|| {
            let (title, status) = (String::new(), String::new());
            self.tools.push(Tool { id, title, status, announced: 0, line });
            self.tools.len() - 1
        });
        let tool = &mut self.tools[at];
        if update["sessionUpdate"] == "tool_call" {
            tool.announced += 1;
        }
        tool.title = text("title").unwrap_or_else(|| std::mem::take(&mut tool.title));
        tool.status = text("status").unwrap_or_else(|| std::mem::take(&mut tool.status));
    }
}

impl Message {
    /// The same side says the same. Blocks that are no text may come back as words: a requirement
    /// of their own looks at them.
    pub(super) fn is_told_by(&self, told: &Self) -> bool {
        let (text, back) = (self.text.trim(), told.text.trim());
        let begins = !self.blocks.is_empty() && back.starts_with(text);
        self.role == told.role && (text == back || begins)
    }

    fn new(role: Role, line: usize) -> Self {
        Self { role, text: String::new(), blocks: Vec::new(), line, id: Value::Null }
    }

    fn add(&mut self, block: &Value) {
        match block["text"].as_str().filter(|_| block["type"] == "text") {
            Some(text) => self.text.push_str(text),
            None => self.blocks.push(block.clone()),
        }
    }
}

/// The prompts of a session before its load that did not fail.
pub(super) fn turns<'e>(evidence: &'e Evidence, load: &Exchange) -> Vec<&'e Exchange> {
    let mut turns = prompts(evidence, load);
    turns.retain(|turn| evidence.error(turn).is_none());
    turns
}

/// The prompts of a session before its load, in their order. Homes that share nothing may have
/// given the same id.
fn prompts<'e>(evidence: &'e Evidence, load: &Exchange) -> Vec<&'e Exchange> {
    let home = |exchange: &Exchange| &evidence.lines[exchange.request].agent.agent;
    let ours = |(_, turn): &(Probe, &Exchange)| {
        evidence.method(turn) == "session/prompt"
            && evidence.session(turn) == evidence.session(load)
            && home(turn) == home(load)
            && turn.request < load.request
    };
    let mut turns: Vec<_> = evidence.every().filter(ours).map(|(_, turn)| turn).collect();
    turns.sort_by_key(|turn| turn.request);
    turns
}
