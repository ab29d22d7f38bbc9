//! Kills and power cuts at every step of every operation: S-20 to S-23.

use std::collections::BTreeSet;

use skep_trace::EntryKind;

use super::case::{Case, Listing, MOST_STEPS, NOW, demand, put, remove, remove_if, same, violated};
use super::host::{Edit, Failure, Host, Process, STATE, Step, Verdict};
use crate::ops::{StoreAnswer, StoreOp};
use crate::volume::Op;

/// An operation to be interrupted, and what is there before it.
struct Victim {
    given: &'static [(&'static str, &'static str)],
    op: StoreOp,
}

/// Enough receipts for a file of several sectors, any of which may be lost.
const MANY: &[(&str, &str)] = &[
    ("m0", "session-0"),
    ("m1", "session-1"),
    ("m2", "session-2"),
    ("m3", "session-3"),
    ("m4", "session-4"),
    ("m5", "session-5"),
    ("m6", "session-6"),
    ("m7", "session-7"),
    ("m8", "session-8"),
    ("m9", "session-9"),
];

fn victims() -> [Victim; 5] {
    [
        Victim { given: MANY, op: put("m4", "a-longer-session-than-before") },
        Victim { given: &[("a", "1"), ("b", "2")], op: put("b", "a-longer-session-than-before") },
        Victim { given: &[], op: put("first", "of-all") },
        Victim { given: &[("a", "1"), ("b", "2")], op: remove("a") },
        Victim { given: &[("a", "1"), ("b", "2")], op: remove_if("b", "2") },
    ]
}

/// How often something was interrupted.
#[derive(Default)]
struct Count {
    kills: usize,
    disks: usize,
}

impl Count {
    fn told(&self) -> String {
        if self.disks == 0 {
            return format!("{} kills; nobody can cut the power here", self.kills);
        }
        format!("{} kills, {} disks after power cuts", self.kills, self.disks)
    }
}

/// The receipts before and after an operation that nothing interrupts.
fn undisturbed<H: Host>(host: &mut H, victim: &Victim) -> Result<(Listing, Listing), Failure> {
    host.given(victim.given)?;
    let before = host.listing()?;
    let process = host.opened()?;
    host.apply(process, victim.op.clone(), NOW)?;
    Ok((before, host.listing()?))
}

/// Brings an operation to where so many of its steps are done; says whether it is complete.
fn stop_after<H: Host>(
    host: &mut H,
    victim: &Victim,
    steps: usize,
) -> Result<(Process, bool), Failure> {
    host.given(victim.given)?;
    let process = host.opened()?;
    host.begin(process, victim.op.clone(), NOW)?;
    for _ in 0..=steps {
        if let Step::Done(_) = host.step(process) {
            return Ok((process, true));
        }
    }
    Ok((process, false))
}

fn is_one_of(seen: &Listing, allowed: &[&Listing], when: &str) -> Result<(), Failure> {
    demand(&format!("{when}: {seen:?}, not one of {allowed:?}"), allowed.contains(&seen))
}

/// S-20.
pub(super) fn a_crash_leaves_the_old_file_or_the_new_one<H: Host>(host: &mut H) -> Verdict {
    let mut count = Count::default();
    for victim in victims() {
        let (before, after) = undisturbed(host, &victim)?;
        for steps in 0.. {
            let when = format!("{:?} crashed after {steps} steps", victim.op);
            let (process, complete) = stop_after(host, &victim, steps)?;
            count.disks += host.cut(&mut |host| {
                is_one_of(&host.listing()?, &[&before, &after], &format!("{when}, without power"))
            })?;
            host.kill(process);
            count.kills += 1;
            is_one_of(&host.listing()?, &[&before, &after], &when)?;
            if complete {
                break;
            }
        }
    }
    Ok(count.told())
}

/// S-21.
pub(super) fn what_was_acknowledged_survives<H: Host>(host: &mut H) -> Verdict {
    let mut count = Count::default();
    for victim in victims() {
        let (_, after) = undisturbed(host, &victim)?;
        let (process, complete) = stop_after(host, &victim, MOST_STEPS)?;
        demand("an operation that nothing interrupts ends", complete)?;
        count.disks += host
            .cut(&mut |host| same("acknowledged, then without power", &host.listing()?, &after))?;
        host.kill(process);
        count.kills += 1;
        same("acknowledged, then killed", &host.listing()?, &after)?;
    }
    Ok(count.told())
}

/// S-21, when one process is killed and another one does the same again: what the second
/// acknowledges must not rest on what the first left in the page cache only.
pub(super) fn what_another_left_undone_is_made_durable<H: Host>(host: &mut H) -> Verdict {
    let mut count = Count::default();
    for victim in victims() {
        let (_, after) = undisturbed(host, &victim)?;
        for steps in 0.. {
            let (process, complete) = stop_after(host, &victim, steps)?;
            host.kill(process);
            count.kills += 1;
            let second = host.opened()?;
            let answer = host.apply(second, victim.op.clone(), NOW)?;
            if answer == StoreAnswer::Removed(false) {
                // It promises nothing about what it did not do.
                break;
            }
            let when = format!("{:?} killed after {steps} steps, done again", victim.op);
            count.disks += host.cut(&mut |host| same(&when, &host.listing()?, &after))?;
            if complete {
                break;
            }
        }
    }
    Ok(count.told())
}

/// S-22.
pub(super) fn leftovers_are_ignored_and_go<H: Host>(host: &mut H) -> Verdict {
    let victim = Victim { given: &[("a", "1")], op: put("b", "2") };
    host.given(victim.given)?;
    let clean = host.names();
    let mut leftovers = BTreeSet::new();
    for steps in 0.. {
        let (process, complete) = stop_after(host, &victim, steps)?;
        host.kill(process);
        let left: Vec<String> = extra(&host.names(), &clean);
        host.listing()?;
        let next = host.opened()?;
        host.done(next, put("c", "3"))?;
        let what = format!("names left after {steps} steps and another write");
        same(&what, &extra(&host.names(), &clean), &Vec::new())?;
        leftovers.extend(left);
        if complete {
            break;
        }
    }
    Ok(format!("{} leftover names seen, none for good", leftovers.len()))
}

fn extra(names: &[String], known: &[String]) -> Vec<String> {
    names.iter().filter(|name| !known.contains(name)).cloned().collect()
}

/// S-23: two processes and two writes of each never use a temporary name twice.
pub(super) fn temporary_names_are_unique<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1")])?;
    let clean = host.names();
    let processes = [host.opened()?, host.opened()?];
    let mut seen = BTreeSet::new();
    for at in 0..4 {
        let process = processes[at % 2];
        host.begin(process, put("b", &format!("{at}")), NOW)?;
        for name in fleeting(host, process, &clean)? {
            if !seen.insert(name.clone()) {
                return violated(format!("the temporary name {name} is used again"));
            }
        }
    }
    Ok(format!("{} temporary names in 4 writes", seen.len()))
}

/// Finishes an operation; says which names came and went.
fn fleeting<H: Host>(
    host: &mut H,
    process: Process,
    clean: &[String],
) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    loop {
        let step = host.step(process);
        names.extend(extra(&host.names(), clean));
        if let Step::Done(answer) = step {
            same("a put in steps", &answer, &StoreAnswer::Done)?;
            return Ok(names);
        }
    }
}

/// S-23: what already stands at the temporary name is neither written to nor followed.
pub(super) fn a_taken_temporary_name_is_left_alone<H: Host>(host: &mut H) -> Verdict {
    let names = next_temporary_names(host)?;
    if names.is_empty() || names != next_temporary_names(host)? {
        let why = "the next temporary name cannot be foretold";
        return Err(Failure::NotApplicable(why.to_owned()));
    }
    for name in &names {
        let path = format!("{STATE}/{name}");
        write_with(host, &|host| host.edit(Edit::Link(&path, PRECIOUS)))?;
        let kind = host.kind(PRECIOUS);
        same("the target of a link at the temporary name", &kind, &Some(precious()))?;
        write_with(host, &|host| host.edit(Edit::File(&path, b"precious", 0o640)))?;
        let kind = host.kind(&path);
        let what = format!("what stood at the temporary name is now {kind:?}");
        demand(&what, kind.is_none_or(|kind| kind == precious()))?;
        same("receipts after a taken name", &host.listing()?.len(), &2)?;
    }
    Ok(format!("a link and a file at {} name", names.len()))
}

const PRECIOUS: &str = "precious";

fn precious() -> EntryKind {
    EntryKind::file(b"precious")
}

fn next_temporary_names<H: Host>(host: &mut H) -> Result<BTreeSet<String>, Failure> {
    host.given(&[("a", "1")])?;
    let clean = host.names();
    let process = host.opened()?;
    host.begin(process, put("b", "2"), NOW)?;
    fleeting(host, process, &clean)
}

/// Writes, and plants something each time before anything is made.
fn write_with<H: Host>(
    host: &mut H,
    plant: &dyn Fn(&mut H) -> Result<(), Failure>,
) -> Result<(), Failure> {
    host.given(&[("a", "1")])?;
    host.edit(Edit::File(PRECIOUS, b"precious", 0o640))?;
    let process = host.opened()?;
    host.begin(process, put("b", "2"), NOW)?;
    loop {
        match host.step(process) {
            Step::Before(Op::Create) => plant(host)?,
            Step::Before(_) => {}
            Step::Done(answer) => return same("a put in steps", &answer, &StoreAnswer::Done),
        }
    }
}
