//! The agent as a pure state machine: a line in, effects out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::Character;
use super::capability::Capability;
use super::defect::Defect;
use super::ground::Ground;
use super::model::Beat;

/// Something that the process does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// Writes these bytes to standard output, a newline among them.
    Write(Vec<u8>),
    /// Wants the timer's event after so many milliseconds.
    Timer {
        timer: u64,
        after_ms: u64,
    },
    Exit(i32),
}

/// Something that happens to the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Line(String),
    /// Standard input has ended.
    End,
    Timer(u64),
}

/// One process of the agent.
#[derive(Debug)]
pub(super) struct Solo {
    pub(super) defect: Option<Defect>,
    /// What it does not offer.
    lacks: Option<Capability>,
    /// Which process it is, from 1.
    pub(super) process: u32,
    pub(super) initialized: bool,
    /// The client's own word about itself.
    pub(super) client: String,
    /// The client serves files.
    pub(super) files: bool,
    pub(super) open: BTreeSet<String>,
    /// The sessions that were opened by a load or a resume, with what they still know.
    pub(super) loaded: BTreeSet<String>,
    pub(super) amnesiac: BTreeSet<String>,
    pub(super) running: Vec<Turn>,
    pub(super) minted: u32,
    pub(super) timers: u64,
    pub(super) asked: i64,
    /// What broken agents carry from one request to the next.
    pub(super) memory: Memory,
    pub(super) out: Vec<Effect>,
}

/// What broken agents remember besides.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) upset: bool,
    pub(super) load_failed: bool,
    pub(super) last_load: Option<String>,
    pub(super) loads: BTreeMap<String, u32>,
    pub(super) failed_ids: BTreeSet<String>,
    pub(super) deleted: BTreeMap<String, Value>,
    /// The session whose model failed last.
    pub(super) failed_in: Option<String>,
    /// The session whose prompt was answered last, if nothing was asked for since.
    pub(super) answered: Option<String>,
}

/// A prompt under way.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: Value,
    pub(super) session: String,
    pub(super) beats: VecDeque<Beat>,
    pub(super) timer: Option<u64>,
    /// A timer of it was due already.
    pub(super) waited: bool,
    /// The request for permission that it waits for, and the tool call.
    pub(super) asks: Option<(i64, String)>,
}

/// An error: a code and a message.
pub(super) type Refusal = (i64, String);

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL: i64 = -32603;
pub(super) const NOT_FOUND: i64 = -32002;
pub(super) const LOGIN_NEEDED: i64 = -32000;

impl Solo {
    pub(super) fn new(process: u32, Character { defect, lacks }: Character) -> Self {
        Self {
            defect,
            lacks,
            process,
            initialized: false,
            client: String::new(),
            files: false,
            open: BTreeSet::new(),
            loaded: BTreeSet::new(),
            amnesiac: BTreeSet::new(),
            running: Vec::new(),
            minted: 0,
            timers: 0,
            asked: 0,
            memory: Memory::default(),
            out: Vec::new(),
        }
    }

    pub(super) fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    /// It offers this.
    pub(super) fn offers(&self, capability: Capability) -> bool {
        self.lacks != Some(capability)
    }

    /// Takes one event and gives what is done about it.
    pub(super) fn step(&mut self, event: Event, ground: &mut dyn Ground) -> Vec<Effect> {
        match event {
            Event::Line(line) => self.line(&line, ground),
            Event::End if self.has(Defect::OutlivesEof) => {}
            Event::End => self.out.push(Effect::Exit(0)),
            Event::Timer(timer) => self.timer(timer, ground),
        }
        std::mem::take(&mut self.out)
    }

    fn line(&mut self, line: &str, ground: &mut dyn Ground) {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            let mut frame = error_frame(&Value::Null, PARSE_ERROR, "this line is no JSON");
            if self.has(Defect::AnswersWithoutId) {
                frame.as_object_mut().expect("it was made an object").remove("id");
            }
            return self.send(&frame);
        };
        let id = message.get("id").cloned();
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => self.request(&id, method, &message["params"], ground),
            (Some(method), None) => self.notification(method, &message["params"], ground),
            (None, Some(id)) => self.answered(&id, &message, ground),
            (None, None) => {
                self.send(&error_frame(&Value::Null, INVALID_REQUEST, "this is no message"));
            }
        }
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value, ground: &mut dyn Ground) {
        let last_load = self.memory.last_load.take();
        if method != "session/load" {
            self.memory.answered = None;
        }
        if self.lacks.is_some_and(|lacks| lacks.method() == Some(method)) {
            return self.answer(id, Err(self.unknown_method(method)));
        }
        if method == "session/prompt" {
            return self.prompt(id, params, ground);
        }
        if method == "session/load" {
            self.memory.last_load = last_load;
            return self.load_request(id, params, ground);
        }
        if method.starts_with('_') && self.has(Defect::IgnoresExtensions) {
            return;
        }
        let outcome = match method {
            "initialize" => self.initialize(params),
            _ if !self.initialized => Err((INVALID_REQUEST, "initialize comes first".to_owned())),
            "session/new" => self.new_session(params, ground),
            "session/resume" => self.resume(id, params, ground),
            "session/list" => self.list(params, ground),
            "session/close" => self.close(params, ground),
            "session/delete" => self.delete(params, ground),
            "session/fork" => self.fork(params, ground),
            "session/set_mode" => self.set_mode(params, ground),
            "session/set_config_option" => self.set_option(params, ground),
            _ => Err(self.unknown_method(method)),
        };
        self.answer(id, outcome);
        self.afterwards(method, params, ground);
    }

    pub(super) fn unknown_method(&self, method: &str) -> Refusal {
        let code = if self.has(Defect::WrongUnknownCode) { INTERNAL } else { METHOD_NOT_FOUND };
        (code, format!("there is no method {method}"))
    }

    fn notification(&mut self, method: &str, params: &Value, ground: &mut dyn Ground) {
        if self.has(Defect::AnswersNotifications) {
            self.send(&json!({"jsonrpc": "2.0", "id": null, "result": null}));
        }
        match method {
            "session/cancel" => {
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                self.cancel(&session, ground);
            }
            "$/cancel_request" if self.has(Defect::AnswersCancelled) => {
                self.send(&error_frame(&params["requestId"], -32800, "cancelled"));
            }
            _ if method.starts_with('_') && self.has(Defect::UpsetByNotices) => {
                self.memory.upset = true;
            }
            _ => {}
        }
    }

    /// Answers a request.
    pub(super) fn answer(&mut self, id: &Value, outcome: Result<Value, Refusal>) {
        let id = match id.as_i64() {
            Some(number) if number < 0 && self.has(Defect::DropsIdSign) => json!(-number),
            _ => id.clone(),
        };
        match outcome {
            Ok(result) => self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result})),
            Err((code, message)) => {
                // Of a session that is not there the message is its id.
                let said = if code == NOT_FOUND { NO_SESSION } else { &message };
                let mut frame = error_frame(&id, code, said);
                if self.has(Defect::LongComplaints) {
                    frame["error"]["message"] = format!("{said}\n  at line 1\n  at line 2").into();
                }
                if self.has(Defect::ResultAndError) {
                    frame["result"] = Value::Null;
                }
                if code == NOT_FOUND {
                    frame["error"]["data"] = json!({"sessionId": message});
                }
                self.send(&frame);
            }
        }
    }

    /// Sends an update of a session.
    pub(super) fn tell(&mut self, session: &str, update: &Value) {
        let mut frame = json!({
            "jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": session, "update": update},
        });
        let commands = update["sessionUpdate"] == "available_commands_update";
        if commands && self.has(Defect::ForgetsVersion) {
            frame.as_object_mut().expect("it was made an object").remove("jsonrpc");
        }
        self.send(&frame);
    }

    /// Sends a request of its own and gives its id.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.asked;
        self.asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(super) fn send(&mut self, frame: &Value) {
        self.out.push(Effect::Write(format!("{frame}\n").into_bytes()));
    }

    pub(super) fn write(&mut self, bytes: Vec<u8>) {
        self.out.push(Effect::Write(bytes));
    }

    pub(super) fn set_timer(&mut self, after_ms: u64) -> u64 {
        self.timers += 1;
        self.out.push(Effect::Timer { timer: self.timers, after_ms });
        self.timers
    }
}

pub(super) fn error_frame(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// A session that is not there: its id takes the place of a message.
pub(super) fn not_found(id: &str) -> Refusal {
    (NOT_FOUND, id.to_owned())
}

const NO_SESSION: &str = "there is no such session";

pub(super) fn misfit(what: &str) -> Refusal {
    (INVALID_PARAMS, format!("`{what}` does not fit"))
}
