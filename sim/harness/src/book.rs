//! The sessions that are live on this agent connection, and what this process knows about
//! sessions beyond that: which it gave up, and which could not be loaded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use skep_trace::Text;

use crate::scope::Scope;

/// How many sessions an agent is kept holding where it can load one again (H-24).
const RETAINED: usize = 8;

/// The same for an agent that cannot load: closing a session loses the conversation there, so only
/// memory bounds it.
const RETAINED_FOR_GOOD: usize = 64;

/// A session that nobody used for so long is closed; its receipt stays, so that it is loaded again.
const IDLE_LIFE_MS: u64 = 45 * 60_000;

/// How many given-up ids are remembered: as many rotations as anybody makes in one process life.
const DISCARDED: usize = 1024;

/// A session that was created or loaded on this agent connection (H-13).
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) session: Text,
    /// It was loaded, not created: what it used before is not zero, and was not ours (H-4).
    pub(crate) loaded: bool,
    /// The load replayed something.
    pub(crate) replayed: bool,
    /// Turns that ended well in it since it was opened here.
    pub(crate) turns: u32,
    /// Tokens used, as far as the agent said; a loaded session's is unknown until then (H-4).
    pub(crate) used: Option<u64>,
    used_ms: u64,
}

impl Live {
    /// A session that `session/new` made.
    pub(crate) fn created(session: Text, now_ms: u64) -> Self {
        let used = Some(0);
        Self { session, loaded: false, replayed: false, turns: 0, used, used_ms: now_ms }
    }

    /// A session that was restored.
    pub(crate) fn restored(session: Text, replayed: bool, now_ms: u64) -> Self {
        Self { session, loaded: true, replayed, turns: 0, used: None, used_ms: now_ms }
    }
}

/// What this process knows about sessions.
#[derive(Debug, Default)]
pub(crate) struct Book {
    live: BTreeMap<Scope, Live>,
    failed_loads: BTreeMap<Scope, (Text, u32)>,
    discarded: VecDeque<Text>,
    fresh: BTreeSet<Scope>,
}

impl Book {
    pub(crate) fn live(&self, scope: &Scope) -> Option<&Live> {
        self.live.get(scope)
    }

    pub(crate) fn live_mut(&mut self, scope: &Scope) -> Option<&mut Live> {
        self.live.get_mut(scope)
    }

    pub(crate) fn insert(&mut self, scope: Scope, live: Live) {
        self.live.insert(scope, live);
    }

    pub(crate) fn remove(&mut self, scope: &Scope) -> Option<Live> {
        self.live.remove(scope)
    }

    pub(crate) fn touch(&mut self, scope: &Scope, now_ms: u64) {
        if let Some(live) = self.live.get_mut(scope) {
            live.used_ms = now_ms;
        }
    }

    /// The agent died: no session is live any more. What is stored stays (H-22).
    pub(crate) fn agent_died(&mut self) -> BTreeMap<Scope, Live> {
        std::mem::take(&mut self.live)
    }

    /// The scopes that have a live session.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.live.keys()
    }

    /// Takes out the sessions that are held beyond the bounds, least used first; never the one of
    /// the scope that is about to run.
    pub(crate) fn evict(&mut self, running: &Scope, loadable: bool, now_ms: u64) -> Vec<Text> {
        let bound = if loadable { RETAINED } else { RETAINED_FOR_GOOD };
        let mut evicted = Vec::new();
        loop {
            let others = self.live.iter().filter(|(scope, _)| *scope != running);
            let oldest = others.min_by_key(|(_, live)| live.used_ms);
            let Some((scope, live)) = oldest else { return evicted };
            let stale = loadable && now_ms.saturating_sub(live.used_ms) >= IDLE_LIFE_MS;
            if !stale && self.live.len() < bound {
                return evicted;
            }
            let scope = scope.clone();
            evicted.extend(self.live.remove(&scope).map(|live| live.session));
        }
    }

    /// Counts a load that nobody answered; says how many in a row that makes for this session.
    pub(crate) fn load_failed(&mut self, scope: &Scope, session: &Text) -> u32 {
        let (of, count) = self.failed_loads.entry(scope.clone()).or_default();
        if *of != *session {
            *of = session.clone();
            *count = 0;
        }
        *count += 1;
        *count
    }

    /// A load came to an end that proves something: the count starts anew.
    pub(crate) fn load_settled(&mut self, scope: &Scope) {
        if !self.failed_loads.is_empty() {
            self.failed_loads.remove(scope);
        }
    }

    /// This process gave the session up: it is never named to an agent again (H-21).
    pub(crate) fn discard_id(&mut self, session: Text) {
        if self.discarded.len() == DISCARDED {
            self.discarded.pop_front();
        }
        self.discarded.push_back(session);
    }

    pub(crate) fn is_discarded(&self, session: &str) -> bool {
        self.discarded.iter().any(|it| &**it == session)
    }

    /// The scope's next session is to be told that it follows a discarded one (H-32).
    pub(crate) fn mark_fresh(&mut self, scope: Scope) {
        self.fresh.insert(scope);
    }

    pub(crate) fn is_fresh(&self, scope: &Scope) -> bool {
        self.fresh.contains(scope)
    }

    pub(crate) fn fresh_opened(&mut self, scope: &Scope) {
        self.fresh.remove(scope);
    }
}

#[cfg(test)]
mod tests {
    use skep_store::Key;

    use super::*;

    fn scope(number: usize) -> Scope {
        Scope::Talk(Key { channel: format!("c{number:02}").into(), root: None })
    }

    fn book(sessions: usize) -> Book {
        let mut book = Book::default();
        for number in 0..sessions {
            let session = format!("s{number}").into();
            book.insert(scope(number), Live::created(session, number as u64));
        }
        book
    }

    #[test]
    fn the_least_used_sessions_leave_first_and_never_the_running_one() {
        let mut book = book(RETAINED + 1);
        assert_eq!(book.evict(&scope(0), true, 100), [Text::from("s1"), "s2".into()]);
        assert!(book.live(&scope(0)).is_some());
    }

    #[test]
    fn an_agent_that_cannot_load_keeps_its_idle_sessions() {
        let mut book = book(3);
        assert!(book.evict(&scope(0), false, 10 * IDLE_LIFE_MS).is_empty());
        assert_eq!(book.evict(&scope(0), true, 10 * IDLE_LIFE_MS).len(), 2);
    }

    #[test]
    fn failed_loads_are_counted_per_session() {
        let mut book = Book::default();
        assert_eq!(book.load_failed(&scope(1), &"s1".into()), 1);
        assert_eq!(book.load_failed(&scope(1), &"s1".into()), 2);
        assert_eq!(book.load_failed(&scope(1), &"s2".into()), 1);
        book.load_settled(&scope(1));
        assert_eq!(book.load_failed(&scope(1), &"s2".into()), 1);
    }
}
