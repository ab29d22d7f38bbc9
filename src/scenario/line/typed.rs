//! Values of a line as types.
//!
//! Reading never stops: a value of the wrong kind is reported, and a default of its type stands in
//! for it.

use serde_json::Value as Json;
use skep_plan::settings::parse_duration;
use skep_trace::Text;

use super::Line;
use crate::scenario::suggest;
use crate::scenario::tree::{Kind, Value, Word};
use crate::scenario::value;

impl Line<'_> {
    /// A value as a name.
    pub(in crate::scenario) fn name(&self, value: &Value) -> Word {
        let text = match &value.kind {
            Kind::Text(text) => {
                if let Some((title, help)) = value::name_fault(text) {
                    self.at.error(value.span, title, "not a name", help);
                }
                text.clone()
            }
            _ => self.wrong(value, "a name", "\"t1\"", "").into(),
        };
        Word { text, span: value.span }
    }

    /// A property as a name.
    pub(in crate::scenario) fn name_prop(&self, key: &str) -> Option<Word> {
        self.node.prop(key).map(|value| self.name(value))
    }

    /// A value as a text.
    pub(in crate::scenario) fn text(&self, value: &Value) -> Text {
        match &value.kind {
            Kind::Text(text) => text.clone(),
            _ => self.wrong(value, "a text", "\"…\"", "").into(),
        }
    }

    /// A property as a text.
    pub(in crate::scenario) fn text_prop(&self, key: &str) -> Option<Text> {
        self.node.prop(key).map(|value| self.text(value))
    }

    /// A value as a text that may not be empty.
    pub(in crate::scenario) fn some_text(&self, value: &Value, what: &str) -> Text {
        let text = self.text(value);
        if value.kind == Kind::Text("".into()) {
            self.at.error(value.span, format!("{what} is empty"), "empty", "write it out");
        }
        text
    }

    /// A value as a duration.
    pub(in crate::scenario) fn duration(&self, value: &Value) -> u64 {
        match &value.kind {
            Kind::Text(text) => parse_duration(text).unwrap_or_else(|| {
                let title = format!("`{text}` is no duration");
                let help = "write a whole number and `ms`, `s`, `m` or `h`: `\"10s\"`";
                self.at.error(value.span, title, "not understood", help);
                0
            }),
            Kind::Integer(number) => {
                let help = format!("write `\"{number}s\"` (or `ms`, `m`, `h`)");
                let title = "a duration has a unit, and is quoted";
                self.at.error(value.span, title, "a bare number", help);
                0
            }
            _ => self.wrong(value, "a duration", "\"10s\"", 0),
        }
    }

    /// A property as a duration.
    pub(in crate::scenario) fn duration_prop(&self, key: &str) -> Option<u64> {
        self.node.prop(key).map(|value| self.duration(value))
    }

    /// A value as a switch.
    pub(in crate::scenario) fn switch(&self, value: &Value) -> bool {
        match &value.kind {
            Kind::Bool(switch) => *switch,
            Kind::Text(text) => {
                let on = matches!(&**text, "true" | "yes" | "on" | "1");
                let help = format!("write `#{on}`");
                self.at.error(value.span, "a switch is `#true` or `#false`", "a text", help);
                false
            }
            _ => self.wrong(value, "a switch", "#true", false),
        }
    }

    /// A property as a switch; off when it is not there.
    pub(in crate::scenario) fn switch_prop(&self, key: &str) -> bool {
        self.node.prop(key).is_some_and(|value| self.switch(value))
    }

    /// A value as a whole number of some range.
    pub(in crate::scenario) fn number<T: TryFrom<i128> + Default>(&self, value: &Value) -> T {
        match &value.kind {
            Kind::Integer(number) => T::try_from(*number).unwrap_or_else(|_| {
                let title = format!("{number} is out of range");
                self.at.error(value.span, title, "does not fit", value::range::<T>());
                T::default()
            }),
            Kind::Text(text) if text.parse::<i128>().is_ok() => {
                let help = format!("write `{text}` without quotes");
                self.at.error(value.span, "a number is not quoted", "a text", help);
                T::default()
            }
            _ => self.wrong(value, "a whole number", "2", T::default()),
        }
    }

    /// A property as a whole number.
    pub(in crate::scenario) fn number_prop<T: TryFrom<i128> + Default>(
        &self,
        key: &str,
    ) -> Option<T> {
        self.node.prop(key).map(|value| self.number(value))
    }

    /// A property that counts, from 1.
    pub(in crate::scenario) fn count_prop(&self, key: &str) -> Option<u32> {
        self.node.prop(key).map(|value| self.counted(value, &format!("`{key}=`")))
    }

    /// A value that counts, from 1.
    pub(in crate::scenario) fn counted(&self, value: &Value, what: &str) -> u32 {
        if value.kind == Kind::Integer(0) {
            let title = format!("{what} counts from 1");
            self.at.error(value.span, title, "less than one", "write 1 or more");
        }
        self.number(value)
    }

    /// A value as one of some words.
    pub(in crate::scenario) fn word<T: Copy>(
        &self,
        value: &Value,
        what: &str,
        words: &[(&str, T)],
    ) -> T {
        let (_, fallback) = words[0];
        let Kind::Text(text) = &value.kind else {
            return self.wrong(value, what, &format!("\"{}\"", words[0].0), fallback);
        };
        let found = words.iter().find(|(word, _)| *word == &**text);
        found.map(|(_, meaning)| *meaning).unwrap_or_else(|| {
            let help = suggest::instead(text, words.iter().map(|(word, _)| *word));
            self.at.error(value.span, format!("`{text}` is not {what}"), "unknown", help);
            fallback
        })
    }

    /// A property as one of some words.
    pub(in crate::scenario) fn word_prop<T: Copy>(
        &self,
        key: &str,
        what: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        self.node.prop(key).map(|value| self.word(value, what, words))
    }

    /// A value as permission bits, written in octal.
    pub(in crate::scenario) fn mode(&self, value: &Value) -> u32 {
        match &value.kind {
            Kind::Text(text) => value::mode(text).unwrap_or_else(|| {
                let title = format!("`{text}` is no file mode");
                let help = "write four octal digits: `\"0600\"`";
                self.at.error(value.span, title, "not understood", help);
                0
            }),
            Kind::Integer(number) => {
                let help = format!("write `\"{number:04}\"`: octal digits, quoted");
                self.at.error(value.span, "a file mode is quoted", "a bare number", help);
                0
            }
            _ => self.wrong(value, "a file mode", "\"0600\"", 0),
        }
    }

    /// A value as JSON: a text that begins like an array or object must be one, any other text
    /// that is JSON is taken as JSON, and what is left is a JSON string.
    pub(in crate::scenario) fn json(&self, value: &Value) -> Json {
        value::json(value).unwrap_or_else(|why| {
            let help = "write JSON in a raw text: `#\"{\"key\": 1}\"#`";
            self.at.error(value.span, format!("this is no JSON: {why}"), "not understood", help);
            Json::Null
        })
    }

    /// Complains about a value of the wrong kind, unless that is done.
    fn wrong<T>(&self, value: &Value, wanted: &str, example: &str, fallback: T) -> T {
        if value.kind != Kind::Reported {
            let title = format!("{wanted} belongs here, not {}", value.what());
            let help = match &value.kind {
                Kind::Integer(number) if wanted == "a name" || wanted == "a text" => {
                    format!("write a text: `\"{}\"`", in_words(*number, wanted))
                }
                _ => format!("write `{example}`"),
            };
            self.at.error(value.span, title, value.what(), help);
        }
        fallback
    }
}

/// What a number probably should have been.
fn in_words(number: i128, wanted: &str) -> String {
    if wanted == "a name" { format!("t{number}") } else { number.to_string() }
}
