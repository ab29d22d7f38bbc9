//! How a well-behaved agent answers, and how any answer is sent.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use skep_trace::{Answer, Call, Frame, RpcError, Text, Update};

use super::event::AgentEffect;
use super::offer;
use super::step::Step;
use super::task::{Refusal, Task};

/// A line that could not be read.
pub(super) const PARSE_ERROR: i64 = -32700;
/// A request at the wrong time.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// A method that the agent does not offer.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// Parameters that do not fit.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// A session that the agent does not know.
pub(super) const NOT_FOUND: i64 = -32002;

/// How much of a prompt the reply repeats, in characters.
const ECHO_LENGTH: usize = 60;

static END_TURN: LazyLock<Text> = LazyLock::new(|| "end_turn".into());
static CANCELLED: LazyLock<Text> = LazyLock::new(|| "cancelled".into());

impl Step<'_> {
    /// Answers a request well. A notification has its well-behaved effect and no answer.
    pub(super) fn reply(&mut self, task: &mut Task) {
        let frame = Arc::clone(&task.frame);
        let call = frame.call().expect("only requests and notifications become tasks");
        if let Call::Initialize(_) = call {
            return self.initialize(task);
        }
        if let Some(error) = self.too_early(call) {
            return self.answer(task, Err(error));
        }
        match call {
            Call::SessionPrompt { session_id, prompt } => self.prompt(task, session_id, prompt),
            Call::SessionNew(setup) => self.new_session(task, setup),
            Call::SessionLoad { session_id, setup } => self.load(task, session_id, setup),
            Call::SessionResume { session_id, setup } => {
                self.resume_session(task, session_id, setup);
            }
            Call::SessionCancel { session_id } => self.cancel(session_id),
            Call::SetModel { session_id, model_id } => self.set_model(task, session_id, model_id),
            Call::SetMode { session_id, mode_id } => self.set_mode(task, session_id, mode_id),
            Call::SessionClose { session_id } => self.close(task, session_id),
            Call::SessionDelete { session_id } => self.delete(task, session_id),
            Call::Other { method, params } => self.other(task, method, params),
            Call::SessionUpdate { .. } | Call::Initialize(_) => self.no_method(task, call.method()),
        }
    }

    /// Sends an answer, whole or half. After a success the history may follow.
    pub(super) fn answer(&mut self, task: &mut Task, outcome: Result<Answer, RpcError>) {
        task.answered = true;
        let Frame::Request { id, .. } = &*task.frame else { return };
        let success = outcome.is_ok();
        let frame = Frame::Response { id: id.clone(), outcome };
        if task.half {
            self.send_half(&frame);
        } else {
            self.send(frame);
        }
        if success {
            self.follow_up(task);
        }
    }

    fn send_half(&mut self, frame: &Frame) {
        if self.agent.speaks {
            let line = frame.to_line().into_bytes();
            self.out.push(AgentEffect::SendBytes(line[..line.len() / 2].into()));
        }
    }

    /// Version 1 is answered whatever is asked.
    fn initialize(&mut self, task: &mut Task) {
        self.agent.initialized = true;
        let extra = Some(Arc::new(offer::initialize(&self.agent.cast)));
        self.answer(task, Ok(Answer { extra, ..Answer::default() }));
    }

    /// One chunk that tells which prompt it answers, then the end of the turn.
    fn prompt(&mut self, task: &mut Task, session: &Text, prompt: &Arc<[Text]>) {
        if let Some(refusal) = task.refusal {
            return self.answer(task, Err(refused(refusal, session)));
        }
        // A turn that is gone was deleted with its session while the prompt was held up.
        let Some(turn) = task.turn else {
            return self.answer(task, Err(not_found(session)));
        };
        self.update(task, Update::AgentMessageChunk(echo(prompt, turn + 1)));
        self.stop(task, Text::clone(&END_TURN));
    }

    /// Ends the prompts of a session that listen to it: all their updates are out, the answer is
    /// a result and no error. What else they had to do is left undone.
    pub(super) fn cancel(&mut self, session: &str) {
        if self.agent.deaf {
            return;
        }
        let ends = |task: &mut Task| task.prompts(session) && !task.deaf;
        let ended: Vec<_> = self.agent.tasks.extract_if(.., ends).collect();
        for mut task in ended {
            self.stop(&mut task, Text::clone(&CANCELLED));
        }
    }

    fn other(&mut self, task: &mut Task, method: &Text, params: &Arc<Value>) {
        match &**method {
            "session/list" if self.agent.cast.list => self.list(task, params),
            "session/set_config_option" => self.set_option(task, params),
            _ if offer::knows(&self.agent.cast, method) => {
                let error = RpcError::new(INVALID_PARAMS, "these parameters do not fit");
                self.answer(task, Err(error));
            }
            _ => self.no_method(task, method),
        }
    }

    pub(super) fn no_method(&mut self, task: &mut Task, method: &str) {
        let message = format!("there is no method `{method}`");
        self.answer(task, Err(RpcError::new(METHOD_NOT_FOUND, &message)));
    }
}

pub(super) fn not_found(session: &str) -> RpcError {
    RpcError {
        code: NOT_FOUND,
        message: "there is no such session".into(),
        data: Some(Arc::new(json!({"sessionId": session}))),
    }
}

fn refused(refusal: Refusal, session: &str) -> RpcError {
    match refusal {
        Refusal::Unknown => not_found(session),
        Refusal::Busy => RpcError::new(INVALID_REQUEST, "a prompt of this session is running"),
        Refusal::Loading => RpcError::new(INVALID_REQUEST, "this session is still being loaded"),
    }
}

/// `reply to hello (turn 3)`: the prompt's own words, so that a reader sees which prompt it is.
/// Of a prompt in several blocks the last counts, and in that a line `Content: …`.
fn echo(prompt: &[Text], turn: usize) -> Text {
    let block = prompt.last().map_or("", |block| block);
    let content = block.lines().find_map(|line| line.strip_prefix("Content:"));
    let said = content.unwrap_or(block).trim();
    let mut text = String::with_capacity(ECHO_LENGTH + 32);
    text.push_str("reply to ");
    let spaced = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.extend(said.chars().take(ECHO_LENGTH).map(spaced));
    text.push_str(" (turn ");
    text.push_str(&turn.to_string());
    text.push(')');
    text.into()
}
