//! What stood in the way: why nothing came of an agent's handshake, its first session or its first
//! prompt. It tells what was seen, in the agent's own words where there are some, and judges
//! nothing.

use serde_json::Value;
use skep_trace::{End, Process, Sighting, Trace, What};

use super::evidence::{Evidence, Exchange};
use super::probe::Probe;

/// Lines of a log that are told: the reason tends to be among the last.
const LOG_LINES: usize = 8;
/// How a trace says that a program is not there; the stage says so too.
const NOT_STARTED: &str = "the agent cannot be started: ";
/// The code of an answer that wants a login.
const WANTS_LOGIN: i64 = -32000;

/// How far an agent came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It could not be started.
    Start,
    /// It started, and nothing came of the handshake.
    Handshake,
    /// It shook hands, and made no session.
    Session,
    /// It shook hands, and wants a login.
    Login,
    /// It made a session, and its first prompt failed.
    Prompt,
}

impl Stage {
    /// What did not come about.
    pub fn what(self) -> &'static str {
        match self {
            Self::Start => "The agent did not start",
            Self::Handshake => "Nothing came of the handshake",
            Self::Session => "No session was made",
            Self::Login => "The agent wants a login",
            Self::Prompt => "The first prompt failed",
        }
    }
}

/// A login that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// What a profile's `login` names.
    pub id: String,
    /// What it is called.
    pub name: String,
}

/// Something that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// What is written.
    pub write: String,
    /// What that does.
    pub why: &'static str,
}

/// What stood in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// How far it came.
    pub stage: Stage,
    /// What happened, in a clause.
    pub what: String,
    /// What it wrote to its standard output instead of a handshake.
    pub wrote: Vec<String>,
    /// The last lines of its log.
    pub log: Vec<String>,
    /// The logins that it offers.
    pub logins: Vec<Login>,
    /// What to try.
    pub remedies: Vec<Remedy>,
}

impl Trouble {
    /// The trouble of a certificate's trace, if it had one before its first prompt was answered.
    pub(super) fn of(trace: &Trace, e: &Evidence) -> Option<Self> {
        let story = Story { trace, e };
        if let Some(why) = story.not_started() {
            return Some(story.told(Stage::Start, why, &story.process(None), false));
        }
        let greeted = story.of_main(Probe::Initialize).filter(|one| e.result(one).is_some());
        if greeted.is_none() {
            return story.failed(Stage::Handshake, Probe::Initialize);
        }
        if e.first(Probe::NewMain).and_then(|one| e.result(one)).is_none() {
            return story.failed(Stage::Session, Probe::NewMain);
        }
        match e.first(Probe::Turn).and_then(|one| e.result(one)) {
            Some(_) => None,
            None => story.failed(Stage::Prompt, Probe::Turn),
        }
    }
}

/// A trace, read for the one thing that went wrong.
struct Story<'a> {
    trace: &'a Trace,
    e: &'a Evidence,
}

impl Story<'_> {
    fn not_started(&self) -> Option<String> {
        let greeted = self.e.first(Probe::Initialize).is_some();
        let trouble = self.e.seen.iter().find_map(|seen| match &seen.sighting {
            Sighting::Trouble(text) => Some(text.trim_start_matches(NOT_STARTED).to_owned()),
            _ => None,
        });
        trouble.filter(|_| !greeted)
    }

    /// The first exchange of a probe, in the lane that everything rests on where it is there.
    fn of_main(&self, probe: Probe) -> Option<&Exchange> {
        let all = self.e.all(probe);
        let main = |one: &&Exchange| &*self.e.lines[one.request].agent.agent == "main";
        all.iter().find(main).or_else(|| all.first())
    }

    /// The process of an exchange; the first one of the main lane where there is none.
    fn process(&self, exchange: Option<&Exchange>) -> Process {
        exchange.map_or(Process { agent: "main".into(), process: 1 }, |one| {
            self.e.lines[one.request].agent.clone()
        })
    }

    fn failed(&self, stage: Stage, probe: Probe) -> Option<Trouble> {
        let exchange = self.of_main(probe);
        let process = self.process(exchange);
        let method = match stage {
            Stage::Session | Stage::Login => "session/new",
            Stage::Prompt => "session/prompt",
            Stage::Start | Stage::Handshake => "initialize",
        };
        let (mut what, silent) = self.happened(exchange, &process, method)?;
        if exchange.and_then(|one| self.e.code(one)) != Some(WANTS_LOGIN) {
            return Some(self.told(stage, what, &process, silent));
        }
        if let Some(login) = self.e.first(Probe::Authenticate).filter(|one| self.is_error(one)) {
            let id = &self.e.request(login)["params"]["methodId"];
            what = format!("the login {id} is {}; {what}", self.answered(login));
        }
        Some(self.told(Stage::Login, what, &process, false))
    }

    fn is_error(&self, exchange: &Exchange) -> bool {
        self.e.error(exchange).is_some()
    }

    /// What became of a request; and whether the agent just said nothing.
    fn happened(
        &self,
        exchange: Option<&Exchange>,
        process: &Process,
        method: &str,
    ) -> Option<(String, bool)> {
        if let Some(one) = exchange.filter(|one| !one.answers.is_empty()) {
            return Some((format!("`{method}` is {}", self.answered(one)), false));
        }
        if exchange.is_some_and(Exchange::is_mute) {
            let waited = seconds(self.waited(process));
            return Some((format!("`{method}` has no answer after {waited}"), true));
        }
        let end = self.e.ends.iter().find(|(_, ended, _)| ended == process).map(|(_, _, end)| *end);
        let ended = match end {
            Some(End::Exit(code)) => format!("it exited with code {code}"),
            Some(End::Signal { signal, by_us: false }) => {
                format!("it died of signal {}", named(signal))
            }
            // Ours, or none: the time for everything was up, and the report says so.
            _ => return None,
        };
        Some((format!("{ended} before it answered `{method}`"), false))
    }

    /// `answered with -32603: "Internal error"`.
    fn answered(&self, exchange: &Exchange) -> String {
        let Some(error) = self.e.error(exchange) else {
            return "answered with neither a result nor an error".to_owned();
        };
        let data = match error.get("data") {
            None | Some(Value::Null) => String::new(),
            Some(data) => format!(" {data}"),
        };
        format!("answered with {}: {}{data}", error["code"], error["message"])
    }

    /// How long the first answer that never came was waited for.
    fn waited(&self, process: &Process) -> u64 {
        let waited = self.e.seen.iter().find_map(|seen| match seen.sighting {
            Sighting::GaveUp { after_ms, .. } if seen.agent == *process => Some(after_ms),
            _ => None,
        });
        waited.unwrap_or_default()
    }

    fn told(&self, stage: Stage, what: String, process: &Process, silent: bool) -> Trouble {
        Trouble {
            stage,
            what,
            wrote: if stage == Stage::Handshake { self.wrote(process) } else { Vec::new() },
            log: self.log(process),
            logins: if stage == Stage::Login { self.logins() } else { Vec::new() },
            remedies: self.remedies(stage, silent),
        }
    }

    fn wrote(&self, process: &Process) -> Vec<String> {
        let lines = self.e.agent_side().filter(|line| line.agent == *process);
        let none = lines.filter(|line| !line.json.as_ref().is_some_and(Value::is_object));
        last(none.map(|line| line.raw.to_string()))
    }

    fn log(&self, process: &Process) -> Vec<String> {
        let name = process.to_string();
        last(self.trace.records.iter().filter_map(|record| match &record.what {
            What::Log { actor, line } if **actor == *name => Some(line.to_string()),
            _ => None,
        }))
    }

    fn logins(&self) -> Vec<Login> {
        let hello = self.of_main(Probe::Initialize).and_then(|one| self.e.result(one));
        let methods = hello.and_then(|hello| hello["authMethods"].as_array());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let login = |method: &Value| Login { id: text(&method["id"]), name: text(&method["name"]) };
        methods.into_iter().flatten().map(login).collect()
    }

    fn remedies(&self, stage: Stage, silent: bool) -> Vec<Remedy> {
        let header = &self.trace.header;
        let generic = matches!(&*header.profile, "" | "generic");
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=@ ".contains(letter);
        let hand = match (generic, header.file.chars().all(plain)) {
            (false, _) => format!("skep model-stub --agent-profile {}", header.profile),
            (true, true) => format!("skep model-stub -- {}", header.file),
            (true, false) => "skep model-stub -- CMD".to_owned(),
        };
        let mut all = Vec::new();
        let mut remedy = |write: &str, why| all.push(Remedy { write: write.to_owned(), why });
        if stage == Stage::Start {
            remedy("skep list agents", "says how the agents that skep knows are installed");
        } else if silent {
            remedy("--answer 100s", "waits longer for an answer");
        }
        if stage == Stage::Handshake {
            remedy("-- CMD acp", "many agents speak ACP only when an argument says so");
        }
        if stage == Stage::Login {
            remedy("login \"ID\"", "a line of a profile: the login that is used");
        }
        if stage != Stage::Start {
            remedy("--env NAME", "hands a variable of yours to it; it has almost none");
        }
        if generic {
            remedy("--agent-profile NAME|FILE", "sets up its home, and leads it to a model");
        }
        if stage != Stage::Start {
            remedy(&hand, "starts it by hand in such a home");
        }
        all
    }
}

/// The last of some lines that are not empty.
fn last(lines: impl Iterator<Item = String>) -> Vec<String> {
    let lines: Vec<_> = lines.filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].to_vec()
}

fn seconds(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{} s", ms / 1000) }
}

/// The signals that programs die of, by name.
fn named(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}
