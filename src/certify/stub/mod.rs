//! The model stub: a model of four providers' ways of talking, on this machine, for agents that
//! would ask a real one.
//!
//! What it says is a function of the conversation that it is sent, so that it tells whether an
//! agent still has the earlier turns. Words that begin with `skep:` are wishes.
//!
//! - [`Stub`]: listens; start here. `http`: requests and answers as bytes.
//! - `conversation`: what a request holds, whoever's way it is. `speech`: what is said to that.
//! - `openai`, `responses`, `anthropic`, `gemini`: the ways of talking.

mod anthropic;
mod conversation;
mod gemini;
mod http;
mod openai;
mod responses;
mod speech;

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skep_trace::{Process, Sighting, Text};

use self::conversation::Conversation;
use self::http::{Body, Exchange, Request};
use self::speech::Speech;
use super::tape::Tape;

/// Connections that are served at once; more are closed.
const MOST_CONNECTIONS: u64 = 64;
/// How long a connection may say nothing.
const IDLE: Duration = Duration::from_secs(60);
/// Texts of the user that are told from the beginning of a conversation, and from its end, and
/// how much of each, in letters.
const TOLD_FIRST: usize = 8;
const TOLD_LAST: usize = 2;
const TOLD_LETTERS: usize = 200;

/// A way of talking to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    OpenAi,
    Responses,
    Anthropic,
    Gemini,
}

impl Api {
    /// The way that a path belongs to.
    fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        Some(match path {
            path if path.ends_with("/chat/completions") => Self::OpenAi,
            path if path.ends_with("/responses") => Self::Responses,
            path if path.ends_with("/messages") => Self::Anthropic,
            path if path.contains(":streamGenerateContent") => Self::Gemini,
            path if path.contains(":generateContent") => Self::Gemini,
            _ => return None,
        })
    }

    fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

/// A stub that listens until the program ends.
#[derive(Debug)]
pub(super) struct Stub {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tape: Arc<Tape>,
    agent: Mutex<Option<Process>>,
    open: AtomicU64,
    /// Some agents drop a turn whose answer has an id that they have seen.
    answers: AtomicU64,
}

impl Stub {
    pub(super) fn listen(tape: &Arc<Tape>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            tape: Arc::clone(tape),
            agent: Mutex::new(None),
            open: AtomicU64::new(0),
            answers: AtomicU64::new(0),
        });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&own);
                if shared.open.fetch_add(1, Ordering::SeqCst) < MOST_CONNECTIONS {
                    thread::spawn(move || shared.serve(stream));
                } else {
                    shared.open.fetch_sub(1, Ordering::SeqCst);
                }
            }
        });
        Ok(Self { port, shared })
    }

    /// Where it listens, without a slash at the end.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Counts what is asked from now on to this process.
    pub(super) fn serve(&self, agent: &Process) {
        let mut current = self.shared.agent.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(agent.clone());
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        // Whoever went away is gone.
        let _gone = self.connection(stream);
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    fn connection(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(IDLE))?;
        stream.set_write_timeout(Some(IDLE))?;
        let mut exchange = Exchange::new(stream);
        while let Some(request) = exchange.request()? {
            self.answer(&mut exchange, &request)?;
        }
        Ok(())
    }

    fn answer(&self, exchange: &mut Exchange, request: &Request) -> io::Result<()> {
        if request.upgrades {
            return exchange.send(404, &json!({"error": {"message": "no upgrades"}}));
        }
        let path = &*request.path;
        let Some(api) = Api::of(path).filter(|_| request.method == "POST") else {
            return exchange.send(200, &aside(request));
        };
        let Some(body) = request.json() else {
            return exchange.send(400, &json!({"error": {"message": "the body is no JSON"}}));
        };
        let conversation = match api {
            Api::OpenAi => openai::read(&body),
            Api::Responses => responses::read(&body),
            Api::Anthropic => anthropic::read(&body),
            Api::Gemini => gemini::read(&body),
        };
        self.tell(api, &conversation);
        let speech = Speech::to(&conversation);
        if let Some(status) = speech.status {
            return exchange
                .send(status, &json!({"error": {"message": "as was wished", "type": "stub"}}));
        }
        let streams = body["stream"] == true || path.contains(":streamGenerateContent");
        let id = self.answers.fetch_add(1, Ordering::SeqCst) + 1;
        let whole = match api {
            Api::OpenAi => openai::whole(&speech, id),
            Api::Responses => responses::whole(&speech, id),
            Api::Anthropic => anthropic::whole(&speech, id),
            Api::Gemini => gemini::whole(&speech, id),
        };
        if !streams {
            return exchange.send(200, &whole);
        }
        let mut body = exchange.stream()?;
        match api {
            Api::OpenAi => openai::stream(&mut body, &speech, id),
            Api::Responses => responses::stream(&mut body, &speech, id),
            Api::Anthropic => anthropic::stream(&mut body, &speech, id),
            Api::Gemini => gemini::stream(&mut body, &speech, id),
        }?;
        body.end()
    }

    fn tell(&self, api: Api, conversation: &Conversation) {
        let current = self.agent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(agent) = current else { return };
        let texts = conversation.user_texts();
        let last = texts.len().saturating_sub(TOLD_LAST).max(TOLD_FIRST.min(texts.len()));
        let told = texts.iter().take(TOLD_FIRST).chain(texts.iter().skip(last));
        let cut = |text: &&str| Text::from(text.chars().take(TOLD_LETTERS).collect::<String>());
        let said = told.map(cut).collect();
        self.tape.saw(&agent, Sighting::ModelAsked { api: api.word().into(), said });
    }
}

/// What is asked beside conversations: which models there are, how many tokens a text has.
fn aside(request: &Request) -> Value {
    if request.path.contains("count") {
        return json!({"input_tokens": 10, "totalTokens": 10});
    }
    let model = json!({
        "id": "stub", "object": "model", "created": 1, "owned_by": "skep", "type": "model",
        "display_name": "stub", "name": "models/stub", "created_at": "2026-01-01T00:00:00Z",
    });
    json!({"object": "list", "data": [model.clone()], "models": [model], "has_more": false})
}

/// Writes the events of a speech, one a piece, at its pace.
fn spoken(
    body: &mut Body,
    speech: &Speech,
    event: &dyn Fn(&str) -> (Option<&'static str>, Value),
) -> io::Result<()> {
    for piece in &speech.pieces {
        let (name, data) = event(piece);
        body.event(name, &data)?;
        if !speech.pace.is_zero() {
            // A model takes its time between words; there is nothing to wait for.
            thread::park_timeout(speech.pace);
        }
    }
    Ok(())
}
