//! What an agent is to skep, as data: how it is started, installed and led to a model.

use std::time::Duration;

/// An agent's setup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentProfile {
    /// Its name.
    pub name: String,
    /// The command that starts it; the user may give another one.
    pub start: Vec<String>,
    /// How long a start may take, where that is longer than usual.
    pub start_takes: Option<Duration>,
    /// How it is installed, a step a line: skep installs nothing.
    pub install: Vec<String>,
    /// What else somebody must know who installs it or starts it.
    pub notes: Vec<String>,
    /// The login method that is used after the handshake, if any.
    pub login: Option<String>,
    /// Variables of its environment.
    pub env: Vec<(String, String)>,
    /// Files of its home.
    pub files: Vec<AgentFile>,
}

/// A file of an agent's home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFile {
    /// The path below the home.
    pub path: String,
    /// What stands in it.
    pub content: String,
    /// Its permission bits, where they are not the usual ones.
    pub mode: Option<u32>,
}

impl AgentProfile {
    /// For an agent that needs nothing but a home.
    pub fn generic() -> Self {
        Self { name: "generic".to_owned(), ..Self::default() }
    }
}
