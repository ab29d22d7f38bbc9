//! Handshakes with versions that nobody has; and, in the processes that these take, a model in
//! trouble and cancels at bad moments: nothing else rests on what becomes of those.

use serde_json::json;

use super::site::{CLIENT, Site};
use super::words;
use crate::certify::client::{Client, Line, Reply};
use crate::certify::probe::Probe;

/// How often a race is provoked. A race that is lost every second time goes unseen in one
/// certificate of four thousand, and of two hundred and fifty.
const DENSE_TURNS: usize = 12;
const EARLY_CANCELS: usize = 8;
/// Chunks by which a turn is known to go on in spite of its cancel.
const GOES_ON: usize = 40;

pub(super) fn play(mut site: Site) {
    let session = first_process(&mut site);
    site.tell("shaking hands otherwise");
    let agent = site.start().and_then(|agent| greeted(&mut site, agent, Probe::ZeroVersion, 0));
    let Some(session) = session.filter(|_| site.offer.loads) else {
        return agent.map(Client::end).unwrap_or_default();
    };
    if let Some(mut agent) = agent.or_else(|| site.ready(CLIENT)) {
        site.tell("loading what had trouble");
        site.load(&mut agent, Probe::LoadTrouble, &session, "work");
        agent.end();
    }
}

/// Gives the session that had trouble.
fn first_process(site: &mut Site) -> Option<String> {
    site.tell("shaking hands otherwise");
    let mut agent = site.start()?;
    let setup = site.setup("none", "work");
    agent.call(Probe::EarlyLoad, "session/load", setup);
    let agent = greeted(site, agent, Probe::OddVersion, 65_535);
    // Whoever refuses a version need not serve the connection any longer.
    let mut agent = agent.or_else(|| site.ready(CLIENT))?;
    let session = site.new_session(&mut agent, Probe::NewTrouble, "work");
    if let Some(session) = &session {
        trouble(site, &mut agent, session);
    }
    if let Some(session) = site.new_session(&mut agent, Probe::NewHasty, "work") {
        dense(site, &mut agent, &session);
        early(site, &mut agent, &session);
    }
    agent.end();
    session
}

/// The client where the handshake went well; else its process is ended.
fn greeted(site: &mut Site, mut agent: Client, probe: Probe, version: u32) -> Option<Client> {
    if site.greet(&mut agent, probe, version, CLIENT) {
        return Some(agent);
    }
    agent.end();
    None
}

fn trouble(site: &Site, agent: &mut Client, session: &str) {
    site.tell("prompting while the model is in trouble");
    for (probe, wish) in
        [(Probe::RefusedTurn, words::REFUSED), (Probe::FailingTurn, words::FAILING)]
    {
        site.turn(agent, probe, session, &words::text(wish));
    }
    silence(site, agent, session);
    let prompt = words::text("Are you well again? skep:echo I am.");
    site.turn(agent, Probe::TurnAfterTrouble, session, &prompt);
}

/// A turn that is cancelled while its model says nothing.
fn silence(site: &Site, agent: &mut Client, session: &str) {
    let since = agent.tape_length();
    let prompt = json!({"sessionId": session, "prompt": words::text(words::SILENT)});
    let turn = agent.ask(Probe::SilentTurn, "session/prompt", prompt);
    if agent.uses_stub() {
        agent.model_hears(&turn, since, words::SILENT);
    } else {
        agent.quiet();
    }
    if agent.has_answer(&turn) {
        agent.did(Probe::SilentTurn, "it was over");
    }
    site.cancel(agent, session);
    agent.answer(&turn);
    agent.quiet();
}

/// Turns that are cancelled while many updates are on their way: until one goes on after its
/// answer.
fn dense(site: &Site, agent: &mut Client, session: &str) {
    site.tell("cancelling in a dense stream");
    for _ in 0..DENSE_TURNS {
        let turn = site.streaming(agent, Probe::DenseTurn, session, words::DENSE);
        site.cancel(agent, session);
        let reply = agent.answer(&turn);
        let streamed = agent.streamed(session);
        agent.quiet();
        if agent.streamed(session) > streamed || !stopped(&reply) {
            return;
        }
    }
}

/// Turns that are cancelled before anything can have come of them: until one takes that amiss.
fn early(site: &Site, agent: &mut Client, session: &str) {
    site.tell("cancelling right behind a prompt");
    for _ in 0..EARLY_CANCELS {
        let id = agent.next_id();
        let prompt = json!({"sessionId": session, "prompt": words::text(words::SLOW)});
        agent.together(vec![
            Line::Request(Probe::EarlyCancel, id.clone(), "session/prompt", prompt),
            Line::Notification("session/cancel", json!({"sessionId": session})),
        ]);
        agent.forget_chunks(session);
        if agent.streams(&id, session, GOES_ON) {
            agent.did(Probe::EarlyCancel, "it goes on");
            site.cancel(agent, session);
        }
        let reply = agent.answer(&id);
        agent.quiet();
        if !stopped(&reply) {
            return;
        }
    }
}

fn stopped(reply: &Reply) -> bool {
    reply.result().is_some_and(|result| result["stopReason"] == "cancelled")
}
