//! What a replay tells, held against what was said live: rows 36 to 38, 42 to 44, 48, 50, 56 to 58,
//! 73, 77, 78, 88.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{asked, good, outcome, some_loads};
use crate::certify::evidence::{Evidence, Exchange};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, apart, broken, counted, remark, unknown};
use crate::certify::transcript::{HISTORY, Role, Transcript, turns};

/// Loads of the conversation as it was before anything was added to it: in the process that has it
/// open, and in a new one.
const CONTENT: [Probe; 2] = [Probe::LoadSame, Probe::LoadFresh];

/// Loads of sessions that are open where they are loaded. What an agent makes of these is its own
/// affair; but whoever tells something must tell all.
const OPEN: [Probe; 2] = [Probe::LoadSame, Probe::LoadAtOnce];

/// Updates that a client must have said it can take.
const GATED: [&str; 8] = [
    "compaction_update",
    "compaction_summary_chunk",
    "plan_update",
    "plan_removed",
    "notice",
    "subagent_update",
    "session_message",
    "session_message_chunk",
];

/// One load of the conversation with what was said live before it.
pub(super) struct Told<'e> {
    pub(super) probe: Probe,
    pub(super) load: &'e Exchange,
    pub(super) live: Transcript,
    pub(super) told: Transcript,
}

impl<'e> Told<'e> {
    /// `None` where the load failed, or told nothing and need not have.
    fn of(e: &'e Evidence, probe: Probe, load: &'e Exchange) -> Option<Self> {
        e.result(load)?;
        let live = Transcript::live(e, load);
        let mut told = Transcript::replayed(e, load);
        told.forget_failed(e, load);
        let silent = told.messages.is_empty() && told.tools.is_empty();
        (!silent || !OPEN.contains(&probe)).then_some(Self { probe, load, live, told })
    }

    fn all(e: &'e Evidence, probe: Probe) -> impl Iterator<Item = Self> {
        e.all(probe).iter().filter_map(move |load| Self::of(e, probe, load))
    }
}

/// What the loads of the conversation told.
pub(super) fn content(e: &Evidence) -> Result<Vec<Told<'_>>, Said> {
    let told: Vec<_> = CONTENT.iter().flat_map(|probe| Told::all(e, *probe)).collect();
    match told.first() {
        None => unknown("no load of the conversation succeeded"),
        Some(one) if one.live.messages.is_empty() => unknown("there was no conversation"),
        Some(_) => Ok(told),
    }
}

/// Every message of one side comes back, in number and content.
fn messages(e: &Evidence, role: Role, whose: &str) -> Judged {
    let mut count = 0;
    for told in content(e)? {
        count += every_message(e, &told, role, whose)?;
    }
    for Told { probe, load, live, told } in Told::all(e, Probe::LoadAtOnce) {
        if let Some(lost) = told.lacks(&live, role) {
            let lost = start(&lost.text);
            let why = format!("{}: a message of the {whose} is missing: {lost:?}", probe.word());
            return broken(why, e.moment(load));
        }
    }
    Ok(counted(count, "message"))
}

fn every_message(e: &Evidence, one: &Told, role: Role, whose: &str) -> Result<usize, Said> {
    let (live, told) = (one.live.of(role), one.told.of(role));
    let probe = one.probe.word();
    for (at, message) in live.iter().enumerate() {
        let Some(back) = told.get(at) else {
            let (back, all) = (told.len(), live.len());
            let why = format!("{probe}: {back} of {all} messages of the {whose} came back");
            return broken(why, e.moment(one.load));
        };
        if !message.is_told_by(back) {
            let (nth, back_text, text) = (ordinal(at), start(&back.text), start(&message.text));
            let why = format!(
                "{probe}: the {nth} message of the {whose} is another: {back_text:?} for {text:?}"
            );
            return broken(why, e.record(back.line));
        }
    }
    match told.get(live.len()) {
        Some(extra) => {
            let why = format!("{probe}: a message of the {whose} that nobody sent");
            broken(why, e.record(extra.line))
        }
        None => Ok(live.len()),
    }
}

fn ordinal(at: usize) -> String {
    match at + 1 {
        1 => "1st".to_owned(),
        2 => "2nd".to_owned(),
        3 => "3rd".to_owned(),
        n => format!("{n}th"),
    }
}

/// The beginning of a text, for a reader.
fn start(text: &str) -> String {
    const LETTERS: usize = 30;
    let cut: String = text.chars().take(LETTERS).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

/// 36: every message of the user.
pub(in crate::certify) fn users(e: &Evidence) -> Judged {
    messages(e, Role::User, "user")
}

/// 37: every message of the agent.
pub(in crate::certify) fn agents(e: &Evidence) -> Judged {
    messages(e, Role::Agent, "agent")
}

/// 38: in their order.
pub(in crate::certify) fn order(e: &Evidence) -> Judged {
    let roles =
        |told: &Transcript| -> Vec<Role> { told.messages.iter().map(|one| one.role).collect() };
    let content = content(e)?;
    for Told { probe, load, live, told } in &content {
        if roles(live) != roles(told) {
            let wrong =
                live.messages.iter().zip(&told.messages).find(|(one, two)| one.role != two.role);
            let at = wrong.map_or(e.moment(load), |(_, told)| e.record(told.line));
            return broken(format!("{}: the turns are in another order", probe.word()), at);
        }
    }
    Ok(counted(content[0].live.messages.len(), "message"))
}

/// 42: every update of a replay bears the id that was loaded, and every update of a turn the id
/// of some session.
pub(in crate::certify) fn session_id(e: &Evidence) -> Judged {
    let mut count = 0;
    let empty_is_known = good(e, Probe::LoadEmptyId).is_ok();
    for (record, params) in e.every_update() {
        count += 1;
        let id = params["sessionId"].as_str();
        if id.is_none() || id == Some("") && !empty_is_known {
            return broken("an update bears no session's id", record);
        }
    }
    for (probe, load, _) in some_loads(e)? {
        let session = e.session(load);
        for (at, json) in e.between(load).filter(|(_, json)| json["method"] == "session/update") {
            let own = json["params"]["sessionId"].as_str().unwrap_or_default();
            if own != session && own.eq_ignore_ascii_case(session) {
                return broken(format!("{}: the id is {own:?}", probe.word()), e.record(at));
            }
        }
    }
    if count == 0 { unknown("no update came") } else { Ok(counted(count, "update")) }
}

/// 43: every update is one that the schema has.
pub(in crate::certify) fn shape(e: &Evidence) -> Judged {
    let mut count = 0;
    for (record, params) in e.every_update() {
        count += 1;
        let kind = params["update"]["sessionUpdate"].as_str().unwrap_or_default();
        // What needs the client's word, and what has requirements of its own, is judged there.
        if GATED.contains(&kind) || kind == "plan" || kind.starts_with("tool_call") {
            continue;
        }
        if let Some(why) = skep_agent::schema::agent_params_misfit("session/update", params) {
            return broken(why, record);
        }
    }
    if count == 0 { unknown("no update came") } else { Ok(counted(count, "update")) }
}

/// 44: nobody speaks for the other.
pub(in crate::certify) fn attribution(e: &Evidence) -> Judged {
    let content = content(e)?;
    for Told { probe, live, told, .. } in &content {
        for (role, other) in [(Role::User, Role::Agent), (Role::Agent, Role::User)] {
            let texts: Vec<_> = live.of(role).iter().map(|one| one.text.trim()).collect();
            let swapped = told.of(other).into_iter().find(|message| {
                let text = message.text.trim();
                // An answer may repeat its question, or be cut.
                let own = live.of(other).iter().any(|one| one.text.contains(text));
                !own && texts.iter().any(|one| !one.is_empty() && text.contains(one))
            });
            if let Some(message) = swapped {
                let why = format!("{}: a message came back as the other side's", probe.word());
                return broken(why, e.record(message.line));
            }
        }
    }
    Ok(counted(content.len(), "load"))
}

/// 48: turns after a load are in the next one.
pub(in crate::certify) fn later_turns(e: &Evidence) -> Judged {
    good(e, Probe::LoadFresh)?;
    let (recall, _) = good(e, Probe::Recall)?;
    let load = asked(e, Probe::LoadMore)?;
    if e.result(load).is_none() {
        return broken(format!("the next load {}", outcome(e, load)), e.moment(load));
    }
    let prompt = &e.request(recall)["params"]["prompt"][0]["text"];
    let told = Transcript::replayed(e, load);
    let prompt = prompt.as_str().unwrap_or_default();
    if !told.of(Role::User).iter().any(|one| one.text.trim() == prompt.trim()) {
        return broken("a turn after a load is not in the next one", e.moment(load));
    }
    Ok(counted(told.messages.len(), "message"))
}

/// 50: a cancelled turn does no harm, and its question stays.
pub(in crate::certify) fn cancelled_turn(e: &Evidence) -> Judged {
    good(e, Probe::LoadSame)?;
    let (turn, load) = (asked(e, Probe::SlowTurn)?, asked(e, Probe::LoadCancelled)?);
    if e.result(load).is_none() {
        let why = format!("the load of a session with a cancelled turn {}", outcome(e, load));
        return broken(why, e.moment(load));
    }
    if Transcript::replayed(e, load).of(Role::User).is_empty() {
        if e.error(turn).is_some() {
            return unknown("the turn was refused");
        }
        return broken("the question of a cancelled turn is gone", e.moment(load));
    }
    Ok("it loads, with the question".to_owned())
}

/// 56: messages may have ids.
pub(in crate::certify) fn message_ids(e: &Evidence) -> Judged {
    let content = content(e)?;
    let updates = e.updates(content[0].load);
    let with = updates.iter().filter(|(_, update)| update["messageId"].is_string()).count();
    Ok(format!("{with} of {} updates have one", updates.len()))
}

/// 57: one id is one message.
pub(in crate::certify) fn message_id(e: &Evidence) -> Judged {
    let mut count = 0;
    for Told { load, .. } in content(e)? {
        let (mut roles, mut last): (BTreeMap<&str, &Value>, _) = (BTreeMap::new(), None);
        for (at, update) in e.updates(load) {
            let kind = &update["sessionUpdate"];
            if !kind.as_str().is_some_and(|kind| kind.ends_with("_chunk")) {
                continue;
            }
            let id = match &update["messageId"] {
                Value::Null => continue,
                Value::String(id) => id.as_str(),
                _ => return broken("the id of a message is no text", e.record(at)),
            };
            count += 1;
            let first = roles.insert(id, kind);
            let returns = first.is_some() && last != Some(id);
            if first.is_some_and(|role| role != kind) || returns {
                return broken(format!("the id {id:?} stands for two messages"), e.record(at));
            }
            last = Some(id);
        }
    }
    if count == 0 { apart("messages have no ids") } else { Ok(counted(count, "chunk")) }
}

/// 58: ids may differ from load to load.
pub(in crate::certify) fn other_ids(e: &Evidence) -> Judged {
    let content = content(e)?;
    let ids = |told: &Told| -> Vec<Value> {
        e.updates(told.load).iter().map(|(_, update)| update["messageId"].clone()).collect()
    };
    let same = content.windows(2).all(|pair| ids(&pair[0]) == ids(&pair[1]));
    Ok(if same { "they are the same in every load" } else { "they differ" }.to_owned())
}

/// 73: much comes back whole.
pub(in crate::certify) fn bulk(e: &Evidence) -> Judged {
    if !e.all(Probe::BigTurn).iter().any(|turn| e.result(turn).is_some()) {
        return unknown("no long message was taken");
    }
    let load = asked(e, Probe::LoadBulk)?;
    if e.result(load).is_none() {
        return broken(format!("the load of a long session {}", outcome(e, load)), e.moment(load));
    }
    let live = Transcript::live(e, load);
    let told = Transcript::replayed(e, load);
    let bytes =
        |told: &Transcript| told.messages.iter().map(|one| one.text.trim().len()).sum::<usize>();
    let (said, back) = (bytes(&live), bytes(&told));
    if let Some(lost) =
        [Role::User, Role::Agent].into_iter().find_map(|role| told.lacks(&live, role))
    {
        let (messages, all) = (told.messages.len(), live.messages.len());
        let why = format!(
            "{messages} of {all} messages and {back} of {said} bytes came back, and not {:?}",
            start(&lost.text),
        );
        return broken(why, e.moment(load));
    }
    let turns = turns(e, load).len();
    Ok(format!("{turns} turns and {said} bytes"))
}

/// 77: a notice was for its moment.
pub(in crate::certify) fn notices(e: &Evidence) -> Judged {
    let loads = some_loads(e)?;
    for (_, load, _) in &loads {
        if let Some((at, _)) = e.updates(load).into_iter().find(|(_, one)| is_of(one, &["notice"]))
        {
            return broken("a notice was replayed", e.record(at));
        }
    }
    Ok(counted(loads.len(), "load"))
}

/// 88: what the client cannot show is not sent to it.
pub(in crate::certify) fn gated(e: &Evidence) -> Judged {
    let others: Vec<_> = GATED.into_iter().filter(|kind| *kind != "notice").collect();
    let mut count = 0;
    for (record, params) in e.every_update() {
        count += 1;
        if is_of(&params["update"], &others) {
            return broken("the client cannot take this update", record);
        }
    }
    if count == 0 { unknown("no update came") } else { Ok(counted(count, "update")) }
}

fn is_of(update: &Value, kinds: &[&str]) -> bool {
    update["sessionUpdate"].as_str().is_some_and(|kind| kinds.contains(&kind))
}

/// 78: what is no text comes back as what it was.
pub(in crate::certify) fn blocks(e: &Evidence) -> Judged {
    let mut count = 0;
    for Told { load, live, told, .. } in content(e)? {
        let blocks = |told: &Transcript| -> Vec<Value> {
            told.of(Role::User).into_iter().flat_map(|one| one.blocks.clone()).collect()
        };
        let (said, back) = (blocks(&live), blocks(&told));
        if said.is_empty() {
            return apart("nothing but text was sent");
        }
        let words = told.of(Role::User).iter().any(|one| {
            one.text.trim().len() > "Look at these.".len() && one.text.starts_with("Look at these.")
        });
        for block in &said {
            if back.iter().any(|one| one["type"] == block["type"]) {
                count += 1;
            } else if words {
                return remark(format!("a {} comes back as words", block["type"]), e.moment(load));
            } else {
                return broken(format!("a {} is gone", block["type"]), e.moment(load));
            }
        }
    }
    Ok(counted(count, "block"))
}

/// Whether a kind of update is history.
pub(super) fn is_history(update: &Value) -> bool {
    update["sessionUpdate"].as_str().is_some_and(|kind| HISTORY.contains(&kind))
}
