//! Handshakes that are not the usual one; each takes a process of its own.

use super::site::{CLIENT, Site, hello};
use crate::certify::probe::Probe;

pub(super) fn play(mut site: Site) {
    site.tell("shaking hands otherwise");
    if let Some(mut agent) = site.start() {
        let setup = site.setup("none", "work");
        agent.call(Probe::EarlyLoad, "session/load", setup);
        agent.call(Probe::OddVersion, "initialize", hello(65_535, CLIENT));
        agent.end();
    }
    if let Some(mut agent) = site.start() {
        agent.call(Probe::ZeroVersion, "initialize", hello(0, CLIENT));
        agent.end();
    }
}
