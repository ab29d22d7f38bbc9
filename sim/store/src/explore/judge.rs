//! What is left of operations that met, against what they were answered.

use crate::ops::StoreOp;
use crate::suite::case::Listing;
use crate::suite::sequence::{Fate, Sequences};

/// What became of operations in one schedule, or on one disk after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// What is left is what the answered operations leave one after the other, with or without
    /// those that nobody was answered.
    Sound,
    /// An operation that was answered as done is undone (S-10, S-21).
    Lost,
    /// What is left is neither from before an operation nor from after it, or cannot be read
    /// (S-13, S-20).
    Torn,
    /// An operation failed though nothing stood in its way but another one (S-12).
    Refused,
    /// Something is left that could be, but not with these answers (S-3, S-11).
    Wrong,
    /// Operations wait for each other for ever (S-12).
    Stuck,
}

impl Outcome {
    /// All that is not sound.
    pub const FAULTS: [Self; 5] = [Self::Lost, Self::Torn, Self::Refused, Self::Wrong, Self::Stuck];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Lost => "lost",
            Self::Torn => "torn",
            Self::Refused => "refused",
            Self::Wrong => "wrong",
            Self::Stuck => "stuck",
        }
    }
}

/// Judges what is left; `None` is what cannot be read, or is warned of.
pub(crate) fn judge(
    given: &[(&str, &str)],
    ops: &[StoreOp],
    fates: &[Fate],
    after: Option<&Listing>,
) -> Outcome {
    let Some(after) = after else { return Outcome::Torn };
    let sequences = Sequences { given, ops: ops.iter().collect() };
    let those =
        |are: fn(&Fate) -> bool| (0..fates.len()).filter(|at| are(&fates[*at])).collect::<Vec<_>>();
    let (acknowledged, open) = (those(Fate::is_acknowledged), those(Fate::is_open));
    let leave = |these: &[usize], answers| sequences.leave(these, fates, answers, after);
    let with_some =
        |answers| subsets(&open).iter().any(|some| leave(&joined(&acknowledged, some), answers));
    if with_some(true) {
        return if those(Fate::is_refused).is_empty() { Outcome::Sound } else { Outcome::Refused };
    }
    if with_some(false) {
        return Outcome::Wrong;
    }
    let begun = joined(&acknowledged, &open);
    if subsets(&begun).iter().any(|some| leave(some, false)) {
        return Outcome::Lost;
    }
    Outcome::Torn
}

fn joined(some: &[usize], others: &[usize]) -> Vec<usize> {
    [some, others].concat()
}

/// Every subset; there are three operations at most.
fn subsets(these: &[usize]) -> Vec<Vec<usize>> {
    let Some((last, rest)) = these.split_last() else { return vec![Vec::new()] };
    let without = subsets(rest);
    let with = without.iter().map(|some| joined(some, &[*last]));
    with.chain(without.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::question::questions;
    use crate::ops::StoreAnswer;

    fn fate(began: usize, ended: Option<usize>) -> Fate {
        Fate { began, answer: ended.map(|ended| (ended, StoreAnswer::Done)) }
    }

    fn of_two_puts(fates: &[Fate], left: &[(&str, &str)]) -> Outcome {
        let question = questions().into_iter().find(|one| one.name == "puts").unwrap();
        let own = |(channel, session): &(&str, &str)| (channel.to_string(), session.to_string());
        judge(question.given, &question.ops, fates, Some(&left.iter().map(own).collect()))
    }

    #[test]
    fn what_was_answered_must_be_left() {
        let both = [fate(0, Some(5)), fate(1, Some(6))];
        assert_eq!(of_two_puts(&both, &[("a", "1"), ("b", "2"), ("c", "3")]), Outcome::Sound);
        assert_eq!(of_two_puts(&both, &[("a", "1"), ("c", "3")]), Outcome::Lost);
        assert_eq!(of_two_puts(&both, &[("b", "2")]), Outcome::Torn);
    }

    #[test]
    fn what_was_not_answered_may_be_left() {
        let open = [fate(0, Some(5)), fate(1, None)];
        assert_eq!(of_two_puts(&open, &[("a", "1"), ("b", "2")]), Outcome::Sound);
        assert_eq!(of_two_puts(&open, &[("a", "1"), ("b", "2"), ("c", "3")]), Outcome::Sound);
        assert_eq!(of_two_puts(&open, &[("a", "1"), ("c", "3")]), Outcome::Lost);
    }

    #[test]
    fn a_refusal_changes_nothing() {
        let failed = StoreAnswer::Failed("no".into());
        let fates = [fate(0, Some(5)), Fate { began: 1, answer: Some((6, failed)) }];
        assert_eq!(of_two_puts(&fates, &[("a", "1"), ("b", "2")]), Outcome::Refused);
        assert_eq!(of_two_puts(&fates, &[("a", "1"), ("b", "2"), ("c", "3")]), Outcome::Torn);
    }
}
