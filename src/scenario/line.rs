//! One line as its verb reads it: arguments and properties, typed.
//!
//! Reading never stops. A value that is missing or wrong is reported, and a default of its type
//! stands in for it; nobody sees the default, because a scenario with a complaint is not handed
//! out.

use serde_json::Value as Json;
use skep_plan::settings::parse_duration;
use skep_trace::Text;

use super::diagnostic::Reporter;
use super::suggest;
use super::tree::{Kind, Node, Prop, Value, Word};
use super::value;

/// A line and where complaints about it go.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// The line.
    pub(super) node: &'a Node,
    /// Where complaints go.
    pub(super) at: Reporter<'a>,
    /// How many arguments belong to the verb itself (`relay-fault drop`).
    skip: usize,
    /// It has more arguments than its verb takes: what lacks is probably among them.
    crowded: bool,
}

impl<'a> Line<'a> {
    /// A line whose verb is its first word.
    pub(super) fn new(node: &'a Node, at: Reporter<'a>) -> Self {
        Self { node, at, skip: 0, crowded: false }
    }

    /// The same line, of a verb with so many arguments at most.
    pub(super) fn limited(self, args: usize) -> Self {
        Self { crowded: self.args().len() > args, ..self }
    }

    /// The same line, with one more argument counted to its verb.
    pub(super) fn deeper(self) -> Self {
        Self { skip: self.skip + 1, ..self }
    }

    /// The words of the verb, as written.
    pub(super) fn verb(&self) -> String {
        let words = self.node.args.iter().take(self.skip).filter_map(Value::text);
        words.fold(self.node.name.text.to_string(), |verb, word| format!("{verb} {word}"))
    }

    /// The arguments after the verb.
    pub(super) fn args(&self) -> &'a [Value] {
        self.node.args.get(self.skip..).unwrap_or_default()
    }

    /// Complains about arguments beyond `args`, and about properties that are not in `props`.
    pub(super) fn takes(&self, args: usize, props: &[&str]) {
        if let Some(extra) = self.args().get(args).filter(|arg| arg.kind != Kind::Reported) {
            let title = format!("`{}` takes {}", self.verb(), how_many(args, props.is_empty()));
            self.at.error(extra.span, title, "one too many", self.instead_of(extra, args, props));
        }
        for prop in &self.node.props {
            if !props.contains(&&*prop.key.text) {
                let title = format!("`{}` has no property `{}`", self.verb(), prop.key.text);
                let help = suggest::instead(&prop.key.text, props.iter().copied());
                self.at.error(prop.key.span, title, "unknown", help);
            }
        }
    }

    fn instead_of(&self, extra: &Value, args: usize, props: &[&str]) -> String {
        match (extra.text(), props.first()) {
            (Some(text), Some(first)) if args == 0 => format!("write `{first}=\"{text}\"`"),
            _ => "remove it".to_owned(),
        }
    }

    /// Complains about braces.
    pub(super) fn no_block(&self) {
        if let (Some(_), span) = (&self.node.block, self.node.span) {
            let title = format!("`{}` has no block", self.verb());
            self.at.error(span, title, "braces follow", "remove the braces and what is in them");
        }
    }

    /// Complains when there are no braces.
    pub(super) fn needs_block(&self, example: &str) {
        if self.node.block.is_none() {
            let title = format!("`{}` needs a block", self.verb());
            let help = format!("write `{} {{ {example} }}`", self.verb());
            self.at.error(self.node.span, title, "no braces here", help);
        }
    }

    /// Complains when a property is not there; says what to write.
    pub(super) fn needs(&self, key: &str, example: &str) -> Option<&'a Value> {
        let value = self.node.prop(key);
        let misspelled = |prop: &Prop| suggest::nearest(&prop.key.text, [key]).is_some();
        if value.is_none() && !self.crowded && !self.node.props.iter().any(misspelled) {
            let title = format!("`{}` needs `{key}=`", self.verb());
            let help = format!("write `{key}={example}`");
            self.at.error(self.node.span, title, format!("no `{key}=` here"), help);
        }
        value
    }

    /// The first argument; complains when it is not there.
    pub(super) fn needs_arg(&self, what: &str, example: &str) -> Option<&'a Value> {
        let value = self.args().first();
        if value.is_none() {
            let title = format!("`{}` needs {what}", self.verb());
            let help = format!("write `{} {example}`", self.verb());
            self.at.error(self.node.span, title, format!("{what} is missing"), help);
        }
        value
    }

    /// The first argument as a name.
    pub(super) fn first_name(&self, what: &'static str) -> Word {
        let article = if what.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        match self.needs_arg(&format!("{article} {what} name"), "\"name\"") {
            Some(value) => self.name(value),
            None => Word { text: "".into(), span: self.node.span },
        }
    }

    /// The first argument as a text that may not be empty.
    pub(super) fn first_text(&self, what: &str, example: &str) -> Text {
        match self.needs_arg(what, example) {
            Some(value) => self.some_text(value, what),
            None => "".into(),
        }
    }

    /// All arguments as texts that may not be empty.
    pub(super) fn texts(&self, what: &str) -> Vec<Word> {
        let words = self.args().iter();
        words.map(|value| Word { text: self.some_text(value, what), span: value.span }).collect()
    }

    /// A value as a name.
    pub(super) fn name(&self, value: &Value) -> Word {
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
    pub(super) fn name_prop(&self, key: &str) -> Option<Word> {
        self.node.prop(key).map(|value| self.name(value))
    }

    /// A value as a text.
    pub(super) fn text(&self, value: &Value) -> Text {
        match &value.kind {
            Kind::Text(text) => text.clone(),
            _ => self.wrong(value, "a text", "\"…\"", "").into(),
        }
    }

    /// A property as a text.
    pub(super) fn text_prop(&self, key: &str) -> Option<Text> {
        self.node.prop(key).map(|value| self.text(value))
    }

    /// A value as a text that may not be empty.
    pub(super) fn some_text(&self, value: &Value, what: &str) -> Text {
        let text = self.text(value);
        if value.kind == Kind::Text("".into()) {
            self.at.error(value.span, format!("{what} is empty"), "empty", "write it out");
        }
        text
    }

    /// A value as a duration.
    pub(super) fn duration(&self, value: &Value) -> u64 {
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
    pub(super) fn duration_prop(&self, key: &str) -> Option<u64> {
        self.node.prop(key).map(|value| self.duration(value))
    }

    /// A value as a switch.
    pub(super) fn switch(&self, value: &Value) -> bool {
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
    pub(super) fn switch_prop(&self, key: &str) -> bool {
        self.node.prop(key).is_some_and(|value| self.switch(value))
    }

    /// A value as a whole number of some range.
    pub(super) fn number<T: TryFrom<i128> + Default>(&self, value: &Value) -> T {
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
    pub(super) fn number_prop<T: TryFrom<i128> + Default>(&self, key: &str) -> Option<T> {
        self.node.prop(key).map(|value| self.number(value))
    }

    /// A property that counts, from 1.
    pub(super) fn count_prop(&self, key: &str) -> Option<u32> {
        self.node.prop(key).map(|value| self.counted(value, &format!("`{key}=`")))
    }

    /// A value that counts, from 1.
    pub(super) fn counted(&self, value: &Value, what: &str) -> u32 {
        if value.kind == Kind::Integer(0) {
            let title = format!("{what} counts from 1");
            self.at.error(value.span, title, "less than one", "write 1 or more");
        }
        self.number(value)
    }

    /// A value as one of some words.
    pub(super) fn word<T: Copy>(&self, value: &Value, what: &str, words: &[(&str, T)]) -> T {
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
    pub(super) fn word_prop<T: Copy>(
        &self,
        key: &str,
        what: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        self.node.prop(key).map(|value| self.word(value, what, words))
    }

    /// A value as permission bits, written in octal.
    pub(super) fn mode(&self, value: &Value) -> u32 {
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
    pub(super) fn json(&self, value: &Value) -> Json {
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

fn how_many(args: usize, no_props: bool) -> &'static str {
    match args {
        0 if no_props => "no value",
        0 => "only `key=value` pairs",
        1 => "one value",
        2 => "two values",
        _ => "fewer values",
    }
}
