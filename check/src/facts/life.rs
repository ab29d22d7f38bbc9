//! Lives of harnesses: when each began and ended, how it was configured, whether it was at rest.

use std::collections::{BTreeMap, BTreeSet};

use skep_trace::{End, Filter, Hex32, Life, Text};

use super::ids::{HomeId, LifeId};
use super::scope::channel_of;
use crate::asked::{Asked, AskedSettings};

/// Where receipts are shared: everything that has these three in common reads the same ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    /// The state directory's name.
    pub(crate) state: Text,
    /// The relay's name.
    pub(crate) relay: Text,
    /// The identity's name.
    pub(crate) key: Text,
}

/// One life of a harness.
#[derive(Debug)]
pub(crate) struct LifeFacts {
    /// Its name.
    pub(crate) life: Life,
    /// Its harness's place among those asked for.
    pub(crate) harness: Option<usize>,
    /// What it was started with.
    pub(crate) settings: AskedSettings,
    /// Where its receipts are.
    pub(crate) home: HomeId,
    /// The record that started it.
    pub(crate) started: usize,
    /// The record at which it was ready.
    pub(crate) ready: Option<usize>,
    /// The record that ended it, and how.
    pub(crate) ended: Option<(usize, End)>,
    /// It was asked to end: by the scenario in the step in which it did, or by its owner.
    pub(crate) told_to_end: bool,
    /// It is suspended.
    pub(crate) paused: bool,
    /// The last record at which it was seen at rest.
    pub(crate) settled: Option<usize>,
    /// The last word on what it holds unanswered, and the record of it.
    pub(crate) held: Option<(usize, Vec<Hex32>)>,
    /// Commands and removals from channels that it was told.
    told: BTreeSet<Hex32>,
    /// Open subscriptions, by connection and name.
    subs: BTreeMap<(u32, Text), Sub>,
}

/// An open subscription.
#[derive(Debug)]
struct Sub {
    /// The record that asked for it.
    record: usize,
    /// The channels that it asks for.
    channels: Vec<Text>,
    /// The date, in seconds, from which on stored events are asked for.
    since: Option<u64>,
}

/// How a harness's subscriptions stand to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// They ask for it.
    ForIt,
    /// They ask for its channel, but only for what is newer.
    ForNewer,
    /// They do not ask for its channel.
    NotForIt,
}

impl LifeFacts {
    /// It runs, and is not suspended.
    pub(crate) fn alive(&self) -> bool {
        self.ended.is_none() && !self.paused
    }

    /// Whether its open subscriptions ask for a message of this channel and date. What is
    /// published while a subscription is open is asked for, whatever its date.
    pub(crate) fn asks(&self, channel: &str, published: usize, created_at: u64) -> Asks {
        let asks = |sub: &Sub| sub.channels.iter().any(|asked| &**asked == channel);
        let mut own = self.subs.values().filter(|sub| asks(sub)).peekable();
        if own.peek().is_none() {
            return Asks::NotForIt;
        }
        let covers =
            |sub: &Sub| sub.record < published || sub.since.is_none_or(|since| since <= created_at);
        if own.any(covers) { Asks::ForIt } else { Asks::ForNewer }
    }

    /// The channels that a subscription asks for.
    pub(crate) fn channels_of(&self, conn: u32, sub: &Text) -> &[Text] {
        self.subs.get(&(conn, sub.clone())).map_or(&[], |sub| &sub.channels)
    }

    pub(crate) fn subscribe(&mut self, record: usize, conn: u32, sub: &Text, filters: &[Filter]) {
        let tags = filters.iter().flat_map(|filter| &filter.tags);
        let channels = tags.filter(|(name, _)| *name == 'h').flat_map(|(_, ids)| ids);
        let channels = channels.map(|id| channel_of(id)).collect();
        let since = filters.iter().map(|filter| filter.since).min().flatten();
        self.subs.insert((conn, sub.clone()), Sub { record, channels, since });
    }

    /// It is told a command or a removal; `false`: it was told this one before.
    pub(crate) fn is_told(&mut self, event: Hex32) -> bool {
        self.told.insert(event)
    }

    pub(crate) fn unsubscribe(&mut self, conn: u32, sub: &Text) {
        self.subs.remove(&(conn, sub.clone()));
    }

    pub(crate) fn disconnect(&mut self, conn: u32) {
        self.subs.retain(|(open, _), _| *open != conn);
    }
}

/// All lives so far.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    list: Vec<LifeFacts>,
    places: BTreeMap<Life, LifeId>,
    homes: Vec<Home>,
}

impl Lives {
    /// The facts of a life.
    pub(crate) fn get(&self, id: LifeId) -> &LifeFacts {
        &self.list[id.0]
    }

    pub(crate) fn get_mut(&mut self, id: LifeId) -> &mut LifeFacts {
        &mut self.list[id.0]
    }

    /// Every life, the earliest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (LifeId, &LifeFacts)> {
        self.list.iter().enumerate().map(|(place, facts)| (LifeId(place), facts))
    }

    /// The state, relay and identity behind a place.
    pub(crate) fn home(&self, id: HomeId) -> &Home {
        &self.homes[id.0]
    }

    /// The home of a harness; one that nobody asked for has a home of its own.
    pub(crate) fn home_of(&mut self, asked: &Asked, harness: &str) -> HomeId {
        let home = match asked.harness(harness).map(|place| &asked.harnesses[place]) {
            Some(harness) => Home {
                state: harness.state.clone(),
                relay: harness.relay.clone(),
                key: harness.key.clone(),
            },
            None => Home { state: harness.into(), relay: "".into(), key: harness.into() },
        };
        let known = self.homes.iter().position(|other| *other == home);
        HomeId(known.unwrap_or_else(|| {
            self.homes.push(home);
            self.homes.len() - 1
        }))
    }

    /// The place of a life; one that was never seen to start begins here.
    pub(crate) fn place(
        &mut self,
        life: &Life,
        record: usize,
        step: usize,
        asked: &Asked,
    ) -> LifeId {
        if let Some(id) = self.places.get(life) {
            return *id;
        }
        let harness = asked.harness(&life.harness);
        let settings =
            harness.map(|place| asked.harnesses[place].settings_in(step)).unwrap_or_default();
        let home = self.home_of(asked, &life.harness);
        let id = LifeId(self.list.len());
        self.places.insert(life.clone(), id);
        self.list.push(LifeFacts {
            life: life.clone(),
            harness,
            settings,
            home,
            started: record,
            ready: None,
            ended: None,
            told_to_end: false,
            paused: false,
            settled: None,
            held: None,
            told: BTreeSet::new(),
            subs: BTreeMap::new(),
        });
        id
    }

    /// Every living harness was seen at rest.
    pub(crate) fn settle(&mut self, record: usize) {
        for life in self.list.iter_mut().filter(|life| life.alive()) {
            life.settled = Some(record);
        }
    }
}
