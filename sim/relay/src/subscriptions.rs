//! Connections, who they speak for, and what they subscribed to.

use std::sync::Arc;

use skep_trace::{ClientMsg, Filter, Hex32, NostrEvent, Text};

use crate::access::{self, Readers};
use crate::filter;
use crate::ids::{ConnId, Party};

/// One connection.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) id: ConnId,
    pub(crate) party: Party,
    /// The newest challenge that it was sent.
    pub(crate) challenge: Text,
    /// Who it speaks for, once it answered a challenge.
    pub(crate) identity: Option<Hex32>,
    subs: Vec<Sub>,
}

/// One subscription.
#[derive(Debug)]
pub(crate) struct Sub {
    pub(crate) id: Text,
    /// Unique over all subscriptions: one that takes the place of another of its name is told
    /// apart from it.
    pub(crate) generation: u64,
    /// The request that made it; it is shared with the trace, not copied.
    request: Arc<ClientMsg>,
}

/// All connections, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    all: Vec<Conn>,
    generations: u64,
}

impl Sub {
    fn filters(&self) -> &[Filter] {
        match &*self.request {
            ClientMsg::Req { filters, .. } => filters,
            _ => &[],
        }
    }

    fn wants(&self, event: &NostrEvent) -> bool {
        self.filters()
            .iter()
            .any(|asked| filter::fits_live(asked, event) && !access::hides(asked, event))
    }

    fn names(&self, letter: char, value: &str) -> bool {
        let mut conditions = self.filters().iter().flat_map(|filter| &filter.tags);
        conditions.any(|(name, values)| *name == letter && values.iter().any(|v| &**v == value))
    }
}

impl Conn {
    /// How many subscriptions it has.
    pub(crate) fn count(&self) -> usize {
        self.subs.len()
    }

    /// It has a subscription of that name.
    pub(crate) fn has(&self, sub: &str) -> bool {
        self.subs.iter().any(|held| &*held.id == sub)
    }

    /// Ends the subscription of that name, if there is one.
    pub(crate) fn close(&mut self, sub: &str) {
        self.subs.retain(|held| &*held.id != sub);
    }

    /// Ends every subscription to a channel and tells their names.
    pub(crate) fn close_channel(&mut self, channel: &str) -> Vec<Text> {
        let closed = self.subs.extract_if(.., |sub| sub.names('h', channel));
        closed.map(|sub| sub.id).collect()
    }
}

impl Connections {
    pub(crate) fn open(&mut self, id: ConnId, party: Party, challenge: Text) {
        self.all.push(Conn { id, party, challenge, identity: None, subs: Vec::new() });
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn get(&mut self, id: ConnId) -> Option<&mut Conn> {
        self.all.iter_mut().find(|conn| conn.id == id)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Conn> {
        self.all.iter_mut()
    }

    /// The connection at that place; there are [`Self::len`] of them.
    pub(crate) fn nth(&mut self, index: usize) -> &mut Conn {
        &mut self.all[index]
    }

    /// Forgets a connection.
    pub(crate) fn close(&mut self, id: ConnId) {
        self.all.retain(|conn| conn.id != id);
    }

    /// Forgets the connections of one party, or all, and tells which they were.
    pub(crate) fn close_all(&mut self, party: Option<Party>) -> Vec<ConnId> {
        let theirs = |conn: &mut Conn| party.is_none_or(|party| conn.party == party);
        self.all.extract_if(.., theirs).map(|conn| conn.id).collect()
    }

    /// Begins a subscription, in the place of one of the same name.
    pub(crate) fn subscribe(&mut self, id: ConnId, sub: &Text, request: Arc<ClientMsg>) -> u64 {
        self.generations += 1;
        let generation = self.generations;
        if let Some(conn) = self.get(id) {
            conn.close(sub);
            conn.subs.push(Sub { id: sub.clone(), generation, request });
        }
        generation
    }

    /// That subscription still stands.
    pub(crate) fn stands(&self, id: ConnId, generation: u64) -> bool {
        let conn = self.all.iter().find(|conn| conn.id == id);
        conn.is_some_and(|conn| conn.subs.iter().any(|sub| sub.generation == generation))
    }

    /// Every subscription that a live event goes to.
    pub(crate) fn each_that_wants(
        &self,
        event: &NostrEvent,
        to: Option<Party>,
        readers: &Readers<'_>,
        mut visit: impl FnMut(ConnId, &Sub),
    ) {
        for conn in &self.all {
            let may_read = conn.identity.is_some_and(|identity| readers.include(&identity));
            if may_read && to.is_none_or(|party| conn.party == party) {
                let wanting = conn.subs.iter().filter(|sub| sub.wants(event));
                wanting.for_each(|sub| visit(conn.id, sub));
            }
        }
    }
}
