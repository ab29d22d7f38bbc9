//! What a well-behaved system knows at each moment of a story: the model that expectations are
//! written from.
//!
//! It shares no code with the reference harness, and is much simpler: between two steps nothing is
//! under way. Where the rules leave open what is known (a kill in mid-write), it says that it is
//! unsure, and expects less until it knows again.

use std::collections::{BTreeMap, BTreeSet};

use crate::explore::workload::{Choice, Ground, Pair, Spot};

/// The channels: name and type.
pub(super) const CHANNELS: [(&str, &str); 5] = [
    ("red", "stream"),
    ("blue", "stream"),
    ("green", "stream"),
    ("board", "private"),
    ("us", "dm"),
];

/// So many sessions every harness keeps open.
const FEW: usize = 7;

/// What one session belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) channel: usize,
    /// The thread, under the thread policy.
    pub(super) root: Option<String>,
}

impl Key {
    /// `channel="red" root="t1"`.
    pub(super) fn words(&self) -> String {
        let channel = CHANNELS[self.channel].0;
        match &self.root {
            Some(root) => format!("channel=\"{channel}\" root=\"{root}\""),
            None => format!("channel=\"{channel}\""),
        }
    }
}

/// What the harness holds in memory of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Live {
    /// This session, after so many turns.
    Session { name: String, turns: u8 },
    /// Nobody can say.
    Unsure,
}

/// What the store holds of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// This session, made under this choice.
    Session { name: String, choice: u8 },
    /// Nobody can say.
    Unsure,
}

/// One harness.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub(super) name: &'static str,
    /// Harnesses of one identity share receipts.
    pub(super) identity: usize,
    /// The model or mode that it wants: 0 is the first.
    pub(super) choice: u8,
    pub(super) resume: bool,
    /// What its agent process offers.
    pub(super) loads: bool,
    pub(super) live: BTreeMap<Key, Live>,
}

/// Everything that is known.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) ground: Ground,
    pub(super) homes: Vec<Home>,
    pub(super) kept: BTreeMap<(usize, Key), Kept>,
    /// What the agent's next process offers.
    pub(super) loads: bool,
    /// The requests of each method that the agent has seen; `None` once nobody can say.
    pub(super) asked: BTreeMap<&'static str, Option<u32>>,
    /// There is a store file for sure.
    pub(super) file: bool,
    /// Whose file it is, where two relays would have the same one.
    pub(super) owner: Option<usize>,
    /// Channels whose sessions have another model than their harness was set to, until it starts
    /// again.
    pub(super) switched: BTreeSet<usize>,
    sessions: u32,
    messages: u32,
    /// The last message at the top of each channel, and of each thread.
    pub(super) last: BTreeMap<Key, String>,
}

impl State {
    pub(super) fn new(ground: Ground) -> Self {
        let home = |name, identity| Home {
            name,
            identity,
            choice: 0,
            resume: true,
            loads: true,
            live: BTreeMap::new(),
        };
        let homes = match ground.pair {
            Pair::One => vec![home("h", 0)],
            Pair::Twins => vec![home("old", 0), home("new", 0)],
            Pair::Strangers => vec![home("bee", 0), home("wasp", 1)],
            Pair::Neighbours => vec![home("first", 0), home("second", 1)],
        };
        let counted = if ground.heartbeat { None } else { Some(0) };
        let methods = ["session/new", "session/load", "session/prompt"];
        Self {
            ground,
            homes,
            kept: BTreeMap::new(),
            loads: true,
            asked: methods.into_iter().map(|method| (method, counted)).collect(),
            file: false,
            owner: None,
            switched: BTreeSet::new(),
            sessions: 0,
            messages: 0,
            last: BTreeMap::new(),
        }
    }

    /// A new name for a session.
    pub(super) fn session(&mut self) -> String {
        self.sessions += 1;
        format!("s{}", self.sessions)
    }

    /// A new name for a message.
    pub(super) fn message(&mut self) -> String {
        self.messages += 1;
        format!("m{}", self.messages)
    }

    /// The harness that is meant.
    pub(super) fn home(&self, harness: u8) -> usize {
        usize::from(harness) % self.homes.len()
    }

    /// The word that says which of several harnesses is meant (` to="old"`); of one, nothing.
    pub(super) fn meant(&self, home: usize, property: &str) -> String {
        match self.homes.len() {
            1 => String::new(),
            _ => format!(" {property}=\"{}\"", self.homes[home].name),
        }
    }

    /// The thread that a spot names, as a scenario names it; `None` is the top of the channel.
    pub(super) fn thread(&self, spot: Spot) -> Option<String> {
        let channel = channel(spot);
        match spot.thread % 4 {
            0 => None,
            3 => self.last.get(&Key { channel, root: None }).cloned(),
            number => Some(format!("{}-{number}", CHANNELS[channel].0)),
        }
    }

    /// The scope that a message of this label in this thread belongs to.
    pub(super) fn key(&self, spot: Spot, thread: Option<&str>, label: &str) -> Key {
        let channel = channel(spot);
        let one = !self.ground.threads || CHANNELS[channel].1 == "dm";
        let root = (!one).then(|| thread.unwrap_or(label).to_owned());
        Key { channel, root }
    }

    /// What the store holds for this harness.
    pub(super) fn kept(&self, home: usize, key: &Key) -> Option<&Kept> {
        self.kept.get(&(self.homes[home].identity, key.clone()))
    }

    pub(super) fn keep(&mut self, home: usize, key: &Key, kept: Option<Kept>) {
        let place = (self.homes[home].identity, key.clone());
        let owner = *self.owner.get_or_insert(place.0);
        let foreign = self.ground.pair == Pair::Neighbours && owner != place.0;
        let unsure = foreign || self.switched.contains(&key.channel);
        match kept.map(|kept| if unsure { Kept::Unsure } else { kept }) {
            Some(kept) => self.kept.insert(place, kept),
            None => self.kept.remove(&place),
        };
    }

    /// The session that a load of this scope would ask for now; `Err` when nobody can say.
    pub(super) fn loadable(&self, home: usize, key: &Key) -> Result<Option<String>, ()> {
        self.loadable_by(home, key, self.homes[home].loads)
    }

    /// The same of the agent's next process.
    pub(super) fn loadable_next(&self, home: usize, key: &Key) -> Result<Option<String>, ()> {
        self.loadable_by(home, key, self.loads)
    }

    fn loadable_by(&self, home: usize, key: &Key, loads: bool) -> Result<Option<String>, ()> {
        let it = &self.homes[home];
        if !it.resume || !loads {
            return Ok(None);
        }
        match self.kept(home, key) {
            Some(Kept::Unsure) => Err(()),
            Some(Kept::Session { .. }) if self.ground.choice == Choice::RefusedModels => Err(()),
            Some(Kept::Session { name, choice }) if *choice == it.choice => Ok(Some(name.clone())),
            _ => Ok(None),
        }
    }

    /// The number of the next request of a method, while it is known.
    pub(super) fn next(&self, method: &'static str) -> Option<u32> {
        self.asked[method].map(|count| count + 1)
    }

    /// So many more of them came.
    pub(super) fn asks(&mut self, method: &'static str, more: u32) {
        if let Some(Some(count)) = self.asked.get_mut(method) {
            *count += more;
        }
    }

    /// From now on nobody can say how many there were.
    pub(super) fn lose_count(&mut self) {
        self.asked.values_mut().for_each(|count| *count = None);
    }

    /// The harness's agent has a new process: nothing is open there.
    pub(super) fn respawn(&mut self, home: usize) {
        self.homes[home].live.clear();
        self.homes[home].loads = self.loads;
    }

    /// A harness keeps only so many sessions open (H-24); which of many it closed is its own affair.
    pub(super) fn crowded(&mut self, home: usize, newest: &Key) {
        let live = &mut self.homes[home].live;
        if live.len() > FEW {
            let others = live.iter_mut().filter(|(key, _)| *key != newest);
            others.for_each(|(_, live)| *live = Live::Unsure);
        }
    }

    /// A session is over for good: memory and receipt.
    pub(super) fn discard(&mut self, home: usize, key: &Key) {
        let own = match self.homes[home].live.remove(key) {
            Some(Live::Session { name, .. }) => Some(name),
            _ => None,
        };
        let (resume, loads) = (self.homes[home].resume, self.homes[home].loads);
        match self.kept(home, key) {
            // It may be a twin's by now, or an older one that waits for an agent that can load
            // again: neither goes with this session.
            Some(Kept::Unsure) => {}
            Some(Kept::Session { name, .. }) if own.as_ref().is_some_and(|own| own != name) => {
                self.keep(home, key, Some(Kept::Unsure));
            }
            Some(_) if !loads => self.keep(home, key, Some(Kept::Unsure)),
            _ if resume => self.keep(home, key, None),
            _ => {}
        }
        self.forget_for_twins(home, key);
    }

    /// A twin that still holds a session in memory may write its receipt again.
    fn forget_for_twins(&mut self, home: usize, key: &Key) {
        let identity = self.homes[home].identity;
        let twin = self.homes.iter_mut().enumerate().find(|(place, it)| {
            *place != home && it.identity == identity && it.live.contains_key(key)
        });
        if let Some((_, twin)) = twin {
            twin.live.insert(key.clone(), Live::Unsure);
        }
    }

    /// How many receipts there are, while that is known.
    pub(super) fn receipts(&self) -> Option<usize> {
        let sure = self.kept.values().all(|kept| *kept != Kept::Unsure);
        sure.then_some(self.kept.len())
    }
}

/// The channel of a spot.
pub(super) fn channel(spot: Spot) -> usize {
    usize::from(spot.channel) % CHANNELS.len()
}
