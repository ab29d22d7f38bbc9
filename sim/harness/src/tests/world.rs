//! The tiny world: everything that the core asks for is answered at once, unless a test says
//! otherwise; time moves only when a test lets it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use skep_mutant::{Mutant, Mutants};
use skep_store::{Config, Key, Lookup, StoreAnswer, StoreOp};
use skep_trace::{
    Answer, Call, ClientMsg, Filter, Frame, Hex32, HttpBody, HttpCall, HttpReply, NostrEvent, Note,
    RelayMsg, RpcError, RpcId, SharedEvent, Text, Update,
};

use crate::config::HarnessConfig;
use crate::effect::HarnessEffect;
use crate::event::HarnessEvent;
use crate::harness::Harness;

pub(super) const AGENT: Hex32 = Hex32([0xa1; 32]);
pub(super) const OWNER: Hex32 = Hex32([0xb2; 32]);
pub(super) const STRANGER: Hex32 = Hex32([0xc3; 32]);

const START_MS: u64 = 1_800_000_000_000;

/// What the agent does with one request instead of answering well.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Hang,
    Exit,
    Error(i64, &'static str),
    Result(Value),
    Stop(&'static str),
    /// These updates first, then the good answer.
    Say(Vec<&'static str>),
    /// The good answer first, then these, so many milliseconds apart.
    SayLater(u64, Vec<&'static str>),
    /// Asks for a permission, and answers only once it was given.
    AskFirst,
}

/// The agent: its sessions survive its processes.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub(super) capabilities: Value,
    pub(super) offers: Value,
    sessions: BTreeMap<Text, Vec<Text>>,
    minted: u32,
    acts: BTreeMap<&'static str, VecDeque<Act>>,
    gated: Option<(RpcId, Call)>,
    process: u32,
    alive: bool,
}

/// Everything around one core after the other.
pub(super) struct World {
    pub(super) config: HarnessConfig,
    pub(super) harness: Harness,
    pub(super) now_ms: u64,
    pub(super) agent: Agent,
    pub(super) receipts: BTreeMap<Key, (Text, Config)>,
    /// The store refuses so many operations to come.
    pub(super) store_refuses: u32,
    pub(super) channels: Vec<(&'static str, &'static str)>,
    /// What happened, in words; drained by `story`.
    story: Vec<String>,
    pub(super) held_back: VecDeque<HarnessEvent>,
    pub(super) store_waits: bool,
    events: VecDeque<HarnessEvent>,
    /// What an agent process says later: when, which process, what.
    later: Vec<(u64, u32, HarnessEvent)>,
    timers: BTreeMap<u32, (u64, bool)>,
    subs: BTreeMap<Text, Vec<Filter>>,
    published: Vec<SharedEvent>,
    connected: bool,
    pub(super) exit: Option<i32>,
    said: u32,
}

impl World {
    /// A world with one harness that is ready.
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(change: impl FnOnce(&mut World)) -> Self {
        let config = HarnessConfig {
            reactions: false,
            typing: false,
            logs: false,
            ..HarnessConfig::new("ws://relay", AGENT, OWNER, "/w")
        };
        let sessions = json!({"close": {}, "delete": {}});
        let capabilities = json!({"loadSession": true, "sessionCapabilities": sessions});
        let mut world = Self {
            harness: Harness::new(config.clone()),
            config,
            now_ms: START_MS,
            agent: Agent { capabilities, offers: json!({}), ..Agent::default() },
            receipts: BTreeMap::new(),
            store_refuses: 0,
            channels: vec![("general", "stream"), ("random", "stream"), ("direct", "dm")],
            story: Vec::new(),
            held_back: VecDeque::new(),
            store_waits: false,
            events: VecDeque::new(),
            later: Vec::new(),
            timers: BTreeMap::new(),
            subs: BTreeMap::new(),
            published: Vec::new(),
            connected: false,
            exit: None,
            said: 0,
        };
        change(&mut world);
        world.start();
        world
    }

    pub(super) fn mutated(mutant: Option<Mutant>, change: impl FnOnce(&mut World)) -> Self {
        Self::with(|world| {
            world.config.mutants = mutant.map_or(Mutants::NONE, Mutants::only);
            change(world);
        })
    }

    fn start(&mut self) {
        self.harness = Harness::new(self.config.clone());
        self.happens(HarnessEvent::Started);
    }

    /// Kills the harness, its agent with it, and starts it after long enough a downtime.
    pub(super) fn restart(&mut self) {
        self.now_ms += 10_000;
        self.restart_at_once();
    }

    pub(super) fn restart_at_once(&mut self) {
        self.timers.clear();
        self.events.clear();
        self.later.clear();
        self.subs.clear();
        self.agent.alive = false;
        self.story.push("-- restart".into());
        self.start();
    }

    /// What the agent does with the next request of a method.
    pub(super) fn on(&mut self, method: &'static str, act: Act) {
        self.agent.acts.entry(method).or_default().push_back(act);
    }

    pub(super) fn mention(&mut self, channel: &str) -> Hex32 {
        self.say(channel, OWNER, &[], None)
    }

    pub(super) fn command(&mut self, channel: &str, command: &str) -> Hex32 {
        self.say(channel, OWNER, &[], Some(command))
    }

    pub(super) fn reply(&mut self, channel: &str, tags: &[&[&str]]) -> Hex32 {
        self.say(channel, OWNER, tags, None)
    }

    pub(super) fn say(
        &mut self,
        channel: &str,
        author: Hex32,
        tags: &[&[&str]],
        text: Option<&str>,
    ) -> Hex32 {
        let event = self.compose(channel, author, tags, text);
        self.publish(&event);
        event.id()
    }

    pub(super) fn compose(
        &mut self,
        channel: &str,
        author: Hex32,
        tags: &[&[&str]],
        text: Option<&str>,
    ) -> SharedEvent {
        self.said += 1;
        let text = text.map_or_else(|| format!("m{}", self.said), str::to_owned);
        let mut all = vec![tag(&["h", channel]), tag(&["p", &AGENT.to_string()])];
        all.extend(tags.iter().map(|parts| tag(parts)));
        Arc::new(NostrEvent::new(author, self.now_ms / 1000, 9, all, text.into()))
    }

    pub(super) fn publish(&mut self, event: &SharedEvent) {
        self.published.push(event.clone());
        self.deliver(event);
        self.drain();
    }

    /// Delivers an event to the subscriptions that it matches.
    pub(super) fn deliver(&mut self, event: &SharedEvent) {
        if !self.connected {
            return;
        }
        let subs = self.subs.iter();
        let matching = subs.filter(|(_, filters)| filters.iter().any(|it| matches(it, event)));
        for (sub, _) in matching {
            let message = RelayMsg::Event { sub: sub.clone(), event: event.clone() };
            self.events.push_back(HarnessEvent::Relay(message.into()));
        }
    }

    /// The owner's control frame that switches a channel's model.
    pub(super) fn switch_model(&mut self, channel: &str, model: &str) {
        let body = json!({"type": "switch_model", "channelId": channel, "modelId": model});
        let tags = vec![tag(&["p", &AGENT.to_string()])];
        let now_s = self.now_ms / 1000;
        let frame = NostrEvent::new(OWNER, now_s, 24200, tags, body.to_string().into());
        self.publish(&Arc::new(frame.sealed(AGENT)));
    }

    pub(super) fn leave(&mut self, channel: &str) {
        self.membership(44101, channel);
    }

    pub(super) fn join(&mut self, channel: &str) {
        self.membership(44100, channel);
    }

    /// The agent joins a channel in which somebody speaks at the same instant.
    pub(super) fn join_saying(&mut self, channel: &str, event: &SharedEvent) {
        self.published.push(event.clone());
        self.membership(44100, channel);
    }

    fn membership(&mut self, kind: u16, channel: &str) {
        let tags = vec![tag(&["p", &AGENT.to_string()]), tag(&["h", channel])];
        let now_s = self.now_ms / 1000;
        self.publish(&Arc::new(NostrEvent::new(STRANGER, now_s, kind, tags, "".into())));
    }

    pub(super) fn disconnect(&mut self) {
        self.connected = false;
        self.subs.clear();
        self.happens(HarnessEvent::Disconnected);
    }

    /// The relay says something of its own.
    pub(super) fn relay_says(&mut self, message: RelayMsg) {
        self.happens(HarnessEvent::Relay(message.into()));
    }

    /// The agent says something of its own.
    pub(super) fn agent_says(&mut self, session: &str, text: &'static str) {
        self.happens(update(session, text));
    }

    pub(super) fn agent_dies(&mut self) {
        self.agent.alive = false;
        self.story.push("-- the agent dies".into());
        self.happens(HarnessEvent::AgentEnded);
    }

    pub(super) fn happens(&mut self, event: HarnessEvent) {
        self.events.push_back(event);
        self.drain();
    }

    /// Lets the next store answer through that was held back.
    pub(super) fn one_store_answer(&mut self) {
        self.events.extend(self.held_back.pop_front());
        self.drain();
    }

    /// Lets store answers through that were held back, and all later ones.
    pub(super) fn store_answers(&mut self) {
        self.store_waits = false;
        self.events.append(&mut self.held_back);
        self.drain();
    }

    /// Lets time pass; what is due meanwhile happens at its instant.
    pub(super) fn pass(&mut self, ms: u64) {
        let until_ms = self.now_ms + ms;
        while let Some(due_ms) = self.next_due().filter(|due_ms| *due_ms <= until_ms) {
            self.now_ms = self.now_ms.max(due_ms);
            self.fire(due_ms);
            self.drain();
        }
        self.now_ms = until_ms;
    }

    fn next_due(&self) -> Option<u64> {
        let timer = self.timers.values().map(|(due_ms, _)| *due_ms).min();
        let later = self.later.iter().map(|(due_ms, ..)| *due_ms).min();
        timer.into_iter().chain(later).min()
    }

    fn fire(&mut self, due_ms: u64) {
        if let Some(at) = self.later.iter().position(|(due, ..)| *due == due_ms) {
            let (_, process, event) = self.later.remove(at);
            if process == self.agent.process && self.agent.alive {
                self.events.push_back(event);
            }
            return;
        }
        let due = self.timers.iter().find(|(_, (due, _))| *due == due_ms);
        if let Some(timer) = due.map(|(timer, _)| *timer) {
            self.timers.remove(&timer);
            self.events.push_back(HarnessEvent::Timer(timer));
        }
    }

    /// Nothing but idle timers is left to happen.
    pub(super) fn is_settled(&self) -> bool {
        self.later.is_empty() && self.timers.values().all(|(_, idle)| *idle)
    }

    fn drain(&mut self) {
        for _ in 0..10_000 {
            let Some(event) = self.events.pop_front() else { return };
            let mut effects = Vec::new();
            self.harness.step(self.now_ms, event, &mut effects);
            for effect in effects {
                self.carry_out(effect);
            }
        }
        panic!("the core never comes to rest: {:#?}", self.story);
    }

    fn carry_out(&mut self, effect: HarnessEffect) {
        match effect {
            HarnessEffect::Connect => {
                self.connected = true;
                self.events.push_back(HarnessEvent::Connected);
                let challenge = RelayMsg::Auth { challenge: "c".into() };
                self.events.push_back(HarnessEvent::Relay(challenge.into()));
            }
            HarnessEffect::Disconnect => {
                self.connected = false;
                self.subs.clear();
            }
            HarnessEffect::Send(message) => self.on_message(&message),
            HarnessEffect::Http(ticket, call) => self.on_http(ticket, &call),
            HarnessEffect::StartAgent => {
                self.agent.process += 1;
                self.agent.alive = true;
                self.events.push_back(HarnessEvent::AgentStarted);
            }
            HarnessEffect::ToAgent(frame) => self.on_frame(&frame),
            HarnessEffect::KillAgent => self.kill_agent(),
            HarnessEffect::SetTimer { timer, after_ms, idle } => {
                self.timers.insert(timer, (self.now_ms + after_ms, idle));
            }
            HarnessEffect::CancelTimer(timer) => {
                self.timers.remove(&timer);
            }
            HarnessEffect::Store(ticket, op) => self.on_store(ticket, op),
            HarnessEffect::Note(note) => self.on_note(&note),
            HarnessEffect::Log(_) => {}
            HarnessEffect::Exit(code) => self.exit = Some(code),
        }
    }

    fn kill_agent(&mut self) {
        self.agent.alive = false;
        self.agent.gated = None;
        // What the old process said and nobody has read yet is lost with it.
        self.events.retain(|event| {
            !matches!(event, HarnessEvent::AgentFrame(_) | HarnessEvent::AgentEnded)
        });
    }

    fn on_message(&mut self, message: &ClientMsg) {
        match message {
            ClientMsg::Auth(_) => {
                let ok = RelayMsg::Ok { id: AGENT, accepted: true, message: "".into() };
                self.events.push_back(HarnessEvent::Relay(ok.into()));
            }
            ClientMsg::Req { sub, filters } => {
                self.subs.insert(sub.clone(), filters.clone());
                self.serve_stored(sub, filters);
            }
            ClientMsg::Close { sub } => {
                self.subs.remove(sub);
            }
            ClientMsg::Event(event) if event.kind == 24200 => {
                self.story.push(format!("observed {}", event.content));
            }
            ClientMsg::Event(_) | ClientMsg::Other(_) => {}
        }
    }

    fn serve_stored(&mut self, sub: &Text, filters: &[Filter]) {
        let stored = |event: &&SharedEvent| {
            filters.iter().any(|filter| {
                matches(filter, event) && filter.since.is_none_or(|since| event.created_at >= since)
            })
        };
        let found: Vec<SharedEvent> = self.published.iter().filter(stored).cloned().collect();
        let eose = RelayMsg::Eose { sub: sub.clone() };
        let events = found.into_iter().map(|event| RelayMsg::Event { sub: sub.clone(), event });
        let told = events.chain([eose]).map(|message| HarnessEvent::Relay(message.into()));
        self.events.extend(told);
    }

    fn on_http(&mut self, ticket: u32, call: &HttpCall) {
        let body = match call {
            HttpCall::Query(filters) => HttpBody::Events(self.answer_query(&filters[0])),
            HttpCall::Publish(event) => {
                let about: Vec<_> = event.tags.iter().filter(|tag| &*tag[0] == "e").collect();
                self.story.push(format!("kind {} e={} {}", event.kind, about.len(), event.content));
                HttpBody::Accepted { id: event.id(), accepted: true, message: "".into() }
            }
            _ => HttpBody::Other("".into()),
        };
        self.events.push_back(HarnessEvent::Http(ticket, Ok(HttpReply::ok(body).into())));
    }

    fn answer_query(&self, filter: &Filter) -> Vec<SharedEvent> {
        let kind = filter.kinds.as_ref().map_or(0, |kinds| kinds[0]);
        let metadata = |(id, channel_kind): &(&str, &str)| {
            let tags = vec![tag(&["d", id]), tag(&["name", id]), tag(&["t", channel_kind])];
            Arc::new(NostrEvent::new(STRANGER, 0, kind, tags, "".into()))
        };
        self.channels.iter().map(metadata).collect()
    }

    fn on_store(&mut self, ticket: u32, op: StoreOp) {
        let answer = if self.store_refuses > 0 {
            self.store_refuses -= 1;
            StoreAnswer::Failed("disk full".into())
        } else {
            self.apply(op)
        };
        let event = HarnessEvent::Stored(ticket, answer);
        if self.store_waits {
            self.held_back.push_back(event);
        } else {
            self.events.push_back(event);
        }
    }

    fn apply(&mut self, op: StoreOp) -> StoreAnswer {
        match op {
            StoreOp::Get { key, config } => StoreAnswer::Got(match self.receipts.get(&key) {
                None => Lookup::Absent,
                Some((session, made)) if *made == config => {
                    Lookup::Found { session: session.clone() }
                }
                Some((session, _)) => Lookup::Incompatible { session: session.clone() },
            }),
            StoreOp::Put { key, session, config } => {
                self.receipts.insert(key, (session, config));
                StoreAnswer::Done
            }
            StoreOp::Remove { key } => {
                self.receipts.remove(&key);
                StoreAnswer::Done
            }
            StoreOp::RemoveIf { key, expected } => {
                let fits = self.receipts.get(&key).is_some_and(|(session, _)| *session == expected);
                if fits {
                    self.receipts.remove(&key);
                }
                StoreAnswer::Removed(fits)
            }
            StoreOp::RemoveChannel { channel } => {
                self.receipts.retain(|key, _| key.channel != channel);
                StoreAnswer::Done
            }
        }
    }

    fn on_note(&mut self, note: &Note) {
        match note {
            Note::TurnDone { messages } => self.story.push(format!("done {}", messages.len())),
            Note::TurnFailed { messages, retryable, .. } => {
                let word = if *retryable { "again" } else { "lost" };
                self.story.push(format!("{word} {}", messages.len()));
            }
            Note::StoreTrouble(_) => self.story.push("store trouble".into()),
            Note::Other(text) => self.story.push(text.to_string()),
        }
    }

    fn on_frame(&mut self, frame: &Frame) {
        if !self.agent.alive {
            return;
        }
        match frame {
            Frame::Request { id, call } => self.on_request(id, call),
            Frame::Notification(call) => {
                self.story.push(format!("{} {}", call.method(), call.session_id().unwrap_or("")));
            }
            Frame::Response { outcome, .. } => {
                let word = if outcome.is_ok() { "permitted" } else { "refused" };
                self.story.push(word.into());
                if let Some((id, call)) = self.agent.gated.take() {
                    self.answer_well(&id, &call);
                }
            }
            Frame::Garbage(_) => {}
        }
    }

    fn on_request(&mut self, id: &RpcId, call: &Call) {
        let method = call.method();
        if method != "initialize" {
            self.story.push(told(call));
        }
        let act = self.agent.acts.get_mut(method).and_then(VecDeque::pop_front);
        let session = call.session_id().unwrap_or("").to_owned();
        match act {
            None => self.answer_well(id, call),
            Some(Act::Hang) => {}
            Some(Act::Exit) => self.agent_ends(),
            Some(Act::Error(code, message)) => self.answer(id, Err(RpcError::new(code, message))),
            Some(Act::Result(value)) => self.answer(id, Ok(Answer::from_json(value))),
            Some(Act::Stop(reason)) => self.answer(id, Ok(stop(reason))),
            Some(Act::Say(texts)) => {
                self.events.extend(texts.iter().map(|text| update(&session, text)));
                self.answer_well(id, call);
            }
            Some(Act::SayLater(gap_ms, texts)) => {
                self.answer_well(id, call);
                for (text, nth) in texts.into_iter().zip(1..) {
                    self.later.push((
                        self.now_ms + nth * gap_ms,
                        self.agent.process,
                        update(&session, text),
                    ));
                }
            }
            Some(Act::AskFirst) => self.ask_first(id, call),
        }
    }

    fn agent_ends(&mut self) {
        self.agent.alive = false;
        self.events.push_back(HarnessEvent::AgentEnded);
    }

    fn ask_first(&mut self, id: &RpcId, call: &Call) {
        self.agent.gated = Some((id.clone(), call.clone()));
        let options = json!({"options": [{"kind": "allow_once", "optionId": "yes"}]});
        let method = "session/request_permission".into();
        let call = Call::Other { method, params: Arc::new(options) };
        let request = Frame::Request { id: RpcId::Text("ask".into()), call };
        self.events.push_back(HarnessEvent::AgentFrame(request.into()));
    }

    /// Answers a request now that was left hanging: the id is the harness's nth request, from 0.
    pub(super) fn answer_late(&mut self, id: i64, outcome: Result<Answer, RpcError>) {
        self.answer(&RpcId::Number(id), outcome);
        self.drain();
    }

    fn answer(&mut self, id: &RpcId, outcome: Result<Answer, RpcError>) {
        let frame = Frame::Response { id: id.clone(), outcome };
        self.events.push_back(HarnessEvent::AgentFrame(frame.into()));
    }

    fn answer_well(&mut self, id: &RpcId, call: &Call) {
        let outcome = match call {
            Call::Initialize(_) => {
                let capabilities = self.agent.capabilities.clone();
                Ok(with([("agentCapabilities", capabilities)]))
            }
            Call::SessionNew(_) => {
                self.agent.minted += 1;
                let session: Text = format!("s{}", self.agent.minted).into();
                self.agent.sessions.insert(session.clone(), Vec::new());
                let offers = Answer::from_json(self.agent.offers.clone());
                Ok(Answer { session_id: Some(session), ..offers })
            }
            Call::SessionLoad { session_id, .. } | Call::SessionResume { session_id, .. } => {
                match self.agent.sessions.get(session_id) {
                    Some(_) => Ok(Answer::from_json(self.agent.offers.clone())),
                    None => Err(RpcError::new(-32002, "session not found")),
                }
            }
            Call::SessionPrompt { .. } => Ok(stop("end_turn")),
            _ => Ok(Answer::empty()),
        };
        self.answer(id, outcome);
    }

    /// A session that the agent has and no receipt names yet.
    pub(super) fn give(&mut self, session: &str) {
        self.agent.sessions.insert(session.into(), Vec::new());
    }

    /// A receipt that an earlier life left, of a session that the agent has.
    pub(super) fn remember(&mut self, channel: &str, session: &str) {
        self.give(session);
        let config = Config::default();
        self.receipts.insert(key(channel, None), (session.into(), config));
    }

    pub(super) fn receipt(&self, channel: &str) -> Option<&str> {
        self.receipts.get(&key(channel, None)).map(|(session, _)| &**session)
    }

    /// What happened since the last look, in words.
    pub(super) fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }

    /// The requests of the last story, without the rest.
    pub(super) fn calls(&mut self) -> Vec<String> {
        let mut story = self.story();
        story.retain(|line| line.starts_with("session/"));
        story
    }
}

/// What was asked of the agent, by method and session.
pub(super) fn short(calls: &[String]) -> Vec<String> {
    calls
        .iter()
        .map(|call| {
            let mut words = call.split(' ');
            let (method, session) = (words.next().unwrap(), words.next().unwrap_or(""));
            if session.starts_with('/') { method.to_owned() } else { format!("{method} {session}") }
        })
        .collect()
}

/// A request in words: the method, its session, and of a prompt how many events it tells of.
fn told(call: &Call) -> String {
    let setup = |setup: &skep_trace::Setup| {
        let mcp = setup.mcp_servers.as_array().map_or(0, Vec::len);
        let origin = setup.mcp_servers.to_string().contains("ORIGIN");
        let meta = setup.meta.as_ref().map(ToString::to_string).unwrap_or_default();
        let mcp = if mcp == 0 { String::new() } else { format!(" mcp{}", i32::from(origin)) };
        format!("{}{mcp} {meta}", setup.cwd)
    };
    match call {
        Call::SessionNew(it) => format!("session/new {}", setup(it)),
        Call::SessionLoad { session_id, setup: it } => {
            format!("session/load {session_id} {}", setup(it))
        }
        Call::SessionPrompt { session_id, prompt } => {
            let lines = prompt.iter().flat_map(|block| block.lines());
            let said: Vec<&str> = lines.filter_map(|line| line.strip_prefix("Content: ")).collect();
            format!("session/prompt {session_id} {}", said.join("+"))
        }
        Call::SetModel { session_id, model_id } => {
            format!("session/set_model {session_id} {model_id}")
        }
        Call::SetMode { session_id, mode_id } => format!("session/set_mode {session_id} {mode_id}"),
        other => format!("{} {}", other.method(), other.session_id().unwrap_or("")),
    }
}

pub(super) fn key(channel: &str, root: Option<Hex32>) -> Key {
    Key { channel: channel.into(), root }
}

pub(super) fn stop(reason: &str) -> Answer {
    Answer { stop_reason: Some(reason.into()), ..Answer::default() }
}

fn with<const N: usize>(fields: [(&str, Value); N]) -> Answer {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Answer { extra: Some(Arc::new(Map::from_iter(fields))), ..Answer::default() }
}

fn update(session: &str, text: &str) -> HarnessEvent {
    let update = match text.strip_prefix("used ") {
        Some(used) => Update::Other(Arc::new(
            json!({"sessionUpdate": "usage_update", "used": used.parse::<u64>().unwrap(), "size": 9}),
        )),
        None => Update::AgentMessageChunk(text.into()),
    };
    let call = Call::SessionUpdate { session_id: session.into(), update };
    HarnessEvent::AgentFrame(Frame::Notification(call).into())
}

fn tag(parts: &[&str]) -> Vec<Text> {
    parts.iter().map(|part| Text::from(*part)).collect()
}

fn matches(filter: &Filter, event: &NostrEvent) -> bool {
    let kind = filter.kinds.as_ref().is_none_or(|kinds| kinds.contains(&event.kind));
    let tagged = filter.tags.iter().all(|(name, values)| {
        let named = |tag: &&Vec<Text>| *tag[0] == *name.to_string();
        event.tags.iter().filter(named).any(|tag| values.contains(&tag[1]))
    });
    kind && tagged
}
