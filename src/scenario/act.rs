//! The acts of a step: what the director does.

mod disk;
mod message;
mod relay;

#[cfg(test)]
pub(super) use disk::OPS;
#[cfg(test)]
pub(super) use relay::FAULTS;
use skep_plan::{Act, Point};

use super::line::Line;
use super::scope::Scope;
use super::source::Span;
use super::verb::{self, MANY, Verb};

/// Every act but `together`, which holds others.
pub(super) const ACTS: &[Verb<Act>] = &[
    Verb::new("start", MANY, &[], |line, scope| Act::Start(scope.named_harnesses(line))),
    Verb::new("stop", MANY, &[], |line, scope| Act::Stop(scope.named_harnesses(line))),
    Verb::new("kill", MANY, &["group"], |line, scope| Act::Kill {
        harnesses: scope.named_harnesses(line),
        group: line.switch_prop("group"),
    }),
    Verb::new("restart", MANY, &["downtime"], |line, scope| Act::Restart {
        harnesses: scope.named_harnesses(line),
        downtime_ms: line.duration_prop("downtime"),
    }),
    Verb::new("pause", MANY, &[], |line, scope| Act::Pause(scope.named_harnesses(line))),
    Verb::new("continue", MANY, &[], |line, scope| Act::Continue(scope.named_harnesses(line))),
    Verb::new("mention", 0, message::PROPS, |line, scope| {
        Act::Say(message::read(line, scope, true))
    }),
    Verb::new("say", 0, message::PROPS, |line, scope| Act::Say(message::read(line, scope, false))),
    Verb::new("command", 1, message::PROPS, |line, scope| Act::Say(message::command(line, scope))),
    Verb::new("switch-model", 1, &["channel", "harness"], switch_model),
    Verb::new("set", 1, skep_plan::Settings::KEYS, set),
    Verb::new("set-agent", 1, &["load-session"], set_agent),
    Verb::two_words("relay-fault", relay::read),
    Verb::two_words("membership", relay::membership),
    Verb::two_words("disk", disk::read),
    Verb::new("run-for", 1, &[], |line, _| Act::RunFor {
        ms: line.needs_arg("a duration", "\"10m\"").map_or(0, |value| line.duration(value)),
    }),
    Verb::new("crash", 1, &["at", "power"], crash),
    Verb::new("release", 1, &[], |line, scope| {
        Act::Release(scope.agents.given_or_only(line, line.args().first()))
    }),
];

/// The word of the act that holds others.
pub(super) const TOGETHER: &str = "together";

/// Reads a line as an act, and notes the lines that it covers; `None` when it is none.
pub(super) fn read(line: &Line<'_>, scope: &mut Scope, lines: &mut Vec<Span>) -> Option<Act> {
    if &*line.node.name.text == TOGETHER {
        lines.push(line.node.span);
        return Some(together(line, scope, lines));
    }
    let verb = verb::find(ACTS, &line.node.name.text)?;
    lines.push(line.node.span);
    Some(verb.read(line, scope))
}

fn together(line: &Line<'_>, scope: &mut Scope, lines: &mut Vec<Span>) -> Act {
    line.takes(0, &[]);
    line.needs_block("mention channel=\"red\"; mention channel=\"blue\"");
    let mut acts = Vec::new();
    for node in line.node.children() {
        let child = Line::new(node, line.at);
        let nested = &*node.name.text == TOGETHER;
        if nested {
            let help = "all lines of a `together` happen at once; write them in one";
            line.at.error(node.span, "a `together` inside a `together`", "not here", help);
        } else if let Some(act) = read(&child, scope, lines) {
            acts.push(act);
        } else {
            super::unknown(&child, "`together`", verb::words(ACTS));
        }
    }
    if line.node.block.is_some() && line.node.children().len() < 2 {
        let help = "write two acts or more in it, or none of the braces";
        line.at.error(line.node.span, "fewer than two acts `together`", "with what?", help);
    }
    Act::Together(acts)
}

fn switch_model(line: &Line<'_>, scope: &mut Scope) -> Act {
    Act::SwitchModel {
        harness: scope.harness_prop(line, "harness"),
        channel: scope.used_channel(line, "\"general\""),
        model: line.first_text("a model", "\"m2\""),
    }
}

fn set(line: &Line<'_>, scope: &mut Scope) -> Act {
    let harness = scope.harnesses.given_or_only(line, line.args().first());
    let (key, value) = one_setting(line, "load-timeout=\"10s\"").unwrap_or_default();
    Act::Set { harness, key, value }
}

fn one_setting(line: &Line<'_>, example: &str) -> Option<(skep_trace::Text, skep_trace::Text)> {
    let known = |prop: &&super::tree::Prop| skep_plan::Settings::KEYS.contains(&&*prop.key.text);
    let prop = only_prop(line, example).filter(known)?;
    let text = super::cast::setting_text(&prop.key.text, &prop.value, line)?;
    if let Err(error) = skep_plan::Settings::default().set(&prop.key.text, &text) {
        super::cast::complain(&error, prop.key.span, prop.value.span, line, &[]);
    }
    Some((prop.key.text.clone(), text.into()))
}

/// The one property of a line that takes exactly one.
fn only_prop<'a>(line: &Line<'a>, example: &str) -> Option<&'a super::tree::Prop> {
    let props = &line.node.props;
    if let Some(second) = props.get(1) {
        let title = format!("two settings in one `{}`", line.verb());
        line.at.error(second.key.span, title, "the second", "write a line for each");
    }
    if props.is_empty() {
        let title = format!("`{}` does not say what", line.verb());
        let help = format!("write what is changed: `{example}`");
        line.at.error(line.node.span, title, "nothing is changed", help);
    }
    props.first()
}

fn set_agent(line: &Line<'_>, scope: &mut Scope) -> Act {
    let agent = scope.agents.given_or_only(line, line.args().first());
    let prop = only_prop(line, "load-session=#false");
    let value = prop.and_then(|prop| {
        let value = super::cast::capability(line, &prop.value);
        if value.is_none() {
            let help = "write `#null`, or declare another agent without it";
            line.at.error(prop.value.span, "a change cannot leave it out", "no value", help);
        }
        value
    });
    Act::SetAgent {
        agent,
        key: prop.map_or_else(|| "".into(), |prop| prop.key.text.clone()),
        value: value.unwrap_or_default().to_string().into(),
    }
}

fn crash(line: &Line<'_>, scope: &mut Scope) -> Act {
    let point = line.needs("at", "\"load-sent\"");
    let point = point.map(|value| line.word(value, "a crash point", Point::WORDS));
    let named = line.args().first();
    Act::Crash {
        harness: named.map(|value| scope.harnesses.refer(line.at, &line.name(value))),
        at: point.unwrap_or(Point::LoadSent),
        power: line.switch_prop("power"),
    }
}
