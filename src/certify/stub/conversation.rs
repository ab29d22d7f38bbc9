//! What a request to a model holds, whoever's way of talking it is in.

use serde_json::Value;

use super::tool::Tool;

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    User,
    Model,
    /// What a tool gave back.
    Tool,
}

/// A conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conversation {
    pub(super) said: Vec<(Who, String)>,
    /// Tools that may be called.
    pub(super) tools: Vec<Tool>,
    /// The answer must be JSON, of this schema where one is given.
    pub(super) wants_json: Option<Value>,
}

impl Conversation {
    pub(super) fn say(&mut self, who: Who, text: &str) {
        if !text.is_empty() {
            self.said.push((who, text.to_owned()));
        }
    }

    pub(super) fn user_texts(&self) -> Vec<&str> {
        self.of_user().map(|(_, text)| text).collect()
    }

    pub(super) fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// The user's texts with their places.
    pub(super) fn of_user(&self) -> impl Iterator<Item = (usize, &str)> {
        self.said
            .iter()
            .enumerate()
            .filter(|(_, (who, _))| *who == Who::User)
            .map(|(at, (_, text))| (at, text.as_str()))
    }
}

/// The texts of a content: a text, or parts that have one.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}
