//! Sessions: where each was made, and what became of it.

use std::collections::BTreeMap;

use skep_trace::Text;

use super::ids::{HomeId, LifeId, PromptId, SessionId};
use super::scope::Scope;

/// A place where a session was made or first seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The answer to its `session/new`; `None` for one that an earlier life left.
    pub(crate) record: Option<usize>,
    /// The life that opened it.
    pub(crate) life: Option<LifeId>,
    /// The state, relay and identity that it belongs to.
    pub(crate) home: HomeId,
    /// The conversation that it belongs to, once that is known.
    pub(crate) scope: Option<Scope>,
}

/// One session, by its id.
#[derive(Debug)]
pub(crate) struct SessionFacts {
    /// The id on the wire.
    pub(crate) id: Text,
    /// Where it was made; an agent may hand out one id twice.
    pub(crate) origins: Vec<Origin>,
    /// The last request to load or resume it.
    pub(crate) last_load: Option<usize>,
    /// The request to close or delete it.
    pub(crate) closed: Option<usize>,
    /// The prompts that it got, in order.
    pub(crate) prompts: Vec<PromptId>,
}

impl SessionFacts {
    /// It belongs to this conversation of this home, or to every conversation of the channel
    /// when no scope is asked for.
    pub(crate) fn belongs(&self, home: HomeId, scope: &Scope) -> bool {
        self.origins.iter().any(|origin| {
            origin.home == home && origin.scope.as_ref().is_some_and(|own| own.fits(scope))
        })
    }

    /// The newest record that opened it.
    pub(crate) fn opened(&self) -> Option<usize> {
        self.origins.iter().filter_map(|origin| origin.record).max()
    }

    /// The conversation that it was last known to belong to.
    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.origins.iter().rev().find_map(|origin| origin.scope.as_ref())
    }
}

/// All sessions so far.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    list: Vec<SessionFacts>,
    places: BTreeMap<Text, SessionId>,
}

impl Sessions {
    /// The facts of a session.
    pub(crate) fn get(&self, id: SessionId) -> &SessionFacts {
        &self.list[id.0]
    }

    pub(crate) fn get_mut(&mut self, id: SessionId) -> &mut SessionFacts {
        &mut self.list[id.0]
    }

    /// Every session, the earliest seen first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (SessionId, &SessionFacts)> {
        self.list.iter().enumerate().map(|(place, facts)| (SessionId(place), facts))
    }

    /// The place of a session; ids are opaque and compare byte by byte.
    pub(crate) fn place(&mut self, id: &Text) -> SessionId {
        if let Some(place) = self.places.get(id) {
            return *place;
        }
        let place = SessionId(self.list.len());
        self.places.insert(id.clone(), place);
        self.list.push(SessionFacts {
            id: id.clone(),
            origins: Vec::new(),
            last_load: None,
            closed: None,
            prompts: Vec::new(),
        });
        place
    }

    /// The place of a session that was seen already.
    pub(crate) fn find(&self, id: &str) -> Option<SessionId> {
        self.places.get(id).copied()
    }

    /// The sessions of one conversation, the earliest first.
    pub(crate) fn of<'a>(
        &'a self,
        home: HomeId,
        scope: &'a Scope,
    ) -> impl DoubleEndedIterator<Item = (SessionId, &'a SessionFacts)> {
        self.iter().filter(move |(_, session)| session.belongs(home, scope))
    }
}
