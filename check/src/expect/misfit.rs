//! Why a call of the right method is not the one that is looked for.

use serde_json::Value;
use skep_trace::{Call, NameKind, Text};

use super::fit::{at_path, by_whom, holds_text, on_session, param_is};
use crate::expectation::WantedCall;
use crate::facts::Facts;
use crate::facts::moment::{CallSeen, Moment};
use crate::words::shortened;

/// The first thing about the moment's call that differs, with what it really is; `None` where the
/// moment is no call of that method.
pub(crate) fn misfit(wanted: &WantedCall, moment: &Moment<'_>, facts: &Facts) -> Option<String> {
    let seen = moment.call.as_ref().filter(|seen| seen.call.method() == &*wanted.method)?;
    let by_others = || (!by_whom(wanted, seen, facts)).then(|| party(seen, facts));
    let elsewhere = || (!on_session(wanted, seen.call, facts)).then(|| session(seen.call, facts));
    let for_others = || {
        let label = wanted.message.as_ref()?;
        Some(format!("it was not for {label}"))
    };
    by_others()
        .or_else(elsewhere)
        .or_else(|| unsaid(wanted, seen.call))
        .or_else(|| params(wanted, seen.call, facts))
        .or_else(for_others)
}

fn party(seen: &CallSeen<'_>, facts: &Facts) -> String {
    let (life, process) = (facts.lives.get(seen.life), facts.processes.get(seen.process));
    format!("it was between {} and {}", life.life.harness, process.process.agent)
}

fn session(call: &Call, facts: &Facts) -> String {
    match call.session_id() {
        Some(id) => format!("it named {}", facts.names.name(NameKind::Session, id)),
        None => "it named no session".to_owned(),
    }
}

fn unsaid(wanted: &WantedCall, call: &Call) -> Option<String> {
    let text = wanted.text.as_ref().filter(|text| !holds_text(call, text))?;
    Some(format!("it did not hold \"{}\"", shortened(text)))
}

fn params(wanted: &WantedCall, call: &Call, facts: &Facts) -> Option<String> {
    let all = call.params();
    let mut params = wanted.params.iter();
    params.find_map(|(path, wanted)| {
        let found = at_path(&all, path).filter(|value| !value.is_null());
        (!param_is(found, wanted, facts)).then(|| difference(path, found, wanted))
    })
}

fn difference(path: &Text, found: Option<&Value>, wanted: &Text) -> String {
    let is = match found {
        Some(value) => format!("its `{path}` is {}", shortened(&value.to_string())),
        None => format!("it has no `{path}`"),
    };
    match (&**wanted, found) {
        ("-" | "*", _) | (_, None) => is,
        (wanted, Some(Value::String(_))) if !wanted.starts_with('"') => {
            format!("{is}, not \"{}\"", shortened(wanted))
        }
        (wanted, Some(_)) => format!("{is}, not {}", shortened(wanted)),
    }
}
