//! `session/new`: rows 28 to 32.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{answered, asked, good, outcome};
use crate::certify::evidence::Evidence;
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, apart, broken, counted, unknown};

/// 28: every session has an id of its own, over all processes of a home.
pub(in crate::certify) fn unique(e: &Evidence) -> Judged {
    let mut seen = BTreeSet::new();
    let news = e.every().filter(|(_, one)| e.method(one) == "session/new");
    for (_, exchange) in news {
        let Some(result) = e.result(exchange) else { continue };
        let id = result["sessionId"].as_str().unwrap_or_default();
        if id.is_empty() {
            return broken("a new session has no id", e.moment(exchange));
        }
        // Homes that share nothing may have given the same id.
        let home = &e.lines[exchange.request].agent.agent;
        if !seen.insert((home, id)) {
            return broken("two sessions have the same id", e.moment(exchange));
        }
    }
    if seen.is_empty() {
        unknown("no session was made")
    } else {
        Ok(counted(seen.len(), "session"))
    }
}

/// 29: a directory and no servers are enough.
pub(in crate::certify) fn accepted(e: &Evidence) -> Judged {
    let exchange = asked(e, Probe::NewMain)?;
    if e.code(exchange) == Some(-32000) {
        return Err(Said::Unknown("it needs a login".to_owned()));
    }
    match e.result(exchange) {
        Some(result) => match skep_agent::schema::agent_result_misfit("session/new", result) {
            Some(why) => broken(format!("the new session: {why}"), e.moment(exchange)),
            None => Ok("a session was made".to_owned()),
        },
        None => broken(format!("session/new {}", outcome(e, exchange)), e.moment(exchange)),
    }
}

/// 30: a session is where it was made, not where the agent was started. Sessions that were never
/// loaded show it best: a load names a directory anew.
pub(in crate::certify) fn directory(e: &Evidence) -> Judged {
    good(e, Probe::NewMain)?;
    let mut found = None;
    for probe in [Probe::NewEmpty, Probe::NewDirectories, Probe::NewMain] {
        let Ok((new, result)) = good(e, probe) else { continue };
        let wanted = &e.request(new)["params"]["cwd"];
        let Some((record, entry)) = listed(e, &result["sessionId"]) else { continue };
        match entry.get("cwd") {
            Some(cwd) if cwd != wanted => {
                return broken("a session is listed elsewhere than it was made", record);
            }
            Some(_) => found = Some("the list has it where it was made"),
            None => {}
        }
    }
    found.map_or_else(|| unknown("no list has the session"), |note| Ok(note.to_owned()))
}

/// A session as the list of all sessions has it.
fn listed<'e>(e: &'e Evidence, id: &Value) -> Option<(usize, &'e Value)> {
    let pages = e.all(Probe::List).iter().chain(e.all(Probe::ListPage));
    let mut entries = pages.flat_map(|page| {
        let entries = e.result(page).and_then(|result| result["sessions"].as_array());
        entries.into_iter().flatten().map(|entry| (e.moment(page), entry))
    });
    entries.find(|(_, entry)| entry["sessionId"] == *id)
}

/// 31: the id that was given is the id that is known.
pub(in crate::certify) fn round_trip(e: &Evidence) -> Judged {
    good(e, Probe::NewMain)?;
    let known = [Probe::LoadSame, Probe::LoadFresh, Probe::Resume];
    let tried: Vec<_> = known.iter().filter_map(|probe| answered(e, *probe).ok()).collect();
    if tried.is_empty() {
        return unknown("the id was not used again");
    }
    match tried.iter().all(|one| matches!(e.code(one), Some(-32002 | -32602))) {
        true => broken("no request knows the id that was given", e.moment(tried[0])),
        false => Ok("it is known as it was given".to_owned()),
    }
}

/// 32: an agent that needs a login says so.
pub(in crate::certify) fn login(e: &Evidence) -> Judged {
    let exchange = answered(e, Probe::NewMain)?;
    if e.code(exchange) != Some(-32000) {
        return apart("it needs no login");
    }
    let login = e.first(Probe::Authenticate).filter(|login| e.result(login).is_some());
    if login.is_some() {
        return broken("it asks for a login after one that succeeded", e.moment(exchange));
    }
    let (_, hello) = good(e, Probe::Initialize)?;
    match hello["authMethods"].as_array().is_some_and(|methods| !methods.is_empty()) {
        true => Ok("it asks for a login".to_owned()),
        false => broken("it asks for a login and offers none", e.moment(exchange)),
    }
}
