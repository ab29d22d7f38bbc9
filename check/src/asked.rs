//! What a scenario asks for, as far as a check must know it: no acts, no scripts, no spans.

use skep_trace::Text;
use skep_trace::policy::{ErrorClass, Indeterminate, Policies};

use crate::expectation::Expectation;

/// Everything that is asked of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The expectations of each step, as written.
    pub steps: Vec<Vec<Expectation>>,
    /// The harnesses.
    pub harnesses: Vec<AskedHarness>,
    /// The names of the channels that are direct messages: one conversation each (H-52).
    pub dms: Vec<Text>,
    /// The name of the person whose commands count; empty is `owner`.
    pub owner: Text,
    /// Sessions that an earlier life is said to have left.
    pub given: Vec<AskedSession>,
    /// Steps in which the scenario itself keeps a state directory from being written (full,
    /// read-only, locked, refused path): what could not be stored binds nobody after a restart.
    pub unwritable: Vec<usize>,
    /// Harnesses that the scenario asks to end, each with the step in which it does.
    pub stops: Vec<(usize, Text)>,
    /// Texts that must never reach the disk: private keys in each spelling, tokens.
    pub secrets: Vec<Text>,
}

/// A harness, as far as checks depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedHarness {
    /// Its name.
    pub name: Text,
    /// The agent that it starts.
    pub agent: Text,
    /// The name of its relay.
    pub relay: Text,
    /// The name of its state directory.
    pub state: Text,
    /// The name of its identity; harnesses with equal names share one key pair.
    pub key: Text,
    /// How it is configured at its first start.
    pub settings: AskedSettings,
    /// What later starts are configured with: from this step on, in order.
    pub later: Vec<(usize, AskedSettings)>,
}

/// The part of a harness's configuration that verdicts depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedSettings {
    /// The choices where public harnesses disagree.
    pub policies: Policies,
    /// Receipts are written and read (H-10).
    pub resume: bool,
    /// How long a load may be silent: an answer that comes later decides nothing (H-7).
    pub load_timeout_ms: u64,
    /// Turns after which a session is rotated; 0 is never.
    pub max_turns: u32,
}

impl Default for AskedSettings {
    /// The reference profile.
    fn default() -> Self {
        Self { policies: Policies::default(), resume: true, load_timeout_ms: 60_000, max_turns: 0 }
    }
}

/// A session that the scenario gave, and where it belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedSession {
    /// Its name.
    pub name: Text,
    /// The harness in whose name it was stored.
    pub harness: Text,
    /// The channel's name.
    pub channel: Text,
    /// The thread's name.
    pub root: Option<Text>,
}

/// Not-found, as the protocol spells it: the one answer that every reading calls definitive.
const NOT_FOUND: i64 = -32002;

impl AskedSettings {
    /// An error of this code to a load settles that the session is gone (H-5).
    pub(crate) fn definitive(&self, code: i64) -> bool {
        self.policies.indeterminate == Indeterminate::Fork
            || match self.policies.error_class {
                ErrorClass::Answered => true,
                ErrorClass::NotFound => code == NOT_FOUND,
                ErrorClass::None => false,
            }
    }
}

impl Asked {
    /// The harness of that name, by its place.
    pub(crate) fn harness(&self, name: &str) -> Option<usize> {
        self.harnesses.iter().position(|harness| &*harness.name == name)
    }

    /// The owner's name.
    pub(crate) fn owner(&self) -> &str {
        if self.owner.is_empty() { "owner" } else { &self.owner }
    }
}

impl AskedHarness {
    /// What a life that starts in this step is configured with.
    pub(crate) fn settings_in(&self, step: usize) -> AskedSettings {
        let later = self.later.iter().rev().find(|(from, _)| *from <= step);
        later.map_or(self.settings, |(_, settings)| *settings)
    }
}
