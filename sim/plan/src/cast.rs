//! Who takes part in a scenario.

use serde_json::Value;
use skep_trace::Text;

use crate::script::Script;
use crate::settings::Settings;

/// Everyone and everything that a scenario names before its first step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cast {
    /// Relays; a scenario without one has one named `relay`.
    pub relays: Vec<RelayCast>,
    /// Channels that are not plain streams, or that are declared for the reader's sake. A channel
    /// that is used and not declared is a stream.
    pub channels: Vec<ChannelCast>,
    /// People; a scenario without an owner has one named `owner`.
    pub people: Vec<PersonCast>,
    /// Scripted agents.
    pub agents: Vec<AgentCast>,
    /// State directories; a harness without one has its own, named after it.
    pub states: Vec<Text>,
    /// Harnesses. All are started, in order, before the first step, unless `started` is false.
    pub harnesses: Vec<HarnessCast>,
    /// What the state directories hold before the first start.
    pub given: Vec<Given>,
}

/// A relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayCast {
    /// Its name; its URL is made from it.
    pub name: Text,
}

/// A channel. Its id comes from its name alone, so two relays have equal ids for equal names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelCast {
    /// Its name.
    pub name: Text,
    /// Its type.
    pub kind: ChannelKind,
}

/// The type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ChannelKind {
    /// Public.
    #[default]
    Stream,
    /// Members only.
    Private,
    /// One conversation between the owner and the agent.
    Dm,
}

/// A person who writes messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonCast {
    /// Their name.
    pub name: Text,
    /// The owner may give commands.
    pub owner: bool,
}

/// A scripted agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCast {
    /// Its name.
    pub name: Text,
    /// The value of `agentCapabilities.loadSession`; `None` leaves the key out.
    pub load_session: Option<Value>,
    /// Sessions survive the agent's process, as a real agent's do.
    pub persists: bool,
    /// It offers `session/resume`.
    pub resume: bool,
    /// It offers `session/close` and `session/delete`.
    pub close: bool,
    /// It offers `session/list`.
    pub list: bool,
    /// The models that it offers; the first is its default. Empty: it offers no choice.
    pub models: Vec<Text>,
    /// The permission modes that it offers; the first is its default. Empty: no choice.
    pub modes: Vec<Text>,
    /// What it does differently from a well-behaved agent.
    pub script: Script,
}

impl AgentCast {
    /// A well-behaved agent that loads and keeps its sessions.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            load_session: Some(Value::Bool(true)),
            persists: true,
            resume: false,
            close: true,
            list: false,
            models: Vec::new(),
            modes: Vec::new(),
            script: Script::default(),
        }
    }
}

/// A harness.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessCast {
    /// Its name.
    pub name: Text,
    /// The agent that it starts.
    pub agent: Text,
    /// The relay that it connects to.
    pub relay: Text,
    /// Its state directory.
    pub state: Text,
    /// The name of its identity; harnesses with equal names share one key pair.
    pub key: Text,
    /// Whether it is started before the first step.
    pub started: bool,
    /// How it is configured.
    pub settings: Settings,
    /// The settings that the scenario itself names, whatever value it gives them: where it names
    /// none, another harness may have a value of its own.
    pub said: Vec<Text>,
}

impl HarnessCast {
    /// The scenario itself names this setting.
    pub fn tells(&self, key: &str) -> bool {
        self.said.iter().any(|said| &**said == key)
    }
}

/// What a state directory holds before the first start.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A receipt, as if an earlier life had left it.
    Receipt(GivenReceipt),
    /// A raw file.
    File(GivenFile),
}

/// A receipt that an earlier life left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenReceipt {
    /// The harness whose scope it is in (its relay and key).
    pub harness: Text,
    /// The channel.
    pub channel: Text,
    /// The thread, under the thread policy.
    pub root: Option<Text>,
    /// The name that the scenario gives to the session.
    pub session: Text,
    /// The model that it was made with.
    pub model: Option<Text>,
    /// The permission mode that it was made with.
    pub mode: Option<Text>,
    /// The agent still has the session, with one earlier turn in it (the user said
    /// `earlier question`, the agent `earlier answer`).
    pub known: bool,
}

/// A raw file in a state directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenFile {
    /// The state directory.
    pub state: Text,
    /// Path below it; `None` is the file of the state's first harness's store.
    pub path: Option<Text>,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// Its permission bits.
    pub mode: u32,
}
