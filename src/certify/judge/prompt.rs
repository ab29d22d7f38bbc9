//! Turns: rows 110 to 114.

use serde_json::Value;

use super::beyond::answer;
use super::replay::is_history;
use super::{asked, good, outcome};
use crate::certify::evidence::{Evidence, Exchange};
use crate::certify::lane::words::{FIRST_WORD, LAST_DENSE};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, apart, broken, counted, remark, unknown};

const STOPS: [&str; 5] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

/// 110: a turn ends for a reason that there is.
pub(in crate::certify) fn stops(e: &Evidence) -> Judged {
    let mut count = 0;
    for (_, turn) in e.every().filter(|(_, one)| e.method(one) == "session/prompt") {
        let Some(result) = e.result(turn) else { continue };
        count += 1;
        if !result["stopReason"].as_str().is_some_and(|stop| STOPS.contains(&stop)) {
            return broken(format!("a turn ends with {}", result["stopReason"]), e.moment(turn));
        }
    }
    let turn = asked(e, Probe::Turn)?;
    if let Some(mute) = TROUBLE.iter().flat_map(|probe| e.all(*probe)).find(|one| one.is_mute()) {
        return broken("a prompt whose model is in trouble is never answered", e.moment(mute));
    }
    match (count, e.code(turn)) {
        (0, Some(-32000)) => unknown("it needs a login"),
        (0, _) => broken(format!("a prompt {}", outcome(e, turn)), e.moment(turn)),
        (count, _) => Ok(counted(count, "turn")),
    }
}

/// Turns whose model is in trouble.
const TROUBLE: [Probe; 3] = [Probe::RefusedTurn, Probe::FailingTurn, Probe::SilentTurn];

/// Turns that were cancelled, each with when. What was over before that is left out.
fn cancelled(e: &Evidence) -> Result<Vec<(&Exchange, &'static str)>, Said> {
    good(e, Probe::Turn)?;
    let mut turns = Vec::new();
    for (probe, when) in [
        (Probe::SlowTurn, "in mid-stream"),
        (Probe::EarlyCancel, "right behind its prompt"),
        (Probe::DenseTurn, "in a dense stream"),
        (Probe::SilentTurn, "while its model says nothing"),
    ] {
        // What is noted of a turn is that it was over; of an early cancel, that it was lost.
        let over = |turn: &&Exchange| probe != Probe::EarlyCancel && e.is_noted(probe, turn);
        let all = e.all(probe).iter().filter(|turn| !over(turn));
        turns.extend(all.map(|turn| (turn, when)));
    }
    if turns.is_empty() { unknown("no turn was cancelled before it was over") } else { Ok(turns) }
}

/// How the end of a cancelled turn breaks the protocol; `None` where it does not, or where nothing
/// can be said: a model that counts no words for us may have had little to say, and a dense stream
/// may have been over before its cancel was read.
pub(super) fn ends_badly(e: &Evidence, turn: &Exchange) -> Option<String> {
    let Some(result) = e.result(turn) else { return Some(outcome(e, turn)) };
    let reason = &result["stopReason"];
    if *reason == "cancelled" {
        return None;
    }
    let text = answer(e, turn);
    let counts = text.contains(FIRST_WORD);
    let excused = !text.is_empty() && !counts || text.contains(LAST_DENSE);
    (!excused).then(|| format!("ended with {reason}"))
}

/// 111: a cancelled turn ends as cancelled, with a result.
pub(in crate::certify) fn cancel(e: &Evidence) -> Judged {
    let turns = cancelled(e)?;
    let early = e.all(Probe::EarlyCancel);
    if let Some(turn) = early.iter().find(|turn| e.is_noted(Probe::EarlyCancel, turn)) {
        return broken("a cancel right behind its prompt is lost", e.moment(turn));
    }
    for (turn, when) in &turns {
        if let Some(how) = ends_badly(e, turn) {
            return broken(format!("a turn that was cancelled {when} {how}"), e.moment(turn));
        }
    }
    Ok(counted(turns.len(), "cancelled turn"))
}

/// 112: after the answer to a cancelled turn nothing of it comes.
pub(in crate::certify) fn silence(e: &Evidence) -> Judged {
    let turns = cancelled(e)?;
    let answered: Vec<_> = turns.iter().filter(|(turn, _)| !turn.answers.is_empty()).collect();
    for (turn, when) in &answered {
        if let Some((at, _)) = e.late(turn).into_iter().find(|(_, update)| is_history(update)) {
            let why = format!("a turn that was cancelled {when} goes on after its answer");
            return broken(why, e.record(at));
        }
    }
    if answered.is_empty() {
        unknown("none was answered")
    } else {
        Ok(counted(answered.len(), "cancelled turn"))
    }
}

/// 113: texts and links are taken.
pub(in crate::certify) fn blocks(e: &Evidence) -> Judged {
    let turns = e.all(Probe::Turn);
    let has_link = |turn: &&Exchange| {
        let blocks = e.request(turn)["params"]["prompt"].as_array();
        blocks.is_some_and(|blocks| blocks.iter().any(|one| one["type"] == "resource_link"))
    };
    let Some(turn) = turns.iter().find(has_link) else { return unknown("no link was sent") };
    if e.code(turn) == Some(-32000) {
        return unknown("it needs a login");
    }
    match e.result(turn) {
        Some(_) => Ok("they are taken".to_owned()),
        None => broken(format!("a prompt with a link {}", outcome(e, turn)), e.moment(turn)),
    }
}

/// 114: a permission is asked for properly, and what is refused is not done.
pub(in crate::certify) fn permission(e: &Evidence) -> Judged {
    let (turn, _) = good(e, Probe::AskTurn)?;
    let mut asks =
        e.between(turn).filter(|(_, json)| json["method"] == "session/request_permission");
    let Some((at, ask)) = asks.next() else { return apart("the agent did not ask") };
    if let Some(why) =
        skep_agent::schema::agent_params_misfit("session/request_permission", &ask["params"])
    {
        return broken(why, e.record(at));
    }
    let counts: Vec<_> = e.did(Probe::Notes).into_iter().map(|(_, _, count)| count).collect();
    if counts.len() > 1 && counts[0] != counts[1] {
        return broken("what was refused was done", e.moment(turn));
    }
    let call = &ask["params"]["toolCall"]["toolCallId"];
    let mut ended = e.updates(turn).into_iter().filter(|(_, update)| update["toolCallId"] == *call);
    match ended.next_back().map(|(_, update)| &update["status"]) {
        Some(Value::String(status)) if status == "completed" => {
            remark("a refused call is said to be completed", e.moment(turn))
        }
        _ => Ok("the refusal counts".to_owned()),
    }
}
