//! `expect "session/load" …` and `never "session/new"`: calls, counted.

use super::breach::{Breach, NearMiss, beyond, breach};
use super::fit::{Fit, fit};
use super::misfit::misfit;
use super::obstacle::{Obstacle, obstacle};
use super::{Bind, Found, Stretch, Watch, cause};
use crate::expectation::WantedCall;
use crate::facts::Facts;
use crate::facts::ids::{MessageId, SessionId};
use crate::facts::moment::{Moment, Seen};
use crate::facts::process::Wants;
use crate::verdict::Blame;
use crate::words::{instant, times, violated};

/// A call that fits so far; the next prompt of its session decides.
struct Candidate {
    record: usize,
    session: Option<SessionId>,
    message: MessageId,
    /// What it means, should it be one too many.
    breach: Breach,
}

/// Watches for one kind of call.
pub(crate) struct CallWatch {
    wanted: WantedCall,
    never: bool,
    /// The calls that fit.
    hits: Vec<usize>,
    candidates: Vec<Candidate>,
    /// The request whose answer names the session to bind.
    binding: Option<usize>,
    bound: bool,
    /// The first call too many, and what it means.
    broken: Option<(usize, Breach)>,
    /// The first call of the method that does not fit.
    near: Option<NearMiss>,
    found: Option<Found>,
}

impl CallWatch {
    pub(crate) fn new(wanted: WantedCall, never: bool) -> Self {
        Self {
            wanted,
            never,
            hits: Vec::new(),
            candidates: Vec::new(),
            binding: None,
            bound: false,
            broken: None,
            near: None,
            found: None,
        }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.hits.len()).unwrap_or(u32::MAX)
    }

    /// How many are too many.
    fn limit(&self) -> Option<u32> {
        if self.never { Some(0) } else { self.wanted.count.at_most }
    }

    fn hit(&mut self, record: usize, means: impl FnOnce() -> Breach) {
        self.hits.push(record);
        if self.broken.is_none() && self.limit().is_some_and(|most| self.count() > most) {
            self.broken = Some((record, means()));
        }
    }

    /// The call that the moment is.
    fn take_call(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        let call = moment.call.as_ref()?;
        match fit(&self.wanted, moment, facts) {
            Fit::No => {
                if self.near.is_none() {
                    let near = |difference| NearMiss { record: moment.record, difference };
                    self.near = misfit(&self.wanted, moment, facts).map(near);
                }
                None
            }
            Fit::WhenPrompted(message) => {
                let session = call.call.session_id().and_then(|id| facts.sessions.find(id));
                let breach = breach(moment, facts);
                let record = moment.record;
                self.candidates.push(Candidate { record, session, message, breach });
                None
            }
            Fit::Yes => {
                self.hit(moment.record, || breach(moment, facts));
                let session = call.call.session_id().and_then(|id| facts.sessions.find(id));
                match session {
                    Some(session) => self.bind(session, facts),
                    None => {
                        self.binding.get_or_insert(moment.record);
                        None
                    }
                }
            }
        }
    }

    fn bind(&mut self, session: SessionId, facts: &Facts) -> Option<Bind> {
        let name = self.wanted.bind.clone().filter(|_| !self.bound)?;
        self.bound = true;
        Some((name, facts.sessions.get(session).id.clone()))
    }

    /// A request for a new session is answered: now it has an id.
    fn answered(&mut self, record: usize, session: SessionId, facts: &Facts) -> Option<Bind> {
        for candidate in self.candidates.iter_mut().filter(|one| one.record == record) {
            candidate.session = Some(session);
        }
        if self.binding == Some(record) { self.bind(session, facts) } else { None }
    }

    /// A prompt tells whose session a candidate asked for.
    fn prompted(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        let Seen::Prompt(prompt) = &moment.seen else { return None };
        let prompt = facts.prompts.get(*prompt);
        let meant = |one: &Candidate| one.session == Some(prompt.session);
        let place = self.candidates.iter().position(meant)?;
        let candidate = self.candidates.remove(place);
        if !prompt.messages.contains(&candidate.message) {
            let difference = "it was for another message".to_owned();
            self.near.get_or_insert(NearMiss { record: candidate.record, difference });
            return None;
        }
        self.hit(candidate.record, || candidate.breach);
        self.bind(prompt.session, facts)
    }

    /// A `never` about a session whose name nobody ever gave cannot have been observed.
    fn nameless<'a>(&'a self, facts: &Facts) -> Option<&'a str> {
        let name = self.wanted.session.as_ref().or(self.wanted.not_session.as_ref())?;
        facts.names.id(skep_trace::NameKind::Session, name).is_none().then_some(&**name)
    }

    fn unmet_found(&self, facts: &Facts, stretch: &Stretch) -> Found {
        let Obstacle { blame, sentence, causes } =
            obstacle(facts, stretch, self.wanted.harness.as_deref());
        let seen = match self.count() {
            0 => "not seen".to_owned(),
            count => format!("seen only {}", times(count)),
        };
        let label = match (&sentence, self.nameless(facts)) {
            (Some(sentence), _) => format!("{seen}: {sentence}"),
            (None, Some(name)) => format!("{seen}: no session has the name {name}"),
            (None, None) => format!("{seen} by {}", facts.instant(stretch.end())),
        };
        let by_agent = matches!(&*self.wanted.method, "session/update")
            || self.wanted.method.starts_with("session/request_");
        let blame = if sentence.is_none() && by_agent { Blame::Agent } else { blame };
        let title = self.unmet_title(facts, stretch);
        let near = self.near.as_ref().map(|near| near.cause(&self.wanted.method));
        let hits = self.hits.iter().map(|record| cause(*record, "seen here"));
        Found::violated(blame, title, label, stretch.end())
            .because(causes)
            .because(hits)
            .because(near)
    }

    fn unmet_title(&self, facts: &Facts, stretch: &Stretch) -> String {
        if let (Some(near), 0) = (&self.near, self.count()) {
            return near.title(&self.wanted.method);
        }
        match (&*self.wanted.method, self.count()) {
            ("session/new", 0) => "the harness opened no session".to_owned(),
            ("session/load" | "session/resume", 0) if had_any(facts, stretch) => {
                "the harness did not ask for the session it had".to_owned()
            }
            ("session/load" | "session/resume", 0) => {
                "the harness asked for no old session, and had none".to_owned()
            }
            ("session/prompt", 0) => "no such prompt reached the agent".to_owned(),
            (method, 0) => format!("`{method}` never came"),
            (method, _) => format!("`{method}` came too seldom"),
        }
    }

    fn broken_found(&self, record: usize, breach: &Breach, facts: &Facts) -> Found {
        let at_ms = facts.at_ms(record);
        let label = match self.limit() {
            Some(0) => violated(self.count(), at_ms),
            limit => format!(
                "came {}, asked for {}: one too many at {}",
                times(self.count()),
                times(limit.unwrap_or(0)),
                instant(at_ms)
            ),
        };
        let earlier = self.hits.iter().filter(|hit| **hit < record);
        let earlier = earlier.map(|hit| cause(*hit, "this one was asked for"));
        let title = match self.limit() {
            Some(most) if most > 0 && breach.plain => {
                beyond(&self.wanted.method, self.count(), most)
            }
            _ => breach.title.clone(),
        };
        Found::violated(breach.blame, title, label, record)
            .because(breach.causes.clone())
            .because(earlier)
    }

    fn held_found(&self, facts: &Facts) -> Found {
        match self.hits.first() {
            None => Found::held("never seen"),
            Some(first) => {
                Found::held(format!("seen {}, at {}", times(self.count()), facts.instant(*first)))
            }
        }
    }
}

/// There was a session already when the step began.
fn had_any(facts: &Facts, stretch: &Stretch) -> bool {
    facts.sessions.iter().any(|(_, session)| {
        session.origins.iter().any(|origin| origin.record.is_none_or(|at| at < stretch.from))
    })
}

impl Watch for CallWatch {
    fn see(&mut self, moment: &Moment<'_>, facts: &Facts) -> Option<Bind> {
        match &moment.seen {
            Seen::Given { session, open, .. } => {
                return self.answered(open.record, *session, facts);
            }
            Seen::Refused { open, .. } if self.binding == Some(open.record) => self.binding = None,
            Seen::ProcessEnded(_, left) => {
                let unanswered = |open: &crate::facts::process::Open| {
                    self.binding == Some(open.record) && matches!(open.wants, Wants::New { .. })
                };
                if left.iter().any(unanswered) {
                    self.binding = None;
                }
            }
            _ => {}
        }
        let late = self.prompted(moment, facts);
        self.take_call(moment, facts).or(late)
    }

    fn broken(&self) -> bool {
        self.broken.is_some()
    }

    fn unmet(&self, _facts: &Facts) -> bool {
        !self.never && !self.wanted.count.reached(self.count())
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        let found = match &self.broken {
            Some((record, breach)) => self.broken_found(*record, breach, facts),
            None if self.never => match self.nameless(facts) {
                Some(name) => Found::inconclusive(format!("no session has the name {name}")),
                None => self.held_found(facts),
            },
            None if self.wanted.count.holds(self.count()) => self.held_found(facts),
            None => self.unmet_found(facts, stretch),
        };
        self.found = Some(found);
    }

    fn see_later(&mut self, moment: &Moment<'_>, facts: &Facts) {
        let about_it = self.never && self.wanted.session.is_some() && moment.comeback.is_some();
        if about_it && fit(&self.wanted, moment, facts) == Fit::Yes {
            self.hit(moment.record, || breach(moment, facts));
            if let Some((record, breach)) = &self.broken {
                self.found = Some(self.broken_found(*record, breach, facts));
            }
        }
    }

    fn found(&self, _facts: &Facts) -> Found {
        self.found.clone().unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}
