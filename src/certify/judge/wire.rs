//! Lines, envelopes, ids, errors: rows 1 to 16.

use skep_trace::{End, Sighting};

use super::{answered, asked, good, outcome};
use crate::certify::evidence::{Evidence, Line};
use crate::certify::lane::words::ODD;
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, broken, counted, remark, unknown};
use crate::certify::transcript::Transcript;

const UNKNOWN_METHOD: i64 = -32601;

/// 1: every line is a message.
pub(in crate::certify) fn only_messages(e: &Evidence) -> Judged {
    let is_message = |line: &Line| {
        line.json.as_ref().is_some_and(|json| {
            let answers = ["id", "result", "error"].iter().any(|key| json.get(*key).is_some());
            json.is_object() && (json["method"].is_string() || answers)
        })
    };
    if let Some(seen) =
        e.seen.iter().find(|seen| matches!(&seen.sighting, Sighting::LongLine { .. }))
    {
        return broken("a line is too long to be read", seen.record);
    }
    if let Some(seen) = e.seen.iter().find(|seen| matches!(&seen.sighting, Sighting::Flood { .. }))
    {
        return broken("the output is a flood", seen.record);
    }
    match e.agent_side().find(|line| !is_message(line)) {
        Some(line) => broken("a line of standard output is no message", line.record),
        None if e.agent_side().next().is_none() => unknown("the agent wrote nothing"),
        None => Ok(counted(e.agent_side().count(), "line")),
    }
}

/// 2: a message is a line, and line breaks in texts survive.
pub(in crate::certify) fn line_breaks(e: &Evidence) -> Judged {
    let keeps = |text: &str| {
        let text = text.trim();
        ["Line one\n", "\nline two\r\n", "line\u{2028}three"].iter().all(|part| text.contains(part))
    };
    odd_text(e, "line breaks", keeps)
}

/// 3: the output is UTF-8, letter for letter.
pub(in crate::certify) fn utf8(e: &Evidence) -> Judged {
    if let Some(seen) = e.seen.iter().find(|seen| seen.sighting == Sighting::NotUtf8) {
        return broken("a line is no UTF-8", seen.record);
    }
    if !super::offers_loads(e)? {
        // Texts come back in loads alone; what there is was UTF-8.
        return updates(e);
    }
    let letters = |text: &str| -> String { text.chars().filter(|one| !one.is_ascii()).collect() };
    odd_text(e, "letters", |text| {
        letters(text).replace('\u{2028}', "").contains(&letters(ODD).replace('\u{2028}', ""))
    })
}

/// The odd text comes back from every load of the conversation, as far as `keeps` looks at it.
fn odd_text(e: &Evidence, what: &str, keeps: impl Fn(&str) -> bool) -> Judged {
    let mut seen = 0;
    for probe in [Probe::LoadSame, Probe::LoadFresh] {
        let Ok((load, _)) = good(e, probe) else { continue };
        let told = Transcript::replayed(e, load);
        let message = told.messages.iter().find(|one| one.text.contains("skep:echo Line one"));
        let Some(message) = message else { continue };
        seen += 1;
        if !keeps(&message.text) {
            return broken(format!("{what} of a text did not survive"), e.record(message.line));
        }
    }
    if seen == 0 { unknown("the text was not replayed") } else { Ok(counted(seen, "load")) }
}

/// 4: a log on standard error never counts against an agent.
pub(in crate::certify) fn log(_: &Evidence) -> Judged {
    Ok("standard error was read all the time".to_owned())
}

/// 5: ids are echoed as they came.
pub(in crate::certify) fn ids(e: &Evidence) -> Judged {
    let mut count = 0;
    let extends = e.first(Probe::Extension).is_some_and(|one| !one.answers.is_empty());
    for probe in [Probe::LoadNegative, Probe::LoadText, Probe::OddId] {
        // Whoever answers no extension at all does not answer it under another id.
        let all = if probe == Probe::OddId && !extends { &[] } else { e.all(probe) };
        for exchange in all {
            count += 1;
            if exchange.answers.is_empty() {
                let stray = e.strays.iter().find(|stray| **stray > exchange.request);
                let at = e.record(stray.copied().unwrap_or(exchange.request));
                return broken(format!("{}: no answer bears the request's id", probe.word()), at);
            }
        }
    }
    match count {
        0 => unknown("no such id was used"),
        count => Ok(counted(count, "odd id")),
    }
}

/// 6: an answer is a result or a proper error.
pub(in crate::certify) fn envelopes(e: &Evidence) -> Judged {
    let mut count = 0;
    for line in e.agent_side() {
        let Some(json) = line.json.as_ref().filter(|json| json.get("method").is_none()) else {
            continue;
        };
        count += 1;
        if json.get("id").is_none() {
            return broken("an answer bears no id, not even null", line.record);
        }
        let (result, error) = (json.get("result"), json.get("error"));
        if result.is_some() == error.is_some() {
            return broken("an answer has not exactly one of result and error", line.record);
        }
        if error.is_some_and(|error| !error["code"].is_i64() || !error["message"].is_string()) {
            return broken("an error has no number for its code or no message", line.record);
        }
    }
    if count == 0 { unknown("nothing was answered") } else { Ok(counted(count, "answer")) }
}

/// 7: a notification is not answered.
pub(in crate::certify) fn notifications(e: &Evidence) -> Judged {
    let noticed = !e.did(Probe::Notices).is_empty();
    let null = |at: &&usize| {
        let json = e.json(**at);
        json["id"].is_null() && json["error"]["code"] != -32700 && json["error"]["code"] != -32600
    };
    match e.strays.iter().find(null) {
        Some(at) => broken("a notification was answered", e.record(*at)),
        None if !noticed => unknown("no notification was sent"),
        None => Ok("none was answered".to_owned()),
    }
}

/// 8: every message says its version.
pub(in crate::certify) fn versions(e: &Evidence) -> Judged {
    let wrong = |line: &&Line| {
        line.json.as_ref().is_some_and(|json| json.is_object() && json["jsonrpc"] != "2.0")
    };
    match e.agent_side().find(wrong) {
        Some(line) => broken("a message has no `jsonrpc` of 2.0", line.record),
        None => only_messages(e).or_else(|_| Ok("every message has it".to_owned())),
    }
}

/// 9: an unknown method is said to be one.
pub(in crate::certify) fn unknown_method(e: &Evidence) -> Judged {
    for probe in [Probe::UnknownMethod, Probe::Extension] {
        let Some(exchange) = e.first(probe).filter(|one| !one.answers.is_empty()) else { continue };
        if e.code(exchange) != Some(UNKNOWN_METHOD) {
            return broken(
                format!("{} {}", probe.word(), outcome(e, exchange)),
                e.moment(exchange),
            );
        }
    }
    answered(e, Probe::UnknownMethod)?;
    Ok("-32601".to_owned())
}

/// 10: a request for an extension is answered.
pub(in crate::certify) fn extensions(e: &Evidence) -> Judged {
    let exchange = asked(e, Probe::Extension)?;
    if exchange.answers.is_empty() {
        return broken("a request for an extension got no answer", e.moment(exchange));
    }
    Ok(outcome(e, exchange))
}

/// 11: unknown notifications change nothing.
pub(in crate::certify) fn noise(e: &Evidence) -> Judged {
    let (plain, _) = good(e, Probe::LoadSame)?;
    let load = asked(e, Probe::LoadNoise)?;
    let (one, other) = (Transcript::replayed(e, plain), Transcript::replayed(e, load));
    if e.result(load).is_none() || one.messages.len() > other.messages.len() {
        return broken("a load among unknown notifications went wrong", e.moment(load));
    }
    Ok("the load went as without them".to_owned())
}

/// 12: an agent adds fields in `_meta` alone, and methods that begin with `_`.
pub(in crate::certify) fn own_words(e: &Evidence) -> Judged {
    if let Some((method, record)) = e.agent_side().find_map(own_method) {
        return broken(format!("`{method}` is no method of the protocol"), record);
    }
    let mut draft = None;
    for (path, record) in strange_fields(e) {
        let last = path.rsplit(['.', ' ']).next().unwrap_or_default();
        // How names are spelled is a requirement of its own.
        if last.contains('_') {
            continue;
        }
        if !DRAFT.contains(&last) {
            return broken(format!("`{path}` is no field of the protocol"), record);
        }
        draft.get_or_insert((path, record));
    }
    match draft {
        Some((path, record)) => remark(format!("`{path}` is a field of the draft"), record),
        None => updates(e),
    }
}

/// Fields of results that the specification's draft has: agents are ahead of it there.
const DRAFT: [&str; 1] = ["usage"];

/// A method of the agent's own that does not say so.
fn own_method(line: &Line) -> Option<(String, usize)> {
    let method = line.json.as_ref()?["method"].as_str()?;
    let known = method.starts_with(['_', '$']) || skep_agent::schema::agent_may_call(method);
    (!known).then(|| (method.to_owned(), line.record))
}

/// Fields that the schema does not know, each with its method: in what the agent sends, and in its
/// results. Those of a load's result have a requirement of their own, and what is offered has the
/// handshake's.
fn strange_fields(e: &Evidence) -> impl Iterator<Item = (String, usize)> {
    const JUDGED_ELSEWHERE: [&str; 2] = ["session/load", "initialize"];
    let sent = e.agent_side().filter_map(|line| {
        let json = line.json.as_ref()?;
        let method = json["method"].as_str()?;
        let path = skep_agent::schema::strange_param(method, &json["params"])?;
        Some((format!("{method} {path}"), line.record))
    });
    let results = e.every().filter_map(|(_, exchange)| {
        let method = e.method(exchange);
        let result = e.result(exchange).filter(|_| !JUDGED_ELSEWHERE.contains(&method))?;
        let path = skep_agent::schema::strange_field(method, result)?;
        Some((format!("{method} result.{path}"), e.moment(exchange)))
    });
    sent.chain(results)
}

/// 13: keys are camel case, kinds are snake case.
pub(in crate::certify) fn spelling(e: &Evidence) -> Judged {
    let kind = |line: &Line| {
        let kind = line.json.as_ref()?["params"]["update"]["sessionUpdate"].as_str()?;
        kind.chars().any(char::is_uppercase).then(|| (kind.to_owned(), line.record))
    };
    let snake = |(path, _): &(String, usize)| {
        path.rsplit(['.', ' ']).next().is_some_and(|last| last.contains('_') && last != "_meta")
    };
    match e.agent_side().find_map(kind).or_else(|| strange_fields(e).find(snake)) {
        Some((word, record)) => broken(format!("`{word}` is spelled otherwise"), record),
        None => updates(e),
    }
}

fn updates(e: &Evidence) -> Judged {
    match e.every_update().count() {
        0 => unknown("no update was sent"),
        count => Ok(counted(count, "update")),
    }
}

/// 14: an error's message is short.
pub(in crate::certify) fn messages(e: &Evidence) -> Judged {
    let mut count = 0;
    for line in e.agent_side() {
        let message = line.json.as_ref().and_then(|json| json["error"]["message"].as_str());
        let Some(message) = message else { continue };
        count += 1;
        if message.trim().is_empty() || message.contains('\n') {
            return broken("an error's message is empty or has several lines", line.record);
        }
    }
    if count == 0 { unknown("there was no error") } else { Ok(counted(count, "error")) }
}

/// 15: an error does not spoil the connection.
pub(in crate::certify) fn after_errors(e: &Evidence) -> Judged {
    if let (Ok(_), Ok(sulk)) = (good(e, Probe::Turn), asked(e, Probe::TurnAfterTrouble))
        && e.result(sulk).is_none()
    {
        return broken("after a prompt whose model failed no prompt is taken", e.moment(sulk));
    }
    let after = e.all(Probe::LoadAfterBad);
    let loads = e.first(Probe::LoadSame).is_some_and(|load| e.result(load).is_some());
    if let Some(one) = after.iter().find(|one| loads && e.result(one).is_none()) {
        return broken("a good load right after a bad one went wrong", e.moment(one));
    }
    let good_loads = after.iter().filter(|one| e.result(one).is_some()).count();
    // The second request for an extension follows a line that is no message.
    let second = e.all(Probe::Extension).get(1).filter(|one| !one.answers.is_empty());
    match good_loads + usize::from(second.is_some()) {
        0 => unknown("nothing was answered after an error"),
        count => Ok(counted(count, "answer after an error")),
    }
}

/// What a process started that was there when it had ended by itself. Whoever is killed can see to
/// nothing any more.
fn left_behind(e: &Evidence) -> Option<(usize, String)> {
    let exits = e.did(Probe::Exit);
    e.seen.iter().filter(|seen| exits.iter().any(|(_, agent, _)| **agent == seen.agent)).find_map(
        |seen| match &seen.sighting {
            Sighting::Strayed { command } => {
                Some((seen.record, format!("a process ended and left `{command}` behind")))
            }
            Sighting::Orphans => Some((
                seen.record,
                "a process ended and left others of its group behind".to_owned(),
            )),
            _ => None,
        },
    )
}

/// 16: the end of the input is the end of the process.
pub(in crate::certify) fn ends(e: &Evidence) -> Judged {
    let outlived = |seen: &&crate::certify::evidence::Seen| {
        matches!(&seen.sighting, Sighting::OutlivedEof { .. })
    };
    let asked = e.did(Probe::Exit).len();
    if let Some(seen) = e.seen.iter().find(outlived) {
        return broken("a process lived on after its input had ended", seen.record);
    }
    let crash = e.ends.iter().find(|(_, _, end)| {
        matches!(end, End::Signal { by_us: false, .. }) || matches!(end, End::Exit(70..=255))
    });
    if let Some((record, _, end)) = crash {
        return remark(format!("a process ended badly: {end:?}"), *record);
    }
    if let Some((record, what)) = left_behind(e) {
        return remark(what, record);
    }
    if asked == 0 { unknown("no process got so far") } else { Ok(counted(asked, "process")) }
}
