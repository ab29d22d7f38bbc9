//! The model stub: a model of four providers' ways of talking, on this machine, for agents that
//! would ask a real one.
//!
//! What it says is a function of the conversation that it is sent, so that it tells whether an
//! agent still has the earlier turns. Words that begin with `skep:` are wishes.
//!
//! - [`Stub`]: listens; start here. [`Ear`]: is told what it is asked. `http`: requests and answers
//!   as bytes.
//! - `conversation`: what a request holds, whoever's way it is. `speech`: what is said to that.
//!   `tool`: the tools that may be called. `schema`: the least that one asks for. `refusals`: who
//!   was refused how often.
//! - `api`: the ways of talking: `openai`, `responses`, `anthropic`, `gemini`.

mod anthropic;
mod api;
mod conversation;
mod ear;
mod gemini;
mod http;
mod openai;
mod refusals;
mod responses;
mod schema;
mod speech;
mod tool;

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use self::api::Api;
use self::http::{Body, Exchange, Request};
use self::refusals::Refusals;
use self::speech::Speech;

pub use ear::{Asked, Ear};

/// Connections that are served at once; more are closed.
const MOST_CONNECTIONS: u64 = 64;
/// How long a connection may say nothing.
const IDLE: Duration = Duration::from_secs(60);

/// A stub that listens until the program ends.
#[derive(Debug)]
pub struct Stub {
    port: u16,
}

#[derive(Debug)]
struct Shared {
    ear: Arc<dyn Ear>,
    refusals: Refusals,
    open: AtomicU64,
    /// Some agents drop a turn whose answer has an id that they have seen.
    answers: AtomicU64,
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
            refusals: Refusals::default(),
            open: AtomicU64::new(0),
            answers: AtomicU64::new(0),
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

    /// Goes on with a conversation.
    fn talk(
        &self,
        exchange: &mut Exchange,
        request: &Request,
        api: Api,
        body: &Value,
    ) -> io::Result<()> {
        let conversation = api.read(body);
        let mut speech = Speech::to(&conversation);
        speech.refusal = speech.refusal.filter(|refusal| self.refusals.refuses(&refusal.prompt));
        self.ear.hears(&Asked::Talk {
            api: api.word(),
            said: &conversation.user_texts(),
            tools: &conversation.tool_names(),
            answer: &speech.summary(),
            body,
        });
        if let Some(refusal) = &speech.refusal {
            return exchange.send(refusal.status, &api.refusal(refusal.status));
        }
        if speech.silent {
            return Err(exchange.silence());
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
    for (count, piece) in (1..).zip(&speech.pieces) {
        let (name, data) = event(piece);
        // Writing fails as soon as the client is gone, and nothing more is said.
        body.event(name, &data)?;
        if !speech.pace.is_zero() && count % speech.burst.max(1) == 0 {
            // A model takes its time between words; there is nothing to wait for.
            thread::park_timeout(speech.pace);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::conversation::{Conversation, Who};

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
    fn no_two_answers_have_one_id() {
        let stub = stub();
        let ask = |text: &str| {
            let body = json!({"messages": [{"role": "user", "content": text}]}).to_string();
            sent(&stub, &post(PATHS[0], "", body.as_bytes()))
        };
        assert!(ask("a").contains("chatcmpl-1") && ask("b").contains("chatcmpl-2"));
    }

    fn asks(text: &str) -> Vec<u8> {
        let body = json!({"stream": true, "messages": [{"role": "user", "content": text}]});
        post(PATHS[0], "", body.to_string().as_bytes())
    }

    #[test]
    fn a_prompt_is_refused_twice_and_then_answered() {
        let stub = stub();
        for (wish, status) in [("skep:fail-429", "429"), ("skep:fail-500", "500")] {
            for _ in 0..2 {
                let answer = sent(&stub, &asks(wish));
                assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
                assert!(answer.contains("retry-after: 0\r\nretry-after-ms: 1\r\n"), "{answer}");
            }
            let answer = sent(&stub, &asks(wish));
            assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("reply"), "{answer}");
        }
        let other = sent(&stub, &asks("Another one. skep:fail-429"));
        assert!(other.starts_with("HTTP/1.1 429"), "{other}");
    }

    #[test]
    fn silence_lasts_until_the_client_goes_away() {
        let stub = stub();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, stub.port)).unwrap();
        stream.write_all(&asks("skep:silent")).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut byte = [0];
        let kind = stream.read(&mut byte).unwrap_err().kind();
        assert!(matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{kind:?}");
        assert_eq!(sent(&stub, &asks("skep:silent")), "");
    }

    #[test]
    fn a_dense_answer_has_many_pieces() {
        let stub = stub();
        let answer = sent(&stub, &asks("skep:dense"));
        assert!(answer.contains("word 1999 "), "{answer}");
        assert!(answer.matches("data: ").count() > 2_000);
    }

    #[test]
    fn nobody_is_told_more_once_he_is_gone() {
        let mut conversation = Conversation::default();
        conversation.say(Who::User, "skep:dense");
        let speech = Speech::to(&conversation);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        drop(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let mut exchange = Exchange::new(listener.accept().unwrap().0);
        let mut body = exchange.stream().unwrap();
        assert!(openai::stream(&mut body, &speech, 1).is_err());
    }

    #[test]
    fn tools_of_a_provider_are_called_as_it_calls_them() {
        let stub = stub();
        for (tool, called) in [
            (json!({"type": "local_shell"}), "local_shell_call"),
            (json!({"type": "custom", "name": "shell"}), "custom_tool_call"),
            (json!({"type": "web_search"}), "reply to"),
        ] {
            let input = [json!({"role": "user", "content": "skep:tool"})];
            let body = json!({"input": input, "tools": [tool]}).to_string();
            let answer = sent(&stub, &post(PATHS[1], "", body.as_bytes()));
            assert!(answer.contains(called), "{answer}");
        }
    }
}
