//! One harness, as the director has it.

use std::time::Instant;

use skep_harness::shell::Status;
use skep_plan::Point;
use skep_trace::{End, Life, Text};
use skep_world::stage::Player;

use super::groups::Group;

/// One harness with all its lives.
#[derive(Debug)]
pub(super) struct Lane {
    name: Text,
    /// The place of its relay.
    pub(super) relay: usize,
    /// Its agent.
    pub(super) agent: Text,
    /// How many lives it had, with the one that runs.
    pub(super) lives: u32,
    /// The process of each life.
    pub(super) pids: Vec<u32>,
    /// Kills that wait for their point.
    pub(super) armed: Vec<Point>,
    pub(super) running: Option<RunningLife>,
    /// How its last life ended that nobody here ended.
    pub(super) fell: Option<End>,
    /// Groups of lives that are over.
    pub(super) past: Vec<Group>,
}

/// A harness process that runs.
#[derive(Debug)]
pub(super) struct RunningLife {
    pub(super) group: Group,
    /// It showed that it is there.
    pub(super) ready: bool,
    /// We sent the signal that ends it.
    pub(super) by_us: bool,
    /// It was killed at a point at which its agent is held.
    pub(super) doomed: bool,
    pub(super) paused: bool,
    /// How many lines it wrote.
    pub(super) lines: usize,
    /// What it said when nothing was under way last, and when it did.
    pub(super) rest: Option<(Status, Instant)>,
    /// What the relay counted.
    pub(super) talk: Talk,
}

/// What a relay exchanged with a life on its last connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Talk {
    /// How many connections there were.
    pub(super) connections: u64,
    /// The last one, while it is open.
    pub(super) open: Option<u32>,
    /// Frames that the relay heard.
    pub(super) heard: u64,
    /// Frames that it said.
    pub(super) said: u64,
}

impl Lane {
    pub(super) fn new(player: &Player) -> Self {
        Self {
            name: player.name.clone(),
            relay: player.relay,
            agent: player.agent.clone(),
            lives: 0,
            pids: Vec::new(),
            armed: Vec::new(),
            running: None,
            fell: None,
            past: Vec::new(),
        }
    }

    /// The life that it leads, or led last.
    pub(super) fn life(&self) -> Life {
        Life { harness: self.name.clone(), life: self.lives }
    }

    /// The life in which this process was the harness.
    pub(super) fn life_of(&self, pid: u32) -> Option<Life> {
        let place = self.pids.iter().rposition(|known| *known == pid)?;
        let life = u32::try_from(place + 1).expect("a run has few lives");
        Some(Life { harness: self.name.clone(), life })
    }
}

impl RunningLife {
    pub(super) fn new(group: Group) -> Self {
        Self {
            group,
            ready: false,
            by_us: false,
            doomed: false,
            paused: false,
            lines: 0,
            rest: None,
            talk: Talk::default(),
        }
    }

    /// What it said at rest, if nothing was said to it or by it since.
    pub(super) fn at_rest(&self) -> Option<&(Status, Instant)> {
        self.rest.as_ref().filter(|(status, _)| {
            let (theirs, ours) = (&status.talk, &self.talk);
            let same = theirs.connections == ours.connections
                && theirs.said == ours.heard
                && theirs.heard == ours.said;
            theirs.open == ours.open.is_some() && (!theirs.open || same)
        })
    }
}
