//! Calls between a harness and its agent.

use skep_check::expectation::WantedCall;
use skep_trace::Text;

use super::{count, message};
use crate::scenario::line::Line;
use crate::scenario::method;
use crate::scenario::scope::Scope;

const PROPS: &[&str] = &[
    "count",
    "at-least",
    "at-most",
    "session",
    "not-session",
    "bind",
    "harness",
    "agent",
    "message",
    "text",
];

/// A call that an `expect` names by its method.
pub(super) fn read(line: &Line<'_>, method: &Text, scope: &mut Scope) -> WantedCall {
    let line = line.deeper();
    line.takes(0, PROPS);
    call(&line, method, scope)
}

/// The lines of `expect order`: each begins with its method.
pub(super) fn order(line: &Line<'_>, scope: &mut Scope) -> Vec<WantedCall> {
    line.needs_block("\"session/load\"; \"session/prompt\"");
    if line.node.block.is_some() && line.node.children().len() < 2 {
        let help = "write two calls or more, one a line";
        line.at.error(line.node.span, "an order of fewer than two", "before what?", help);
    }
    let mut calls = Vec::new();
    for node in line.node.children() {
        let child = Line::new(node, line.at);
        let method = &node.name.text;
        if method::is_method(method) {
            child.takes(0, PROPS);
            calls.push(call(&child, method, scope));
        } else if !node.reported {
            let title = format!("`{}` is no call", super::super::value::shortened(method));
            line.at.error(node.name.span, title, "unknown", method::instead(method, []));
        }
    }
    calls
}

fn call(line: &Line<'_>, method: &Text, scope: &mut Scope) -> WantedCall {
    let mut wanted = WantedCall {
        method: method.clone(),
        count: count::read(line),
        session: scope.known_session(line, "session"),
        not_session: scope.known_session(line, "not-session"),
        harness: scope.harness_prop(line, "harness"),
        agent: line.name_prop("agent").map(|word| scope.agents.refer(line.at, &word)),
        message: message(line, scope),
        text: line.text_prop("text"),
        params: params(line),
        bind: None,
    };
    // The name comes last: a call does not name the session that it makes.
    wanted.bind = bind(line, scope);
    contradictions(line, &wanted);
    wanted
}

fn bind(line: &Line<'_>, scope: &mut Scope) -> Option<Text> {
    let word = line.name_prop("bind")?;
    scope.sessions.define(line.at, &word);
    Some(word.text)
}

fn contradictions(line: &Line<'_>, wanted: &WantedCall) {
    if wanted.session.is_some() && wanted.session == wanted.not_session {
        let help = "remove one of the two";
        line.at.error(line.node.span, "a session that is and is not", "can never hold", help);
    }
    if let (Some(value), Some(_)) = (line.node.prop("bind"), &wanted.session) {
        let help = "the session has a name already; remove `bind=`";
        line.at.error(value.span, "a second name for a session", "not needed", help);
    }
    if let (Some(value), "session/new") = (line.node.prop("session"), &*wanted.method) {
        let help = "a new session has no name before it is answered: write `bind=`";
        line.at.error(value.span, "`session/new` names no session", "can never hold", help);
    }
}

/// `param "path" "value"`.
fn params(line: &Line<'_>) -> Vec<(Text, Text)> {
    let mut params = Vec::new();
    for node in line.node.children() {
        let child = Line::new(node, line.at);
        if &*node.name.text != "param" {
            crate::scenario::unknown(&child, "the `expect` of a call", ["param"]);
            continue;
        }
        child.takes(2, &[]);
        child.no_block();
        params.extend(param(&child));
    }
    params
}

fn param(line: &Line<'_>) -> Option<(Text, Text)> {
    let path = line.needs_arg("a path", "\"_meta.channelType\" \"dm\"")?;
    let Some(value) = line.args().get(1) else {
        let help = "write what it must be: JSON, a text, `\"*\"` for any value, `\"-\"` for none";
        line.at.error(line.node.span, "a parameter without a value", "must be what?", help);
        return None;
    };
    let text = match value.text() {
        Some(text) if matches!(&**text, "*" | "-") => text.clone(),
        _ => line.json(value).to_string().into(),
    };
    Some((line.some_text(path, "the path"), text))
}
