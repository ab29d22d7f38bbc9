//! One turn: a batch of messages on its way to an answer, and the stage that it has reached.
//!
//! ```text
//! looking ─▶ loading ─▶ quiet ─┐
//!    │          │              ├─▶ configuring ─▶ recording ─▶ prompting ─▶ the end
//!    │      forgetting         │                                   │
//!    └──────────┴─▶ opening ───┘                               cancelling
//! ```

use skep_store::Config;
use skep_trace::{Answer, Text};

use crate::disk::Owed;
use crate::inbox::Batch;
use crate::scope::Scope;
use crate::wish::Wishes;

/// How many bytes of a turn's output are kept for the observer: what fits one event.
const OUTPUT: usize = 32 * 1024;

/// A batch of messages on its way.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) batch: Batch,
    pub(crate) stage: Stage,
    /// The session in hand; it stands in the book once it is live.
    pub(crate) session: Option<Text>,
    /// Receipts are not looked at: the scope was discarded, or its session proved dead.
    pub(crate) fresh: bool,
    /// The scope was discarded while this turn was being prepared: the session in hand is given
    /// up as soon as the stage ends.
    pub(crate) stale: bool,
    /// The turn ends, unprompted, as soon as its stage does; why, for a person.
    pub(crate) dropped: Option<&'static str>,
    /// How often a receipt was looked up.
    pub(crate) lookups: u8,
    /// How often a session that the agent had lost was replaced.
    pub(crate) recoveries: u8,
    /// What the session in hand was found or made under.
    pub(crate) config: Config,
    /// What the agent said, for the observer.
    pub(crate) output: String,
    /// Tokens used in this turn, as far as the agent said.
    pub(crate) used: u64,
    /// The owner rotated the session while the prompt ran in it.
    pub(crate) rotated: bool,
    /// The agent said something.
    pub(crate) spoke: bool,
    /// A session that was discarded in mid-turn: closed when the turn has left it.
    pub(crate) leftover: Option<Text>,
    /// The discard that the receipt being written takes the place of.
    pub(crate) owed: Option<Owed>,
}

/// What a turn waits for.
#[derive(Debug)]
pub(crate) enum Stage {
    /// The store: is there a receipt?
    Looking { ticket: u32 },
    /// The answer to `session/load`.
    Loading(Load),
    /// Silence, after a load: history may still trickle in (H-43).
    Quiet { since_ms: u64, heard_ms: u64, answer: Answer },
    /// The store: a receipt that cannot be loaded is removed.
    Forgetting { ticket: u32 },
    /// The answer to `session/new`.
    Opening { request: i64 },
    /// The answers to the wishes about model and mode.
    Configuring { request: i64, wishes: Wishes },
    /// The store: the receipt is written.
    Recording { ticket: u32 },
    /// The answer to `session/prompt`.
    Prompting { request: i64, since_ms: u64, heard_ms: u64 },
    /// The answer to a cancelled `session/prompt`.
    Cancelling { request: i64, heard_ms: u64, why: Cancelled },
}

/// A load that waits for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) request: i64,
    pub(crate) session: Text,
    pub(crate) since_ms: u64,
    /// When the replay was last seen flowing (H-14).
    pub(crate) heard_ms: u64,
    pub(crate) replayed: bool,
}

/// Why a prompt was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// Somebody wanted it: the messages are done with.
    Wanted(&'static str),
    /// It was silent for too long: the messages are tried again.
    Silent,
}

impl Turn {
    pub(crate) fn new(batch: Batch) -> Self {
        Self {
            batch,
            stage: Stage::Looking { ticket: 0 },
            session: None,
            fresh: false,
            stale: false,
            dropped: None,
            lookups: 0,
            recoveries: 0,
            config: Config::default(),
            output: String::new(),
            used: 0,
            rotated: false,
            spoke: false,
            leftover: None,
            owed: None,
        }
    }

    /// The agent said something; of very much only the beginning is kept.
    pub(crate) fn add_output(&mut self, text: &str) {
        if self.output.len() + text.len() <= OUTPUT {
            self.output.push_str(text);
        }
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.batch.scope
    }

    /// The id of the request whose answer it waits for.
    pub(crate) fn awaited(&self) -> Option<i64> {
        match &self.stage {
            Stage::Loading(load) => Some(load.request),
            Stage::Opening { request }
            | Stage::Configuring { request, .. }
            | Stage::Prompting { request, .. }
            | Stage::Cancelling { request, .. } => Some(*request),
            Stage::Looking { .. }
            | Stage::Quiet { .. }
            | Stage::Forgetting { .. }
            | Stage::Recording { .. } => None,
        }
    }

    /// The number of the store operation whose answer it waits for.
    pub(crate) fn awaited_store(&self) -> Option<u32> {
        match &self.stage {
            Stage::Looking { ticket }
            | Stage::Forgetting { ticket }
            | Stage::Recording { ticket } => Some(*ticket),
            _ => None,
        }
    }

    /// The prompt is with the agent.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Prompting { .. } | Stage::Cancelling { .. })
    }
}
