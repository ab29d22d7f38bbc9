//! The words of a profile, one row and one small function each.

use skep_plan::Settings;
use skep_trace::Text;

use crate::profile::{CAPABILITIES, Form, HarnessProfile, PLACES, Ready, Waits, Way};
use crate::scenario::cast::{complain, setting_text};
use crate::scenario::line::Line;
use crate::scenario::meta::is_kebab;
use crate::scenario::suggest;
use crate::scenario::tree::{Kind, Value, Word};
use crate::scenario::value::shortened;
use crate::scenario::verb::{MANY, Verb};

/// What one line says.
pub(super) enum Fact {
    About(Text),
    Start(Vec<Text>),
    Env(Text, Text),
    Setting(Text, Way),
    Follows(Text, Text),
    Has(Vec<Word>),
    Ready(Ready),
    Reports,
    SettlesAfter(Text),
    RetriesAfter(Text, u64),
    Quiet(u64),
    Wait(Word, u64),
    Memory(u64),
    /// Something is wrong with the line, and is told.
    Nothing,
}

/// Every kind of line.
pub(super) const WORDS: &[Verb<Fact>] = &[
    Verb::new("about", 1, &[], |line, _| Fact::About(line.first_text("a sentence", "\"…\""))),
    Verb::new("start", MANY, &[], |line, _| {
        line.needs_arg("a program", "\"./my-harness\"");
        Fact::Start(texts(line))
    }),
    Verb::new("env", 2, &[], |line, _| env(line)),
    Verb::new("setting", 1, &["env", "as", "on", "below"], |line, _| setting(line)),
    Verb::new("follows", 2, &[], |line, _| follows(line)),
    Verb::new("has", MANY, &[], |line, _| has(line)),
    Verb::new("ready", 1, &["log"], |line, _| ready(line)),
    Verb::new("settles", 1, &["log"], |line, _| settles(line)),
    Verb::new("retries", 0, &["log", "within"], |line, _| retries(line)),
    Verb::new("quiet", 1, &[], |line, _| Fact::Quiet(duration(line, 0))),
    Verb::new("wait", 2, &[], |line, _| wait(line)),
    Verb::new("memory-mib", 1, &[], |line, _| match line.needs_arg("a number", "2048") {
        Some(value) => Fact::Memory(u64::from(line.counted(value, "`memory-mib`"))),
        None => Fact::Nothing,
    }),
];

impl Fact {
    /// Puts it into the profile.
    pub(super) fn enter(self, profile: &mut HarnessProfile, line: &Line<'_>) {
        match self {
            Self::About(text) => profile.about = text,
            Self::Start(words) => profile.start = words,
            Self::Env(name, value) => profile.env.push((name, value)),
            Self::Setting(key, way) => {
                let known = profile.ways.insert(key.clone(), way).is_some();
                refuse_second(known, &format!("setting \"{key}\""), line);
            }
            Self::Follows(key, value) => {
                let known = profile.follows.insert(key.clone(), value).is_some();
                refuse_second(known, &format!("follows \"{key}\""), line);
            }
            Self::Has(words) => profile.has.extend(words.into_iter().map(|word| word.text)),
            Self::Ready(ready) => profile.ready = ready,
            Self::Reports => profile.settles.reports = true,
            Self::SettlesAfter(text) => profile.settles.lines.push(text),
            Self::RetriesAfter(text, within) => profile.settles.retries.push((text, within)),
            Self::Quiet(ms) => profile.settles.quiet_ms = ms,
            Self::Wait(word, ms) => match profile.waits.by_word(&word.text) {
                Some(wait) => *wait = ms,
                None => {
                    let title = format!("`{}` is no wait", shortened(&word.text));
                    let help = suggest::instead(&word.text, Waits::WORDS.iter().copied());
                    line.at.error(word.span, title, "unknown", help);
                }
            },
            Self::Memory(mib) => profile.memory_mib = mib,
            Self::Nothing => {}
        }
    }
}

/// Complains about a word that stands there twice.
pub(super) fn refuse_second(known: bool, what: &str, line: &Line<'_>) {
    if known {
        let title = format!("a second `{what}`");
        line.at.error(line.node.span, title, "again", "keep one of them");
    }
}

fn texts(line: &Line<'_>) -> Vec<Text> {
    line.texts("a word").into_iter().map(|word| word.text).collect()
}

fn env(line: &Line<'_>) -> Fact {
    let Some(name) = line.needs_arg("a variable", "\"NAME\" \"value\"") else {
        return Fact::Nothing;
    };
    let name = variable(line, name);
    match line.args().get(1) {
        Some(value) => Fact::Env(name, line.text(value)),
        None => {
            let help = format!("write `env \"{name}\" \"value\"`");
            line.at.error(line.node.span, "a variable without a value", "and then?", help);
            Fact::Nothing
        }
    }
}

/// The name of a variable.
pub(in crate::scenario) fn variable(line: &Line<'_>, value: &Value) -> Text {
    let name = line.some_text(value, "the name of a variable");
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !name.is_empty() && !name.chars().all(plain) {
        let title = format!("`{}` is no name of a variable", shortened(&name));
        let help = "write ASCII letters, digits and `_`: `\"MODEL_URL\"`";
        line.at.error(value.span, title, "not understood", help);
    }
    name
}

/// The settings that are durations.
const TIMES: &[&str] =
    &["load-timeout", "load-cap", "request-timeout", "idle-timeout", "heartbeat"];

fn setting(line: &Line<'_>) -> Fact {
    let key = key(line, &[Settings::KEYS, PLACES].concat());
    let env = line.needs("env", "\"NAME\"").map(|value| variable(line, value));
    let (Some(key), Some(env)) = (key, env) else { return Fact::Nothing };
    let form = form(line);
    let timed = matches!(form, Form::Seconds | Form::Milliseconds);
    if let (true, false, Some(value)) = (timed, TIMES.contains(&&*key), line.node.prop("as")) {
        let help = format!("remove it; those with a time are {}", suggest::listed(TIMES));
        line.at.error(value.span, format!("`{key}` is no time"), "not for this setting", help);
    }
    Fact::Setting(key, Way { env, form })
}

/// How a value is written: `as=` a form, `on=` a text, `below=` a path; plain where none says.
fn form(line: &Line<'_>) -> Form {
    let given: Vec<_> = line
        .node
        .props
        .iter()
        .filter(|prop| matches!(&*prop.key.text, "as" | "on" | "below"))
        .collect();
    if let [first, second, ..] = given[..] {
        let title = format!("`{}=` beside `{}=`", second.key.text, first.key.text);
        line.at.error(second.key.span, title, "one too many", "keep one of the two");
    }
    if let Some(text) = line.text_prop("on") {
        return Form::On(text);
    }
    if let Some(path) = line.text_prop("below") {
        return Form::Below(path);
    }
    let Some(value) = line.node.prop("as") else { return Form::Plain };
    let words: Vec<&str> = Form::WORDS.iter().map(|(word, _)| *word).collect();
    let text = line.text(value);
    let found = Form::WORDS.iter().find(|(word, _)| *word == &*text);
    found.map(|(_, form)| form.clone()).unwrap_or_else(|| {
        if !text.is_empty() {
            let title = format!("`{}` is no form of a value", shortened(&text));
            line.at.error(value.span, title, "unknown", suggest::instead(&text, words));
        }
        Form::Plain
    })
}

/// The first argument as one of some keys.
fn key(line: &Line<'_>, keys: &[&'static str]) -> Option<Text> {
    let value = line.needs_arg("a setting", "\"model\"")?;
    let text = line.some_text(value, "a setting");
    if text.is_empty() {
        return None;
    }
    if !keys.contains(&&*text) {
        let title = format!("there is no setting `{}`", shortened(&text));
        let help = suggest::instead(&text, keys.iter().copied());
        line.at.error(value.span, title, "unknown", help);
        return None;
    }
    Some(text)
}

fn follows(line: &Line<'_>) -> Fact {
    let Some(key) = key(line, Settings::KEYS) else { return Fact::Nothing };
    let Some(value) = line.args().get(1) else {
        let title = format!("`follows \"{key}\"` lacks the value");
        line.at.error(line.node.span, title, "and then?", "write the value behind it");
        return Fact::Nothing;
    };
    let Some(text) = setting_text(&key, value, line) else { return Fact::Nothing };
    if let Err(error) = Settings::default().set(&key, &text) {
        complain(&error, value.span, value.span, line, Settings::KEYS);
        return Fact::Nothing;
    }
    Fact::Follows(key, text.as_str().into())
}

fn has(line: &Line<'_>) -> Fact {
    line.needs_arg("a capability", "\"durable-sessions\"");
    let words = line.texts("a capability");
    for word in words.iter().filter(|word| !word.text.is_empty()) {
        if let Some((title, help)) = capability_fault(&word.text) {
            line.at.error(word.span, title, "not understood", help);
        }
    }
    Fact::Has(words)
}

/// What is wrong with the name of a capability, and what to write instead. A user's scenarios may
/// need what ours do not, so a word of one's own is none; a slip is.
pub fn capability_fault(word: &str) -> Option<(String, String)> {
    if CAPABILITIES.contains(&word) {
        return None;
    }
    let title = format!("`{}` is no capability", shortened(word));
    match suggest::nearest(word, CAPABILITIES.iter().copied()) {
        Some(near) => Some((title, format!("did you mean `{near}`?"))),
        None if is_kebab(word) => None,
        None => Some((title, "write small letters and digits, words joined by `-`".to_owned())),
    }
}

fn ready(line: &Line<'_>) -> Fact {
    const SIGNS: &str = "write `ready \"presence\"`, `ready \"subscription\"` or `ready log=\"…\"`";
    match (line.args().first(), log(line)) {
        (None, Some(text)) => Fact::Ready(Ready::Log(text)),
        (Some(value), None) => match value.text().map(|text| &**text) {
            Some("presence") => Fact::Ready(Ready::Presence),
            Some("subscription") => Fact::Ready(Ready::Subscription),
            _ => {
                no_sign(value, SIGNS, line);
                Fact::Nothing
            }
        },
        _ => {
            line.at.error(line.node.span, "one sign of readiness belongs here", "which?", SIGNS);
            Fact::Nothing
        }
    }
}

fn no_sign(value: &Value, signs: &str, line: &Line<'_>) {
    let Kind::Text(word) = &value.kind else {
        let _told = line.text(value);
        return;
    };
    let title = format!("`{}` is no sign of readiness", shortened(word));
    let help = match suggest::nearest(word, ["presence", "subscription"]) {
        Some(near) => format!("did you mean `{near}`?"),
        None => signs.to_owned(),
    };
    line.at.error(value.span, title, "unknown", help);
}

/// The text that a line of the log holds. An empty one stands in every line.
fn log(line: &Line<'_>) -> Option<Text> {
    let text = line.text_prop("log")?;
    if let (true, Some(value)) = (text.is_empty(), line.node.prop("log")) {
        let help = "write a part of the line that tells it: `log=\"…\"`";
        line.at.error(value.span, "an empty text stands in every line", "empty", help);
    }
    Some(text)
}

fn settles(line: &Line<'_>) -> Fact {
    match (line.args().first(), log(line)) {
        (None, Some(text)) => Fact::SettlesAfter(text),
        (Some(value), None) => {
            line.word(value, "a sign of rest", &[("reports", ())]);
            Fact::Reports
        }
        _ => {
            let help = "write `settles \"reports\"` or `settles log=\"…\"`";
            line.at.error(line.node.span, "one sign of rest belongs here", "which?", help);
            Fact::Nothing
        }
    }
}

fn retries(line: &Line<'_>) -> Fact {
    line.needs("log", "\"will retry\"");
    line.needs("within", "\"35s\"");
    match (log(line), line.duration_prop("within")) {
        (Some(text), Some(within)) => Fact::RetriesAfter(text, within),
        _ => Fact::Nothing,
    }
}

fn duration(line: &Line<'_>, place: usize) -> u64 {
    match line.args().get(place) {
        Some(value) => line.duration(value),
        None => {
            let title = format!("`{}` lacks its time", line.verb());
            line.at.error(line.node.span, title, "and then?", "write one: `\"10s\"`");
            0
        }
    }
}

fn wait(line: &Line<'_>) -> Fact {
    let Some(value) = line.needs_arg("a wait", "\"ready\" \"30s\"") else { return Fact::Nothing };
    if !matches!(value.kind, Kind::Text(_)) {
        let _told = line.text(value);
        return Fact::Nothing;
    }
    Fact::Wait(Word { text: line.text(value), span: value.span }, duration(line, 1))
}
