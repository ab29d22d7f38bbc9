//! `harness`: what it starts, where it lives, and how it is configured.

use skep_plan::{HarnessCast, SettingError, Settings};
use skep_trace::Text;

use crate::scenario::line::Line;
use crate::scenario::scope::Scope;
use crate::scenario::source::Span;
use crate::scenario::suggest;
use crate::scenario::tree::{Kind, Value, Word};

/// Its properties that are no settings.
const PROPS: &[&str] = &["agent", "relay", "state", "key", "started"];

/// The identity of a harness that names none: one for all, as overlapping harnesses have it.
const KEY: &str = "agent";

pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> HarnessCast {
    let word = line.first_name("harness");
    if let Some(extra) = line.args().get(1) {
        let help = "write one `harness` line for each";
        line.at.error(extra.span, "a harness has one name", "one too many", help);
    }
    let key = line.name_prop("key").map_or_else(|| KEY.into(), |word| word.text);
    HarnessCast {
        agent: scope.agents.given_or_only(line, line.node.prop("agent")),
        relay: relay(line, scope),
        state: state(line, &word, scope),
        key,
        started: line.node.prop("started").is_none_or(|value| line.switch(value)),
        settings: settings(line),
        said: said(line),
        name: word.text,
    }
}

fn relay(line: &Line<'_>, scope: &Scope) -> Text {
    scope.relays.given_or_only(line, line.node.prop("relay"))
}

/// Its own directory, unless it shares one.
fn state(line: &Line<'_>, harness: &Word, scope: &mut Scope) -> Text {
    match line.name_prop("state") {
        Some(word) => scope.states.refer(line.at, &word),
        None => {
            scope.states.imply(&harness.text);
            harness.text.clone()
        }
    }
}

/// Settings stand as properties of the line or as lines of its block.
fn settings(line: &Line<'_>) -> Settings {
    let mut settings = Settings::default();
    for prop in &line.node.props {
        if !PROPS.contains(&&*prop.key.text) {
            set(&mut settings, &prop.key, &prop.value, line);
        }
    }
    for node in line.node.children() {
        let child = Line::new(node, line.at);
        child.takes(1, &[]);
        child.no_block();
        if let Some(first) = line.node.props.iter().find(|prop| prop.key.text == node.name.text) {
            let title = format!("`{}` is given twice", node.name.text);
            let fault = line.at.fault(node.span, title).label("again");
            line.at.put(fault.other(first.key.span, "first here").help("keep one of the two"));
        } else if let Some(value) = child.needs_arg("a value", "\"…\"") {
            set(&mut settings, &node.name, value, line);
        }
    }
    settings
}

/// The settings that the line names.
fn said(line: &Line<'_>) -> Vec<Text> {
    let props = line.node.props.iter().map(|prop| &prop.key.text);
    let lines = line.node.children().iter().map(|node| &node.name.text);
    props.chain(lines).filter(|key| Settings::KEYS.contains(&&***key)).cloned().collect()
}

fn set(settings: &mut Settings, key: &Word, value: &Value, line: &Line<'_>) {
    if let Some(text) = setting_text(&key.text, value, line)
        && let Err(error) = settings.set(&key.text, &text)
    {
        complain(&error, key.span, value.span, line, &all_words());
    }
}

/// Everything that a harness line takes, properties first.
fn all_words() -> Vec<&'static str> {
    PROPS.iter().chain(Settings::KEYS).copied().collect()
}

/// Says what is wrong with a setting.
pub(in crate::scenario) fn complain(
    error: &SettingError,
    key: Span,
    value: Span,
    line: &Line<'_>,
    words: &[&'static str],
) {
    match error {
        SettingError::Unknown(word) => {
            let title = format!("a harness has no setting `{}`", shown(word));
            let help = match &**word {
                // Nearer to `model` by its letters, and meant as this by all who write it.
                "mode" => "did you mean `permission-mode`?".to_owned(),
                _ => suggest::instead(word, words.iter().copied()),
            };
            line.at.error(key, title, "unknown", help);
        }
        SettingError::Value { key, value: given, wanted } => {
            let title = format!("`{}` is no value of `{key}`", shown(given));
            line.at.error(value, title, "not understood", format!("it is {wanted}"));
        }
    }
}

fn shown(word: &str) -> String {
    crate::scenario::value::shortened(word)
}

/// A value as the text that settings are read from; complains about the wrong kind of value.
pub(in crate::scenario) fn setting_text(
    key: &str,
    value: &Value,
    line: &Line<'_>,
) -> Option<String> {
    let takes = |sample: &str| {
        let set = |text: &str| Settings::default().set(key, text).is_ok();
        set(sample) && !set("?")
    };
    if !Settings::KEYS.contains(&key) {
        // It is not known what kind of value it takes: only its name is complained about.
        return Some(String::new());
    }
    match &value.kind {
        Kind::Reported => None,
        _ if takes("true") => Some(line.switch(value).to_string()),
        _ if takes("10s") => Some(format!("{}ms", line.duration(value))),
        _ if takes("10") => Some(line.number::<u32>(value).to_string()),
        _ => Some(line.text(value).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_has_the_name_of_a_property() {
        assert!(PROPS.iter().all(|prop| !Settings::KEYS.contains(prop)));
    }
}
