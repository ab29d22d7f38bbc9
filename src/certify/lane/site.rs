//! A home, and the processes that are started in it one after the other.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skep_trace::{Process, RpcId, Sighting, Text, What};

use super::words;
use crate::certify::bounds::Bounds;
use crate::certify::client::{Client, Reply, ourselves};
use crate::certify::home;
use crate::certify::model::Model;
use crate::certify::order::Order;
use crate::certify::probe::Probe;
use crate::certify::process::{Launch, Running};
use crate::certify::server::Servers;
use crate::certify::tape::{Tape, now};
use crate::certify::tenants::Tenants;
use crate::live::groups::Folder;
use crate::profile::Places;

/// A lane's home with what stands in it.
pub(super) struct Site<'a> {
    name: Text,
    pub(super) order: &'a Order,
    pub(super) tape: Arc<Tape>,
    tell: &'a (dyn Fn(&str) + Sync),
    tenants: Arc<Tenants>,
    folder: Folder,
    starts: u32,
    pub(super) servers: Servers,
    model: Model,
    places: Places,
    /// The agent offers these; from its first handshake.
    pub(super) offer: Offer,
}

/// What an agent offers, as far as plans depend on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Offer {
    pub(super) loads: bool,
    pub(super) pictures: bool,
    sessions: BTreeMap<String, bool>,
}

impl Offer {
    fn read(result: &Value) -> Self {
        let capabilities = &result["agentCapabilities"];
        let marks = capabilities["sessionCapabilities"].as_object();
        let offered = |(name, mark): (&String, &Value)| (name.clone(), mark.is_object());
        Self {
            loads: capabilities["loadSession"] == true,
            pictures: capabilities["promptCapabilities"]["image"] == true,
            sessions: marks.into_iter().flatten().map(offered).collect(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.sessions.get(name).copied().unwrap_or(false)
    }
}

/// The name that clients give themselves, but for one that is another.
pub(super) const CLIENT: &str = "skep-certify";

impl<'a> Site<'a> {
    pub(super) fn new(
        name: &str,
        order: &'a Order,
        tape: &Arc<Tape>,
        tell: &'a (dyn Fn(&str) + Sync),
    ) -> io::Result<Self> {
        let folder = Folder::new()?;
        for place in ["home", "start", "work/inner", "tmp"] {
            fs::create_dir_all(folder.path().join(place))?;
        }
        let model = Model::listen(tape)?;
        let home = folder.path().join("home");
        let places = Places { url: model.url(), home: home.to_string_lossy().into_owned() };
        home::set_up(&home, &order.profile, &places)?;
        let servers = Servers::listen(&folder.path().join("servers"), &order.server, tape)?;
        Ok(Self {
            name: name.into(),
            order,
            tape: Arc::clone(tape),
            tell,
            tenants: Tenants::below(folder.path()),
            folder,
            starts: 0,
            servers,
            model,
            places,
            offer: Offer::default(),
        })
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.order.bounds
    }

    pub(super) fn tell(&self, what: &str) {
        (self.tell)(what);
    }

    /// The directory of the first session: another than the agent is started in.
    pub(super) fn work(&self) -> String {
        self.path("work")
    }

    pub(super) fn path(&self, below: &str) -> String {
        self.folder.path().join(below).to_string_lossy().into_owned()
    }

    /// Starts the next process; `None` where it cannot be started, or the time is up.
    pub(super) fn start(&mut self) -> Option<Client> {
        self.starts += 1;
        let name = Process { agent: self.name.clone(), process: self.starts };
        if self.tape.elapsed() >= self.bounds().whole {
            // Its first request would have been this one.
            self.tape.saw(&name, Sighting::OutOfTime { request: RpcId::Number(1) });
            return None;
        }
        self.tell(&format!("starting {name}"));
        let tmp = self.folder.path().join("tmp");
        let launch = Launch {
            command: self.places.fill_words(&self.order.command),
            env: home::environment(&self.order.env, &self.order.profile, &self.places, &tmp),
            cwd: self.folder.path().join("start"),
            tenants: Arc::clone(&self.tenants),
        };
        self.tape.note(What::AgentStarted { agent: name.clone(), harness: ourselves() });
        match Running::start(&launch, name.clone(), Arc::clone(&self.tape)) {
            Ok(running) => {
                self.servers.serve(&name);
                self.model.serve(&name);
                Some(Client::new(running, name, Arc::clone(&self.tape), self.bounds()))
            }
            Err(error) => {
                let text = format!("the agent cannot be started: {error}");
                self.tape.saw(&name, Sighting::Trouble(text.into()));
                None
            }
        }
    }

    /// Starts the next process and shakes hands; `None` where that fails.
    pub(super) fn ready(&mut self, client: &str) -> Option<Client> {
        let mut agent = self.start()?;
        if self.greet(&mut agent, Probe::Initialize, 1, client) {
            return Some(agent);
        }
        agent.end();
        None
    }

    /// Shakes hands, and logs in where the profile says so; false where that fails.
    pub(super) fn greet(
        &mut self,
        agent: &mut Client,
        probe: Probe,
        version: u32,
        client: &str,
    ) -> bool {
        let reply = agent.call(probe, "initialize", hello(version, client));
        let Some(result) = reply.result() else { return false };
        self.offer = Offer::read(result);
        if let Some(method) = &self.order.profile.login {
            agent.call(Probe::Authenticate, "authenticate", json!({"methodId": method}));
        }
        true
    }

    /// Makes a session and gives its id.
    pub(super) fn new_session(
        &self,
        agent: &mut Client,
        probe: Probe,
        below: &str,
    ) -> Option<String> {
        let params = json!({"cwd": self.path(below), "mcpServers": []});
        session_of(&agent.call(probe, "session/new", params))
    }

    /// The parameters of a load.
    pub(super) fn setup(&self, session: &str, below: &str) -> Value {
        json!({"sessionId": session, "cwd": self.path(below), "mcpServers": []})
    }

    /// Loads a session and listens for what comes late.
    pub(super) fn load(
        &self,
        agent: &mut Client,
        probe: Probe,
        session: &str,
        below: &str,
    ) -> bool {
        let reply = agent.call(probe, "session/load", self.setup(session, below));
        agent.quiet();
        reply.is_result()
    }

    /// Nothing is awaited here: what an agent writes behind its answers is to be written now. Loads
    /// that follow an answer at once are probes of their own.
    pub(super) fn settle(&self) {
        const QUIET_TIMES: u32 = 4;
        self.pause(self.bounds().quiet * QUIET_TIMES);
    }

    /// Lets time go by, until the user wants to stop or the time for everything is up.
    pub(super) fn pause(&self, time: Duration) {
        const LOOK: Duration = Duration::from_millis(200);
        let left = self.bounds().whole.saturating_sub(self.tape.elapsed());
        let until = now() + time.min(left);
        while now() < until && !self.tape.is_cut() {
            thread::park_timeout(until.saturating_duration_since(now()).min(LOOK));
        }
    }

    /// A turn, to its end.
    pub(super) fn turn(
        &self,
        agent: &mut Client,
        probe: Probe,
        session: &str,
        prompt: &Value,
    ) -> Reply {
        agent.call(probe, "session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// Begins a slow turn and waits until it is in mid-stream.
    pub(super) fn slow(&self, agent: &mut Client, probe: Probe, session: &str) -> RpcId {
        self.streaming(agent, probe, session, words::SLOW)
    }

    /// Begins a turn that streams for long and waits until it is in mid-stream.
    pub(super) fn streaming(
        &self,
        agent: &mut Client,
        probe: Probe,
        session: &str,
        wish: &str,
    ) -> RpcId {
        const STREAMING: usize = 3;
        agent.forget_chunks(session);
        let prompt = json!({"sessionId": session, "prompt": words::text(wish)});
        let turn = agent.ask(probe, "session/prompt", prompt);
        if !agent.streams(&turn, session, STREAMING) {
            agent.did(probe, "did not stream");
        }
        turn
    }

    /// A slow turn that is cancelled in mid-stream.
    pub(super) fn cancelled(&self, agent: &mut Client, probe: Probe, session: &str) {
        let turn = self.slow(agent, probe, session);
        self.cancel(agent, session);
        agent.answer(&turn);
        agent.quiet();
    }

    /// Cancels what runs in a session.
    pub(super) fn cancel(&self, agent: &mut Client, session: &str) {
        agent.notify("session/cancel", json!({"sessionId": session}));
    }

    pub(super) fn file(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }
}

pub(super) fn hello(version: u32, client: &str) -> Value {
    json!({
        "protocolVersion": version, "clientCapabilities": {},
        "clientInfo": {"name": client, "version": env!("CARGO_PKG_VERSION")},
    })
}

pub(super) fn session_of(reply: &Reply) -> Option<String> {
    reply.result()?["sessionId"].as_str().map(str::to_owned)
}
