//! SIGKILL at moments that the seed chooses: S-12, S-20, S-21.

use std::time::Duration;

use skep_store::ops::StoreOp;
use skep_store::suite::{Failure, Host as _, Process, Verdict};

use super::super::case::{NOW, demand, put, remove, violated};
use super::super::host::ProgramHost;
use super::super::program::now;
use super::super::race;
use skep_plan::Dice;

/// How often each operation is killed.
const ROUNDS: usize = 12;

/// S-20.
pub(in crate::store) fn a_kill_leaves_the_old_receipts_or_the_new(
    host: &mut ProgramHost,
) -> Verdict {
    let mut dice = Dice::new(host.seed ^ 20);
    let (mut old, mut new) = (0, 0);
    for round in 0..ROUNDS {
        host.given(&[("a", "1"), ("b", "2")])?;
        let longer = "a-longer-session-than-before".repeat(20);
        let (op, after) = match round % 3 {
            0 => (remove("a"), [None, Some("2".to_owned())]),
            _ => (put("b", &longer), [Some("1".to_owned()), Some(longer.clone())]),
        };
        killed_within(host, &op, &mut dice)?;
        let seen = host.all_found(&["a", "b"])?;
        let before = [Some("1".to_owned()), Some("2".to_owned())];
        if seen == before {
            old += 1;
        } else if seen == after {
            new += 1;
        } else {
            let what = format!("a and b are {seen:?} after a kill within `{op}`");
            return violated(crate::report::clean::fit(&what, 200));
        }
        let process = host.opened()?;
        host.done(process, put("c", "3"))?;
    }
    Ok(format!("{ROUNDS} kills: {old} left the old receipts, {new} the new, all took a put"))
}

/// S-21.
pub(in crate::store) fn what_was_acknowledged_survives_a_kill(host: &mut ProgramHost) -> Verdict {
    host.given(&[("a", "0")])?;
    for round in 1..=ROUNDS {
        let process = host.opened()?;
        let value = round.to_string();
        let op = if round % 4 == 0 { remove("a") } else { put("a", &value) };
        host.done(process, op.clone())?;
        host.kill(process);
        let found = host.found("a")?;
        let expected = (round % 4 != 0).then_some(value);
        let what = format!("`{op}` was acknowledged, then killed: {found:?}");
        demand(&what, found == expected)?;
    }
    Ok(format!("{ROUNDS} kills right after an answer"))
}

/// S-12: whatever a dead process held, the next one gets.
pub(in crate::store) fn a_lock_dies_with_its_holder(host: &mut ProgramHost) -> Verdict {
    let mut dice = Dice::new(host.seed ^ 12);
    host.given(&[("a", "1")])?;
    for round in 0..ROUNDS {
        killed_within(host, &put("a", &format!("killed-{round}")), &mut dice)?;
        let process = host.opened()?;
        host.done(process, put("b", &round.to_string()))?;
        host.kill(process);
    }
    let found = host.found("b")?;
    demand("the last put is not there", found == Some((ROUNDS - 1).to_string()))?;
    Ok(format!("{ROUNDS} processes killed within a put, each followed by another's"))
}

/// Begins an operation in a new process and kills it at some moment of the time that it usually
/// takes.
pub(super) fn killed_within(
    host: &mut ProgramHost,
    op: &StoreOp,
    dice: &mut Dice,
) -> Result<(), Failure> {
    let process = host.opened()?;
    let usual = usual(host, process)?;
    let mut opened = host.take(process);
    opened.begin(op, NOW, host.answer).map_err(Failure::from)?;
    race::rest(dice, usual);
    opened.program.kill();
    host.story.act(process, &format!("{op}: SIGKILL before its answer was read"));
    Ok(())
}

/// How long a write takes here: one that changes nothing that the checks look at.
fn usual(host: &mut ProgramHost, process: Process) -> Result<Duration, Failure> {
    let began = now();
    host.done(process, put("measured", "x"))?;
    Ok(began.elapsed())
}
