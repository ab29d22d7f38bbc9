//! Invariants: rules that hold in every run, whatever its scenario expects.
//!
//! Each looks at the same moments and facts as the expectations and keeps what little it must
//! remember itself. It tells how often it had occasion to fail, so that "held" is never said of a
//! rule that was not tried.

mod agent_death;
mod comeback;
mod concurrent_turns;
mod disk_secrets;
mod disk_shape;
mod doubled_message;
mod foreign_session;
mod live_session;
mod load_offered;
mod load_window;
mod lost_message;
mod replay;
mod spelling;

use crate::facts::Facts;
use crate::facts::moment::Moment;
use crate::rules::rule;
use crate::verdict::{Blame, Cause, Judgement, Subject, Verdict};
use crate::words::{instant, times, violated};

/// A rule that always holds.
pub(crate) trait Invariant {
    /// Its number.
    fn rule(&self) -> &'static str;

    /// Something happened.
    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally);

    /// The trace is over.
    fn end(&mut self, _facts: &Facts, _tally: &mut Tally) {}
}

/// All of them, in the order of their numbers.
pub(crate) fn all() -> Vec<Watched> {
    let all: [Box<dyn Invariant>; 14] = [
        Box::new(load_offered::LoadOffered),
        Box::new(live_session::LiveSession),
        Box::new(comeback::FromMemory::default()),
        Box::new(comeback::FromDisk::default()),
        Box::new(agent_death::AgentDeath::default()),
        Box::new(replay::Replay::default()),
        Box::new(load_window::LoadWindow),
        Box::new(spelling::Spelling::default()),
        Box::new(foreign_session::ForeignSession),
        Box::new(lost_message::LostMessage::default()),
        Box::new(doubled_message::DoubledMessage),
        Box::new(concurrent_turns::ConcurrentTurns::default()),
        Box::new(disk_shape::DiskShape::default()),
        Box::new(disk_secrets::DiskSecrets::default()),
    ];
    all.into_iter().map(|invariant| Watched { invariant, tally: Tally::default() }).collect()
}

/// An invariant and what was found of it.
pub(crate) struct Watched {
    invariant: Box<dyn Invariant>,
    tally: Tally,
}

impl Watched {
    pub(crate) fn see(&mut self, moment: &Moment<'_>, facts: &Facts) {
        self.invariant.see(moment, facts, &mut self.tally);
    }

    /// The verdict, once the trace is over.
    pub(crate) fn judgement(mut self, facts: &Facts) -> Judgement {
        self.invariant.end(facts, &mut self.tally);
        self.tally.judgement(self.invariant.rule())
    }
}

/// What was found of one invariant.
#[derive(Default)]
pub(crate) struct Tally {
    occasions: u32,
    broken: u32,
    first: Option<Broken>,
}

/// A place where a rule was broken.
pub(crate) struct Broken {
    /// The record.
    pub(crate) record: usize,
    /// Its instant.
    pub(crate) at_ms: u64,
    /// By whom.
    pub(crate) blame: Blame,
    /// What went wrong, in the domain's words.
    pub(crate) title: String,
    /// More than "violated once", where the instant alone does not tell.
    pub(crate) detail: Option<String>,
    /// What led there.
    pub(crate) causes: Vec<Cause>,
}

impl Tally {
    /// The rule had occasion to be broken.
    pub(crate) fn came_up(&mut self) {
        self.occasions = self.occasions.saturating_add(1);
    }

    /// The rule was broken; what that means is asked for the first time only.
    pub(crate) fn broke(&mut self, broken: impl FnOnce() -> Broken) {
        self.broken = self.broken.saturating_add(1);
        self.first.get_or_insert_with(broken);
    }

    fn judgement(self, id: &'static str) -> Judgement {
        let plain = rule(id).map_or(id, |rule| rule.meaning);
        let judgement = |verdict, label| Judgement {
            subject: Subject::Invariant(id),
            verdict,
            blame: None,
            title: plain.to_owned(),
            label,
            record: None,
            causes: Vec::new(),
        };
        if let Some(first) = self.first {
            let mut label = violated(self.broken, first.at_ms);
            if let Some(detail) = first.detail {
                label = format!("{label}: {detail}");
            }
            return Judgement {
                blame: Some(first.blame),
                title: first.title,
                record: Some(first.record),
                causes: first.causes,
                ..judgement(Verdict::Violated, label)
            };
        }
        match self.occasions {
            0 => judgement(Verdict::NotApplicable, "never came up".to_owned()),
            count => judgement(Verdict::Held, format!("came up {}", times(count))),
        }
    }
}

impl Broken {
    /// The harness broke it in this moment.
    pub(crate) fn by_harness(moment: &Moment<'_>, title: &str) -> Self {
        Self {
            record: moment.record,
            at_ms: moment.at_ms,
            blame: Blame::Harness,
            title: title.to_owned(),
            detail: None,
            causes: Vec::new(),
        }
    }

    /// The harness broke it in an earlier record.
    pub(crate) fn at(record: usize, facts: &Facts, title: &str) -> Self {
        Self {
            record,
            at_ms: facts.at_ms(record),
            blame: Blame::Harness,
            title: title.to_owned(),
            detail: None,
            causes: Vec::new(),
        }
    }

    /// The same, with more than the instant.
    pub(crate) fn saying(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same, with what led there.
    pub(crate) fn because(mut self, causes: impl IntoIterator<Item = Cause>) -> Self {
        self.causes.extend(causes);
        self
    }
}

/// An instant in a sentence.
pub(crate) fn at(at_ms: u64) -> String {
    format!("at {}", instant(at_ms))
}
