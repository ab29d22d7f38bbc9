//! A client of the protocol at one process of an agent. All that it hears it writes down.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skep_trace::{Frame, Life, Process, RpcId, Side, Sighting, Text, What};

use super::bounds::Bounds;
use super::probe::Probe;
use super::process::{Heard, Running};
use super::tape::{Tape, now};

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// A result.
    Result(Value),
    /// An error with this code.
    Error(i64),
    /// No answer in time.
    Nothing,
    /// The process ended before it answered.
    Gone,
}

impl Reply {
    pub(super) fn result(&self) -> Option<&Value> {
        match self {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }

    pub(super) fn is_result(&self) -> bool {
        self.result().is_some()
    }
}

/// A client while its process lives.
pub(super) struct Client {
    running: Running,
    name: Process,
    tape: Arc<Tape>,
    bounds: Bounds,
    next: i64,
    replies: BTreeMap<RpcId, Reply>,
    /// What a request for permission is answered with.
    pub(super) allows: bool,
    /// It left something unanswered: from then on we wait less.
    slow: bool,
    /// Nothing has been answered yet.
    fresh: bool,
    /// Chunks of the agent's text, by session.
    chunks: BTreeMap<String, usize>,
}

/// How long is waited at once: then it is seen whether anybody wants to stop.
const SLICE: Duration = Duration::from_millis(200);

/// Between two looks at what is noted elsewhere.
const LOOK: Duration = Duration::from_millis(20);

/// Who the client is, in the words of a trace.
pub(super) fn ourselves() -> Life {
    Life { harness: "certify".into(), life: 1 }
}

impl Client {
    pub(super) fn new(running: Running, name: Process, tape: Arc<Tape>, bounds: Bounds) -> Self {
        Self {
            running,
            name,
            tape,
            bounds,
            next: 1,
            replies: BTreeMap::new(),
            allows: true,
            slow: false,
            fresh: true,
            chunks: BTreeMap::new(),
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.running.has_ended()
    }

    /// Sends a request and waits for its answer.
    pub(super) fn call(&mut self, probe: Probe, method: &str, params: Value) -> Reply {
        let id = self.ask(probe, method, params);
        self.answer(&id)
    }

    /// Sends a request.
    pub(super) fn ask(&mut self, probe: Probe, method: &str, params: Value) -> RpcId {
        let id = RpcId::Number(self.next);
        self.next += 1;
        self.ask_as(probe, id.clone(), method, params);
        id
    }

    /// Sends a request under an id of the caller's choice.
    pub(super) fn ask_as(&mut self, probe: Probe, id: RpcId, method: &str, params: Value) {
        self.together(vec![Line::Request(probe, id, method, params)]);
    }

    /// A free id, for [`Self::together`].
    pub(super) fn next_id(&mut self) -> RpcId {
        self.next += 1;
        RpcId::Number(self.next - 1)
    }

    /// Sends a notification.
    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.together(vec![Line::Notification(method, params)]);
    }

    /// Sends several lines with one write.
    pub(super) fn together(&mut self, lines: Vec<Line>) {
        let mut bytes = Vec::new();
        for line in lines {
            let message = match line {
                Line::Raw(text) => {
                    self.note(Side::Harness, text);
                    bytes.extend_from_slice(text.as_bytes());
                    bytes.push(b'\n');
                    continue;
                }
                Line::Request(probe, request, method, params) => {
                    let id = request.to_json();
                    let probe = probe.word().into();
                    self.tape.saw(&self.name, Sighting::Asked { probe, request });
                    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
                }
                Line::Notification(method, params) => {
                    json!({"jsonrpc": "2.0", "method": method, "params": params})
                }
                Line::Message(message) => message,
            };
            let line = message.to_string();
            self.note(Side::Harness, &line);
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        self.running.write(bytes);
    }

    /// Notes something done that is no request.
    pub(super) fn did(&self, probe: Probe, about: &str) {
        let (probe, about) = (probe.word().into(), about.into());
        self.tape.saw(&self.name, Sighting::Did { probe, about });
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, id: &RpcId) -> Reply {
        let patience = self.patience();
        self.answer_within(id, patience)
    }

    /// Waits a quarter of the time for an answer that may well not come.
    pub(super) fn answer_soon(&mut self, id: &RpcId) -> Reply {
        let patience = self.patience().min(self.bounds.answer / 4);
        let slow = self.slow;
        let reply = self.answer_within(id, patience);
        // That it does not come is no reason to be impatient from then on.
        self.slow = slow;
        reply
    }

    fn answer_within(&mut self, id: &RpcId, patience: Duration) -> Reply {
        let started = now();
        let deadline = started + patience;
        while !self.replies.contains_key(id) && self.hear_until(deadline) {}
        if let Some(reply) = self.replies.remove(id) {
            self.fresh = false;
            return reply;
        }
        if self.is_gone() {
            return Reply::Gone;
        }
        if self.tape.elapsed() >= self.bounds.whole {
            self.tape.saw(&self.name, Sighting::OutOfTime { request: id.clone() });
            return Reply::Nothing;
        }
        self.slow = true;
        let after_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.tape.saw(&self.name, Sighting::GaveUp { request: id.clone(), after_ms });
        Reply::Nothing
    }

    /// How long an answer may take. Who was silent once is waited for a quarter of the time.
    fn patience(&self) -> Duration {
        let wanted = match (self.slow, self.fresh) {
            (true, _) => self.bounds.answer / 4,
            (false, true) => self.bounds.start,
            (false, false) => self.bounds.answer,
        };
        wanted.min(self.bounds.whole.saturating_sub(self.tape.elapsed()))
    }

    /// Waits until a turn has streamed so many chunks of text since that was last forgotten; not
    /// once it is over.
    pub(super) fn streams(&mut self, turn: &RpcId, session: &str, chunks: usize) -> bool {
        let deadline = now() + self.patience();
        while self.streamed(session) < chunks
            && !self.replies.contains_key(turn)
            && self.hear_until(deadline)
        {}
        self.streamed(session) >= chunks
    }

    /// Chunks of text that a session has streamed since that was last forgotten.
    pub(super) fn streamed(&self, session: &str) -> usize {
        self.chunks.get(session).copied().unwrap_or(0)
    }

    /// Waits until the process's model is sent these words; false where that does not happen soon,
    /// or the turn is over.
    pub(super) fn model_hears(&mut self, turn: &RpcId, since: usize, words: &str) -> bool {
        let deadline = now() + self.patience().min(self.bounds.answer / 4);
        while !self.tape.model_heard(since, &self.name, words) {
            let over = self.replies.contains_key(turn) || self.is_gone() || self.tape.is_cut();
            if over || now() >= deadline {
                return false;
            }
            // The model is heard by another thread: it is looked at whenever nothing comes.
            self.hear_until((now() + LOOK).min(deadline));
        }
        true
    }

    /// The process has asked the stub for something: it has no other model.
    pub(super) fn uses_stub(&self) -> bool {
        self.tape.model_heard(0, &self.name, "")
    }

    /// A request has its answer, which nobody has waited for yet.
    pub(super) fn has_answer(&self, id: &RpcId) -> bool {
        self.replies.contains_key(id)
    }

    /// How much stands on the tape by now.
    pub(super) fn tape_length(&self) -> usize {
        self.tape.length()
    }

    /// Forgets what a session has streamed.
    pub(super) fn forget_chunks(&mut self, session: &str) {
        self.chunks.remove(session);
    }

    /// Listens until nothing has come for the quiet time. Bounded, whatever comes.
    pub(super) fn quiet(&mut self) {
        const MOST: u32 = 20;
        for _ in 0..MOST {
            if !self.hear_until(now() + self.bounds.quiet) {
                return;
            }
        }
    }

    /// Listens to one thing, until a deadline; false when nothing came.
    fn hear_until(&mut self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return false;
            }
            match self.running.next(left.min(SLICE)) {
                Some(heard) => return self.take(heard),
                None if self.tape.is_cut() || self.is_gone() => return false,
                None => {}
            }
        }
    }

    /// Takes in what was heard; false where nothing can follow.
    fn take(&mut self, heard: Heard) -> bool {
        match heard {
            Heard::Line(line, utf8) => self.line(&line, utf8),
            Heard::LongLine => {
                let bytes = u64::try_from(super::bounds::MOST_LINE_BYTES).unwrap_or(u64::MAX);
                self.tape.saw(&self.name, Sighting::LongLine { bytes });
            }
            // A flood was killed for it; its end comes next.
            Heard::Flood | Heard::Silence => {}
            Heard::Ended(_) => {
                self.drain();
                return false;
            }
        }
        true
    }

    /// What was written before the end is still heard.
    fn drain(&mut self) {
        while let Some(heard) = self.running.left() {
            if let Heard::Line(line, utf8) = heard {
                self.line(&line, utf8);
            }
        }
    }

    fn line(&mut self, line: &str, utf8: bool) {
        if !utf8 {
            self.tape.saw(&self.name, Sighting::NotUtf8);
        }
        self.note(Side::Agent, line);
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let id = message.get("id").and_then(RpcId::from_json);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => self.serve(method, &id, &message["params"]),
            (Some("session/update"), None) => self.count(&message["params"]),
            (Some(_), None) | (None, None) => {}
            (None, Some(id)) => {
                // A second answer is judged from the trace; the first one counts.
                self.replies.entry(id).or_insert_with(|| reply(&message));
            }
        }
    }

    fn count(&mut self, params: &Value) {
        if params["update"]["sessionUpdate"] == "agent_message_chunk"
            && let Some(session) = params["sessionId"].as_str()
        {
            *self.chunks.entry(session.to_owned()).or_default() += 1;
        }
    }

    /// Answers what the agent asks: permissions as wanted, and nothing else.
    fn serve(&mut self, method: &str, id: &RpcId, params: &Value) {
        let id = id.to_json();
        let answer = if method == "session/request_permission" {
            let outcome = chosen(params, self.allows);
            json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}})
        } else {
            let error = json!({"code": -32601, "message": "this client has no such method"});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        };
        self.together(vec![Line::Message(answer)]);
    }

    fn note(&self, from: Side, line: &str) {
        self.tape.note(What::Acp {
            agent: self.name.clone(),
            harness: ourselves(),
            from,
            frame: Arc::new(Frame::from_line(line)),
            raw: Some(Text::from(line)),
        });
    }

    /// Kills the process alone, and sees its end.
    pub(super) fn kill(mut self) {
        self.running.kill();
        self.see_end(self.bounds.exit);
        self.running.sweep();
    }

    /// Kills the process with all that it started, and sees its end.
    pub(super) fn kill_group(mut self) {
        self.running.kill_group();
        self.see_end(self.bounds.exit);
        self.running.sweep();
    }

    /// Ends its input and waits for its end; then it is asked to end, then killed.
    pub(super) fn end(mut self) {
        self.did(Probe::Exit, "");
        self.running.close_input();
        // Who lives on once does so always: it is waited for once in full.
        let exit = if self.tape.outlives() { self.bounds.exit / 10 } else { self.bounds.exit };
        if !self.see_end(exit) {
            self.tape.outlived();
            let after_ms = u64::try_from(exit.as_millis()).unwrap_or(u64::MAX);
            self.tape.saw(&self.name, Sighting::OutlivedEof { after_ms });
            self.running.terminate();
            self.see_end(self.bounds.exit / 4);
        }
        self.running.sweep();
    }

    fn see_end(&mut self, within: Duration) -> bool {
        let deadline = now() + within;
        while self.hear_until(deadline) {}
        self.is_gone()
    }
}

/// A line to be sent.
pub(super) enum Line<'a> {
    /// A request for a probe.
    Request(Probe, RpcId, &'a str, Value),
    /// A notification.
    Notification(&'a str, Value),
    /// Anything else that is a message.
    Message(Value),
    /// Anything else.
    Raw(&'a str),
}

fn reply(message: &Value) -> Reply {
    match message.get("error") {
        Some(error) => Reply::Error(error["code"].as_i64().unwrap_or_default()),
        None => Reply::Result(message["result"].clone()),
    }
}

/// The option that allows once, or that rejects once; without one the prompt counts as cancelled.
fn chosen(params: &Value, allows: bool) -> Value {
    let wanted: [&str; 2] =
        if allows { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
    let options = params["options"].as_array().map_or(&[][..], Vec::as_slice);
    let option = wanted.iter().find_map(|kind| options.iter().find(|one| one["kind"] == *kind));
    match option {
        Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
        None => json!({"outcome": "cancelled"}),
    }
}
