//! What follows a load, and what must not happen while it runs: rows 47, 49, 59 to 64, 74 to 76,
//! 84 to 87.

use serde_json::Value;
use skep_trace::Sighting;

use super::prompt::ends_badly;
use super::{asked, good, outcome, some_loads};
use crate::certify::evidence::{Evidence, Exchange, Line};
use crate::certify::lane::words::{SECOND_WORD, WORD};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, apart, broken, counted, unknown};
use crate::certify::transcript::{Role, Transcript};

/// What the agent said in a turn.
pub(super) fn answer(e: &Evidence, turn: &Exchange) -> String {
    let updates = e.updates(turn);
    let texts = updates.iter().filter_map(|(_, update)| {
        let said = update["sessionUpdate"] == "agent_message_chunk";
        update["content"]["text"].as_str().filter(|_| said)
    });
    texts.collect()
}

/// Whether an agent still has what was said: its answer, or what its model was sent.
fn recalls(e: &Evidence, probe: Probe, word: &str) -> Judged {
    let (turn, _) = good(e, probe)?;
    let (from, to) = (e.record(turn.request), e.moment(turn));
    let sent = e.seen.iter().filter(|seen| (from..=to).contains(&seen.record)).any(|seen| {
        matches!(&seen.sighting, Sighting::ModelAsked { said, .. }
            if said.iter().any(|text| text.contains(word)))
    });
    if sent || answer(e, turn).contains(word) {
        return Ok("it remembers the word".to_owned());
    }
    broken("the word that was to be remembered is gone", e.moment(turn))
}

/// 47: the conversation goes on.
pub(in crate::certify) fn context(e: &Evidence) -> Judged {
    good(e, Probe::LoadFresh)?;
    recalls(e, Probe::Recall, WORD)
}

/// 91: the same after a resume.
pub(in crate::certify) fn resumed_context(e: &Evidence) -> Judged {
    good(e, Probe::ResumeFresh)?;
    recalls(e, Probe::RecallResumed, SECOND_WORD)
}

/// 49: a loaded session can be cancelled.
pub(in crate::certify) fn cancel(e: &Evidence) -> Judged {
    good(e, Probe::LoadSecond)?;
    let turn = asked(e, Probe::CancelLoaded)?;
    if e.did(Probe::CancelLoaded).iter().any(|(_, _, about)| about.contains("did not stream")) {
        return unknown("the turn was over before it could be cancelled");
    }
    match ends_badly(e, turn) {
        Some(how) => broken(format!("the cancelled turn {how}"), e.moment(turn)),
        None => Ok(outcome(e, turn)),
    }
}

/// A request of the agent while a session is loaded.
fn requests_in_loads<'e>(e: &'e Evidence) -> Result<Vec<(usize, &'e str)>, Said> {
    let mut found: Vec<(usize, &'e str)> = Vec::new();
    for (_, load, _) in some_loads(e)? {
        found.extend(e.between(load).filter_map(|(at, json)| {
            json.get("id")?;
            Some((at, json["method"].as_str()?))
        }));
    }
    Ok(found)
}

/// 59: a replay asks for nothing.
pub(in crate::certify) fn only_tells(e: &Evidence) -> Judged {
    match requests_in_loads(e)?.first() {
        Some((at, method)) => broken(format!("{method} while a session is loaded"), e.record(*at)),
        None => Ok("no load asked for anything".to_owned()),
    }
}

/// 60: a load adds nothing, and asks no model.
pub(in crate::certify) fn adds_nothing(e: &Evidence) -> Judged {
    let ((one, _), (two, _)) = (good(e, Probe::LoadSame)?, good(e, Probe::LoadTwice)?);
    let (first, second) = (Transcript::replayed(e, one), Transcript::replayed(e, two));
    let live = Transcript::live(e, two);
    let text = |told: &Transcript| -> String {
        told.of(Role::Agent).iter().map(|one| one.text.as_str()).collect()
    };
    let (before, after) = (text(&first), text(&second));
    let doubled = after == before.repeat(2) && !before.is_empty();
    if after.len() > before.len() && after.starts_with(&before) && !doubled && after != text(&live)
    {
        return broken("a load added something to the conversation", e.moment(two));
    }
    for (probe, load, _) in some_loads(e)? {
        let (from, to) = (e.record(load.request), e.moment(load));
        let asked = e.seen.iter().any(|seen| {
            (from..=to).contains(&seen.record)
                && seen.agent == e.lines[load.request].agent
                && matches!(&seen.sighting, Sighting::ModelAsked { .. })
        });
        if asked {
            // Titles are made whenever an agent likes: it is recorded and no more.
            return Ok(format!("nothing was added; {}: the model was asked", probe.word()));
        }
    }
    Ok("the second load told as much as the first".to_owned())
}

/// 61: a loaded session is where the load says.
pub(in crate::certify) fn directory(e: &Evidence) -> Judged {
    let (load, _) = good(e, Probe::LoadFresh)?;
    let (list, result) = good(e, Probe::ListLoaded)?;
    let session = e.session(load);
    let wanted = &e.request(load)["params"]["cwd"];
    let mut entries = result["sessions"].as_array().into_iter().flatten();
    match entries.find(|entry| entry["sessionId"] == session) {
        Some(entry) if entry.get("cwd").is_none_or(|cwd| cwd == wanted) => {
            Ok("the list has it there".to_owned())
        }
        Some(_) => broken("the list has it elsewhere", e.moment(list)),
        None if result["nextCursor"].is_string() => unknown("it is on no first page"),
        None => broken("the list of the load's directory does not have it", e.moment(list)),
    }
}

fn started(e: &Evidence, server: &str, from: usize, to: usize) -> usize {
    let ours = |seen: &&crate::certify::evidence::Seen| {
        (from..to).contains(&seen.record)
            && matches!(&seen.sighting, Sighting::ServerStarted { server: name } if **name == *server)
    };
    e.seen.iter().filter(ours).count()
}

/// 62: the servers of a load are started.
pub(in crate::certify) fn servers(e: &Evidence) -> Judged {
    let (load, _) = good(e, Probe::LoadServers)?;
    asked(e, Probe::ServersTurn)?;
    let to = e.first(Probe::LoadWithout).map_or(usize::MAX, |next| e.record(next.request));
    match started(e, "given", e.record(load.request), to) {
        0 => broken("the server was not started by the first prompt", e.moment(load)),
        count => Ok(format!("it was started {}", counted(count, "time"))),
    }
}

/// 63: the list of servers is the one of the request.
pub(in crate::certify) fn no_other_servers(e: &Evidence) -> Judged {
    good(e, Probe::LoadServers)?;
    let (load, _) = good(e, Probe::LoadWithout)?;
    match started(e, "given", e.record(load.request), usize::MAX) {
        0 => Ok("the server of an earlier load stays away".to_owned()),
        _ => broken("the server of an earlier load was started again", e.moment(load)),
    }
}

/// 64: a server that cannot be started does not stop a load.
pub(in crate::certify) fn dead_server(e: &Evidence) -> Judged {
    good(e, Probe::LoadServers)?;
    let load = asked(e, Probe::LoadDead)?;
    match load.answers.is_empty() {
        true => broken("the load with a dead server was never answered", e.moment(load)),
        false => Ok(outcome(e, load)),
    }
}

/// 74: `_meta` changes nothing.
pub(in crate::certify) fn meta(e: &Evidence) -> Judged {
    if let (Ok(_), Some(turn)) = (good(e, Probe::TurnSecond), e.first(Probe::TurnMeta))
        && e.result(turn).is_none()
    {
        return broken(format!("a prompt with `_meta` {}", outcome(e, turn)), e.moment(turn));
    }
    good(e, Probe::LoadSame)?;
    let load = asked(e, Probe::LoadMeta)?;
    match e.result(load) {
        Some(_) => Ok("both went as without it".to_owned()),
        None => broken(format!("a load with `_meta` {}", outcome(e, load)), e.moment(load)),
    }
}

fn is(update: &Value, kind: &str) -> bool {
    update["sessionUpdate"] == kind
}

/// 75: what is known of usage is told after a load.
pub(in crate::certify) fn usage(e: &Evidence) -> Judged {
    let (load, _) = good(e, Probe::LoadSame)?;
    let turns = e.all(Probe::Turn);
    let live =
        turns.iter().any(|turn| e.updates(turn).iter().any(|(_, one)| is(one, "usage_update")));
    if !live {
        return apart("the agent tells no usage");
    }
    let around = e.updates(load).into_iter().chain(e.late(load));
    match around.into_iter().find(|(_, update)| is(update, "usage_update")) {
        Some((at, update)) if !(update["used"].is_u64() && update["size"].is_u64()) => {
            broken("a usage without its numbers", e.record(at))
        }
        Some(_) => Ok("it is told".to_owned()),
        None => broken("usage is told in turns and not after a load", e.moment(load)),
    }
}

/// 76: housekeeping may come after the answer.
pub(in crate::certify) fn housekeeping(e: &Evidence) -> Judged {
    let (load, _) = good(e, Probe::LoadSame)?;
    let mut kinds: Vec<_> = e
        .late(load)
        .into_iter()
        .filter(|(_, update)| !super::replay::is_history(update))
        .filter_map(|(_, update)| update["sessionUpdate"].as_str())
        .collect();
    kinds.dedup();
    Ok(if kinds.is_empty() { "none came".to_owned() } else { kinds.join(", ") })
}

/// Requests that a client without capabilities must not be sent while it loads or prompts.
fn discipline(e: &Evidence, begin: &str) -> Judged {
    let uses: Vec<_> = e
        .every()
        .filter(|(_, exchange)| ["session/load", "session/prompt"].contains(&e.method(exchange)))
        .collect();
    if uses.iter().all(|(_, exchange)| e.result(exchange).is_none()) {
        return unknown("no load and no prompt succeeded");
    }
    for (_, exchange) in uses {
        let asked = e.between(exchange).find(|(_, json)| {
            json["method"].as_str().is_some_and(|method| method.starts_with(begin))
        });
        if let Some((at, json)) = asked {
            return broken(format!("{} is asked for", json["method"]), e.record(at));
        }
    }
    Ok("never asked for".to_owned())
}

/// 84: the client's files.
pub(in crate::certify) fn files(e: &Evidence) -> Judged {
    discipline(e, "fs/")
}

/// 85: the client's terminals: none is asked for, and none is told of that the client never made.
pub(in crate::certify) fn terminals(e: &Evidence) -> Judged {
    let note = discipline(e, "terminal/")?;
    let shows = |line: &&Line| {
        let update = line.json.as_ref().map(|json| &json["params"]["update"]);
        let content = update.and_then(|update| update["content"].as_array());
        content.is_some_and(|parts| parts.iter().any(|part| part["type"] == "terminal"))
    };
    match e.agent_side().find(shows) {
        Some(line) => broken("an update shows a terminal that the client never made", line.record),
        None => Ok(note),
    }
}

/// 86: forms.
pub(in crate::certify) fn forms(e: &Evidence) -> Judged {
    discipline(e, "elicitation/")
}
