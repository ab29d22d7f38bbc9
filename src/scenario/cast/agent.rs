//! `agent`: what it offers, and what it does differently from a well-behaved one.

use serde_json::Value as Json;
use skep_plan::{AgentCast, Replay, Script};
use skep_trace::Text;

use crate::scenario::line::Line;
use crate::scenario::scope::Scope;
use crate::scenario::script;
use crate::scenario::tree::{Kind, Value};
use crate::scenario::verb::{self, Verb};

/// Its properties.
pub(super) const PROPS: &[&str] =
    &["load-session", "persists", "resume", "close", "list", "replay"];

/// The lines in its block.
const LINES: &[Verb<Detail>] = &[
    Verb::new("on", 1, &["nth", "from", "process"], |line, scope| {
        Detail::Rule(script::rule(line, scope))
    })
    .with_block(),
    Verb::new("models", verb::MANY, &[], |line, _| Detail::Models(choices(line, "a model"))),
    Verb::new("modes", verb::MANY, &[], |line, _| Detail::Modes(choices(line, "a mode"))),
    Verb::new("replay", 1, &["first", "last", "gap"], |line, _| Detail::Replay(read_replay(line))),
];

enum Detail {
    Rule(skep_plan::Rule),
    Models(Vec<Text>),
    Modes(Vec<Text>),
    Replay(Replay),
}

/// How a history is replayed, by the words that take no number.
fn replay_words() -> [(&'static str, Replay); 6] {
    [
        ("all", Replay::All),
        ("none", Replay::None),
        ("only-user", Replay::OnlyUser),
        ("twice", Replay::Twice),
        ("after-response", Replay::AfterResponse { gap_ms: GAP_MS }),
        ("interleaved", Replay::Interleaved),
    ]
}

/// The gap between updates that come after the answer, where none is given: long enough that a
/// harness that listens for one tick only misses the second.
const GAP_MS: u64 = 10;

pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> AgentCast {
    let mut agent = AgentCast::new(&line.first_name("agent").text);
    if let Some(value) = line.node.prop("load-session") {
        agent.load_session = capability(line, value);
    }
    for (key, switch) in [
        ("persists", &mut agent.persists),
        ("resume", &mut agent.resume),
        ("close", &mut agent.close),
        ("list", &mut agent.list),
    ] {
        *switch = line.node.prop(key).map_or(*switch, |value| line.switch(value));
    }
    let replay = line.word_prop("replay", "a kind of replay", &replay_words());
    agent.script.replay = replay.unwrap_or_default();
    for node in line.node.children() {
        detail(&Line::new(node, line.at), &mut agent, scope);
    }
    script::unreachable(line, &agent.script);
    agent
}

fn detail(line: &Line<'_>, agent: &mut AgentCast, scope: &mut Scope) {
    let Some(verb) = verb::find(LINES, &line.node.name.text) else {
        return crate::scenario::unknown(line, "an agent", verb::words(LINES));
    };
    let Script { rules, replay } = &mut agent.script;
    match verb.read(line, scope) {
        Detail::Rule(rule) => rules.push(rule),
        Detail::Models(models) => agent.models = models,
        Detail::Modes(modes) => agent.modes = modes,
        Detail::Replay(how) => *replay = how,
    }
}

fn choices(line: &Line<'_>, what: &str) -> Vec<Text> {
    line.needs_arg(what, "\"m1\" \"m2\"");
    line.texts(what).into_iter().map(|word| word.text).collect()
}

/// What an agent advertises: a switch, or whatever else agents have been seen to send. `-` leaves
/// the key out.
pub(in crate::scenario) fn capability(line: &Line<'_>, value: &Value) -> Option<Json> {
    match &value.kind {
        Kind::Text(text) if &**text == "-" => None,
        Kind::Text(text) if matches!(&**text, "true" | "false") => Some(line.switch(value).into()),
        Kind::Text(text) if !text.starts_with(['{', '[']) => Some(Json::String(text.to_string())),
        _ => Some(line.json(value)),
    }
}

/// `replay twice`, `replay last=100`, `replay after-response gap="100ms"`.
pub(in crate::scenario) fn read_replay(line: &Line<'_>) -> Replay {
    let (first, last) = (line.number_prop("first"), line.number_prop("last"));
    let gap = line.duration_prop("gap");
    let word =
        line.args().first().map(|value| line.word(value, "a kind of replay", &replay_words()));
    match (word, first, last, gap) {
        (None, Some(first), None, None) => Replay::First(first),
        (None, None, Some(last), None) => Replay::Last(last),
        (Some(Replay::AfterResponse { .. }), None, None, Some(gap_ms)) => {
            Replay::AfterResponse { gap_ms }
        }
        (Some(replay), None, None, None) => replay,
        _ => {
            let help = "write `replay twice` (or another word), `replay last=100`, \
                        `replay first=2`, or `replay after-response gap=\"100ms\"`";
            line.at.error(line.node.span, "this replay is not clear", "how is it replayed?", help);
            Replay::All
        }
    }
}
