//! Much: a long message, many turns, a pause, and a load of all that.

use std::thread;
use std::time::Duration;

use super::site::{CLIENT, Site};
use super::words;
use crate::certify::client::Client;
use crate::certify::probe::Probe;
use crate::certify::tape::now;

pub(super) fn play(mut site: Site) {
    let Some(mut agent) = site.ready(CLIENT) else { return };
    if !site.offer.loads {
        return agent.end();
    }
    let session = site.new_session(&mut agent, Probe::NewBulk, "work");
    if let Some(session) = &session {
        turns(&site, &mut agent, session);
    }
    agent.end();
    let Some(session) = session else { return };
    pause(&site);
    let Some(mut agent) = site.ready(CLIENT) else { return };
    site.tell("loading much");
    site.load(&mut agent, Probe::LoadBulk, &session, "work");
    agent.end();
}

fn turns(site: &Site, agent: &mut Client, session: &str) {
    site.tell("a long message");
    let line = "skep has told a bee from a wasp since there were baskets. ";
    let text: String = line.chars().cycle().take(site.bounds().message).collect();
    let big = words::text(&format!("skep:echo {text}"));
    if !site.turn(agent, Probe::BigTurn, session, &big).is_result() {
        return;
    }
    let started = now();
    site.tell("many turns");
    let mut count = 0;
    while count < site.bounds().turns && started.elapsed() < site.bounds().bulk {
        count += 1;
        let prompt = words::text(&format!("Number {count}."));
        if !site.turn(agent, Probe::ManyTurn, session, &prompt).is_result() {
            break;
        }
    }
    agent.did(Probe::ManyTurn, &count.to_string());
}

/// Nothing is awaited here: the pause itself is what is tried.
fn pause(site: &Site) {
    const LOOK: Duration = Duration::from_millis(200);
    let until = now() + site.bounds().pause;
    while now() < until && !site.tape.is_cut() {
        thread::park_timeout(until.saturating_duration_since(now()).min(LOOK));
    }
}
