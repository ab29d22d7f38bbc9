//! Every write, sync and rename of a put, killed and failed in turn: crash points of a real process.
//!
//! A first run, which nothing disturbs, is watched: its calls on the state directory between the
//! answer to `open` and the answer to the put are the points. Then the same put is done once for
//! each point, with `strace` doing one thing to one call, and a new process looks at what is left.

use skep_store::ops::StoreAnswer;
use skep_store::suite::{Failure, Host as _, Verdict};

use super::case::{NOW, demand, put, scope, violated};
use super::checks::syncs::{calls_of_a_put, read, show};
use super::host::ProgramHost;
use super::point::{Family, Point};
use super::strace::{Call, traced};

/// What the put under test writes over `2`: longer, so that the file grows.
const LONGER: &str = "a-longer-session-than-before";

/// What a disturbed put came to.
struct Disturbed {
    /// `None`: its process died.
    answer: Option<StoreAnswer>,
    /// What a new process finds of it.
    found: Option<String>,
    /// The call that was disturbed, and what followed; empty if it never came.
    calls: Vec<Call>,
}

/// S-20: a kill before each call leaves the old receipts or the new ones, and hinders nobody.
pub(super) fn killed_at_every_call(host: &mut ProgramHost) -> Verdict {
    let points = points(host)?;
    let (mut old, mut new) = (0, 0);
    for point in &points {
        let seen = disturb(host, &point.killed())?;
        if seen.calls.is_empty() {
            continue;
        }
        let what = format!("killed before {}", told(point));
        match seen.found.as_deref() {
            Some("2") => old += 1,
            Some(LONGER) => new += 1,
            other => return broken(host, &seen, format!("{what}: b is {other:?}")),
        }
        if seen.answer == Some(StoreAnswer::Done) && seen.found.as_deref() == Some("2") {
            return broken(host, &seen, format!("{what}, after it was acknowledged: b is 2"));
        }
        takes_a_put(host)?;
    }
    demand("no kill hit the call that it was meant for", old + new > 0)?;
    let (hit, all) = (old + new, points.len());
    Ok(format!("{hit} of {all} points: {old} left the old receipts, {new} the new"))
}

/// S-33: each write, sync and rename fails once; that is told, and the old content survives.
pub(super) fn every_call_fails_once(host: &mut ProgramHost) -> Verdict {
    let points = points(host)?;
    let mut tried = 0;
    for point in &points {
        for error in point.errors() {
            let seen = disturb(host, &point.failing(error))?;
            if !seen.calls.is_empty() {
                fails_cleanly(host, point, error, &seen)?;
                tried += 1;
            }
            takes_a_put(host)?;
        }
    }
    demand("no call could be made to fail", tried > 0)?;
    Ok(format!("{tried} failures of {} calls, each reported", points.len()))
}

fn fails_cleanly(
    host: &mut ProgramHost,
    point: &Point,
    error: &str,
    seen: &Disturbed,
) -> Result<(), Failure> {
    let what = format!("{error} from {}", told(point));
    let found = seen.found.as_deref();
    match &seen.answer {
        None => broken(host, seen, format!("{what}: its process ends")),
        Some(StoreAnswer::Failed(_)) => {
            let whole = found == Some("2") || point.after_rename && found == Some(LONGER);
            if whole { Ok(()) } else { broken(host, seen, format!("{what}: b is {found:?}")) }
        }
        // It may have tried again, with better luck.
        Some(StoreAnswer::Done) if again(seen) && found == Some(LONGER) => Ok(()),
        Some(answer) => {
            broken(host, seen, format!("{what} is answered `{answer}`; b is {found:?}"))
        }
    }
}

/// The call that failed was done again and worked.
fn again(seen: &Disturbed) -> bool {
    let Some(failed) = seen.calls.first() else { return false };
    seen.calls[1..].iter().any(|call| call.name == failed.name && !call.failed)
}

/// S-21: a sync that lies once (the store believes it) changes nothing that a kill could show.
pub(super) fn every_sync_lies(host: &mut ProgramHost) -> Verdict {
    let points = points(host)?;
    let syncs: Vec<_> = points.iter().filter(|point| point.family == Family::Sync).collect();
    if syncs.is_empty() {
        return super::case::not_applicable("nothing is synced");
    }
    for point in &syncs {
        let seen = disturb(host, &point.lying())?;
        let done = seen.answer == Some(StoreAnswer::Done) && seen.found.as_deref() == Some(LONGER);
        if !done {
            let found = &seen.found;
            return broken(host, &seen, format!("{} lies: b is {found:?}", told(point)));
        }
    }
    let count = syncs.len();
    Ok(format!("{count} syncs did nothing and said so; nobody can cut the power afterwards"))
}

fn told(point: &Point) -> String {
    format!("{} number {} of the process", point.name, point.nth)
}

/// The points of a put that nothing disturbs.
fn points(host: &mut ProgramHost) -> Result<Vec<Point>, Failure> {
    let calls = calls_of_a_put(host, &put("b", LONGER))?;
    let state = host.ground.state();
    let points = Point::of(calls.iter().filter(|call| call.is_below(&state)));
    if points.is_empty() {
        return super::case::not_applicable("a put makes no call that could be disturbed");
    }
    Ok(points)
}

/// Puts with one call disturbed, ends the process, and looks at what is left.
fn disturb(host: &mut ProgramHost, inject: &str) -> Result<Disturbed, Failure> {
    host.given(&[("a", "1"), ("b", "2")])?;
    let strace = host.strace.clone().expect("the points were found with it");
    let log = host.ground.beside().join("calls");
    let launch = traced(&host.launch, &strace, &log, Some(inject));
    host.story.act_outside(&format!("strace -e inject={inject}"));
    let process = host.open_with(&launch, &scope(), NOW)?;
    let within = host.answer;
    let op = put("b", LONGER);
    let mut opened = host.take(process);
    let answer = opened.begin(&op, NOW, within).and_then(|()| opened.end(&op, within)).ok();
    let said = answer.as_ref().map_or_else(|| "its process ends".to_owned(), ToString::to_string);
    host.story.act(process, &format!("{op}: {said}"));
    if answer.is_some() {
        opened.retire(within)?;
    }
    let calls = read(host, &log)?;
    let state = host.ground.state();
    let from = calls
        .iter()
        .position(|call| (call.injected || call.text.ends_with("= ?")) && call.is_below(&state));
    let calls = from.map_or_else(Vec::new, |at| calls[at..].to_vec());
    let found = host.all_found(&["a", "b"])?;
    demand("a is not what it was before", found[0].as_deref() == Some("1"))?;
    Ok(Disturbed { answer, found: found[1].clone(), calls })
}

/// Whatever happened to the last process, the next one can work.
fn takes_a_put(host: &mut ProgramHost) -> Result<(), Failure> {
    let process = host.opened()?;
    host.done(process, put("c", "3"))?;
    host.kill(process);
    Ok(())
}

fn broken<T>(host: &mut ProgramHost, seen: &Disturbed, what: String) -> Result<T, Failure> {
    show(host, &seen.calls);
    violated(what)
}
