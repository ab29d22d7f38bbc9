//! Frames without what differs from run to run: ids, times, ports and folders, each replaced by
//! its place in the order of appearance.

use std::collections::BTreeMap;

use serde_json::Value;

/// Keys of numbers that are times, in seconds or milliseconds.
const TIMES: &[&str] = &["created_at", "since", "until", "expires_at"];

/// So many letters of hex are an id, not a number.
const HEX: usize = 16;

/// What was seen of one stream of frames.
#[derive(Debug, Default)]
pub(super) struct Plain {
    names: BTreeMap<String, usize>,
}

impl Plain {
    /// The frame, plain.
    pub(super) fn frame(&mut self, frame: &Value) -> Value {
        self.value("", frame)
    }

    fn value(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::Number(_) if TIMES.contains(&key) => "⟨time⟩".into(),
            Value::Number(_) if key == "id" => self.name(&format!("rpc {value}")).into(),
            Value::String(text) if matches!(key, "sessionId" | "session_id") => {
                self.name(text).into()
            }
            // A signature has no meaning beside what it signs.
            Value::String(_) if key == "sig" => "⟨signature⟩".into(),
            Value::String(text) => self.text(text).into(),
            Value::Array(all) => all.iter().map(|one| self.value("", one)).collect(),
            Value::Object(all) => {
                let plain = all.iter().map(|(key, one)| (key.clone(), self.value(key, one)));
                Value::Object(plain.collect())
            }
            other => other.clone(),
        }
    }

    fn name(&mut self, id: &str) -> String {
        let next = self.names.len() + 1;
        format!("⟨{}⟩", self.names.entry(id.to_lowercase()).or_insert(next))
    }

    /// Words of a text that are ids, times or places, replaced; a text that is JSON is read as such.
    fn text(&mut self, text: &str) -> String {
        if text.starts_with(['{', '['])
            && let Ok(inner) = serde_json::from_str::<Value>(text)
        {
            return self.value("", &inner).to_string();
        }
        let mut plain = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            plain.push_str(&rest[..start]);
            let word = &rest[start..];
            let (word, after) = word.split_at(word.find(|it| !is_part(it)).unwrap_or(word.len()));
            plain.push_str(&self.word(word));
            rest = after;
        }
        plain + rest
    }

    fn word(&mut self, word: &str) -> String {
        let bare = word.trim_end_matches(['.', ':', '/']);
        let tail = &word[bare.len()..];
        let plain = match () {
            () if is_time(bare) => "⟨time⟩".to_owned(),
            () if bare.contains("127.0.0.1:") || bare.starts_with("/tmp/") => "⟨place⟩".to_owned(),
            () if is_id(bare) || self.names.contains_key(&bare.to_lowercase()) => self.name(bare),
            () => bare.to_owned(),
        };
        plain + tail
    }
}

fn is_part(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | '/')
}

/// Hex of some length, or a UUID; with digits, so that no word is taken for one.
fn is_id(word: &str) -> bool {
    let hex = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    let digits = word.chars().filter(char::is_ascii_digit).count();
    word.len() >= HEX && digits > 0 && word.chars().all(hex)
}

/// `2026-11-29T22:44:19Z`, and times as whole numbers since 1970.
fn is_time(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let number = digits == word.len() && matches!(digits, 10 | 13);
    let date = digits >= 12 && word.contains('T') && word.matches('-').count() >= 2;
    number || date
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_gone_and_nothing_else() {
        let frame = |session: &str, id: u64, event: &str, at: u64| {
            json!({
                "id": id, "method": "session/prompt",
                "params": {"sessionId": session, "created_at": at, "prompt": [
                    format!("Event ID: {event}, at 2026-11-29T22:44:{:02}Z: say 42 again", id),
                ]},
            })
        };
        let one = Plain::default().frame(&frame("s-1", 3, &"ab1".repeat(22), 1_700_000_000));
        let two = Plain::default().frame(&frame("s-9", 4, &"cd2".repeat(22), 1_800_000_000));
        assert_eq!(one, two);
        assert!(one.to_string().contains("say 42 again"), "{one}");
    }

    #[test]
    fn another_session_than_before_is_seen() {
        let of = |sessions: [&str; 2]| {
            let mut plain = Plain::default();
            sessions.map(|session| plain.frame(&json!({"sessionId": session})))
        };
        assert_eq!(of(["a", "a"]), of(["b", "b"]));
        assert_ne!(of(["a", "a"]), of(["a", "b"]));
    }

    #[test]
    fn spelling_is_no_difference_and_text_is() {
        let text = |text: &str| Plain::default().frame(&json!(text));
        assert_eq!(text(&"AB1".repeat(8)), text(&"ab1".repeat(8)));
        assert_ne!(text("hello bees"), text("hello wasps"));
        assert_eq!(text("ws://127.0.0.1:4000/"), text("ws://127.0.0.1:5000/"));
    }
}
