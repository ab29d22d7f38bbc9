//! A store by its name, as the type that it is.

use skep_store::explore::{Figures, Outcome, Question, Shortest, shortest, walk};
use skep_store::model::{Binding, KeyedTtl, Receipt, SnapshotMap, StoreName};
use skep_store::play::{End, Play, play};
use skep_store::suite::{Failure, LocalHost, Reference, SimGround, Subject, Verdict, checks};

/// Does something with the subject that a store is.
macro_rules! with {
    ($store:expr, $subject:ident => $done:expr) => {
        match $store {
            StoreName::Reference => {
                let $subject = &Reference::default();
                $done
            }
            StoreName::Receipt => {
                let $subject = &Receipt;
                $done
            }
            StoreName::SnapshotMap => {
                let $subject = &SnapshotMap;
                $done
            }
            StoreName::Binding => {
                let $subject = &Binding::default();
                $done
            }
            StoreName::KeyedTtl => {
                let $subject = &KeyedTtl;
                $done
            }
        }
    };
}

/// Asks a store a question.
///
/// # Errors
/// When it hangs where nothing holds it up.
pub fn question_of(
    store: StoreName,
    question: &Question,
    stop: &dyn Fn() -> bool,
) -> Result<Figures, Failure> {
    with!(store, subject => walk(subject, question, stop))
}

/// Puts a store to a check of the suite, by its place.
///
/// # Errors
/// As every check: when the rule is broken, or cannot be checked.
pub fn verdict_of(store: StoreName, check: usize) -> Verdict {
    with!(store, subject => put_to(subject, check))
}

fn put_to<S: Subject>(subject: &S, check: usize) -> Verdict {
    let Some(check) = checks::<LocalHost<S, SimGround>>().into_iter().nth(check) else {
        return Err(Failure::NotApplicable("there is no such check".to_owned()));
    };
    (check.run)(&mut LocalHost::new(subject.clone(), SimGround::default()))
}

/// The schedule of a question that comes to this on a store with the fewest switches.
pub(super) fn shortest_of(
    store: StoreName,
    question: &Question,
    outcome: Outcome,
) -> Option<Shortest> {
    with!(store, subject => shortest(subject, question, outcome)).ok().flatten()
}

/// Plays a play on a store.
pub fn play_of(store: StoreName, told: &Play) -> End {
    with!(store, subject => play(subject, told))
}

/// Rule and name of every check.
pub(super) fn names() -> Vec<(&'static str, &'static str)> {
    let checks = checks::<LocalHost<Reference, SimGround>>();
    checks.into_iter().map(|check| (check.rule, check.name)).collect()
}
