//! The first process: a conversation, its loads in the same process, and what else can be asked
//! of an agent that lives.

use serde_json::{Value, json};
use skep_trace::RpcId;

use super::site::{CLIENT, Site, session_of};
use super::{later, neighbours, words};
use crate::certify::client::{Client, Line, Reply};
use crate::certify::probe::Probe;

/// The sessions that later processes load.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    pub(super) main: String,
    pub(super) second: String,
    pub(super) empty: Option<String>,
    pub(super) directories: Option<String>,
}

pub(super) fn play(mut site: Site) {
    let Some(mut agent) = site.ready(CLIENT) else { return };
    let sessions = conversation(&site, &mut agent);
    if let Some(sessions) = &sessions {
        if site.offer.loads {
            loads(&site, &mut agent, sessions);
            odd_ids(&site, &mut agent, &sessions.main);
        } else {
            agent.call(Probe::LoadSame, "session/load", site.setup(&sessions.main, "work"));
        }
        while_busy(&site, &mut agent);
        neighbours::play(&site, &mut agent, sessions);
    }
    let doomed = neighbours::doom(&site, &mut agent);
    extensions(&site, &mut agent);
    site.tell("ending the first process");
    agent.end();
    if let Some(sessions) = sessions {
        later::play(site, &sessions, doomed.as_deref());
    }
}

fn conversation(site: &Site, agent: &mut Client) -> Option<Sessions> {
    site.tell("holding a conversation");
    let main = site.new_session(agent, Probe::NewMain, "work")?;
    let second = site.new_session(agent, Probe::NewSecond, "work/inner")?;
    let empty = site.new_session(agent, Probe::NewEmpty, "work");
    let directories = directories(site, agent);
    site.turn(agent, Probe::Turn, &main, &words::remember(words::WORD));
    for prompt in words::conversation(&site.work(), site.offer.pictures) {
        let reply = site.turn(agent, Probe::Turn, &main, &prompt);
        // A model may take no pictures whatever its agent offers.
        if let (Reply::Error(_), Some(prompt)) = (reply, words::without_pictures(&prompt)) {
            site.turn(agent, Probe::Turn, &main, &prompt);
        }
    }
    site.turn(agent, Probe::TurnSecond, &second, &words::remember(words::SECOND_WORD));
    Some(Sessions { main, second, empty, directories })
}

fn directories(site: &Site, agent: &mut Client) -> Option<String> {
    if !site.offer.has("additionalDirectories") {
        return None;
    }
    let params = json!({
        "cwd": site.work(), "mcpServers": [],
        "additionalDirectories": [site.path("work/inner")],
    });
    let session = session_of(&agent.call(Probe::NewDirectories, "session/new", params))?;
    site.turn(agent, Probe::TurnDirectories, &session, &words::text("Hello."));
    Some(session)
}

fn loads(site: &Site, agent: &mut Client, sessions: &Sessions) {
    site.tell("loading in the same process");
    site.settle();
    let main = &sessions.main;
    site.load(agent, Probe::LoadSame, main, "work");
    site.load(agent, Probe::LoadTwice, main, "work");
    site.turn(agent, Probe::TurnBeside, &sessions.second, &words::text("Still there?"));
    let prompt = json!({
        "sessionId": sessions.second, "prompt": words::text("With a word beside it."),
        "_meta": meta(),
    });
    agent.call(Probe::TurnMeta, "session/prompt", prompt);
    at_once(site, agent, &sessions.second);
    pair(site, agent, sessions);
    noise(site, agent, main);
    let mut setup = site.setup(main, "work");
    setup["_meta"] = meta();
    agent.call(Probe::LoadMeta, "session/load", setup);
    for (probe, id) in [Probe::LoadNegative, Probe::LoadText].into_iter().zip(odd_request_ids(7)) {
        agent.ask_as(probe, id.clone(), "session/load", site.setup(main, "work"));
        agent.answer_soon(&id);
    }
    cancelled_load(site, agent, main);
}

/// A word that is reserved, and one of our own.
fn meta() -> Value {
    json!({
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "skep.dev/certify": true,
    })
}

/// Loads that follow the answer of a turn at once: what is not written yet is not told yet.
fn at_once(site: &Site, agent: &mut Client, session: &str) {
    const TRIES: u32 = 3;
    for count in 1..=TRIES {
        let prompt = words::text(&format!("Note this at once, as number {count}."));
        if !site.turn(agent, Probe::TurnBeforeLoad, session, &prompt).is_result() {
            return;
        }
        site.load(agent, Probe::LoadAtOnce, session, "work/inner");
    }
}

/// Two loads, sent with one write.
fn pair(site: &Site, agent: &mut Client, sessions: &Sessions) {
    let (one, other) = (agent.next_id(), agent.next_id());
    let setups = (site.setup(&sessions.main, "work"), site.setup(&sessions.second, "work/inner"));
    agent.together(vec![
        Line::Request(Probe::PairMain, one.clone(), "session/load", setups.0),
        Line::Request(Probe::PairSecond, other.clone(), "session/load", setups.1),
    ]);
    agent.answer(&one);
    agent.answer(&other);
    agent.quiet();
}

/// A load among notifications that nobody knows, sent with one write.
fn noise(site: &Site, agent: &mut Client, session: &str) {
    let id = agent.next_id();
    let notice = || Line::Notification("_skep/nothing", json!({"text": "nothing"}));
    let load =
        Line::Request(Probe::LoadNoise, id.clone(), "session/load", site.setup(session, "work"));
    agent.together(vec![notice(), load, notice()]);
    agent.answer(&id);
}

/// Ids of requests that few clients use.
fn odd_request_ids(number: i64) -> [RpcId; 2] {
    [RpcId::Number(-number), RpcId::Text(format!("a text, «{number}»").into())]
}

fn cancelled_load(site: &Site, agent: &mut Client, session: &str) {
    let id = agent.next_id();
    let cancel = json!({"requestId": id.to_json()});
    let setup = site.setup(session, "work");
    agent.together(vec![
        Line::Request(Probe::CancelledLoad, id.clone(), "session/load", setup),
        Line::Notification("$/cancel_request", cancel),
    ]);
    agent.answer(&id);
    agent.quiet();
}

/// Ids that nobody gave, each followed by one that somebody did.
fn odd_ids(site: &Site, agent: &mut Client, main: &str) {
    site.tell("loading what is not there");
    let other_case = other_case(main);
    let ids = [
        (Probe::LoadUnknown, unknown(main)),
        (Probe::LoadEmptyId, String::new()),
        (Probe::LoadUpper, other_case),
        (Probe::LoadPath, format!("../home/{main}")),
        (Probe::LoadHuge, main.repeat(100_000 / main.len().max(1))),
        (Probe::LoadControl, format!("{main}\u{0}\u{7}\n")),
    ];
    for (probe, id) in ids {
        // An id without letters has no other case.
        if id != *main {
            agent.call(probe, "session/load", site.setup(&id, "work"));
            agent.call(Probe::LoadAfterBad, "session/load", site.setup(main, "work"));
        }
    }
    let good = site.setup(main, "work");
    for (key, value) in
        [("sessionId", Value::Null), ("cwd", json!(7)), ("mcpServers", json!("none"))]
    {
        let mut setup = good.clone();
        setup[key] = value;
        agent.call(Probe::BadParams, "session/load", setup);
    }
    let mut relative = good;
    relative["cwd"] = "work".into();
    agent.call(Probe::RelativeCwd, "session/load", relative);
    agent.call(Probe::LoadAfterBad, "session/load", site.setup(main, "work"));
}

/// An id of the same shape that nobody has: letters and digits are moved on by one.
pub(super) fn unknown(id: &str) -> String {
    let next = |letter: char| match letter {
        '0'..='8' | 'a'..='y' | 'A'..='Y' => {
            u8::try_from(letter).map_or(letter, |byte| char::from(byte + 1))
        }
        '9' => '0',
        'z' => 'a',
        'Z' => 'A',
        other => other,
    };
    // Digits alone are moved where there are any: what looks like hex must stay hex.
    if id.chars().any(|letter| letter.is_ascii_digit()) {
        return id.chars().map(|one| if one.is_ascii_digit() { next(one) } else { one }).collect();
    }
    id.chars().map(next).collect()
}

fn other_case(id: &str) -> String {
    let upper = id.to_uppercase();
    if upper == id { id.to_lowercase() } else { upper }
}

/// What an agent does with several things at once.
fn while_busy(site: &Site, agent: &mut Client) {
    site.tell("cancelling, and loading while a prompt runs");
    let Some(slow) = site.new_session(agent, Probe::NewSlow, "work") else { return };
    site.cancelled(agent, Probe::SlowTurn, &slow);
    if !site.offer.loads {
        return;
    }
    site.load(agent, Probe::LoadCancelled, &slow, "work");
    let turn = site.slow(agent, Probe::BusyTurn, &slow);
    let load = agent.ask(Probe::LoadBusy, "session/load", site.setup(&slow, "work"));
    agent.answer(&load);
    site.cancel(agent, &slow);
    agent.answer(&turn);
    let (load, turn) = (agent.next_id(), agent.next_id());
    // In this session, which nothing else rests on: what an agent makes of it is its own affair.
    let prompt = json!({"sessionId": slow, "prompt": words::text("At once. skep:echo At once.")});
    let setup = site.setup(&slow, "work");
    agent.together(vec![
        Line::Request(Probe::EagerLoad, load.clone(), "session/load", setup),
        Line::Request(Probe::EagerTurn, turn.clone(), "session/prompt", prompt),
    ]);
    // Nobody is judged by what becomes of these: they are not waited for in full.
    agent.answer_soon(&load);
    agent.answer_soon(&turn);
}

fn extensions(site: &Site, agent: &mut Client) {
    site.tell("asking for what nobody has");
    agent.call(Probe::Extension, "_skep/nothing", json!({}));
    for id in odd_request_ids(8) {
        agent.ask_as(Probe::OddId, id.clone(), "_skep/nothing", json!({}));
        agent.answer_soon(&id);
    }
    agent.call(Probe::UnknownMethod, "skep/nothing", json!({}));
    agent.did(Probe::Notices, "");
    agent.notify("session/cancel", json!({"sessionId": "none"}));
    agent.notify("_skep/nothing", json!({}));
    agent.quiet();
    agent.did(Probe::BadLine, "");
    agent.together(vec![Line::Raw("{\"jsonrpc\": \"2.0\", this is no message")]);
    agent.call(Probe::Extension, "_skep/nothing", json!({}));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_ids_have_the_shape_of_known_ones() {
        assert_eq!(unknown("3f2a-9b"), "4f3a-0b");
        assert_eq!(unknown("abz"), "bca");
        assert_eq!(other_case("aB1"), "AB1");
        assert_eq!(other_case("AB1"), "ab1");
    }
}
