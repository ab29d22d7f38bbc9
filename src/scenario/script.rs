//! `on`: what a scripted agent does at a protocol step.

use skep_plan::{Action, Rule, Script};
use skep_trace::Text;

use super::cast::read_replay;
use super::line::Line;
use super::method;
use super::scope::Scope;
use super::tree::{Kind, Node, Value};
use super::verb::{self, Verb};

/// Everything that an agent can do.
pub(super) const ACTIONS: &[Verb<Action>] = &[
    Verb::new("reply", 1, &[], reply),
    Verb::new("stop", 1, &[], |line, _| {
        Action::Stop(line.first_text("a stop reason", "\"max_tokens\""))
    }),
    Verb::new("error", 0, &["code", "message", "data"], error),
    Verb::new("hang", 0, &[], |_, _| Action::Hang),
    Verb::new("delay", 1, &[], |line, _| Action::Delay { ms: first_duration(line) }),
    Verb::new("exit", 0, &["code"], |line, _| Action::Exit {
        code: line.number_prop("code").unwrap_or(1),
    }),
    Verb::new("die", 0, &["signal"], |line, _| Action::Die { signal: signal(line) }),
    Verb::new("close-stdout", 0, &[], |_, _| Action::CloseStdout),
    Verb::new("close-stdin", 0, &[], |_, _| Action::CloseStdin),
    Verb::new("half-frame", 0, &[], |_, _| Action::HalfFrame),
    Verb::new("garbage", 1, &[], garbage),
    Verb::two_words("stderr", stderr),
    Verb::new("update", 1, &["kind", "text"], update),
    Verb::new("chatter", 0, &["kind", "text", "gap", "count"], chatter),
    Verb::new("replay", 1, &["first", "last", "gap"], |line, _| Action::Replay(read_replay(line))),
    Verb::new("request", 1, &[], request),
    Verb::new("ignore-cancel", 0, &[], |_, _| Action::IgnoreCancel),
    Verb::new("gate", 0, &[], |_, _| Action::Gate),
    Verb::new("block", 1, &[], |line, _| Action::Block { ms: first_duration(line) }),
    Verb::new("only-session", 1, &[], only_session),
];

/// The signal that cannot be caught.
const SIGKILL: i32 = 9;
/// Signals by the names that people know them by; the language takes their numbers.
const SIGNALS: &[(&str, i32)] = &[
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ABRT", 6),
    ("KILL", SIGKILL),
    ("SEGV", 11),
    ("PIPE", 13),
    ("TERM", 15),
];
/// More than a pipe holds on any system that we know, so that a harness that does not read blocks.
const FLOOD_BYTES: u64 = 1 << 20;
/// The gap between updates in the background: short beside every time-out.
const CHATTER_GAP_MS: u64 = 1_000;
/// How many updates come in the background: more than any turn of a scenario waits for.
const CHATTER_COUNT: u32 = 100;
/// A line that looks like a log line and is no JSON.
const GARBAGE: &str = "Loading session...";

/// One `on` line.
pub(super) fn rule(line: &Line<'_>, scope: &mut Scope) -> Rule {
    line.needs_block("hang");
    let (nth, from) = (line.count_prop("nth"), line.count_prop("from"));
    if let (Some(_), Some(from)) = (nth, line.node.prop("from")) {
        let help = "keep `nth=` for one request, or `from=` for it and all later ones";
        line.at.error(from.span, "`nth=` and `from=` together", "which of them?", help);
    }
    let method = line.needs_arg("a method", "\"session/load\"");
    Rule {
        method: method.map_or_else(|| "".into(), |value| method::read(value, line)),
        nth,
        from,
        process: line.count_prop("process"),
        actions: actions(line, scope),
    }
}

fn actions(line: &Line<'_>, scope: &mut Scope) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut last: Option<&Node> = None;
    for node in line.node.children() {
        let child = Line::new(node, line.at);
        let Some(verb) = verb::find(ACTIONS, &node.name.text) else {
            super::unknown(&child, "an agent's script", verb::words(ACTIONS));
            continue;
        };
        if let Some(last) = last {
            after_the_end(&child, last);
        }
        let action = verb.read(&child, scope);
        last = last.or(matches!(action, Action::Exit { .. } | Action::Die { .. }).then_some(node));
        actions.push(action);
    }
    actions
}

fn after_the_end(line: &Line<'_>, last: &Node) {
    let fault = line.at.fault(line.node.span, "the agent is gone by then").label("never done");
    let fault = fault.other(last.span, "its process ends here");
    line.at.put(fault.help("move it above, or remove it"));
}

/// Complains about rules that an earlier one hides.
pub(super) fn unreachable(agent: &Line<'_>, script: &Script) {
    let ons = agent.node.children().iter().filter(|node| &*node.name.text == "on");
    let rules: Vec<(&Node, &Rule)> = ons.zip(&script.rules).collect();
    for (at, (node, rule)) in rules.iter().enumerate() {
        let hides = |(_, other): &&(&Node, &Rule)| {
            let always = other.nth.is_none() && other.from.is_none() && other.process.is_none();
            let same =
                (other.nth, other.from, other.process) == (rule.nth, rule.from, rule.process);
            other.method == rule.method && !rule.method.is_empty() && (always || same)
        };
        if let Some((first, _)) = rules[..at].iter().find(hides) {
            let fault = agent.at.fault(node.span, "this rule is never reached").label("hidden");
            let fault = fault.other(first.span, "this one fits first");
            agent.at.put(fault.help("the first rule that fits decides: put the narrow one above"));
        }
    }
}

fn reply(line: &Line<'_>, _: &mut Scope) -> Action {
    line.args().first().map_or(Action::Reply, |value| Action::ReplyWith(line.json(value)))
}

fn error(line: &Line<'_>, _: &mut Scope) -> Action {
    Action::Error {
        code: line.needs("code", "-32002").map_or(0, |value| line.number(value)),
        message: line.text_prop("message").unwrap_or_else(|| "scripted error".into()),
        data: line.node.prop("data").map(|value| line.json(value)),
    }
}

fn signal(line: &Line<'_>) -> i32 {
    let Some(value) = line.node.prop("signal") else { return SIGKILL };
    let named = value.text().and_then(|text| {
        let name = text.to_uppercase();
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        SIGNALS.iter().find(|(known, _)| *known == name)
    });
    let Some((_, number)) = named else { return line.number(value) };
    let help = format!("write `signal={number}`");
    line.at.error(value.span, "a signal is a number", "a text", help);
    *number
}

fn first_duration(line: &Line<'_>) -> u64 {
    line.needs_arg("a duration", "\"5s\"").map_or(0, |value| line.duration(value))
}

fn garbage(line: &Line<'_>, _: &mut Scope) -> Action {
    let text = line.args().first().map(|value| (value, line.text(value)));
    if let Some((value, text)) = &text
        && serde_json::from_str::<serde_json::Value>(text).is_ok()
        && value.kind != Kind::Reported
    {
        let help = "write something else; an answer of your own is `reply`";
        line.at.error(value.span, "this garbage is JSON", "a frame after all", help);
    }
    Action::Garbage(text.map_or_else(|| GARBAGE.into(), |(_, text)| text))
}

/// `stderr flood`: the second word leaves room for other things to do to it.
fn stderr(line: &Line<'_>, scope: &mut Scope) -> Action {
    const WAYS: &[Verb<Action>] = &[Verb::new("flood", 0, &["bytes"], |line, _| {
        Action::StderrFlood { bytes: line.number_prop("bytes").unwrap_or(FLOOD_BYTES) }
    })];
    let way = verb::second_word(WAYS, "nothing that is done to stderr", line, scope);
    way.unwrap_or(Action::StderrFlood { bytes: 0 })
}

/// `update kind="tool_call" text="…"`, or the whole body as JSON.
fn update(line: &Line<'_>, _: &mut Scope) -> Action {
    let Some(value) = line.args().first() else {
        let (kind, text) = update_body(line);
        return Action::Update { kind, text };
    };
    let body = line.json(value);
    if !body.is_object() && value.kind != Kind::Reported {
        let help = "write `update kind=\"…\"`, or an object: `update #\"{\"sessionUpdate\": …}\"#`";
        line.at.error(value.span, "the body of an update is an object", "not one", help);
    }
    if let Some(prop) = line.node.props.first() {
        let help = "remove it: the body holds all there is";
        line.at.error(prop.key.span, "a body and its parts together", "not needed", help);
    }
    Action::UpdateWith(body)
}

fn update_body(line: &Line<'_>) -> (Text, Text) {
    let kind = line.needs("kind", "\"agent_message_chunk\"");
    let kind = kind.map_or_else(|| "".into(), |value| update_kind(line, value));
    (kind, line.text_prop("text").unwrap_or_else(|| "".into()))
}

fn chatter(line: &Line<'_>, _: &mut Scope) -> Action {
    let (kind, text) = update_body(line);
    Action::Chatter {
        kind,
        text,
        gap_ms: line.duration_prop("gap").unwrap_or(CHATTER_GAP_MS),
        count: line.count_prop("count").unwrap_or(CHATTER_COUNT),
    }
}

/// The sessions of an agent have numbers, for a script is the agent's, which knows no names.
fn only_session(line: &Line<'_>, _: &mut Scope) -> Action {
    let value = line.needs_arg("a number", "1");
    Action::OnlySession(value.map_or(1, |value| line.counted(value, "a session")))
}

/// The kinds that the protocol knows; an own one begins with `_`.
const UPDATES: &[&str] = &[
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
];

fn update_kind(line: &Line<'_>, value: &Value) -> Text {
    let kind = line.some_text(value, "the kind");
    if let Some(near) = super::suggest::nearest(&kind, UPDATES.iter().copied())
        && near != &*kind
        && !kind.starts_with('_')
    {
        let title = format!("`{kind}` is no kind of update");
        line.at.error(value.span, title, "unknown", format!("did you mean `{near}`?"));
    }
    kind
}

fn request(line: &Line<'_>, _: &mut Scope) -> Action {
    let method = line.needs_arg("a method", "\"session/request_permission\"");
    Action::Request { method: method.map_or_else(|| "".into(), |value| method::read(value, line)) }
}
