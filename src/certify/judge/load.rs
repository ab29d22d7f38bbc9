//! Whether a load succeeds, and when and how often it is answered: rows 33 to 35, 39 to 41, 45,
//! 46, 69 to 72.

use std::collections::BTreeSet;

use super::replay::is_history;
use super::{asked, good, loads, outcome, some_loads};
use crate::certify::evidence::{Evidence, Exchange};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, broken, counted, remark, unknown};
use crate::certify::transcript::{Role, Transcript};

/// A load must succeed.
fn succeeds(e: &Evidence, probe: Probe) -> Result<&Exchange, Said> {
    let exchange = asked(e, probe)?;
    match e.result(exchange) {
        Some(_) => Ok(exchange),
        None => broken(format!("{} {}", probe.word(), outcome(e, exchange)), e.moment(exchange)),
    }
}

/// 33: a session loads in its own process.
pub(in crate::certify) fn same_process(e: &Evidence) -> Judged {
    for probe in [Probe::LoadSame, Probe::LoadTwice] {
        succeeds(e, probe)?;
    }
    Ok("it loads, twice".to_owned())
}

/// 34: a session loads in a new process, whether the old one ended or was killed, with all that
/// had been answered.
pub(in crate::certify) fn new_process(e: &Evidence) -> Judged {
    succeeds(e, Probe::LoadFresh)?;
    good(e, Probe::KilledTurn)?;
    survives(e, Probe::LoadKilled, "right after it")?;
    for (load, turn, when) in [
        (Probe::LoadAfterKill, Probe::MidTurn, "in a later one"),
        (Probe::LoadAfterGroupKill, Probe::GroupTurn, "in a later one, with all that it started"),
    ] {
        // Nothing was cut where nothing streamed.
        if e.did(turn).is_empty() && e.first(load).is_some() {
            survives(e, load, when)?;
        }
    }
    Ok("after the end of the input, after a kill at once, and after kills in mid-turn".to_owned())
}

/// A turn that was answered outlives the kill of its process. What it says is judged elsewhere:
/// here its messages are counted.
fn survives(e: &Evidence, probe: Probe, when: &str) -> Result<(), Said> {
    let load = succeeds(e, probe)?;
    let (live, told) = (Transcript::complete(e, load), Transcript::replayed(e, load));
    let lost = |role| told.of(role).len() < live.of(role).len();
    let what = match told.messages.is_empty() {
        _ if !lost(Role::User) && !lost(Role::Agent) => return Ok(()),
        true => "nothing is left of turns",
        false => "a part is lost of a turn",
    };
    let why = format!("{}: {what} whose process was killed {when}", probe.word());
    broken(why, e.moment(load))
}

/// 35: another client loads it.
pub(in crate::certify) fn other_client(e: &Evidence) -> Judged {
    good(e, Probe::LoadFresh)?;
    succeeds(e, Probe::LoadOtherClient)?;
    Ok("a client of another name loads it".to_owned())
}

/// 39: the history comes before the answer.
pub(in crate::certify) fn before_the_answer(e: &Evidence) -> Judged {
    let loads = some_loads(e)?;
    for (probe, load, _) in &loads {
        let late = e.late(load);
        if let Some((at, _)) = late.into_iter().find(|(_, update)| is_history(update)) {
            return broken(
                format!("{}: history comes after the answer", probe.word()),
                e.record(at),
            );
        }
    }
    Ok(counted(loads.len(), "load"))
}

/// 40: a load is answered, once.
pub(in crate::certify) fn once(e: &Evidence) -> Judged {
    let mut count = 0;
    for probe in super::LOADS {
        for load in e.all(probe) {
            match load.answers.len() {
                0 if load.gave_up => {
                    return broken(format!("{} was never answered", probe.word()), e.moment(load));
                }
                0 => continue,
                1 => count += 1,
                _ => {
                    let second = e.record(load.answers[1]);
                    return broken(format!("{} was answered again", probe.word()), second);
                }
            }
        }
    }
    if count == 0 { unknown("no load was answered") } else { Ok(counted(count, "load")) }
}

/// 41: the second load tells what the first one told, and nothing is told twice.
pub(in crate::certify) fn twice(e: &Evidence) -> Judged {
    told_once(e)?;
    let ((one, _), (two, _)) = (good(e, Probe::LoadSame)?, good(e, Probe::LoadTwice)?);
    let (first, second) = (Transcript::replayed(e, one), Transcript::replayed(e, two));
    if first.messages.is_empty() && second.messages.is_empty() {
        return later_again(e);
    }
    if texts(&first) != texts(&second) || first.tools.len() != second.tools.len() {
        return broken("the second load told something else than the first", e.moment(two));
    }
    Ok(counted(first.messages.len(), "message"))
}

fn texts(told: &Transcript) -> Vec<(Role, &str)> {
    told.messages.iter().map(|one| (one.role, one.text.trim())).collect()
}

/// Of sessions that are open already an agent may tell nothing: then loads in two processes are
/// held against each other.
fn later_again(e: &Evidence) -> Judged {
    let ((one, _), (two, _)) = (good(e, Probe::LoadFresh)?, good(e, Probe::LoadMore)?);
    let (first, second) = (Transcript::replayed(e, one), Transcript::replayed(e, two));
    match texts(&second).starts_with(&texts(&first)) {
        _ if first.messages.is_empty() => unknown("no load told anything"),
        true => Ok(counted(first.messages.len(), "message")),
        false => broken("a later load told something else than the first", e.moment(two)),
    }
}

/// A prompt that was tried again, because its model was in trouble, is one message.
fn told_once(e: &Evidence) -> Result<(), Said> {
    let Ok((load, _)) = good(e, Probe::LoadTrouble) else { return Ok(()) };
    let told = Transcript::replayed(e, load);
    let mut seen = BTreeSet::new();
    // No two prompts of that session say the same.
    match told.of(Role::User).into_iter().find(|one| !seen.insert(one.text.trim())) {
        Some(again) => broken("a prompt that was tried again is told twice", e.record(again.line)),
        None => Ok(()),
    }
}

/// 45: the result is an object.
pub(in crate::certify) fn result_kind(e: &Evidence) -> Judged {
    let loads = some_loads(e)?;
    for (_, load, result) in &loads {
        if result.is_null() {
            return remark("the result of a load is null", e.moment(load));
        }
        if !result.is_object() {
            return broken("the result of a load is no object", e.moment(load));
        }
        if let Some(why) = skep_agent::schema::agent_result_misfit("session/load", result) {
            return broken(format!("the result of a load: {why}"), e.moment(load));
        }
    }
    Ok(counted(loads.len(), "load"))
}

/// 46: the result has the fields that it may have.
pub(in crate::certify) fn result_fields(e: &Evidence) -> Judged {
    const KNOWN: [&str; 3] = ["modes", "configOptions", "_meta"];
    let loads = some_loads(e)?;
    for (_, load, result) in &loads {
        let strange = result.as_object().into_iter().flatten();
        if let Some((name, _)) =
            strange.into_iter().find(|(name, _)| !KNOWN.contains(&name.as_str()))
        {
            return broken(format!("the result of a load has a field `{name}`"), e.moment(load));
        }
    }
    Ok(counted(loads.len(), "load"))
}

/// 69: a session that was never prompted loads, and has no history.
pub(in crate::certify) fn never_prompted(e: &Evidence) -> Judged {
    good(e, Probe::LoadFresh)?;
    let load = succeeds(e, Probe::LoadEmpty)?;
    match e.updates(load).into_iter().find(|(_, update)| is_history(update)) {
        Some((at, _)) => broken("a session that was never prompted has a history", e.record(at)),
        None => Ok("it loads, and has none".to_owned()),
    }
}

/// 70: the load of one session leaves the others alone.
pub(in crate::certify) fn others(e: &Evidence) -> Judged {
    let loads = loads(e);
    for (probe, load, _) in &loads {
        let session = e.session(load);
        let other = e.between(load).find(|(_, json)| {
            let to = json["params"]["sessionId"].as_str();
            json["method"] == "session/update"
                && is_history(&json["params"]["update"])
                && to.is_some_and(|to| !to.eq_ignore_ascii_case(session))
        });
        if let Some((at, _)) = other {
            let why = format!("{}: another session is told something", probe.word());
            return broken(why, e.record(at));
        }
    }
    good(e, Probe::TurnSecond)?;
    let beside = asked(e, Probe::TurnBeside)?;
    match e.result(beside) {
        Some(_) => Ok(counted(loads.len(), "load")),
        None if loads.is_empty() => unknown("no load succeeded"),
        None => broken("another session no longer takes prompts", e.moment(beside)),
    }
}

/// 71: two loads in flight are kept apart.
pub(in crate::certify) fn pair(e: &Evidence) -> Judged {
    good(e, Probe::LoadSame)?;
    let (main, second) = (asked(e, Probe::PairMain)?, asked(e, Probe::PairSecond)?);
    for (load, own) in [(main, Role::User), (second, Role::User)] {
        if e.result(load).is_none() {
            return broken(format!("one of two loads {}", outcome(e, load)), e.moment(load));
        }
        let live = Transcript::live(e, load);
        let mut told = Transcript::replayed(e, load);
        let mine: Vec<_> = live.of(own).iter().map(|one| one.text.trim().to_owned()).collect();
        told.messages.retain(|one| one.role == own && !mine.contains(&one.text.trim().to_owned()));
        let foreign = told.messages.iter().find(|one| one.text.contains("remember the word"));
        if let Some(message) = foreign {
            return broken("one load tells what belongs to the other", e.record(message.line));
        }
        if let Some((at, _)) = e.late(load).into_iter().find(|(_, update)| is_history(update)) {
            return broken("history comes after the answer of its load", e.record(at));
        }
    }
    Ok("each told its own before its answer".to_owned())
}

/// 72: a load that is cancelled is answered all the same, once.
pub(in crate::certify) fn cancelled(e: &Evidence) -> Judged {
    good(e, Probe::LoadSame)?;
    let load = asked(e, Probe::CancelledLoad)?;
    match load.answers.len() {
        1 => Ok(outcome(e, load)),
        0 => broken("a cancelled load was never answered", e.moment(load)),
        _ => broken("a cancelled load was answered again", e.record(load.answers[1])),
    }
}
