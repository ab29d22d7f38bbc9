//! Operations one after the other: what may be left after several that met.

use std::collections::BTreeMap;

use super::case::Listing;
use crate::ops::{Lookup, StoreAnswer, StoreOp};

/// What became of one operation.
#[derive(Clone, Debug)]
pub(crate) struct Fate {
    /// The step, counted over all, of its first act; the largest number before it.
    pub(crate) began: usize,
    /// The step of its end, and its answer.
    pub(crate) answer: Option<(usize, StoreAnswer)>,
}

impl Fate {
    /// It was answered that it is done.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.answer.is_some() && !self.is_refused()
    }

    /// It was answered that it could not be done.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.answer, Some((_, StoreAnswer::Failed(_))))
    }

    /// It has done something, and was not answered.
    pub(crate) fn is_open(&self) -> bool {
        self.answer.is_none() && self.began != usize::MAX
    }
}

/// Receipts, and operations that meet.
pub(crate) struct Sequences<'a> {
    pub(crate) given: &'a [(&'a str, &'a str)],
    pub(crate) ops: Vec<&'a StoreOp>,
}

impl Sequences<'_> {
    /// These operations in some order leave these receipts, no operation before one that had ended
    /// when it began; where `answers` count, with the answers that they had.
    pub(crate) fn leave(
        &self,
        these: &[usize],
        fates: &[Fate],
        answers: bool,
        after: &Listing,
    ) -> bool {
        orders(these).iter().filter(|order| allows(order, fates)).any(|order| {
            let mut model = Model::new(self.given);
            let fits = |at: &usize| {
                let answer = model.apply(self.ops[*at]);
                let seen = fates[*at].answer.as_ref();
                !answers || seen.is_none_or(|(_, seen)| *seen == answer)
            };
            order.iter().all(fits) && model.listing() == *after
        })
    }
}

/// Whether the order keeps to what had ended before another began.
fn allows(order: &[usize], fates: &[Fate]) -> bool {
    let ended = |at: usize| fates[at].answer.as_ref().map_or(usize::MAX, |end| end.0);
    order.iter().enumerate().all(|(place, later)| {
        order[..place].iter().all(|earlier| ended(*later) >= fates[*earlier].began)
    })
}

/// Every order of these.
fn orders(these: &[usize]) -> Vec<Vec<usize>> {
    let Some((last, rest)) = these.split_last() else { return vec![Vec::new()] };
    let with_last = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| [&order[..at], &[*last], &order[at..]].concat())
    };
    orders(rest).into_iter().flat_map(with_last).collect()
}

/// What a store is: channel and session. It knows no file, no lock and no second process.
struct Model {
    sessions: BTreeMap<String, String>,
}

impl Model {
    fn new(given: &[(&str, &str)]) -> Self {
        let own = |(channel, session): &(&str, &str)| (channel.to_string(), session.to_string());
        Self { sessions: given.iter().map(own).collect() }
    }

    fn apply(&mut self, op: &StoreOp) -> StoreAnswer {
        match op {
            StoreOp::Get { key, .. } => StoreAnswer::Got(match self.sessions.get(&*key.channel) {
                Some(session) => Lookup::Found { session: session.as_str().into() },
                None => Lookup::Absent,
            }),
            StoreOp::Put { key, session, .. } => {
                self.sessions.insert(key.channel.to_string(), session.to_string());
                StoreAnswer::Done
            }
            StoreOp::Remove { key } => {
                self.sessions.remove(&*key.channel);
                StoreAnswer::Done
            }
            StoreOp::RemoveIf { key, expected } => {
                let fits = self.sessions.get(&*key.channel).is_some_and(|id| **expected == **id);
                if fits {
                    self.sessions.remove(&*key.channel);
                }
                StoreAnswer::Removed(fits)
            }
            StoreOp::RemoveChannel { channel } => {
                self.sessions.remove(&**channel);
                StoreAnswer::Done
            }
        }
    }

    fn listing(&self) -> Listing {
        self.sessions.clone().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once() {
        let mut orders = orders(&[4, 5, 6]);
        orders.sort();
        assert_eq!(orders.len(), 6);
        orders.dedup();
        assert_eq!(orders.len(), 6);
    }
}
