//! A requirement of a certificate, and what it is made of.

use std::fmt;

use super::evidence::Evidence;
use super::probe::Probe;
use super::said::Judged;

/// How much a requirement demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Whoever breaks it does not speak the protocol.
    Must,
    /// There may be reasons to break it; they are remarked on.
    Should,
    /// It is allowed, and nobody is judged by it.
    May,
    /// The specification is silent: what was seen is recorded.
    Info,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
            Self::Info => "INFO",
        })
    }
}

/// What a result comes to in one word. Each needs those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The handshake, sessions and prompts work.
    Speaks,
    /// Sessions load in their own process.
    Loads,
    /// Sessions load in a new process, however the old one ended.
    Survives,
    /// A load tells all, in order, once, before its answer.
    Faithful,
    /// Unknown sessions are unknown, failed loads leave nothing, sessions are kept apart.
    Honest,
    /// And everything else.
    Robust,
}

impl Tier {
    /// All of them, from the lowest.
    pub const ALL: [Self; 6] =
        [Self::Speaks, Self::Loads, Self::Survives, Self::Faithful, Self::Honest, Self::Robust];

    /// What it says of an agent.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Speaks => "the handshake, sessions and prompts work",
            Self::Loads => "sessions load in their own process",
            Self::Survives => "sessions load in a new process, however the old one ended",
            Self::Faithful => "a load tells all, in order, once, before its answer",
            Self::Honest => "unknown sessions are unknown, and sessions are kept apart",
            Self::Robust => "everything else holds too",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Speaks => "speaks",
            Self::Loads => "loads",
            Self::Survives => "survives",
            Self::Faithful => "faithful",
            Self::Honest => "honest",
            Self::Robust => "robust",
        })
    }
}

/// What an agent must offer for a requirement to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Nothing.
    None,
    /// `loadSession`.
    Load,
    /// `loadSession` and `list`.
    LoadList,
    /// `list`.
    List,
    /// `resume`.
    Resume,
    /// `loadSession` and `resume`.
    LoadResume,
    /// `close`.
    Close,
    /// `loadSession` and `close`.
    LoadClose,
    /// `delete`.
    Delete,
    /// `loadSession` and `delete`.
    LoadDelete,
    /// `delete` and `list`.
    DeleteList,
    /// `fork`.
    Fork,
    /// `loadSession` and `additionalDirectories`.
    Directories,
    /// `loadSession`, `additionalDirectories` and `list`.
    DirectoriesList,
    /// No `loadSession`.
    NoLoad,
}

impl Gate {
    /// What it needs: capabilities by name, and whether `loadSession`.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            Self::None | Self::NoLoad => &[],
            Self::Load => &["loadSession"],
            Self::LoadList => &["loadSession", "list"],
            Self::List => &["list"],
            Self::Resume => &["resume"],
            Self::LoadResume => &["loadSession", "resume"],
            Self::Close => &["close"],
            Self::LoadClose => &["loadSession", "close"],
            Self::Delete => &["delete"],
            Self::LoadDelete => &["loadSession", "delete"],
            Self::DeleteList => &["delete", "list"],
            Self::Fork => &["fork"],
            Self::Directories => &["loadSession", "additionalDirectories"],
            Self::DirectoriesList => &["loadSession", "additionalDirectories", "list"],
        }
    }
}

/// One requirement.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    /// Its number, from 1; reports write `A-33`.
    pub number: u8,
    /// How much it demands.
    pub level: Level,
    /// It is derived from what the specification says, and not said there in so many words.
    pub derived: bool,
    /// What it demands, in one clause.
    pub title: &'static str,
    /// Where the specification says so: a page and, where known, a line.
    pub source: &'static str,
    /// The official kit's checks that look at the same, without the `ACP-` before their names.
    pub checks: &'static [&'static str],
    /// What the agent must offer.
    pub gate: Gate,
    /// The tier that needs it.
    pub tier: Tier,
    /// What is done to observe it.
    pub plan: &'static [Probe],
    pub(super) judge: fn(&Evidence) -> Judged,
}

/// The commit of the specification that lines are counted in.
pub const REVISION: &str = "b7f00054";

impl Requirement {
    /// `A-33`.
    pub fn id(&self) -> String {
        format!("A-{}", self.number)
    }

    /// The official kit's checks of the same in one text, if it has any.
    pub fn check(&self) -> Option<String> {
        (!self.checks.is_empty()).then(|| self.checks.join(", "))
    }

    /// A link to where the specification says so.
    pub fn link(&self) -> String {
        let (page, line) = self.source.split_once(':').unwrap_or((self.source, ""));
        let (page, definition) = page.split_once('#').unwrap_or((page, ""));
        let anchor = match (line, definition) {
            ("", _) => String::new(),
            (line, _) => format!("?plain=1#L{}", line.split(['-', ',']).next().unwrap_or(line)),
        };
        let path = match page {
            "schema" => "schema/v1/schema.json".to_owned(),
            page if page.ends_with(".rs") => page.to_owned(),
            page if page.starts_with("rfd/") => format!("docs/rfds/{}", &page[4..]),
            page => format!("docs/protocol/{page}"),
        };
        format!(
            "https://github.com/agentclientprotocol/agent-client-protocol/blob/{REVISION}/{path}{anchor}"
        )
    }
}
