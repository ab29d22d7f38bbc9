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
        let text = if who == Who::User { own_words(text) } else { text };
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
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.filter(|text| !own_words(text).is_empty()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// What the user said of a text: agents add whole texts for their models, or what the time is
/// behind one.
fn own_words(text: &str) -> &str {
    if text.trim_start().starts_with("<system-reminder>") {
        return "";
    }
    match text.split_once("<environment_details>") {
        Some((own, _)) => own.trim_end(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_agent_adds_is_not_the_users_word() {
        let added = "<system-reminder>\nThere are skills.\n</system-reminder>";
        assert_eq!(texts(&json!([{"text": added}, {"text": "Good morning."}])), ["Good morning."]);
        let mut conversation = Conversation::default();
        conversation.say(Who::User, added);
        conversation.say(Who::User, "Good morning.");
        conversation
            .say(Who::User, "And now?\n\n<environment_details>\nNoon.\n</environment_details>");
        assert_eq!(conversation.user_texts(), ["Good morning.", "And now?"]);
    }
}
