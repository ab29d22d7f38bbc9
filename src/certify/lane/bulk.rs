//! Much: a long message, many turns, a pause, and a load of all that.

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
    // Nothing is awaited here: the pause itself is what is tried.
    site.pause(site.bounds().pause);
    let Some(mut agent) = site.ready(CLIENT) else { return };
    site.tell("loading much");
    site.load(&mut agent, Probe::LoadBulk, &session, "work");
    agent.end();
}

fn turns(site: &Site, agent: &mut Client, session: &str) {
    if !long_message(site, agent, session) {
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

/// A message as long as is wanted, or as the agent takes; false where it takes none.
fn long_message(site: &Site, agent: &mut Client, session: &str) -> bool {
    const LINE: &str = "skep has told a bee from a wasp since there were baskets. ";
    const PARTS: [usize; 3] = [1, 8, 64];
    PARTS.into_iter().any(|part| {
        let bytes = site.bounds().message / part;
        site.tell(&format!("a message of {} KiB", bytes / 1024));
        let text: String = LINE.chars().cycle().take(bytes).collect();
        let big = words::text(&format!("skep:echo {text}"));
        site.turn(agent, Probe::BigTurn, session, &big).is_result()
    })
}
