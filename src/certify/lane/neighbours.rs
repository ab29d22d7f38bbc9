//! What stands beside a load: lists, options, resumes, closes, deletions, forks, permissions.

use serde_json::{Value, json};

use super::main::{Sessions, unknown};
use super::site::Site;
use super::words;
use crate::certify::client::Client;
use crate::certify::probe::Probe;

/// Pages of a list that are followed at most, and sessions of it that are loaded.
pub(in crate::certify) const MOST_PAGES: usize = 30;
const MOST_LISTED: usize = 8;

pub(super) fn play(site: &Site, agent: &mut Client, sessions: &Sessions) {
    permission(site, agent, sessions);
    options(site, agent, sessions);
    if site.offer.has("list") {
        lists(site, agent);
    }
    if site.offer.has("resume") {
        site.tell("resuming");
        let mut params = json!({"sessionId": sessions.second, "cwd": site.path("work/inner")});
        agent.call(Probe::Resume, "session/resume", params.clone());
        agent.quiet();
        params["sessionId"] = unknown(&sessions.main).into();
        agent.call(Probe::ResumeUnknown, "session/resume", params);
    }
    if site.offer.has("fork") {
        let params = site.setup(&sessions.second, "work/inner");
        agent.call(Probe::Fork, "session/fork", params);
        if site.offer.loads {
            site.load(agent, Probe::LoadSource, &sessions.second, "work/inner");
        }
    }
    if site.offer.has("additionalDirectories") && site.offer.loads {
        for (probe, path) in [(Probe::RelativeDirectory, "inner"), (Probe::EmptyDirectory, "")] {
            let mut setup = site.setup(&sessions.second, "work/inner");
            setup["additionalDirectories"] = json!([path]);
            agent.call(probe, "session/load", setup);
        }
    }
    if site.offer.has("close") {
        closes(site, agent);
    }
}

/// A tool that is refused: what it wrote is looked at before and after.
fn permission(site: &Site, agent: &mut Client, sessions: &Sessions) {
    let count = |agent: &Client| {
        let notes = site.file("work/inner/skep-notes.txt");
        agent.did(Probe::Notes, &lines(&notes).to_string());
    };
    count(agent);
    agent.allows = false;
    let prompt = words::text("Add a note, but ask me first. skep:ask");
    site.turn(agent, Probe::AskTurn, &sessions.second, &prompt);
    agent.allows = true;
    count(agent);
}

#[expect(clippy::disallowed_methods, reason = "what an agent's tool wrote is a real file")]
fn lines(path: &std::path::Path) -> usize {
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

/// Another value for an option, another mode: on a session that was loaded.
fn options(site: &Site, agent: &mut Client, sessions: &Sessions) {
    if !site.offer.loads {
        return;
    }
    let reply = agent.call(Probe::LoadAfterBad, "session/load", site.setup(&sessions.main, "work"));
    let Some(result) = reply.result().cloned() else { return };
    if let Some((id, value)) = other_value(&result["configOptions"]) {
        let params = json!({"sessionId": sessions.main, "configId": id, "value": value});
        agent.call(Probe::SetOption, "session/set_config_option", params);
    }
    if let Some(mode) = other_mode(&result["modes"]) {
        let params = json!({"sessionId": sessions.main, "modeId": mode});
        agent.call(Probe::SetMode, "session/set_mode", params);
    }
}

/// The last option that can be chosen otherwise, and how: options of the mode are left to the mode,
/// and those of the model are taken where there are no others, since a model may need a login.
fn other_value(options: &Value) -> Option<(String, Value)> {
    let choice = |option: &Value| {
        let values = option["options"].as_array()?;
        let other = values
            .iter()
            .map(|one| &one["value"])
            .find(|value| value.is_string() && **value != option["currentValue"])?;
        (option["category"] != "mode")
            .then(|| Some((option["id"].as_str()?.to_owned(), other.clone())))?
    };
    let options: Vec<_> = options.as_array()?.iter().rev().collect();
    let (models, others): (Vec<_>, Vec<_>) =
        options.into_iter().partition(|option| option["category"] == "model");
    others.into_iter().chain(models).find_map(choice)
}

fn other_mode(modes: &Value) -> Option<String> {
    let mut ids = modes["availableModes"].as_array()?.iter().filter_map(|mode| mode["id"].as_str());
    ids.find(|id| modes["currentModeId"] != *id).map(str::to_owned)
}

fn lists(site: &Site, agent: &mut Client) {
    site.tell("listing");
    let list = |agent: &mut Client, probe, params| agent.call(probe, "session/list", params);
    list(agent, Probe::ListUnused, json!({"cwd": site.path("tmp")}));
    list(agent, Probe::BadCursor, json!({"cursor": "skep: never given out"}));
    list(agent, Probe::ListCwd, json!({"cwd": site.work()}));
    list(agent, Probe::ListAgain, json!({"cwd": site.work()}));
    let mut page = list(agent, Probe::List, json!({}));
    let mut listed = Vec::new();
    for _ in 0..MOST_PAGES {
        let Some(result) = page.result() else { break };
        listed.extend(entries(result));
        let Some(cursor) = result["nextCursor"].as_str() else { break };
        page = list(agent, Probe::ListPage, json!({"cursor": cursor}));
    }
    if site.offer.loads {
        listed.sort();
        listed.dedup();
        // The last ones: what an agent made up for a list stands at its end as often as not.
        for (id, cwd) in listed.iter().rev().take(MOST_LISTED) {
            let setup = json!({"sessionId": id, "cwd": cwd, "mcpServers": []});
            agent.call(Probe::LoadListed, "session/load", setup);
            // Whoever mixes up loads that follow one another is found out elsewhere.
            agent.call(Probe::ListCwd, "session/list", json!({"cwd": site.work()}));
        }
    }
}

fn entries(page: &Value) -> Vec<(String, String)> {
    let entry = |entry: &Value| {
        let cwd = entry["cwd"].as_str().unwrap_or("/");
        Some((entry["sessionId"].as_str()?.to_owned(), cwd.to_owned()))
    };
    page["sessions"].as_array().into_iter().flatten().filter_map(entry).collect()
}

fn closes(site: &Site, agent: &mut Client) {
    site.tell("closing");
    let Some(session) = site.new_session(agent, Probe::NewClosing, "work") else { return };
    let turn = site.slow(agent, Probe::ClosingTurn, &session);
    let params = json!({"sessionId": session});
    let close = agent.ask(Probe::Close, "session/close", params);
    agent.answer(&close);
    agent.answer(&turn);
    if site.offer.loads {
        site.load(agent, Probe::LoadClosed, &session, "work");
    }
}

/// A session that a later process deletes: what becomes of a session that is open when it is
/// deleted is its agent's own affair.
pub(super) fn doom(site: &Site, agent: &mut Client) -> Option<String> {
    if !site.offer.has("delete") {
        return None;
    }
    let session = site.new_session(agent, Probe::NewDoomed, "work")?;
    site.turn(agent, Probe::DoomedTurn, &session, &words::text("Not for long."));
    Some(session)
}

/// Deletes a session that an earlier process made.
pub(super) fn delete(site: &Site, agent: &mut Client, session: &str) {
    site.tell("deleting");
    let params = json!({"sessionId": session});
    agent.call(Probe::Delete, "session/delete", params.clone());
    if site.offer.has("list") {
        agent.call(Probe::ListDeleted, "session/list", json!({"cwd": site.work()}));
    }
    agent.call(Probe::DeleteAgain, "session/delete", params);
    for id in [unknown(session), "none-of-yours".to_owned()] {
        agent.call(Probe::DeleteUnknown, "session/delete", json!({"sessionId": id}));
    }
    if site.offer.loads {
        agent.call(Probe::LoadDeleted, "session/load", site.setup(session, "work"));
    }
}
