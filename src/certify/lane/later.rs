//! The processes after the first: what is left of the sessions when a process has ended, was
//! killed, was killed with all that it started.

use serde_json::{Value, json};
use skep_trace::RpcId;

use super::main::Sessions;
use super::site::{CLIENT, Site};
use super::{neighbours, words};
use crate::certify::client::Client;
use crate::certify::probe::Probe;

/// What the second process adds.
struct Added {
    /// A session with a turn.
    again: Option<String>,
    /// A session whose last turn was answered when the process was killed.
    killed: Option<String>,
}

/// `doomed`: a session that is to be deleted.
pub(super) fn play(mut site: Site, sessions: &Sessions, doomed: Option<&str>) {
    if !site.offer.loads {
        return without_loads(&mut site, doomed);
    }
    let Some(added) = after_the_end(&mut site, sessions, doomed) else { return };
    after_a_kill(&mut site, sessions, &added);
    by_another_client(&mut site, sessions, &added);
    at_last(&mut site, sessions, &added);
}

/// A deletion takes a later process all the same.
fn without_loads(site: &mut Site, doomed: Option<&str>) {
    let Some(doomed) = doomed else { return };
    if let Some(mut agent) = site.ready(CLIENT) {
        neighbours::delete(site, &mut agent, doomed);
        agent.end();
    }
}

/// The first process was ended by the end of its input.
fn after_the_end(site: &mut Site, sessions: &Sessions, doomed: Option<&str>) -> Option<Added> {
    let mut agent = site.ready(CLIENT)?;
    site.tell("loading in a new process");
    site.load(&mut agent, Probe::LoadFresh, &sessions.main, "work");
    if site.offer.has("list") {
        agent.call(Probe::ListLoaded, "session/list", json!({"cwd": site.work()}));
    }
    if let Some(empty) = &sessions.empty {
        site.load(&mut agent, Probe::LoadEmpty, empty, "work");
    }
    let again = site.new_session(&mut agent, Probe::NewAgain, "work");
    if let Some(session) = &again {
        site.turn(&mut agent, Probe::TurnAgain, session, &words::text("Hello again."));
    }
    site.turn(&mut agent, Probe::Recall, &sessions.main, &words::text(words::RECALL));
    if let Some(session) = &sessions.directories {
        site.load(&mut agent, Probe::LoadDirectories, session, "work");
        if site.offer.has("list") {
            agent.call(Probe::ListDirectories, "session/list", json!({"cwd": site.work()}));
        }
    }
    site.load(&mut agent, Probe::LoadSecond, &sessions.second, "work/inner");
    site.cancelled(&mut agent, Probe::CancelLoaded, &sessions.second);
    if let Some(doomed) = doomed {
        neighbours::delete(site, &mut agent, doomed);
    }
    let killed = site.new_session(&mut agent, Probe::NewKilled, "work");
    if let Some(session) = &killed {
        let prompt = words::text("The last thing before the end.");
        site.turn(&mut agent, Probe::KilledTurn, session, &prompt);
    }
    agent.did(Probe::KillAtOnce, "");
    agent.kill_group();
    Some(Added { again, killed })
}

/// The second one was killed as soon as it had answered.
fn after_a_kill(site: &mut Site, sessions: &Sessions, added: &Added) {
    let Some(mut agent) = site.ready(CLIENT) else { return };
    site.tell("loading after a kill");
    if let Some(killed) = &added.killed {
        site.load(&mut agent, Probe::LoadKilled, killed, "work");
    }
    site.load(&mut agent, Probe::LoadMore, &sessions.main, "work");
    if site.offer.has("resume") {
        let params = json!({
            "sessionId": sessions.second, "cwd": site.path("work/inner"), "mcpServers": [],
        });
        agent.call(Probe::ResumeFresh, "session/resume", params);
        agent.quiet();
        let recall = words::text(words::RECALL);
        site.turn(&mut agent, Probe::RecallResumed, &sessions.second, &recall);
    } else {
        site.load(&mut agent, Probe::LoadSecond, &sessions.second, "work/inner");
    }
    site.tell("killing it in mid-stream");
    site.slow(&mut agent, Probe::MidTurn, &sessions.second);
    agent.did(Probe::KillProcess, "");
    agent.kill();
}

/// The third one was killed alone, in mid-stream.
fn by_another_client(site: &mut Site, sessions: &Sessions, added: &Added) {
    let Some(mut agent) = site.ready("another-client") else { return };
    site.tell("loading as another client");
    site.load(&mut agent, Probe::LoadAfterKill, &sessions.second, "work/inner");
    site.load(&mut agent, Probe::LoadOtherClient, &sessions.main, "work");
    if let Some(session) = &added.again {
        with_server(site, &mut agent, session);
    }
    site.tell("killing it in mid-stream with all that it started");
    site.slow(&mut agent, Probe::GroupTurn, &sessions.second);
    agent.did(Probe::KillGroup, "");
    agent.kill_group();
}

/// The fourth one was killed with its group. Two processes share a session at the end.
fn at_last(site: &mut Site, sessions: &Sessions, added: &Added) {
    let Some(mut agent) = site.ready(CLIENT) else { return };
    site.tell("loading after the group was killed");
    site.load(&mut agent, Probe::LoadAfterGroupKill, &sessions.second, "work/inner");
    if let Some(session) = &added.again {
        without_server(site, &mut agent, session);
    }
    if let Some(mut beside) = site.ready(CLIENT) {
        site.load(&mut beside, Probe::LoadBeside, &sessions.second, "work/inner");
        beside.end();
    }
    agent.call(Probe::OtherCwd, "session/load", site.setup(&sessions.main, "work/inner"));
    load_at_end(site, agent, &sessions.main);
}

fn with_server(site: &Site, agent: &mut Client, session: &str) {
    site.tell("loading with a server");
    let mut setup = site.setup(session, "work");
    setup["mcpServers"] = json!([site.servers.setup("given")]);
    if agent.call(Probe::LoadServers, "session/load", setup).is_result() {
        let hello = words::text("Are your servers there?");
        site.turn(agent, Probe::ServersTurn, session, &hello);
        site.servers.await_start("given", site.bounds().answer / 4);
    }
}

/// The process after that one: without a server, and then with one that cannot be started.
fn without_server(site: &Site, agent: &mut Client, session: &str) {
    site.load(agent, Probe::LoadWithout, session, "work");
    let mut setup = site.setup(session, "work");
    setup["mcpServers"] = json!([{
        "name": "dead", "command": site.path("no-such-server"), "args": [], "env": [],
    }]);
    agent.call(Probe::LoadDead, "session/load", setup);
}

/// The end of the input comes while the load is under way.
fn load_at_end(site: &Site, mut agent: Client, session: &str) {
    let id = RpcId::Text("the last".into());
    let setup: Value = site.setup(session, "work");
    agent.ask_as(Probe::LoadAtEnd, id, "session/load", setup);
    agent.end();
}
