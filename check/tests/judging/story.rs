//! Traces told as stories: each method is one thing that happens, a millisecond after the last.
//!
//! A story has an owner, a harness `h` with agent `a`, relay `r` and state `h`, and the channels
//! `general`, `random` and `private-talk` (a direct message). Frames go between the harness life
//! that was started (or chosen by [`Story::by`]) last and its newest agent process.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use skep_check::{Asked, AskedHarness, Expectation, Judgement, Subject, Verdict, judge};
use skep_trace::{
    Answer, Call, ClientMsg, End, Entry, EntryKind, Filter, Frame, Hex32, HttpBody, HttpCall,
    HttpReply, Life, NameKind, NostrEvent, Note, Process, Receipt, Record, RelayMsg, RpcError,
    RpcId, Settled, Setup, SharedEvent, Side, Snapshot, Text, Trace, Update, What,
};

/// The owner's key; each harness has one of its own beside it.
const OWNER: Hex32 = Hex32([200; 32]);
/// Somebody who is not the owner.
const STRANGER: Hex32 = Hex32([201; 32]);

/// A trace in the making, and what is asked of it.
pub(crate) struct Story {
    pub(crate) asked: Asked,
    pub(crate) records: Vec<Record>,
    now_ms: u64,
    steps: usize,
    lives: BTreeMap<Text, u32>,
    processes: BTreeMap<Text, u32>,
    /// Who acts: the life, its agent process, its connection.
    life: Life,
    process: Process,
    conn: u32,
    next_rpc: i64,
    /// The open requests of the harness that acts, by method.
    open: Vec<(String, RpcId)>,
    messages: BTreeMap<String, SharedEvent>,
}

/// A message in the making.
#[derive(Clone, Default)]
pub(crate) struct Said<'a> {
    pub(crate) channel: &'a str,
    pub(crate) root: Option<String>,
    pub(crate) text: &'a str,
    pub(crate) by_stranger: bool,
    pub(crate) to: Option<&'a str>,
}

impl Story {
    /// A story in which this harness takes part.
    pub(crate) fn new() -> Self {
        let mut story = Self {
            asked: Asked { dms: vec!["private-talk".into()], ..Asked::default() },
            records: Vec::new(),
            now_ms: 0,
            steps: 0,
            lives: BTreeMap::new(),
            processes: BTreeMap::new(),
            life: Life { harness: "h".into(), life: 0 },
            process: Process { agent: "a".into(), process: 0 },
            conn: 0,
            next_rpc: 0,
            open: Vec::new(),
            messages: BTreeMap::new(),
        };
        story.named(NameKind::Person, "owner", &OWNER.to_string());
        for channel in ["general", "random", "private-talk"] {
            story.named(NameKind::Channel, channel, &channel_id(channel));
        }
        story.harness("h", "h", "h");
        story
    }

    /// Another harness, with this state directory and identity.
    pub(crate) fn harness(&mut self, name: &str, state: &str, key: &str) -> &mut Self {
        self.harness_on(name, state, key, "r")
    }

    /// Another harness, on this relay.
    pub(crate) fn harness_on(
        &mut self,
        name: &str,
        state: &str,
        key: &str,
        relay: &str,
    ) -> &mut Self {
        self.asked.harnesses.push(AskedHarness {
            name: name.into(),
            agent: "a".into(),
            relay: relay.into(),
            state: state.into(),
            key: key.into(),
            ..AskedHarness::default()
        });
        self.named(NameKind::Relay, relay, &format!("ws://{relay}"));
        self.named(NameKind::Harness, name, &key_of(key).to_string())
    }

    /// Something is asked of the next step.
    pub(crate) fn step(
        &mut self,
        expectations: impl IntoIterator<Item = Expectation>,
    ) -> &mut Self {
        self.asked.steps.push(expectations.into_iter().collect());
        let index = self.steps;
        self.steps += 1;
        self.happens(What::Step { index, title: format!("step {index}").into() })
    }

    /// One record.
    pub(crate) fn happens(&mut self, what: What) -> &mut Self {
        self.now_ms += 1;
        self.records.push(Record { at_ms: self.now_ms, what });
        self
    }

    /// Time passes.
    pub(crate) fn later(&mut self, ms: u64) -> &mut Self {
        self.now_ms += ms;
        self
    }

    pub(crate) fn named(&mut self, kind: NameKind, name: &str, id: &str) -> &mut Self {
        self.happens(What::Named { kind, name: name.into(), id: id.into() })
    }

    /// The harness starts, connects, subscribes, and its agent introduces itself.
    pub(crate) fn starts(&mut self, harness: &str) -> &mut Self {
        self.starts_up_to(harness).agent_starts().introduces(json!({"loadSession": true})).ready()
    }

    /// The harness starts and connects, no more.
    pub(crate) fn starts_up_to(&mut self, harness: &str) -> &mut Self {
        let life = self.lives.entry(harness.into()).or_default();
        *life += 1;
        self.life = Life { harness: harness.into(), life: *life };
        self.open.clear();
        self.happens(What::HarnessStarted(self.life.clone())).connects()
    }

    /// It opens a connection and subscribes to every channel.
    pub(crate) fn connects(&mut self) -> &mut Self {
        self.conn += 1;
        let (harness, conn) = (self.life.clone(), self.conn);
        self.happens(What::Connected { harness, conn });
        for channel in ["general", "random", "private-talk"] {
            self.subscribes(channel);
        }
        self
    }

    pub(crate) fn subscribes(&mut self, channel: &str) -> &mut Self {
        let id: Text = channel_id(channel).into();
        let filter = Filter { tags: vec![('h', vec![id.clone()])], ..Filter::default() };
        let sub = format!("ch-{id}").into();
        self.tells_relay(ClientMsg::Req { sub, filters: vec![filter] })
    }

    pub(crate) fn tells_relay(&mut self, message: ClientMsg) -> &mut Self {
        let (harness, conn) = (self.life.clone(), self.conn);
        self.happens(What::ToRelay { harness, conn, message: Arc::new(message) })
    }

    pub(crate) fn hears_relay(&mut self, message: RelayMsg) -> &mut Self {
        let (harness, conn) = (self.life.clone(), self.conn);
        self.happens(What::FromRelay { harness, conn, message: Arc::new(message) })
    }

    /// The harness that acts starts an agent process.
    pub(crate) fn agent_starts(&mut self) -> &mut Self {
        let agent: Text = "a".into();
        let process = self.processes.entry(agent.clone()).or_default();
        *process += 1;
        self.process = Process { agent, process: *process };
        self.open.clear();
        let (agent, harness) = (self.process.clone(), self.life.clone());
        self.happens(What::AgentStarted { agent, harness })
    }

    /// The handshake, with these capabilities.
    pub(crate) fn introduces(&mut self, capabilities: Value) -> &mut Self {
        self.asks(Call::Initialize(Arc::new(json!({"protocolVersion": 1}))))
            .grants(json!({"protocolVersion": 1, "agentCapabilities": capabilities}))
    }

    pub(crate) fn ready(&mut self) -> &mut Self {
        self.happens(What::HarnessReady(self.life.clone()))
    }

    /// From here on this life acts, with this agent process, on this connection.
    pub(crate) fn by(&mut self, harness: &str, life: u32, process: u32, conn: u32) -> &mut Self {
        self.life = Life { harness: harness.into(), life };
        self.process = Process { agent: "a".into(), process };
        self.conn = conn;
        self
    }

    /// The scenario kills the harness that acts.
    pub(crate) fn killed(&mut self) -> &mut Self {
        self.ends(End::Signal { signal: 9, by_us: true })
    }

    pub(crate) fn ends(&mut self, end: End) -> &mut Self {
        self.happens(What::HarnessEnded(self.life.clone(), end))
    }

    /// The agent of the harness that acts dies.
    pub(crate) fn agent_dies(&mut self) -> &mut Self {
        let agent = self.process.clone();
        self.happens(What::AgentEnded { agent, end: End::Exit(1) })
    }

    /// It dies, and another takes its place.
    pub(crate) fn agent_respawned(&mut self) -> &mut Self {
        self.agent_dies().agent_starts().introduces(json!({"loadSession": true}))
    }

    fn acp(&mut self, from: Side, frame: Frame) -> &mut Self {
        let (agent, harness) = (self.process.clone(), self.life.clone());
        self.happens(What::Acp { agent, harness, from, frame: Arc::new(frame), raw: None })
    }

    /// The harness asks its agent something.
    pub(crate) fn asks(&mut self, call: Call) -> &mut Self {
        self.next_rpc += 1;
        let id = RpcId::Number(self.next_rpc);
        self.open.push((call.method().to_owned(), id.clone()));
        self.acp(Side::Harness, Frame::Request { id, call })
    }

    fn answers(&mut self, outcome: Result<Answer, RpcError>) -> &mut Self {
        let (_, id) = self.open.pop().expect("the harness asked something");
        self.acp(Side::Agent, Frame::Response { id, outcome })
    }

    /// The agent answers the last request with this.
    pub(crate) fn grants(&mut self, result: Value) -> &mut Self {
        self.answers(Ok(Answer::from_json(result)))
    }

    /// The agent answers the last request with an error.
    pub(crate) fn refuses(&mut self, code: i64) -> &mut Self {
        self.answers(Err(RpcError::new(code, "no")))
    }

    pub(crate) fn wants_new(&mut self, channel: Option<&str>) -> &mut Self {
        self.asks(Call::SessionNew(setup(channel)))
    }

    /// The harness opens a session that says for which channel it is.
    pub(crate) fn opens(&mut self, session: &str, channel: &str) -> &mut Self {
        self.wants_new(Some(channel)).grants(json!({"sessionId": session}))
    }

    pub(crate) fn wants_load(&mut self, session: &str) -> &mut Self {
        self.asks(Call::SessionLoad { session_id: session.into(), setup: setup(None) })
    }

    pub(crate) fn loads(&mut self, session: &str) -> &mut Self {
        self.wants_load(session).grants(json!({}))
    }

    /// The harness prompts a session with messages.
    pub(crate) fn prompts(&mut self, session: &str, messages: &[&str]) -> &mut Self {
        let text = messages.iter().map(|label| {
            let event = &self.messages[*label];
            format!("[Buzz event: @mention]\nEvent ID: {}\nContent: {}", event.id(), event.content)
        });
        let prompt: Vec<Text> = vec![text.collect::<Vec<_>>().join("\n").into()];
        self.asks(Call::SessionPrompt { session_id: session.into(), prompt: prompt.into() })
    }

    pub(crate) fn stops(&mut self, reason: &str) -> &mut Self {
        self.grants(json!({"stopReason": reason}))
    }

    /// A whole turn that ends well.
    pub(crate) fn turn(&mut self, session: &str, messages: &[&str]) -> &mut Self {
        self.prompts(session, messages).stops("end_turn")
    }

    pub(crate) fn cancels(&mut self, session: &str) -> &mut Self {
        let call = Call::SessionCancel { session_id: session.into() };
        self.acp(Side::Harness, Frame::Notification(call))
    }

    /// The agent says something on a session.
    pub(crate) fn streams(&mut self, session: &str, text: &str) -> &mut Self {
        let update = Update::AgentMessageChunk(text.into());
        let call = Call::SessionUpdate { session_id: session.into(), update };
        self.acp(Side::Agent, Frame::Notification(call))
    }

    /// The agent asks its harness something.
    pub(crate) fn agent_asks(&mut self, id: i64) -> &mut Self {
        let method = "session/request_permission".into();
        let call = Call::Other { method, params: Arc::new(json!({"options": []})) };
        self.acp(Side::Agent, Frame::Request { id: RpcId::Number(id), call })
    }

    pub(crate) fn answers_agent(&mut self, id: i64) -> &mut Self {
        let outcome = Ok(Answer::from_json(json!({"outcome": {"outcome": "cancelled"}})));
        self.acp(Side::Harness, Frame::Response { id: RpcId::Number(id), outcome })
    }

    /// A message is published, and not delivered.
    pub(crate) fn says(&mut self, label: &str, said: Said<'_>) -> &mut Self {
        let key = key_of(said.to.unwrap_or("h")).to_string();
        let mut tags: Vec<Vec<Text>> =
            vec![vec!["h".into(), channel_id(said.channel).into()], vec!["p".into(), key.into()]];
        if let Some(root) = said.root {
            tags.push(vec!["e".into(), root.into(), "".into(), "root".into()]);
        }
        let author = if said.by_stranger { STRANGER } else { OWNER };
        let text = if said.text.is_empty() { format!("text of {label}") } else { said.text.into() };
        let event = Arc::new(NostrEvent::new(author, self.now_ms, 9, tags, text.into()));
        self.messages.insert(label.to_owned(), event.clone());
        self.named(NameKind::Message, label, &event.id().to_string());
        self.happens(What::Published(event))
    }

    /// A mention is published and delivered to the harness that acts.
    pub(crate) fn mention(&mut self, label: &str, channel: &str) -> &mut Self {
        self.says(label, Said { channel, ..Said::default() }).delivers(label)
    }

    /// A reply in a thread whose root is spelled so.
    pub(crate) fn reply(&mut self, label: &str, channel: &str, root: &str) -> &mut Self {
        let root = Some(root.to_owned());
        self.says(label, Said { channel, root, ..Said::default() }).delivers(label)
    }

    /// The relay gives a message to the harness that acts.
    pub(crate) fn delivers(&mut self, label: &str) -> &mut Self {
        let event = self.messages[label].clone();
        self.hears_relay(RelayMsg::Event { sub: "ch".into(), event })
    }

    /// The id of a message.
    pub(crate) fn id(&self, label: &str) -> Hex32 {
        self.messages[label].id()
    }

    /// The owner gives a command in a channel.
    pub(crate) fn command(&mut self, command: &str, channel: &str) -> &mut Self {
        let label = format!("{command}-{}", self.now_ms);
        self.says(&label, Said { channel, text: command, ..Said::default() }).delivers(&label)
    }

    /// The owner asks for another model.
    pub(crate) fn switch_model(&mut self, channel: &str) -> &mut Self {
        let content =
            json!({"type": "switch_model", "channelId": channel_id(channel), "modelId": "m2"});
        let tags = vec![vec!["p".into(), key_of("h").to_string().into()]];
        let content = content.to_string().into();
        let event = NostrEvent::new(OWNER, self.now_ms, 24200, tags, content).sealed(key_of("h"));
        self.hears_relay(RelayMsg::Event { sub: "control".into(), event: Arc::new(event) })
    }

    /// The relay tells the harness that it left a channel.
    pub(crate) fn removed_from(&mut self, channel: &str) -> &mut Self {
        let tags = vec![
            vec!["p".into(), key_of("h").to_string().into()],
            vec!["h".into(), channel_id(channel).into()],
        ];
        let event = NostrEvent::new(OWNER, self.now_ms, 44101, tags, "".into());
        self.hears_relay(RelayMsg::Event { sub: "membership".into(), event: Arc::new(event) })
    }

    /// The harness publishes an event over its connection.
    pub(crate) fn publishes(&mut self, kind: u16, content: &str) -> &mut Self {
        let event = NostrEvent::new(key_of("h"), self.now_ms, kind, Vec::new(), content.into());
        self.tells_relay(ClientMsg::Event(Arc::new(event.sealed(OWNER))))
    }

    /// The harness posts a notice about a message.
    pub(crate) fn announces(&mut self, label: &str) -> &mut Self {
        let tags = vec![
            vec!["h".into(), self.messages[label].tag("h").unwrap().into()],
            vec!["e".into(), self.id(label).to_string().into(), "".into(), "reply".into()],
        ];
        let event = NostrEvent::new(key_of("h"), self.now_ms, 9, tags, "it failed".into());
        let accepted = HttpBody::Accepted { id: event.id(), accepted: true, message: "".into() };
        let (harness, reply) = (self.life.clone(), Arc::new(HttpReply::ok(accepted)));
        self.happens(What::Http {
            harness,
            call: Arc::new(HttpCall::Publish(Arc::new(event))),
            reply,
        })
    }

    pub(crate) fn notes(&mut self, note: Note) -> &mut Self {
        let harness = self.life.clone();
        self.happens(What::Note { harness, note })
    }

    /// The step came to rest.
    pub(crate) fn settles(&mut self) -> &mut Self {
        self.settles_on(Settled::Drained)
    }

    pub(crate) fn settles_on(&mut self, how: Settled) -> &mut Self {
        let step = self.steps.saturating_sub(1);
        self.happens(What::Settled { step, how })
    }

    /// The harness that acts tells what it holds.
    pub(crate) fn holds(&mut self, labels: &[&str]) -> &mut Self {
        let messages = labels.iter().map(|label| self.id(label)).collect();
        let harness = self.life.clone();
        self.happens(What::Held { harness, messages })
    }

    /// The store of `h` answers with these receipts: channel and session.
    pub(crate) fn remembers(&mut self, receipts: &[(&str, &str)]) -> &mut Self {
        let receipts = receipts.iter().map(|(channel, session)| Receipt {
            relay: "ws://r".into(),
            pubkey: key_of("h"),
            channel: channel_id(channel).into(),
            root: None,
            session: (*session).into(),
            model: None,
            mode: None,
        });
        let receipts = receipts.collect();
        self.happens(What::Receipts { state: "h".into(), receipts })
    }

    /// The state directory of `h` looks like this: paths, modes and contents.
    pub(crate) fn disk(&mut self, files: &[(&str, u32, &str)]) -> &mut Self {
        self.looks(files, false)
    }

    /// The scenario itself made it look like this.
    pub(crate) fn baseline(&mut self, files: &[(&str, u32, &str)]) -> &mut Self {
        self.looks(files, true)
    }

    fn looks(&mut self, files: &[(&str, u32, &str)], baseline: bool) -> &mut Self {
        let entries = files.iter().map(|(path, mode, content)| {
            let kind = match *content {
                "<dir>" => EntryKind::Dir,
                "<link>" => EntryKind::Symlink("elsewhere".into()),
                "<special>" => EntryKind::Special,
                text => EntryKind::file(text.as_bytes()),
            };
            (Text::from(*path), Entry { kind, mode: *mode })
        });
        let snapshot = Arc::new(Snapshot { entries: entries.collect() });
        self.happens(What::Disk { state: "h".into(), snapshot, baseline })
    }

    /// The trace so far.
    pub(crate) fn trace(&self) -> Trace {
        Trace { records: self.records.clone(), ..Trace::default() }
    }

    /// All judgements.
    pub(crate) fn judged(&self) -> Vec<Judgement> {
        judge(&self.trace(), self.asked.clone())
    }

    /// The judgement on one subject.
    pub(crate) fn judgement(&self, subject: Subject) -> Judgement {
        let mut all = self.judged().into_iter();
        all.find(|judgement| judgement.subject == subject).expect("every subject is judged")
    }

    /// The judgement on an invariant.
    pub(crate) fn rule(&self, rule: &'static str) -> Judgement {
        self.judgement(Subject::Invariant(rule))
    }

    /// The judgement on an expectation of the last step.
    pub(crate) fn expectation(&self, index: usize) -> Judgement {
        self.judgement(Subject::Expectation { step: self.steps - 1, index })
    }

    /// The place of the last record.
    pub(crate) fn last(&self) -> usize {
        self.records.len() - 1
    }
}

/// A setup that names its channel in `_meta`, or does not.
fn setup(channel: Option<&str>) -> Setup {
    let meta = channel.map(|channel| Arc::new(json!({"channelId": channel_id(channel)})));
    Setup { cwd: "/w".into(), mcp_servers: Arc::new(json!([])), meta, extra: None }
}

/// The id of a channel, as hex that has letters to spell in two ways.
pub(crate) fn channel_id(name: &str) -> String {
    let hex: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("c0ffee{hex}")
}

/// The public key behind an identity's name.
pub(crate) fn key_of(name: &str) -> Hex32 {
    let mut key = [7; 32];
    for (place, byte) in name.bytes().take(32).enumerate() {
        key[place] = byte;
    }
    Hex32(key)
}

/// It holds, and had occasion not to.
pub(crate) fn assert_held(judgement: &Judgement) {
    assert_eq!(judgement.verdict, Verdict::Held, "{judgement:#?}");
}

/// It is broken at this record, by this party.
pub(crate) fn assert_broken(judgement: &Judgement, blame: skep_check::Blame, record: usize) {
    assert_eq!(judgement.verdict, Verdict::Violated, "{judgement:#?}");
    assert_eq!(judgement.blame, Some(blame), "{judgement:#?}");
    assert_eq!(judgement.record, Some(record), "{judgement:#?}");
}
