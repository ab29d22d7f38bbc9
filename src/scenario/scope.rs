//! The names that a scenario has made so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_trace::Text;

use super::diagnostic::Reporter;
use super::line::Line;
use super::source::{SourceFile, Span};
use super::suggest;
use super::tree::{Value, Word};

/// All names, by kind.
#[derive(Debug)]
pub(super) struct Scope {
    /// Relays.
    pub(super) relays: Names,
    /// Channels that are declared, or that something happened in.
    pub(super) channels: Names,
    /// People.
    pub(super) people: Names,
    /// Agents.
    pub(super) agents: Names,
    /// State directories.
    pub(super) states: Names,
    /// Harnesses.
    pub(super) harnesses: Names,
    /// Sessions: given or bound.
    pub(super) sessions: Names,
    /// Messages that have a label.
    pub(super) messages: Names,
    /// Threads that something was written to.
    pub(super) threads: Names,
    /// Remembered states of a directory.
    pub(super) snapshots: Names,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            relays: Names::new("relay", "declare it in the cast: `relay \"…\"`"),
            channels: Names::new("channel", "declare it in the cast: `channel \"…\"`"),
            people: Names::new("person", "declare them in the cast: `person \"…\"`"),
            agents: Names::new("agent", "declare it in the cast: `agent \"…\"`"),
            states: Names::new("state directory", "declare it in the cast: `state \"…\"`"),
            harnesses: Names::new("harness", "declare it in the cast: `harness \"…\"`"),
            sessions: Names::new(
                "session",
                "name one where it is opened: `expect \"session/new\" bind=\"…\"`",
            ),
            messages: Names::new("message", "label one where it is written: `mention as=\"…\"`"),
            threads: Names::new("thread", "write to it first: `mention root=\"…\"`"),
            snapshots: Names::new("snapshot", "take it first: `disk snapshot \"…\"`"),
        }
    }
}

impl Scope {
    /// A shared cast could not be read: nobody is unknown.
    pub(super) fn cast_is_unknown(&mut self) {
        for names in [
            &mut self.relays,
            &mut self.channels,
            &mut self.people,
            &mut self.agents,
            &mut self.states,
            &mut self.harnesses,
            &mut self.sessions,
            &mut self.threads,
        ] {
            names.open = true;
        }
    }

    /// The harness that a property names; `None` when it names none.
    pub(super) fn harness_prop(&self, line: &Line<'_>, key: &str) -> Option<Text> {
        let word = line.name_prop(key)?;
        Some(self.harnesses.refer(line.at, &word))
    }

    /// The harnesses that a line's arguments name, or the only one.
    pub(super) fn named_harnesses(&self, line: &Line<'_>) -> Vec<Text> {
        if line.args().is_empty() {
            return vec![self.harnesses.only(line)];
        }
        let mut named = Vec::new();
        for value in line.args() {
            let word = line.name(value);
            let name = self.harnesses.refer(line.at, &word);
            if named.contains(&name) && !name.is_empty() {
                let title = format!("`{name}` is named twice");
                line.at.error(word.span, title, "again", "name each harness once");
            }
            named.push(name);
        }
        named
    }

    /// A channel that something happens in from now on.
    pub(super) fn used_channel(&mut self, line: &Line<'_>, example: &str) -> Text {
        match line.needs("channel", example) {
            Some(value) => {
                let word = line.name(value);
                self.channels.touch(line.at, &word);
                word.text
            }
            None => "".into(),
        }
    }

    /// A channel that is looked at.
    pub(super) fn known_channel(&self, line: &Line<'_>) -> Option<Text> {
        let word = line.name_prop("channel")?;
        Some(self.channels.refer(line.at, &word))
    }

    /// A thread that is looked at: its name, or the label of a message.
    pub(super) fn known_root(&self, line: &Line<'_>) -> Option<Text> {
        let word = line.name_prop("root")?;
        if self.messages.has(&word.text) {
            return Some(word.text);
        }
        Some(self.threads.refer(line.at, &word))
    }

    /// A session that is looked at.
    pub(super) fn known_session(&self, line: &Line<'_>, key: &str) -> Option<Text> {
        let word = line.name_prop(key)?;
        Some(self.sessions.refer(line.at, &word))
    }
}

/// More names than a help can list.
const MOST_NAMES: usize = 6;

/// Names of one kind, and where each was made.
#[derive(Debug)]
pub(super) struct Names {
    kind: &'static str,
    make: &'static str,
    known: BTreeMap<Text, Option<(Arc<SourceFile>, Span)>>,
    /// There may be others: what is unknown is not complained about.
    open: bool,
}

impl Names {
    fn new(kind: &'static str, make: &'static str) -> Self {
        Self { kind, make, known: BTreeMap::new(), open: false }
    }

    /// It is known.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Makes a name; complains when it is there already.
    pub(super) fn define(&mut self, at: Reporter<'_>, word: &Word) {
        if word.text.is_empty() {
            return;
        }
        let place = Some((at.file.clone(), word.span));
        let Some(first) = self.known.get(&word.text) else {
            self.known.insert(word.text.clone(), place);
            return;
        };
        let title = format!("a second {} of the name `{}`", self.kind, word.text);
        let mut fault = at.fault(word.span, title).label("again");
        match first {
            Some((file, span)) if file == at.file => fault = fault.other(*span, "the first"),
            _ => {}
        }
        at.put(fault.help("give each a name of its own"));
    }

    /// Makes a name that stands nowhere in the file.
    pub(super) fn imply(&mut self, name: &Text) {
        self.known.entry(name.clone()).or_insert(None);
    }

    /// Makes a name unless it is there already.
    pub(super) fn touch(&mut self, at: Reporter<'_>, word: &Word) {
        let place = || Some((at.file.clone(), word.span));
        self.known.entry(word.text.clone()).or_insert_with(place);
    }

    /// Looks a name up; complains when it is unknown.
    pub(super) fn refer(&self, at: Reporter<'_>, word: &Word) -> Text {
        // An empty name is complained about already.
        if !self.has(&word.text) && !word.text.is_empty() && !self.open {
            let title =
                format!("there is no {} `{}`", self.kind, super::value::shortened(&word.text));
            let known = self.known.keys().map(|name| &**name);
            let help = match suggest::nearest(&word.text, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => self.others(&word.text),
            };
            at.error(word.span, title, "unknown", help);
        }
        word.text.clone()
    }

    /// What to write where no name is near: one of those that a cast declares, or how to make it.
    fn others(&self, name: &str) -> String {
        let make = self.make.replace('…', &super::value::shortened(name));
        let known: Vec<&str> = self.known.keys().map(|name| &**name).collect();
        match known.len() {
            1..=MOST_NAMES if self.make.starts_with("declare") => {
                format!("there is {}; or {make}", suggest::listed(&known))
            }
            _ => make,
        }
    }

    /// The only name; complains when a line must say which.
    pub(super) fn only(&self, line: &Line<'_>) -> Text {
        let names: Vec<&str> = self.known.keys().map(|name| &**name).collect();
        if let [only] = names[..] {
            return only.into();
        }
        if self.open {
            return "".into();
        }
        let title = format!("`{}` does not say which {}", line.verb(), self.kind);
        let help = match names[..] {
            [] => self.make.to_owned(),
            _ => format!("name one of {}", suggest::listed(&names)),
        };
        line.at.error(line.node.span, title, format!("no {} named", self.kind), help);
        "".into()
    }

    /// The name that a value gives, or the only one.
    pub(super) fn given_or_only(&self, line: &Line<'_>, value: Option<&Value>) -> Text {
        match value {
            Some(value) => self.refer(line.at, &line.name(value)),
            None => self.only(line),
        }
    }
}
