//! Discarded sessions (H-20, H-21): which ids must not come back, from when on, and whom that
//! binds.
//!
//! A discard is read from the wire alone. What the relay delivers may cross with what the harness
//! is just doing, so a discard that came from the relay binds a life only for messages that came
//! after it on the same connection, until the harness has shown that it read it (it prompted such
//! a message, or came to rest). Later lives are bound once a life that had the chance to make the
//! removal durable came to rest. Lives that already ran beside it are bound under
//! `overlap=lease` alone; under `merge` their use of the session lifts the discard.

use skep_trace::policy::Overlap;

use super::Facts;
use super::ids::{LifeId, MessageId, PromptId, SessionId};

/// Why a session was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The owner's `!rotate`.
    Rotate,
    /// The owner's `!cancel`, where a cancelled turn drops its session.
    Cancel,
    /// The owner chose another model.
    ModelSwitch,
    /// The harness is out of the channel.
    Left,
    /// The agent answered `max_tokens` or `max_turn_requests`.
    Exhausted,
    /// The agent answered that it cannot load it.
    Refused,
}

impl Why {
    /// What happened, for a label.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Rotate => "discarded here: `!rotate` was delivered",
            Self::Cancel => "discarded here: `!cancel` ended its turn",
            Self::ModelSwitch => "discarded here: the model switch was delivered",
            Self::Left => "discarded here: the harness left the channel",
            Self::Exhausted => "discarded here: the agent had no room left in it",
            Self::Refused => "discarded here: the agent refused to load it",
        }
    }
}

/// A session that must not come back.
#[derive(Clone, Debug)]
pub(crate) struct Discard {
    /// Which.
    pub(crate) session: SessionId,
    /// The record that discarded it.
    pub(crate) record: usize,
    /// Why.
    pub(crate) why: Why,
    /// The life that was told.
    life: LifeId,
    /// On which connection; `None` when its own agent told it.
    conn: Option<u32>,
    /// The life has read it.
    read: bool,
    /// A removal had its chance to become durable.
    durable: bool,
    /// It no longer binds anybody.
    lifted: bool,
}

/// A discarded session that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comeback {
    /// Which session.
    pub(crate) session: SessionId,
    /// The record that had discarded it.
    pub(crate) discarded: usize,
    /// Why it had been.
    pub(crate) why: Why,
    /// The same life prompted it, out of its memory (H-20); else it came from the disk or from a
    /// sibling (H-21).
    pub(crate) from_memory: bool,
}

/// How a life that uses a session stands to the life that discarded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is that life.
    Itself,
    /// It began later, on the same state.
    Later,
    /// It ran already, on the same state.
    Beside(Overlap),
    /// It shares nothing with it.
    Elsewhere,
}

impl Standing {
    fn of(discard: &Discard, life: LifeId, facts: &Facts) -> Self {
        let (own, other) = (facts.lives.get(life), facts.lives.get(discard.life));
        if life == discard.life {
            Self::Itself
        } else if own.home != other.home {
            Self::Elsewhere
        } else if own.started > discard.record {
            Self::Later
        } else {
            Self::Beside(own.settings.policies.overlap)
        }
    }
}

impl Discard {
    /// What the relay told on a connection is still on its way; what the life's own agent
    /// answered is read before anything else is sent to that agent.
    pub(super) fn new(
        session: SessionId,
        record: usize,
        why: Why,
        life: LifeId,
        conn: Option<u32>,
    ) -> Self {
        let read = conn.is_none();
        Self { session, record, why, life, conn, read, durable: false, lifted: false }
    }

    /// The message came to the same life after the discard, on the same connection.
    fn is_before(&self, message: MessageId, facts: &Facts) -> bool {
        let mut deliveries = facts.messages.get(message).deliveries.iter();
        let first = deliveries.find(|delivery| delivery.life == self.life);
        first.is_some_and(|first| first.record > self.record && Some(first.conn) == self.conn)
    }

    /// The prompt holds a message that came after the discard.
    fn is_before_prompt(&self, prompt: PromptId, facts: &Facts) -> bool {
        let mut messages = facts.prompts.get(prompt).messages.iter();
        messages.any(|message| self.is_before(*message, facts))
    }

    /// All that the life could want this session for came after the discard.
    fn is_before_all_that_waits(&self, facts: &Facts) -> bool {
        let scope = facts.sessions.get(self.session).scope();
        let mut waiting = facts.waiting(self.life, scope).peekable();
        waiting.peek().is_some() && waiting.all(|message| self.is_before(message, facts))
    }
}

/// All discards so far.
#[derive(Debug, Default)]
pub(crate) struct Discards {
    list: Vec<Discard>,
    /// `!cancel` came in these turns; the `session/cancel` that follows makes it a discard.
    pub(super) cancels: Vec<(PromptId, Discard)>,
}

impl Discards {
    /// How many there were.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// The session was discarded, whomever that binds.
    pub(crate) fn any(&self, session: SessionId) -> Option<&Discard> {
        self.list.iter().rev().find(|discard| discard.session == session)
    }

    /// The session was discarded, the removal had its chance, and nobody brought it back rightly.
    pub(crate) fn is_gone(&self, session: SessionId) -> bool {
        self.list.iter().any(|old| old.session == session && old.durable && !old.lifted)
    }

    /// What a life has discarded already stays discarded as it was.
    pub(super) fn push(&mut self, discard: Discard) {
        let known = |old: &Discard| {
            old.session == discard.session && old.life == discard.life && !old.lifted
        };
        if !self.list.iter().any(known) {
            self.list.push(discard);
        }
    }

    /// The agent gave a session anew: no discard of it binds any more.
    pub(super) fn given_anew(&mut self, session: SessionId) {
        for discard in self.list.iter_mut().filter(|old| old.session == session) {
            discard.lifted = true;
        }
    }

    /// Whoever came to rest has read what it was told, and stored what it could.
    pub(super) fn settle(&mut self, step: usize, facts: &Facts) {
        let durable = !facts.asked.unwritable.contains(&step);
        for discard in &mut self.list {
            if facts.lives.get(discard.life).alive() {
                discard.read = true;
                discard.durable |= durable;
            }
        }
    }

    /// A life asks its agent for an old session.
    pub(super) fn loaded(
        &mut self,
        life: LifeId,
        session: SessionId,
        facts: &Facts,
    ) -> Option<Comeback> {
        self.check(life, session, facts, |discard| {
            discard.read || discard.is_before_all_that_waits(facts)
        })
    }

    /// A life prompts a session.
    pub(super) fn prompted(&mut self, prompt: PromptId, facts: &Facts) -> Option<Comeback> {
        let sent = facts.prompts.get(prompt);
        let mut comeback = self.check(sent.life, sent.session, facts, |discard| {
            discard.read || discard.is_before_prompt(prompt, facts)
        });
        if let Some(comeback) = &mut comeback {
            let told = |discard: &Discard| discard.record == comeback.discarded;
            comeback.from_memory =
                self.list.iter().any(|discard| told(discard) && discard.life == sent.life);
        }
        for discard in self.list.iter_mut().filter(|discard| discard.life == sent.life) {
            discard.read = discard.read || discard.is_before_prompt(prompt, facts);
        }
        comeback
    }

    /// Judges one use of a session by one life. What came back is told once: its discard is
    /// lifted with it.
    fn check(
        &mut self,
        life: LifeId,
        session: SessionId,
        facts: &Facts,
        binds_itself: impl Fn(&Discard) -> bool,
    ) -> Option<Comeback> {
        let mut found = None;
        for discard in self.list.iter_mut().filter(|old| old.session == session && !old.lifted) {
            let broken = match Standing::of(discard, life, facts) {
                Standing::Itself => binds_itself(discard),
                Standing::Later => discard.durable,
                Standing::Beside(Overlap::Lease) => discard.read,
                Standing::Beside(Overlap::Merge) => {
                    discard.lifted = true;
                    false
                }
                Standing::Elsewhere => false,
            };
            if broken {
                discard.lifted = true;
                let (discarded, why) = (discard.record, discard.why);
                found = Some(Comeback { session, discarded, why, from_memory: false });
            }
        }
        found
    }
}
