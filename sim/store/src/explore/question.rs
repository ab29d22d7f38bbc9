//! Which operations meet.

use crate::ops::StoreOp;
use crate::suite::case::{get, put, remove, remove_if};

/// How far the schedules of a question are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every order of all system calls.
    Complete,
    /// Every order in which at most so many times one process is left, though it could go on, for
    /// another.
    Preemptions(u32),
}

/// Operations of a few processes on a few receipts.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its name.
    pub name: &'static str,
    /// What happens, for a person: `2 writers × 1 put each`.
    pub what: &'static str,
    /// What is there before, durably: channel and session.
    pub given: &'static [(&'static str, &'static str)],
    /// What happens at once, each in a process of its own.
    pub ops: Vec<StoreOp>,
    /// How far its schedules are followed.
    pub extent: Extent,
    /// At every point of every schedule the power is cut, and every disk looked at.
    pub cuts: bool,
    /// At every point of every schedule one of the processes may be killed, and the others go on.
    pub kills: bool,
}

/// Three writers need no more than this to lose an update, and a few thousand schedules have it.
const PREEMPTIONS: u32 = 2;

const ONE: &[(&str, &str)] = &[("a", "1")];
const TWO: &[(&str, &str)] = &[("a", "1"), ("z", "26")];

/// Every question, the small ones first.
pub fn questions() -> Vec<Question> {
    let question = |name, what, given, ops| Question {
        name,
        what,
        given,
        ops,
        extent: Extent::Complete,
        cuts: false,
        kills: false,
    };
    let cut = |question| Question { cuts: true, ..question };
    let mut questions = vec![
        cut(question("put", "1 writer × 1 put", ONE, vec![put("b", "2")])),
        cut(question("first-put", "1 writer × the first put of all", &[], vec![put("b", "2")])),
        cut(question("overwrite", "1 writer × 1 put over a receipt", TWO, vec![put("a", "2")])),
        cut(question("remove", "1 writer × 1 remove", TWO, vec![remove("a")])),
        cut(question("remove-if", "1 writer × 1 remove_if", TWO, vec![remove_if("a", "1")])),
        cut(question("puts", "2 writers × 1 put each", ONE, two(put("b", "2"), put("c", "3")))),
        cut(question(
            "same-key",
            "2 writers × 1 put of one key",
            ONE,
            two(put("a", "2"), put("a", "3")),
        )),
        cut(question(
            "put-and-remove",
            "a writer and a remover",
            ONE,
            two(put("b", "2"), remove("a")),
        )),
        cut(question(
            "put-and-remove-if",
            "a writer and a remove_if of one key",
            ONE,
            two(put("a", "2"), remove_if("a", "1")),
        )),
        cut(question(
            "remove-ifs",
            "2 remove_ifs of one key",
            ONE,
            two(remove_if("a", "1"), remove_if("a", "1")),
        )),
        question("put-and-get", "a writer and a reader", ONE, two(put("a", "2"), get("a"))),
        question(
            "first-puts",
            "2 writers × the first put of all",
            &[],
            two(put("b", "2"), put("c", "3")),
        ),
    ];
    questions.push(Question {
        kills: true,
        ..question("puts-and-a-kill", "2 writers, 1 killed", ONE, two(put("b", "2"), put("c", "3")))
    });
    let three = vec![put("b", "2"), put("c", "3"), remove("a")];
    questions.push(Question {
        extent: Extent::Preemptions(PREEMPTIONS),
        ..question("three", "3 writers: 2 puts, 1 remove", ONE, three)
    });
    questions
}

fn two(one: StoreOp, other: StoreOp) -> Vec<StoreOp> {
    vec![one, other]
}
