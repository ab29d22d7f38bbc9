//! One line as its verb reads it: what it takes, what it needs, and (`typed`) its values.
//!
//! Reading never stops. A value that is missing or wrong is reported, and a default of its type
//! stands in for it; nobody sees the default, because a scenario with a complaint is not handed
//! out.

mod typed;

use skep_trace::Text;

use super::diagnostic::Reporter;
use super::suggest;
use super::tree::{Kind, Node, Prop, Value, Word};

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
