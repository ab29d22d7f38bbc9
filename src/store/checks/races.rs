//! Several processes at once: S-3, S-10, S-11, each judged as a history.

use std::collections::BTreeSet;

use skep_check::history::{Contradiction, Entry, Finding, Last, Promise, judge};
use skep_store::ops::{StoreAnswer, StoreOp};
use skep_store::suite::{Failure, Feature, Host as _, Verdict};

use super::super::case::{NOW, demand, get, put, remove, remove_if, scope, violated};
use super::super::host::ProgramHost;
use super::super::race::{self, Raced};
use skep_plan::Dice;

/// Processes in a race: enough for a third to come between two.
const PROCESSES: usize = 4;
/// Operations of each.
const OPERATIONS: usize = 50;
/// Keys that one process has for itself.
const OWN_KEYS: u32 = 6;
/// Steps of the search of one key, after which nobody knows.
const MOST_STEPS: u64 = 400_000;
/// How often two first writes meet.
const FIRST_WRITES: usize = 8;

/// S-10: each process has keys of its own, and some are killed.
pub(in crate::store) fn racing_processes_lose_nothing(host: &mut ProgramHost) -> Verdict {
    host.fresh();
    let mut dice = Dice::new(host.seed);
    let mut own = |process: usize| -> Vec<StoreOp> {
        let key = |at: u32| format!("p{process}-{at}");
        (0..OPERATIONS)
            .map(|at| match (dice.throw(8), dice.throw(OWN_KEYS)) {
                // The first key is never removed: should it vanish, nothing excuses that.
                (0, which @ 1..) => remove(&key(which)),
                (1, which) => get(&key(which)),
                (_, which) => put(&key(which), &format!("p{process}-v{at}")),
            })
            .collect()
    };
    let work = (0..PROCESSES).map(&mut own).collect();
    judged(host, work, true)
}

/// S-11: all write, read and remove the same two keys.
pub(in crate::store) fn one_key_has_one_history(host: &mut ProgramHost) -> Verdict {
    host.fresh();
    let mut dice = Dice::new(host.seed ^ 11);
    let mut shared = |process: usize| -> Vec<StoreOp> {
        (0..OPERATIONS)
            .map(|at| {
                let key = ["shared-a", "shared-b"][dice.throw(2) as usize];
                match dice.throw(8) {
                    0 => remove(key),
                    1..=3 => get(key),
                    _ => put(key, &format!("p{process}-v{at}")),
                }
            })
            .collect()
    };
    let work = (0..PROCESSES).map(&mut shared).collect();
    judged(host, work, false)
}

/// S-3: conditional removes meet puts.
pub(in crate::store) fn a_conditional_remove_decides_under_the_lock(
    host: &mut ProgramHost,
) -> Verdict {
    host.given(&[])?;
    let value = |process: usize, at: usize| format!("p{process}-v{at}");
    // Each process puts, and then tries to remove what its neighbour may have put by now.
    let one = |process: usize| -> Vec<StoreOp> {
        let pair = |at: usize| {
            let neighbour = value((process + 1) % 3, at);
            [put("a", &value(process, at)), remove_if("a", &neighbour)]
        };
        (0..OPERATIONS / 2).flat_map(pair).collect()
    };
    judged(host, (0..3).map(one).collect(), false)
}

/// S-10: two processes that are both the first. Both are open before either writes, and both are
/// asked before either has answered.
pub(in crate::store) fn two_first_writes_are_both_kept(host: &mut ProgramHost) -> Verdict {
    let writes = [("b", "2"), ("c", "3")];
    for _ in 0..FIRST_WRITES {
        host.fresh();
        let processes = [host.opened()?, host.opened()?];
        let within = host.answer;
        for (process, (key, value)) in processes.into_iter().zip(writes) {
            host.slot(process).begin(&put(key, value), NOW, within)?;
        }
        for (process, (key, value)) in processes.into_iter().zip(writes) {
            let op = put(key, value);
            let answer = host.slot(process).end(&op, within)?;
            host.story.answered(process, &op, &answer);
            let what = format!("`{op}` is answered `{answer}`");
            demand(&what, answer == StoreAnswer::Done)?;
        }
        for (key, value) in writes {
            let found = host.found(key)?;
            let what = format!("put {key}={value} was acknowledged, and {key} is {found:?}");
            demand(&what, found.as_deref() == Some(value))?;
        }
    }
    Ok(format!("{FIRST_WRITES} pairs of first writes"))
}

fn judged(host: &mut ProgramHost, work: Vec<Vec<StoreOp>>, kills: bool) -> Verdict {
    if work.iter().flatten().any(|op| matches!(op, StoreOp::RemoveIf { .. }))
        && !host.offers(Feature::RemoveIf)
    {
        let why = "the store does not offer `remove_if`";
        return Err(Failure::NotApplicable(why.to_owned()));
    }
    let processes = work.len();
    host.story.act_outside(&format!("{processes} processes at once"));
    let raced = race::history(host, &scope(), work, kills)?;
    let last = last(host, &raced.entries)?;
    let promise = if host.offers.by_clock { Promise::Clock } else { Promise::RealTime };
    match judge(&raced.entries, &last, promise, MOST_STEPS) {
        Finding::Holds => Ok(told(processes, &raced, &last)),
        Finding::Unknown(key) => {
            let why = format!("{key} has more orders than {MOST_STEPS} steps can try");
            Err(Failure::NotApplicable(why))
        }
        Finding::Broken(found) => {
            host.story.act_outside(&format!("judged {} operations", raced.entries.len()));
            contradiction(host, &found)
        }
    }
}

fn told(processes: usize, raced: &Raced, last: &Last) -> String {
    let refused = match raced.refused {
        0 => String::new(),
        count => format!(", {count} refused"),
    };
    let killed = match raced.killed {
        0 => String::new(),
        count => format!(", {count} of them killed"),
    };
    let operations = raced.entries.len();
    let keys = match last.len() {
        1 => "one key".to_owned(),
        count => format!("{count} keys"),
    };
    format!("{operations} operations by {processes} processes on {keys}{killed}{refused}")
}

/// What a new process finds under every key that anybody touched.
fn last(host: &mut ProgramHost, entries: &[Entry]) -> Result<Last, Failure> {
    let keys: BTreeSet<_> = entries.iter().map(|entry| entry.key.clone()).collect();
    let process = host.opened()?;
    let mut last = Last::new();
    for key in keys {
        let seen = host.sees(process, &key)?;
        last.insert(key, seen.map(Into::into));
    }
    host.kill(process);
    Ok(last)
}

/// Tells the fewest entries that contradict each other.
fn contradiction(host: &mut ProgramHost, found: &Contradiction) -> Verdict {
    host.story.clear();
    host.story.act_outside("what contradicts itself, with the moments of each, counted:");
    for entry in &found.entries {
        host.story.plain(&format!("{} {entry}", entry.key));
    }
    if let Some(last) = &found.last {
        let seen = last.as_deref().unwrap_or("nothing");
        host.story.plain(&format!("{} at the end, in a new process: {seen}", found.key));
    }
    violated(format!("{}: {}", found.key, found.why))
}
