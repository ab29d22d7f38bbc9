//! Whether a call is one that an expectation looks for.

use serde_json::Value;
use skep_trace::{Call, NameKind, Text, Update};

use crate::expectation::WantedCall;
use crate::facts::Facts;
use crate::facts::ids::MessageId;
use crate::facts::moment::{CallSeen, Moment, Seen};

/// How a call fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is not looked for.
    No,
    /// It is.
    Yes,
    /// The next prompt of its session tells: only then is it known whose session it is.
    WhenPrompted(MessageId),
}

/// How the moment's call fits.
pub(crate) fn fit(wanted: &WantedCall, moment: &Moment<'_>, facts: &Facts) -> Fit {
    let Some(seen) = &moment.call else { return Fit::No };
    if seen.call.method() != &*wanted.method || !by_whom(wanted, seen, facts) {
        return Fit::No;
    }
    if !on_session(wanted, seen.call, facts) || !says(wanted, seen.call, facts) {
        return Fit::No;
    }
    match &wanted.message {
        None => Fit::Yes,
        Some(label) => match facts.names.event(label).and_then(|id| facts.messages.find(id)) {
            Some(message) => for_message(message, seen, moment, facts),
            None => Fit::No,
        },
    }
}

/// It is between the harness and the agent that are asked for.
pub(super) fn by_whom(wanted: &WantedCall, seen: &CallSeen<'_>, facts: &Facts) -> bool {
    let is = |wanted: &Option<Text>, name: &Text| wanted.as_ref().is_none_or(|it| it == name);
    is(&wanted.harness, &facts.lives.get(seen.life).life.harness)
        && is(&wanted.agent, &facts.processes.get(seen.process).process.agent)
}

/// It names the session that is asked for, or another than the one that is not.
pub(super) fn on_session(wanted: &WantedCall, call: &Call, facts: &Facts) -> bool {
    let id = |name: &Text| facts.names.id(NameKind::Session, name).map(|id| &**id);
    let named = call.session_id();
    let is_it = wanted.session.as_ref().is_none_or(|name| named.is_some() && named == id(name));
    let is_other =
        wanted.not_session.as_ref().is_none_or(|name| named.is_some() && named != id(name));
    is_it && is_other
}

fn says(wanted: &WantedCall, call: &Call, facts: &Facts) -> bool {
    let text = wanted.text.as_ref().is_none_or(|text| holds_text(call, text));
    if !text || wanted.params.is_empty() {
        return text;
    }
    let params = call.params();
    wanted.params.iter().all(|(path, value)| param_is(at_path(&params, path), value, facts))
}

/// Its texts hold this one.
pub(super) fn holds_text(call: &Call, text: &str) -> bool {
    match call {
        Call::SessionPrompt { prompt, .. } => prompt.iter().any(|block| block.contains(text)),
        Call::SessionUpdate { update: Update::Other(body), .. } => value_holds(body, text),
        Call::SessionUpdate { update, .. } => update.text().is_some_and(|it| it.contains(text)),
        other => value_holds(&other.params(), text),
    }
}

fn value_holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.contains(text),
        Value::Array(items) => items.iter().any(|item| value_holds(item, text)),
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key.contains(text) || value_holds(value, text))
        }
        other => other.to_string().contains(text),
    }
}

/// Follows `a.b.c` through objects; in a list a number is a place, and a word picks the item of
/// that `name` (its `value`, where it has one: that is how environments are written).
pub(super) fn at_path<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Object(fields) => fields.get(key),
        Value::Array(items) => match key.parse::<usize>() {
            Ok(place) => items.get(place),
            Err(_) => {
                let named = |item: &&Value| item.get("name").and_then(Value::as_str) == Some(key);
                items.iter().find(named).map(|item| item.get("value").unwrap_or(item))
            }
        },
        _ => None,
    })
}

/// `-` is nothing, `*` is anything; else a JSON value, a text, or a name that stands for an id.
pub(super) fn param_is(found: Option<&Value>, wanted: &str, facts: &Facts) -> bool {
    match (wanted, found.filter(|value| !value.is_null())) {
        ("-", found) => found.is_none(),
        (_, None) => false,
        ("*", Some(_)) => true,
        (wanted, Some(Value::String(text))) => {
            let unquoted = serde_json::from_str::<String>(wanted);
            let wanted = unquoted.unwrap_or_else(|_| wanted.to_owned());
            *text == wanted || facts.names.any_id(&wanted).any(|id| **id == **text)
        }
        (wanted, Some(value)) => {
            serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == *value)
        }
    }
}

fn for_message(message: MessageId, seen: &CallSeen<'_>, moment: &Moment<'_>, facts: &Facts) -> Fit {
    let sure = |yes: bool| if yes { Fit::Yes } else { Fit::No };
    let Some(scope) = facts.scope(seen.life, message) else { return Fit::No };
    if let Seen::Prompt(prompt) = &moment.seen {
        return sure(facts.prompts.get(*prompt).messages.contains(&message));
    }
    if facts.messages.get(message).steered == Some(moment.record) {
        return Fit::Yes;
    }
    if let Call::SessionNew(setup) = seen.call {
        let channel = setup.meta.as_ref().and_then(|meta| meta.get("channelId"));
        let channel = channel.and_then(Value::as_str).map(crate::facts::scope::channel_of);
        return match channel {
            Some(channel) if channel != scope.channel => Fit::No,
            Some(_) if scope.root.is_none() => Fit::Yes,
            _ => Fit::WhenPrompted(message),
        };
    }
    let loads = matches!(seen.call, Call::SessionLoad { .. } | Call::SessionResume { .. });
    match seen.call.session_id().and_then(|id| facts.sessions.find(id)) {
        Some(session) => match facts.sessions.get(session).scope() {
            Some(own) => sure(own.fits(&scope)),
            None if loads => Fit::WhenPrompted(message),
            None => Fit::No,
        },
        None => Fit::No,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_pass_through_lists_by_place_and_by_name() {
        let params =
            json!({"mcpServers": [{"name": "buzz", "env": [{"name": "K", "value": "v"}]}]});
        assert_eq!(at_path(&params, "mcpServers.0.env.K"), Some(&json!("v")));
        assert_eq!(at_path(&params, "mcpServers.buzz.env.0.name"), Some(&json!("K")));
        assert_eq!(at_path(&params, "mcpServers.1"), None);
    }
}
