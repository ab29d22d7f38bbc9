//! What the agent remembers of its sessions, and what it needs of the place that keeps them.

use serde_json::{Value, json};

/// A session as it is kept: what it is, and what was said in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Kept {
    pub(super) facts: Facts,
    /// The history, each update as it stood on the wire.
    pub(super) history: Vec<Value>,
}

/// What a session is, its history aside.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    /// The process that made it, counted from 1.
    pub(super) born: u32,
    /// The client that made it, by its own word.
    pub(super) client: String,
    pub(super) cwd: String,
    pub(super) directories: Vec<String>,
    pub(super) mode: Option<String>,
    /// How long its answers are wished.
    pub(super) style: Option<String>,
    /// The servers of its last load.
    pub(super) servers: Vec<Value>,
    /// When it was last used: milliseconds since 1970.
    pub(super) used_ms: u64,
}

/// What the agent stands on: where sessions are kept, the servers that they bring along, the time.
/// What is written is there when the call returns, for every process.
pub(super) trait Ground {
    /// A session; `None` where there is none of that id.
    fn read(&self, id: &str) -> Option<Kept>;
    /// Every id, in order.
    fn ids(&self) -> Vec<String>;
    /// Makes a session, or says anew what it is.
    fn put(&mut self, id: &str, facts: &Facts);
    /// Adds to a session's history.
    fn append(&mut self, id: &str, update: &Value);
    /// Forgets a session.
    fn remove(&mut self, id: &str);
    /// Starts a server of a session; false where that cannot be done.
    fn start(&mut self, server: &Value) -> bool;
    /// Adds a line to the notes in a directory: the one thing that the agent's tool does.
    fn work(&mut self, cwd: &str);
    /// The directory that the process was started in.
    fn birthplace(&self) -> String;
    /// Milliseconds since 1970.
    fn now_ms(&self) -> u64;
}

impl Kept {
    /// Reads the lines of a session's file. A torn last line is none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut kept = None::<Self>;
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            if let Some(facts) = line.get("facts") {
                kept.get_or_insert_default().facts = Facts::from_json(facts)?;
            } else if let (Some(kept), Some(update)) = (&mut kept, line.get("update")) {
                kept.history.push(update.clone());
            }
        }
        kept
    }

    /// The number of turns: each began with a message of the user.
    pub(super) fn turns(&self) -> usize {
        let user = |update: &&Value| update["sessionUpdate"] == "user_message_chunk";
        let mut ids: Vec<_> =
            self.history.iter().filter(user).map(|update| &update["messageId"]).collect();
        ids.dedup();
        ids.len()
    }

    /// Its last turn was slow, and neither came to its end nor was cancelled.
    pub(super) fn was_cut(&self) -> bool {
        let last = self.history.last().and_then(|update| update["content"]["text"].as_str());
        last.is_some_and(|text| text.starts_with("word "))
    }

    /// The first words of the user.
    pub(super) fn title(&self) -> Option<String> {
        const LETTERS: usize = 40;
        let text = self.user_texts().next()?;
        Some(text.chars().take(LETTERS).collect::<String>().replace('\n', " "))
    }

    pub(super) fn user_texts(&self) -> impl Iterator<Item = &str> {
        let user = |update: &&Value| update["sessionUpdate"] == "user_message_chunk";
        self.history.iter().filter(user).filter_map(|update| update["content"]["text"].as_str())
    }
}

impl Facts {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "born": self.born, "client": self.client, "cwd": self.cwd,
            "directories": self.directories, "mode": self.mode, "style": self.style,
            "servers": self.servers,
            "used_ms": self.used_ms,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let directories = value["directories"].as_array()?.iter();
        Some(Self {
            born: u32::try_from(value["born"].as_u64()?).ok()?,
            client: text("client")?,
            cwd: text("cwd")?,
            directories: directories
                .map(|one| one.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            mode: text("mode"),
            style: text("style"),
            servers: value["servers"].as_array()?.clone(),
            used_ms: value["used_ms"].as_u64()?,
        })
    }
}
