//! What a harness is to skep, as data: how it is started and configured, what it can do, how it
//! shows that it is ready and that it is done.
//!
//! A profile is read from a file by [`scenario`](crate::scenario) and used by the director (which
//! scenarios apply) and by the live world. Nothing here reads, runs or waits.
//!
//! - `setting`: one setting, and how a harness is told its value.
//! - `environment`: all of them together, as the variables that a process is started with.
//! - `fit`: what a scenario asks for, held against what a harness has.
//! - `agent`: the same for an agent that is certified; `places`: what is filled in when it starts.

mod agent;
mod environment;
mod fit;
mod places;
mod setting;

use std::collections::{BTreeMap, BTreeSet};

use skep_plan::Settings;
use skep_trace::Text;
use skep_trace::policy::Policies;

pub use agent::{AgentFile, AgentProfile};
pub use environment::{Place, environment};
pub use fit::{adapted, lacks, refuses};
pub use places::{Part, Places};
pub use setting::{Form, Way};

/// What a scenario may need of a harness, by the words of its `needs`.
pub const CAPABILITIES: &[&str] = &[
    "durable-sessions",
    "heartbeat",
    "model-switch",
    "observer",
    "owner-commands",
    "readable-store",
    "rotate",
    "session-origin",
    "store-points",
    "thread-policy",
];

/// The capability of a store that skep reads and writes.
pub const READABLE: &str = "readable-store";

/// In a header: the store was not read.
const UNREADABLE: &str = "unreadable-store";

/// In a header: the harness said nothing of itself.
const SILENT: &str = "no-reports";

/// What a harness is told besides the settings of scenarios.
pub const PLACES: &[&str] =
    &["relay-url", "private-key", "agent-command", "owner", "state-dir", "haste", "clock-ahead"];

/// A harness, as far as skep must know it.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessProfile {
    /// Its name, which verdicts and reports use.
    pub name: Text,
    /// What it is, in a sentence.
    pub about: Text,
    /// The program and its arguments, where the command line names none.
    pub start: Vec<Text>,
    /// Variables that are always set.
    pub env: Vec<(Text, Text)>,
    /// How it is told a setting (a scenario's, or one of [`PLACES`]); what is missing it lacks.
    pub ways: BTreeMap<Text, Way>,
    /// The values that it has by itself: where the scenario says nothing, and where it cannot be
    /// told.
    pub follows: BTreeMap<Text, Text>,
    /// What it can do, by the words of the scenarios' `needs`.
    pub has: BTreeSet<Text>,
    /// How it shows that it hears people.
    pub ready: Ready,
    /// How it shows that it is done.
    pub settles: Settles,
    /// How long it may take, at most.
    pub waits: Waits,
    /// How much memory it may hold, in MiB.
    pub memory_mib: u64,
}

/// How a harness shows that it hears people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It publishes its presence (kind 20001, `online`).
    Presence,
    /// It subscribes to a channel.
    Subscription,
    /// A line of its log holds this text.
    Log(Text),
}

/// How a harness shows that it is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settles {
    /// It prints a report whenever nothing is under way, as the reference harness does.
    pub reports: bool,
    /// Texts of log lines after which nothing is under way.
    pub lines: Vec<Text>,
    /// Texts of log lines after which it tries again, and within how many milliseconds.
    pub retries: Vec<(Text, u64)>,
    /// Where nothing else tells: this much silence, in milliseconds.
    pub quiet_ms: u64,
}

/// The longest times that a harness takes for something, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// From its start until it is ready.
    pub ready: u64,
    /// From TERM until it has ended.
    pub stop: u64,
    /// Between two looks at what is to be tried again.
    pub tick: u64,
    /// For an answer of its agent, to anything but a prompt.
    pub request: u64,
    /// For an agent to obey a cancel.
    pub cancel: u64,
    /// Between two attempts to reach a relay that is away.
    pub reconnect: u64,
}

impl Waits {
    /// Every wait, by its word.
    pub const WORDS: &[&str] = &["ready", "stop", "tick", "request", "cancel", "reconnect"];

    /// The wait of that word.
    pub fn by_word(&mut self, word: &str) -> Option<&mut u64> {
        Some(match word {
            "ready" => &mut self.ready,
            "stop" => &mut self.stop,
            "tick" => &mut self.tick,
            "request" => &mut self.request,
            "cancel" => &mut self.cancel,
            "reconnect" => &mut self.reconnect,
            _ => return None,
        })
    }

    /// After so long a silence nothing more is to be hoped for, in milliseconds: the longest that
    /// the harness does anything by itself, and longer while its agent owes it an answer (`asked`)
    /// or it has no connection (`deaf`).
    pub fn patience_ms(&self, asked: bool, deaf: bool) -> u64 {
        /// A loaded machine is late.
        const MARGIN_MS: u64 = 5_000;
        let answer = if asked { self.request } else { 0 };
        let attempt = if deaf { self.reconnect } else { 0 };
        attempt.max(answer + self.tick + self.cancel) + MARGIN_MS
    }
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            ready: 30_000,
            stop: 15_000,
            tick: 30_000,
            request: 60_000,
            cancel: 5_000,
            reconnect: 60_000,
        }
    }
}

/// How much memory a harness may hold where its profile does not say, in MiB.
pub const MEMORY_MIB: u64 = 2_048;

/// How long a silence is taken for the end where a profile does not say, in milliseconds.
pub const QUIET_MS: u64 = 2_000;

impl HarnessProfile {
    /// A harness of that name of which nothing else is known.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            about: "".into(),
            start: Vec::new(),
            env: Vec::new(),
            ways: BTreeMap::new(),
            follows: BTreeMap::new(),
            has: BTreeSet::new(),
            ready: Ready::Presence,
            settles: Settles { quiet_ms: QUIET_MS, ..Settles::default() },
            waits: Waits::default(),
            memory_mib: MEMORY_MIB,
        }
    }

    /// The settings that it has where nobody tells it any.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for (key, value) in &self.follows {
            settings.set(key, value).expect("a profile is read with the values that settings have");
        }
        settings
    }

    /// The policies that it follows where nobody tells it others.
    pub fn policies(&self) -> Policies {
        self.settings().policies
    }

    /// Its name, with what differs from the reference: what a trace must say for its
    /// verdict to be found again.
    pub fn header(&self) -> Text {
        let usual: BTreeMap<_, _> = Settings::default().texts().into_iter().collect();
        let own = self.settings().texts();
        let differs = own.iter().filter(|(key, value)| usual.get(key) != Some(value));
        let mut words = vec![self.name.to_string()];
        words.extend(differs.map(|(key, value)| format!("{key}={value}")));
        if !self.has.contains(READABLE) {
            words.push(UNREADABLE.to_owned());
        }
        if !self.settles.reports {
            words.push(SILENT.to_owned());
        }
        words.join(" ").into()
    }

    /// The profile that a trace's header stands for: enough to judge by.
    pub fn from_header(header: &str) -> Self {
        let mut words = header.split(' ');
        let mut profile = Self::new(words.next().unwrap_or_default());
        if !words.clone().any(|word| word == UNREADABLE) {
            profile.has.insert(READABLE.into());
        }
        profile.settles.reports = !words.clone().any(|word| word == SILENT);
        let known = |key: &str, value: &str| Settings::default().set(key, value).is_ok();
        let pairs = words.filter_map(|word| word.split_once('='));
        let pairs = pairs.filter(|(key, value)| known(key, value));
        profile.follows = pairs.map(|(key, value)| (key.into(), value.into())).collect();
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_by_which_policies_is_judged() {
        let mut profile = HarnessProfile::new("mine");
        assert_eq!(&*profile.header(), "mine unreadable-store no-reports");
        profile.has.insert(READABLE.into());
        profile.settles.reports = true;
        assert_eq!(&*profile.header(), "mine");
        profile.follows.insert("indeterminate".into(), "retain".into());
        profile.follows.insert("cancel".into(), "discard".into());
        assert_eq!(&*profile.header(), "mine indeterminate=retain");
        let read = HarnessProfile::from_header(&profile.header());
        assert_eq!(read.policies(), profile.policies());
        assert!(read.has.contains(READABLE) && read.settles.reports);
        let read = HarnessProfile::from_header(&HarnessProfile::new("x").header());
        assert!(!read.has.contains(READABLE) && !read.settles.reports);
        assert_eq!(HarnessProfile::from_header("x nonsense=1 cancel=?").follows.len(), 0);
    }

    #[test]
    fn every_wait_has_its_word() {
        let mut waits = Waits::default();
        assert!(Waits::WORDS.iter().all(|word| waits.by_word(word).is_some()));
        assert!(waits.patience_ms(true, false) > waits.patience_ms(false, false));
        assert!(waits.patience_ms(false, true) > waits.patience_ms(false, false));
    }
}
