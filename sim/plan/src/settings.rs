//! How a harness is configured: the settings that scenarios name, typed.
//!
//! A foreign harness gets them under the names that its profile gives; the reference harness
//! reads the same values.

use skep_trace::Text;
use skep_trace::policy::{
    Cancel, Compatibility, Delivery, ErrorClass, InFlight, Indeterminate, Overlap, Policies,
    SessionScope,
};
use thiserror::Error;

/// One harness's configuration. The default is the reference profile's.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The choices where public harnesses disagree.
    pub policies: Policies,
    /// How long a load may be silent, in milliseconds (H-14: 60 s).
    pub load_timeout_ms: u64,
    /// How long a load may take in all, in milliseconds (H-14: 10 min).
    pub load_cap_ms: u64,
    /// How long any other request but a prompt may take, in milliseconds.
    pub request_timeout_ms: u64,
    /// How long a prompt may be silent, in milliseconds.
    pub idle_timeout_ms: u64,
    /// The observer feed is published (kind 24200).
    pub observer: bool,
    /// Receipts are written and read (H-10).
    pub resume: bool,
    /// The model that is asked for.
    pub model: Option<Text>,
    /// The permission mode that is asked for.
    pub mode: Option<Text>,
    /// Turns after which a session is rotated; 0 is never.
    pub max_turns: u32,
    /// The title that new sessions are given.
    pub title: Option<Text>,
    /// The harness gives its agent an MCP server.
    pub mcp: bool,
    /// Interval of heartbeat turns in milliseconds; 0 is off.
    pub heartbeat_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policies: Policies::default(),
            load_timeout_ms: 60_000,
            load_cap_ms: 600_000,
            request_timeout_ms: 60_000,
            idle_timeout_ms: 900_000,
            observer: false,
            resume: true,
            model: None,
            mode: None,
            max_turns: 0,
            title: None,
            mcp: false,
            heartbeat_ms: 0,
        }
    }
}

/// A setting that is not understood.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    /// No such setting.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// The value does not fit.
    #[error("`{key}` is {wanted}, not `{value}`")]
    Value {
        /// The setting.
        key: String,
        /// What was given.
        value: String,
        /// What it takes, for a person.
        wanted: String,
    },
}

impl Settings {
    /// Every setting, by the name that scenarios use.
    pub const KEYS: &[&str] = &[
        "session-scope",
        "indeterminate",
        "error-class",
        "compatibility",
        "overlap",
        "cancel",
        "in-flight",
        "delivery",
        "load-timeout",
        "load-cap",
        "request-timeout",
        "idle-timeout",
        "observer",
        "resume",
        "model",
        "permission-mode",
        "max-turns",
        "title",
        "mcp",
        "heartbeat",
    ];

    /// Every setting as [`Settings::set`] takes it; one that is empty there is none.
    pub fn texts(&self) -> Vec<(&'static str, String)> {
        let policies = &self.policies;
        let ms = |ms: u64| format!("{ms}ms");
        let word = |word: &Option<Text>| word.as_deref().unwrap_or_default().to_owned();
        vec![
            ("session-scope", policies.session_scope.to_string()),
            ("indeterminate", policies.indeterminate.to_string()),
            ("error-class", policies.error_class.to_string()),
            ("compatibility", policies.compatibility.to_string()),
            ("overlap", policies.overlap.to_string()),
            ("cancel", policies.cancel.to_string()),
            ("in-flight", policies.in_flight.to_string()),
            ("delivery", policies.delivery.to_string()),
            ("load-timeout", ms(self.load_timeout_ms)),
            ("load-cap", ms(self.load_cap_ms)),
            ("request-timeout", ms(self.request_timeout_ms)),
            ("idle-timeout", ms(self.idle_timeout_ms)),
            ("observer", self.observer.to_string()),
            ("resume", self.resume.to_string()),
            ("model", word(&self.model)),
            ("permission-mode", word(&self.mode)),
            ("max-turns", self.max_turns.to_string()),
            ("title", word(&self.title)),
            ("mcp", self.mcp.to_string()),
            ("heartbeat", ms(self.heartbeat_ms)),
        ]
    }

    /// Changes one setting. Durations are texts such as `10s`, switches `true` or `false`.
    ///
    /// # Errors
    /// When there is no such setting, or the value does not fit it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingError> {
        let policies = &mut self.policies;
        match key {
            "session-scope" => {
                policies.session_scope =
                    word(key, value, SessionScope::parse, SessionScope::WORDS)?;
            }
            "indeterminate" => {
                let words = Indeterminate::WORDS;
                policies.indeterminate = word(key, value, Indeterminate::parse, words)?;
            }
            "error-class" => {
                policies.error_class = word(key, value, ErrorClass::parse, ErrorClass::WORDS)?;
            }
            "compatibility" => {
                let words = Compatibility::WORDS;
                policies.compatibility = word(key, value, Compatibility::parse, words)?;
            }
            "overlap" => policies.overlap = word(key, value, Overlap::parse, Overlap::WORDS)?,
            "cancel" => policies.cancel = word(key, value, Cancel::parse, Cancel::WORDS)?,
            "in-flight" => policies.in_flight = word(key, value, InFlight::parse, InFlight::WORDS)?,
            "delivery" => policies.delivery = word(key, value, Delivery::parse, Delivery::WORDS)?,
            "load-timeout" => self.load_timeout_ms = duration(key, value)?,
            "load-cap" => self.load_cap_ms = duration(key, value)?,
            "request-timeout" => self.request_timeout_ms = duration(key, value)?,
            "idle-timeout" => self.idle_timeout_ms = duration(key, value)?,
            "heartbeat" => self.heartbeat_ms = duration(key, value)?,
            "observer" => self.observer = switch(key, value)?,
            "resume" => self.resume = switch(key, value)?,
            "mcp" => self.mcp = switch(key, value)?,
            "model" => self.model = some(value),
            "permission-mode" => self.mode = some(value),
            "title" => self.title = some(value),
            "max-turns" => {
                self.max_turns = value.parse().map_err(|_| bad(key, value, "a whole number"))?;
            }
            _ => return Err(SettingError::Unknown(key.to_owned())),
        }
        Ok(())
    }
}

/// Reads `250ms`, `10s`, `5m`, `2h` as milliseconds.
pub fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

fn some(value: &str) -> Option<Text> {
    (!value.is_empty()).then(|| value.into())
}

fn word<T>(
    key: &str,
    value: &str,
    parse: impl Fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<T, SettingError> {
    parse(value).ok_or_else(|| bad(key, value, &format!("one of `{}`", words.join("`, `"))))
}

fn duration(key: &str, value: &str) -> Result<u64, SettingError> {
    parse_duration(value).ok_or_else(|| bad(key, value, "a duration such as `10s`"))
}

fn switch(key: &str, value: &str) -> Result<bool, SettingError> {
    value.parse().map_err(|_| bad(key, value, "`#true` or `#false`"))
}

fn bad(key: &str, value: &str, wanted: &str) -> SettingError {
    SettingError::Value { key: key.to_owned(), value: value.to_owned(), wanted: wanted.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("250ms"), Some(250));
        assert_eq!(parse_duration("10m"), Some(600_000));
        assert_eq!(parse_duration("10"), None);
        assert_eq!(parse_duration("s"), None);
        assert_eq!(parse_duration("99999999999999999999h"), None);
    }

    #[test]
    fn every_setting_is_read_back_from_its_text() {
        let mut settings = Settings::default();
        let changed = [
            ("session-scope", "thread"),
            ("indeterminate", "bounded(3)"),
            ("load-timeout", "1500ms"),
            ("heartbeat", "30s"),
            ("model", "m1"),
            ("title", "t"),
            ("resume", "false"),
            ("max-turns", "3"),
        ];
        changed.iter().for_each(|(key, value)| settings.set(key, value).unwrap());
        let texts = settings.texts();
        assert!(texts.iter().map(|(key, _)| key).eq(Settings::KEYS));
        let mut read = Settings::default();
        texts.iter().for_each(|(key, value)| read.set(key, value).unwrap());
        assert_eq!(read, settings);
    }

    #[test]
    fn every_key_is_understood() {
        for key in Settings::KEYS {
            let error = Settings::default().set(key, "?").err();
            assert!(!matches!(error, Some(SettingError::Unknown(_))), "{key}");
        }
    }
}
