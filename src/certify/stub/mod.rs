//! The model stub: a model of four providers' ways of talking, on this machine, for agents that
//! would ask a real one.
//!
//! What it says is a function of the conversation that it is sent, so that it tells whether an
//! agent still has the earlier turns. Words that begin with `skep:` are wishes.
//!
//! - [`Stub`]: listens; start here. [`Ear`]: is told what it is asked. `http`: requests and answers
//!   as bytes.
//! - `conversation`: what a request holds, whoever's way it is. `speech`: what is said to that.
//! - `openai`, `responses`, `anthropic`, `gemini`: the ways of talking.

mod anthropic;
mod conversation;
mod ear;
mod gemini;
mod http;
mod openai;
mod responses;
mod speech;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use self::conversation::Conversation;
use self::http::{Body, Exchange, Request};
use self::speech::Speech;

pub use ear::{Asked, Ear};

/// Connections that are served at once; more are closed.
const MOST_CONNECTIONS: u64 = 64;
/// How long a connection may say nothing.
const IDLE: Duration = Duration::from_secs(60);
/// How long a model that says nothing does so at most.
const SILENCE: Duration = Duration::from_secs(60);
/// Prompts that wish for trouble and are counted.
const MOST_TROUBLES: usize = 1000;

/// A way of talking to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
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

    fn read(self, body: &Value) -> Conversation {
        match self {
            Self::OpenAi => openai::read(body),
            Self::Responses => responses::read(body),
            Self::Anthropic => anthropic::read(body),
            Self::Gemini => gemini::read(body),
        }
    }

    fn whole(self, speech: &Speech, id: u64) -> Value {
        match self {
            Self::OpenAi => openai::whole(speech, id),
            Self::Responses => responses::whole(speech, id),
            Self::Anthropic => anthropic::whole(speech, id),
            Self::Gemini => gemini::whole(speech, id),
        }
    }

    fn stream(self, body: &mut Body, speech: &Speech, id: u64) -> io::Result<()> {
        match self {
            Self::OpenAi => openai::stream(body, speech, id),
            Self::Responses => responses::stream(body, speech, id),
            Self::Anthropic => anthropic::stream(body, speech, id),
            Self::Gemini => gemini::stream(body, speech, id),
        }
    }
}

/// A stub that listens until the program ends.
#[derive(Debug)]
pub struct Stub {
    port: u16,
}

#[derive(Debug)]
struct Shared {
    ear: Arc<dyn Ear>,
    open: AtomicU64,
    /// Some agents drop a turn whose answer has an id that they have seen.
    answers: AtomicU64,
    /// How often each prompt that wishes for trouble was sent.
    troubles: Mutex<BTreeMap<String, u32>>,
}

impl Stub {
    /// Listens on a port of this machine; 0 lets the system choose one.
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn listen(port: u16, ear: Arc<dyn Ear>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            ear,
            open: AtomicU64::new(0),
            answers: AtomicU64::new(0),
            troubles: Mutex::default(),
        });
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                if shared.open.fetch_add(1, Ordering::SeqCst) < MOST_CONNECTIONS {
                    thread::spawn(move || shared.serve(stream));
                } else {
                    shared.open.fetch_sub(1, Ordering::SeqCst);
                }
            }
        });
        Ok(Self { port })
    }

    /// Where it listens, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
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
        let api = Api::of(&request.path).filter(|_| request.method == "POST" && !request.upgrades);
        match (api, request.json()) {
            (Some(api), Some(body)) => self.talk(exchange, request, api, &body),
            (api, _) => {
                let (status, answer) = aside(request, api.is_some());
                let (method, path) = (&*request.method, &*request.path);
                self.ear.hears(&Asked::Aside { method, path, status });
                exchange.send(status, &answer)
            }
        }
    }

    /// Counts a prompt, this time among them. What comes when too many are counted counts as new.
    fn counted(&self, prompt: &str) -> u32 {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        if troubles.len() >= MOST_TROUBLES && !troubles.contains_key(prompt) {
            return 1;
        }
        let count = troubles.entry(prompt.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Goes on with a conversation.
    fn talk(
        &self,
        exchange: &mut Exchange,
        request: &Request,
        api: Api,
        body: &Value,
    ) -> io::Result<()> {
        let conversation = api.read(body);
        let speech = Speech::to(&conversation, &mut |prompt| self.counted(prompt));
        self.ear.hears(&Asked::Talk {
            api: api.word(),
            said: &conversation.user_texts(),
            tools: &conversation.tool_names(),
            answer: &speech.summary(),
            body,
        });
        if let Some(status) = speech.status {
            return exchange.refuse(status);
        }
        if speech.silent {
            return exchange.stay_silent(SILENCE);
        }
        let id = self.answers.fetch_add(1, Ordering::SeqCst) + 1;
        if body["stream"] == true || request.path.contains(":streamGenerateContent") {
            let mut body = exchange.stream()?;
            api.stream(&mut body, &speech, id)?;
            body.end()
        } else {
            exchange.send(200, &api.whole(&speech, id))
        }
    }
}

/// What is asked beside conversations: which models there are, how many tokens a text has. `talks`:
/// it would be a conversation if it could be read.
fn aside(request: &Request, talks: bool) -> (u16, Value) {
    if request.upgrades {
        return (404, json!({"error": {"message": "no upgrades"}}));
    }
    if talks {
        return (400, json!({"error": {"message": "the body is no JSON"}}));
    }
    if request.path.contains("count") {
        return (200, json!({"input_tokens": 10, "totalTokens": 10}));
    }
    let model = json!({
        "id": "stub", "object": "model", "created": 1, "owned_by": "skep", "type": "model",
        "display_name": "stub", "name": "models/stub", "created_at": "2026-01-01T00:00:00Z",
    });
    let models = [model];
    (200, json!({"object": "list", "data": models, "models": models, "has_more": false}))
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    const PATHS: [&str; 4] = [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
        "/v1beta/models/stub:streamGenerateContent?alt=sse",
    ];

    /// A conversation in each way of talking: a word to remember, then the question for it.
    fn bodies() -> [Value; 4] {
        let said = ["Please remember the word amber-7.", "yes", "Which? skep:recall"];
        let roles = ["user", "assistant", "user"];
        let pairs = || roles.into_iter().zip(said);
        let messages: Value =
            pairs().map(|(role, text)| json!({"role": role, "content": text})).collect();
        let items: Value = pairs()
            .map(|(role, text)| json!({"type": "message", "role": role, "content": [{"text": text}]}))
            .collect();
        let contents: Value = pairs()
            .map(|(role, text)| {
                let role = if role == "user" { role } else { "model" };
                json!({"role": role, "parts": [{"text": text}]})
            })
            .collect();
        [
            json!({"stream": true, "messages": messages}),
            json!({"stream": true, "input": items}),
            json!({"stream": true, "messages": messages}),
            json!({"contents": contents}),
        ]
    }

    #[derive(Debug)]
    struct Deaf;

    impl Ear for Deaf {
        fn hears(&self, _asked: &Asked<'_>) {}
    }

    fn stub() -> Stub {
        Stub::listen(0, Arc::new(Deaf)).unwrap()
    }

    /// What is answered to bytes on a connection of their own.
    fn sent(stub: &Stub, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, stub.port)).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(path: &str, head: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("POST {path} HTTP/1.1\r\n{head}content-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    #[test]
    fn every_way_of_talking_gets_the_word_back_in_pieces() {
        let stub = stub();
        for (path, body) in PATHS.into_iter().zip(bodies()) {
            let answer = sent(&stub, &post(path, "", body.to_string().as_bytes()));
            assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
            assert!(answer.contains("amber-7.") && answer.contains("data: "), "{path}: {answer}");
            assert!(answer.matches("data: ").count() > 4, "{path}: {answer}");
        }
    }

    #[test]
    fn bodies_may_be_packed_or_come_in_chunks() {
        let stub = stub();
        let body = bodies()[0].to_string();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(body.as_bytes()).unwrap();
        let level = ruzstd::encoding::CompressionLevel::Uncompressed;
        let zstd = ruzstd::encoding::compress_to_vec(body.as_bytes(), level);
        let (head, tail) = body.split_at(20);
        let chunks = format!(
            "POST {} HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{head}\r\n{:x}\r\n{tail}\r\n0\r\n\r\n",
            PATHS[0],
            head.len(),
            tail.len(),
        );
        for bytes in [
            post(PATHS[0], "content-encoding: gzip\r\n", &gzip.finish().unwrap()),
            post(PATHS[0], "content-encoding: zstd\r\n", &zstd),
            chunks.into_bytes(),
        ] {
            let answer = sent(&stub, &bytes);
            assert!(answer.contains("amber-7."), "{answer}");
        }
    }

    #[test]
    fn what_is_no_conversation_is_answered_too() {
        let stub = stub();
        let head = |line: &str| sent(&stub, format!("{line}\r\n\r\n").as_bytes());
        assert!(head("GET /v1/models HTTP/1.1").contains("\"stub\""));
        assert!(!head("HEAD / HTTP/1.1").contains('{'));
        let upgrade = "GET /v1/responses HTTP/1.1\r\nUpgrade: websocket";
        assert!(head(upgrade).starts_with("HTTP/1.1 404"));
        let count = sent(&stub, &post("/v1/messages/count_tokens", "", b"{}"));
        assert!(count.contains("input_tokens"), "{count}");
        let broken = sent(&stub, &post(PATHS[0], "", b"{"));
        assert!(broken.starts_with("HTTP/1.1 400"), "{broken}");
    }

    #[test]
    fn a_silent_model_says_nothing_until_its_client_goes_away() {
        let body = json!({"messages": [{"role": "user", "content": "skep:silent"}]}).to_string();
        assert_eq!(sent(&stub(), &post(PATHS[0], "", body.as_bytes())), "");
    }

    #[test]
    fn no_two_answers_have_one_id_and_wishes_are_fulfilled() {
        let stub = stub();
        let ask = |text: &str| {
            let body = json!({"messages": [{"role": "user", "content": text}]}).to_string();
            sent(&stub, &post(PATHS[0], "", body.as_bytes()))
        };
        let odd = ask("skep:echo a\u{2028}b");
        assert!(odd.contains("a\\u2028b") && !odd.contains('\u{2028}'), "{odd}");
        assert!(ask("a").contains("chatcmpl-2") && ask("b").contains("chatcmpl-3"));
        for status in [429, 500] {
            let wish = format!("skep:fail-{status}");
            let answers = [ask(&wish), ask(&wish), ask(&wish)];
            let refused = |answer: &str| answer.starts_with(&format!("HTTP/1.1 {status} "));
            assert_eq!(answers.each_ref().map(|one| refused(one)), [true, true, false]);
            assert!(answers[0].contains("retry-after: 0") && answers[2].contains(&wish));
        }
    }
}
