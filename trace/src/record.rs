//! One thing that happened, at an instant; and the whole of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::acp::{Frame, Text};
use crate::hex::Hex32;
use crate::nostr::{ClientMsg, HttpCall, HttpReply, RelayMsg, SharedEvent};
use crate::sighting::Sighting;
use crate::snapshot::Snapshot;

/// A whole run: what was run, and everything that happened, in order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Trace {
    /// What was run.
    pub header: Header,
    /// What happened.
    pub records: Vec<Record>,
}

/// What was run: enough to judge the trace again without the scenario file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The test's name (a matrix cell has its values in brackets).
    pub test: Text,
    /// The scenario file's name, for messages.
    pub file: Text,
    /// The scenario file's whole text.
    pub source: Text,
    /// The texts of the files that it uses, by the names that it gives them.
    pub uses: BTreeMap<Text, Text>,
    /// `sim/event`, `sim/wire` or `live`.
    pub world: Text,
    /// The seed that all choices came from.
    pub seed: u64,
    /// The harness profile, or `reference`.
    pub profile: Text,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Milliseconds since the run began: virtual time in sim, real time in live.
    pub at_ms: u64,
    /// What it was.
    pub what: What,
}

/// One life of a harness: its name in the scenario and a count from 1. Shown as `h#2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Life {
    /// The harness's name in the scenario.
    pub harness: Text,
    /// Which start of it, from 1.
    pub life: u32,
}

/// One process of an agent: its name in the scenario and a count from 1. Shown as `a#2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// The agent's name in the scenario.
    pub agent: Text,
    /// Which start of it, from 1, over the whole run.
    pub process: u32,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.harness, self.life)
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.agent, self.process)
    }
}

/// Who sent an ACP frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The harness, to the agent's standard input.
    Harness,
    /// The agent, on its standard output.
    Agent,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited by itself with this code.
    Exit(i32),
    /// It died by this signal; `by_us` when the scenario sent it.
    Signal {
        /// The signal's number.
        signal: i32,
        /// The director sent it.
        by_us: bool,
    },
}

/// What a harness remembers of one scope, as its store answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Receipt {
    /// The relay that it is bound to, canonical.
    pub relay: Text,
    /// The agent identity's public key.
    pub pubkey: Hex32,
    /// The channel's id.
    pub channel: Text,
    /// The thread's root, under the thread policy.
    pub root: Option<Hex32>,
    /// The remembered session.
    pub session: Text,
    /// The model it was made with, if the agent accepted one.
    pub model: Option<Text>,
    /// The permission mode it was made with, if the agent accepted one.
    pub mode: Option<Text>,
}

/// A harness's own word about itself: the reference harness says it, a foreign one's log is read
/// for it as far as its profile tells how. Verdicts on harnesses never rest on these alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A turn ended well.
    TurnDone {
        /// The messages that it held.
        messages: Vec<Hex32>,
    },
    /// A turn did not end well.
    TurnFailed {
        /// The messages that it held.
        messages: Vec<Hex32>,
        /// They are kept for another attempt.
        retryable: bool,
        /// Why, for a person.
        why: Text,
    },
    /// A store operation failed or found something wrong (H-92, S-30).
    StoreTrouble(Text),
    /// Anything else worth a line.
    Other(Text),
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A step of the scenario begins.
    Step {
        /// Its place, from 0.
        index: usize,
        /// Its title.
        title: Text,
    },
    /// The director did something.
    Act {
        /// The act's place among all acts of its step, from 0, as written (`together` counts its
        /// own line and each line inside).
        index: usize,
        /// The act in one line.
        text: Text,
    },
    /// A name of the scenario was given its id.
    Named {
        /// What kind of thing it is.
        kind: NameKind,
        /// Its name in the scenario.
        name: Text,
        /// Its id on the wire: a UUID, hex in lower case, or a session id.
        id: Text,
    },
    /// A harness process was started.
    HarnessStarted(Life),
    /// A harness was seen to be ready for messages.
    HarnessReady(Life),
    /// A harness process was suspended (`true`) or continued (`false`).
    HarnessPaused(Life, bool),
    /// A harness process is gone.
    HarnessEnded(Life, End),
    /// A harness started an agent process.
    AgentStarted {
        /// The new process.
        agent: Process,
        /// Whose child it is.
        harness: Life,
    },
    /// An agent process is gone.
    AgentEnded {
        /// The process.
        agent: Process,
        /// How.
        end: End,
    },
    /// A frame between a harness and its agent.
    Acp {
        /// The agent process that got or sent it.
        agent: Process,
        /// Its harness.
        harness: Life,
        /// Who sent it.
        from: Side,
        /// What it says.
        frame: Arc<Frame>,
        /// The line as it stood on the pipe, where a foreign program wrote it.
        raw: Option<Text>,
    },
    /// A harness opened a relay connection.
    Connected {
        /// Who.
        harness: Life,
        /// A number for the connection, unique in the run.
        conn: u32,
    },
    /// A relay connection is gone.
    Disconnected {
        /// Who.
        harness: Life,
        /// The connection.
        conn: u32,
    },
    /// A harness said something to the relay.
    ToRelay {
        /// Who.
        harness: Life,
        /// On which connection.
        conn: u32,
        /// What.
        message: Arc<ClientMsg>,
    },
    /// The relay said something to a harness.
    FromRelay {
        /// To whom.
        harness: Life,
        /// On which connection.
        conn: u32,
        /// What.
        message: Arc<RelayMsg>,
    },
    /// A harness's HTTP request to the relay and its answer.
    Http {
        /// Who asked.
        harness: Life,
        /// What was asked.
        call: Arc<HttpCall>,
        /// What was answered.
        reply: Arc<HttpReply>,
    },
    /// A person, or the relay itself, published an event.
    Published(SharedEvent),
    /// A harness's own word about itself.
    Note {
        /// Whose.
        harness: Life,
        /// What.
        note: Note,
    },
    /// A line of a process's log.
    Log {
        /// Whose: `h#1`, `a#2`, `relay`.
        actor: Text,
        /// The line.
        line: Text,
    },
    /// The messages that a harness holds unanswered, once it is settled (sim only).
    Held {
        /// Whose.
        harness: Life,
        /// Their ids.
        messages: Vec<Hex32>,
    },
    /// What a state directory looks like, once a step is settled.
    Disk {
        /// The directory's name in the scenario.
        state: Text,
        /// Its content.
        snapshot: Arc<Snapshot>,
        /// The scenario itself changed the disk just before: a new baseline, not the harness's act.
        baseline: bool,
    },
    /// What the store answers, once a step is settled (sim, and our own store in live).
    Receipts {
        /// The directory's name in the scenario.
        state: Text,
        /// All receipts in it, sorted.
        receipts: Vec<Receipt>,
    },
    /// Something noticed that is no verdict: a frame that the schema does not allow, an orphan.
    Finding {
        /// Whose doing.
        actor: Text,
        /// What, in one line.
        text: Text,
    },
    /// The client of a certificate did or saw something beside the frames.
    Sighting {
        /// At which process.
        agent: Process,
        /// What.
        sighting: Sighting,
    },
    /// The step's expectations were met and everything drained, or a bound was reached.
    Settled {
        /// Which step.
        step: usize,
        /// What it rests on.
        how: Settled,
    },
}

/// What a scenario's name can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A channel; its id is a UUID.
    Channel,
    /// A thread's root; its id is an event id.
    Root,
    /// A message; its id is an event id.
    Message,
    /// A person; the id is a public key.
    Person,
    /// A harness; the id is the public key of its agent identity.
    Harness,
    /// A session that the scenario gave (`given receipt`); the id is the agent's.
    Session,
    /// A relay; the id is its canonical URL.
    Relay,
}

impl NameKind {
    /// Every kind and its word.
    pub const WORDS: [(Self, &'static str); 7] = [
        (Self::Channel, "channel"),
        (Self::Root, "root"),
        (Self::Message, "message"),
        (Self::Person, "person"),
        (Self::Harness, "harness"),
        (Self::Session, "session"),
        (Self::Relay, "relay"),
    ];

    /// The kind's word.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].1
    }
}

/// What "settled" rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Nothing was left to do but idle timers (sim).
    Drained,
    /// An event that the harness's profile names, or the answer to a fence.
    Event(Text),
    /// Nothing happened for so many milliseconds: the weakest kind, and reports say so.
    Quiet(u64),
    /// A bound was reached first: what was awaited, for a person.
    Bound(Text),
}
