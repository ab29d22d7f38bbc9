//! The store, exhaustively: every store, every question, every check, and a file for each thing
//! that breaks.
//!
//! - `stores`: a store by its name, as the type that it is.
//! - `files`: where the file of a breakage comes from.
//!
//! What is done is cut into tasks that know nothing of each other, so that threads may share them;
//! what came out stands in the order of the tasks.

mod files;
mod stores;

pub use files::{PlayFile, file_of};
pub use stores::{play_of, question_of, verdict_of};

use skep_store::explore::{Figures, Outcome, Question, questions};
use skep_store::model::StoreName;
use skep_store::suite::{Failure, Verdict};

use crate::exit_code::ExitCode;

/// One thing to be done with a store.
#[derive(Clone, Debug)]
pub enum Task {
    /// Ask a question.
    Ask(StoreName, Question),
    /// Put it to a check of the suite, by its place.
    Check(StoreName, usize),
}

/// What came of a task; `None`: it was not begun.
pub type TaskOutcome = Option<Done>;

/// What came of a task.
#[derive(Clone, Debug)]
pub enum Done {
    /// Of a question.
    Asked(Result<Figures, Failure>),
    /// Of a check.
    Checked(Verdict),
}

/// What came out for one store.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The store.
    pub store: StoreName,
    /// Each question, and what was seen; `None`: it was not asked.
    pub questions: Vec<(Question, Option<Result<Figures, Failure>>)>,
    /// Each check, and what it came to; `None`: it was not made.
    pub checks: Vec<(CheckName, Option<Verdict>)>,
}

/// A check of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckName {
    /// Its rule.
    pub rule: &'static str,
    /// Its name.
    pub name: &'static str,
}

/// How a check stands to what is listed of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds, and is not listed.
    Holds,
    /// It breaks, as the contract says that it must.
    Expected,
    /// It breaks, and the list says why.
    Explained,
    /// It breaks, and no list says so.
    Unlisted,
    /// It is listed as broken, and holds.
    Vain,
    /// It cannot be made here.
    NotApplicable,
    /// It was not made.
    Unknown,
}

impl Explored {
    /// How a check stands to what is listed of the store.
    pub fn standing(&self, check: CheckName, verdict: Option<&Verdict>) -> Standing {
        let listed = self.store.breaks().iter().find(|one| one.check == check.name);
        match (verdict, listed) {
            (None, _) => Standing::Unknown,
            (Some(Err(Failure::Violated(_))), Some(one)) if one.expected => Standing::Expected,
            (Some(Err(Failure::Violated(_))), Some(_)) => Standing::Explained,
            (Some(Err(Failure::Violated(_))), None) => Standing::Unlisted,
            (Some(_), Some(_)) => Standing::Vain,
            (Some(Ok(_)), None) => Standing::Holds,
            (Some(Err(Failure::NotApplicable(_))), None) => Standing::NotApplicable,
        }
    }

    /// Everything is as it is listed; of the reference, nothing is broken at all.
    pub fn is_as_listed(&self) -> bool {
        let off = |standing| matches!(standing, Standing::Unlisted | Standing::Vain);
        let checks = self
            .checks
            .iter()
            .all(|(check, verdict)| !off(self.standing(*check, verdict.as_ref())));
        checks && (self.store != StoreName::Reference || self.is_sound())
    }

    /// No question has an answer that is not sound.
    fn is_sound(&self) -> bool {
        let sound = |asked: &Option<Result<Figures, Failure>>| match asked {
            None => true,
            Some(Ok(figures)) => figures.is_sound(),
            Some(Err(_)) => false,
        };
        self.questions.iter().all(|(_, asked)| sound(asked))
    }

    /// Every question was asked to its end.
    pub fn is_complete(&self) -> bool {
        let complete = |asked: &Option<Result<Figures, Failure>>| match asked {
            Some(Ok(figures)) => figures.complete,
            other => other.is_some(),
        };
        self.questions.iter().all(|(_, asked)| complete(asked))
            && self.checks.iter().all(|(_, verdict)| verdict.is_some())
    }
}

/// What the whole came to.
pub fn exit_code(explored: &[Explored], interrupted: bool) -> ExitCode {
    if interrupted {
        ExitCode::Interrupted
    } else if !explored.iter().all(Explored::is_as_listed) {
        ExitCode::Violated
    } else if !explored.iter().all(Explored::is_complete) {
        ExitCode::Inconclusive
    } else {
        ExitCode::Held
    }
}

/// Everything that is to be done with these stores.
pub fn tasks(stores: &[StoreName]) -> Vec<Task> {
    let of = |store: &StoreName| {
        let store = *store;
        let asked = questions().into_iter().map(move |question| Task::Ask(store, question));
        asked.chain((0..check_names().len()).map(move |at| Task::Check(store, at)))
    };
    stores.iter().flat_map(of).collect()
}

/// Every check of the suite.
pub fn check_names() -> Vec<CheckName> {
    stores::names().into_iter().map(|(rule, name)| CheckName { rule, name }).collect()
}

impl Task {
    /// Its name, for who watches.
    pub fn name(&self) -> String {
        match self {
            Self::Ask(store, question) => format!("{} {}", store.id(), question.name),
            Self::Check(store, at) => {
                let name = check_names().get(*at).map_or("", |check| check.name);
                format!("{} {name}", store.id())
            }
        }
    }

    /// Does it.
    pub fn run(&self, stop: &dyn Fn() -> bool) -> Done {
        match self {
            Self::Ask(store, question) => Done::Asked(question_of(*store, question, stop)),
            Self::Check(store, at) => Done::Checked(verdict_of(*store, *at)),
        }
    }
}

/// What came out, store by store.
pub fn gathered(stores: &[StoreName], tasks: &[Task], outcomes: Vec<TaskOutcome>) -> Vec<Explored> {
    let blank =
        |store: &StoreName| Explored { store: *store, questions: Vec::new(), checks: Vec::new() };
    let mut explored: Vec<Explored> = stores.iter().map(blank).collect();
    let names = check_names();
    for (task, outcome) in tasks.iter().zip(outcomes) {
        let (Task::Ask(store, _) | Task::Check(store, _)) = task;
        let Some(one) = explored.iter_mut().find(|one| one.store == *store) else { continue };
        match (task, outcome) {
            (Task::Ask(_, question), outcome) => {
                let asked = match outcome {
                    Some(Done::Asked(asked)) => Some(asked),
                    _ => None,
                };
                one.questions.push((question.clone(), asked));
            }
            (Task::Check(_, at), outcome) => {
                let verdict = match outcome {
                    Some(Done::Checked(verdict)) => Some(verdict),
                    _ => None,
                };
                one.checks.extend(names.get(*at).map(|name| (*name, verdict)));
            }
        }
    }
    explored
}

/// The words for what went wrong, with how often; `0 lost, 0 torn` where nothing did.
pub fn faults_told(figures: &Figures) -> String {
    let always = [Outcome::Lost, Outcome::Torn];
    let told = Outcome::FAULTS.into_iter().filter_map(|fault| {
        let count = figures.of(fault);
        (count > 0 || always.contains(&fault)).then(|| format!("{count} {}", fault.word()))
    });
    told.collect::<Vec<_>>().join(", ")
}
