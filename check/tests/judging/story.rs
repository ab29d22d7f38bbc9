//! Traces told as stories: each method is one thing that happens, a millisecond after the last.
//!
//! A story has an owner, a harness `h` with agent `a`, relay `r` and state `h`, and the channels
//! `general`, `random` and `private-talk` (a direct message). Frames go between the harness life
//! that was started (or chosen by [`Story::by`]) last and its newest agent process.

mod frames;
mod relay;
mod state;

pub(crate) use relay::Said;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use skep_check::{Asked, AskedHarness, Expectation, Judgement, Subject, Verdict, judge};
use skep_trace::{
    Call, ClientMsg, End, Filter, Hex32, Life, NameKind, Note, Process, Record, RelayMsg, RpcId,
    Settled, SharedEvent, Text, Trace, What,
};

/// The owner's key; each harness has one of its own beside it.
pub(crate) const OWNER: Hex32 = Hex32([200; 32]);
/// Somebody who is not the owner.
pub(crate) const STRANGER: Hex32 = Hex32([201; 32]);

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
        self.starts_up_to(harness).agent_starts().introduces(&json!({"loadSession": true})).ready()
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
        self.subscribes_since(channel, None)
    }

    pub(crate) fn subscribes_since(&mut self, channel: &str, since: Option<u64>) -> &mut Self {
        let id: Text = channel_id(channel).into();
        let tags = vec![('h', vec![id.clone()])];
        let filter = Filter { tags, since, ..Filter::default() };
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
    pub(crate) fn introduces(&mut self, capabilities: &Value) -> &mut Self {
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
        self.agent_dies().agent_starts().introduces(&json!({"loadSession": true}))
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

/// The id of a channel, as hex that has letters to spell in two ways; a name in capitals is the
/// same channel, spelled in capitals.
pub(crate) fn channel_id(name: &str) -> String {
    let lower = name.to_lowercase();
    let hex: String = lower.bytes().map(|byte| format!("{byte:02x}")).collect();
    let id = format!("c0ffee{hex}");
    if lower == name { id } else { id.to_uppercase() }
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
