//! Several processes at once: S-10 to S-13, and S-3 between two of them.

use super::case::{Case, NOW, demand, get, got, put, remove, remove_if, same, scope, violated};
use super::explore::{Meeting, every_schedule, some_schedules};
use super::host::{Failure, Host, Step, Verdict};
use crate::ops::{StoreAnswer, StoreOp};

/// Schedules of three writers and a reader: too many for all of them.
const SAMPLES: u64 = 2_000;

fn meetings<H: Host>(
    host: &mut H,
    given: &[(&str, &str)],
    pairs: &[[StoreOp; 2]],
) -> Result<u64, Failure> {
    let mut schedules = 0;
    for ops in pairs {
        schedules += every_schedule(host, &Meeting { given, ops })?;
    }
    Ok(schedules)
}

/// S-10.
pub(super) fn no_update_of_another_key_is_lost<H: Host>(host: &mut H) -> Verdict {
    let pairs = [
        [put("b", "2"), put("c", "3")],
        [put("b", "2"), remove("a")],
        [remove("a"), remove_if("z", "26")],
    ];
    let schedules = meetings(host, &[("a", "1"), ("z", "26")], &pairs)?;
    Ok(format!("{schedules} schedules of {} pairs", pairs.len()))
}

/// S-10, the first write of all: the directory is made by both.
pub(super) fn two_first_writes_are_both_kept<H: Host>(host: &mut H) -> Verdict {
    let schedules = meetings(host, &[], &[[put("b", "2"), put("c", "3")]])?;
    Ok(format!("{schedules} schedules of two first writes"))
}

/// S-10, more of them.
pub(super) fn three_writers_and_a_reader_agree<H: Host>(host: &mut H) -> Verdict {
    let ops = [put("b", "2"), remove("a"), put("c", "3"), get("z")];
    let meeting = Meeting { given: &[("a", "1"), ("z", "26")], ops: &ops };
    let schedules = some_schedules(host, &meeting, SAMPLES)?;
    Ok(format!("{schedules} schedules of three writers and a reader"))
}

/// S-10, with threads where there are any: everything that was acknowledged is there.
pub(super) fn racing_threads_lose_nothing<H: Host>(host: &mut H) -> Verdict {
    const THREADS: usize = 4;
    const PUTS: usize = 12;
    host.fresh();
    let channel = |thread: usize, at: usize| format!("t{thread}-{at}");
    let list = |thread| (0..PUTS).map(|at| put(&channel(thread, at), "s")).collect();
    let answers = host.race(&scope(), (0..THREADS).map(list).collect())?;
    for answer in answers.iter().flatten() {
        same("a put among threads", answer, &StoreAnswer::Done)?;
    }
    same("receipts after the race", &host.listing()?.len(), &(THREADS * PUTS))?;
    Ok(format!("{THREADS} threads with {PUTS} puts each"))
}

/// S-11.
pub(super) fn one_key_has_one_history<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1")])?;
    let process = host.opened()?;
    host.done(process, put("a", "2"))?;
    host.found_anew("a", Some("2"))?;
    let pairs = [
        [put("a", "2"), put("a", "3")],
        [put("a", "2"), remove("a")],
        [put("a", "2"), get("a")],
        [remove("a"), get("a")],
    ];
    let schedules = meetings(host, &[("a", "1")], &pairs)?;
    Ok(format!("{schedules} schedules of {} pairs", pairs.len()))
}

/// S-3, while another process writes: what it wrote is never removed in place of what was there.
pub(super) fn a_conditional_remove_decides_under_the_lock<H: Host>(host: &mut H) -> Verdict {
    let pairs = [[remove_if("a", "1"), put("a", "2")], [remove_if("a", "1"), remove_if("a", "1")]];
    let schedules = meetings(host, &[("a", "1")], &pairs)?;
    Ok(format!("{schedules} schedules of {} pairs", pairs.len()))
}

/// S-12.
pub(super) fn a_lock_dies_with_its_holder<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1")])?;
    let holder = host.holder()?;
    host.kill(holder);
    let process = host.opened()?;
    host.done(process, put("b", "2"))?;
    same("after a holder's death", &host.listing()?.len(), &2)?;
    Ok("a holder killed".to_owned())
}

/// S-12.
pub(super) fn a_stuck_holder_delays_others_only_so_long<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1")])?;
    let holder = host.holder()?;
    let before = host.look();
    let process = host.opened()?;
    let why = host.refused(process, put("b", "2"))?;
    same("the directory after a refused put", &host.look(), &before)?;
    host.expect(process, get("a"), &got(Some("1")))?;
    same("the stuck holder, at last", &host.finish(holder)?, &StoreAnswer::Done)?;
    host.done(process, put("b", "2"))?;
    Ok(format!("refused with: {why}"))
}

/// S-13: whoever looks at any moment of a write sees it whole, from before or from after.
pub(super) fn no_reader_sees_half_a_file<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1"), ("b", "2")])?;
    let process = host.opened()?;
    let after = vec![("a".to_owned(), "1".to_owned()), ("b".to_owned(), "three".to_owned())];
    let before = host.listing()?;
    host.begin(process, put("b", "three"), NOW)?;
    let mut moments = 0;
    loop {
        let step = host.step(process);
        let seen = host.listing()?;
        moments += 1;
        match step {
            Step::Done(_) => {
                same("after the write", &seen, &after)?;
                break;
            }
            Step::Before(op) => {
                let what = format!("before {op:?} a reader sees {seen:?}");
                demand(&what, seen == before || seen == after)?;
            }
        }
    }
    Ok(format!("{moments} moments of a write"))
}

/// S-13, with threads where there are any.
pub(super) fn racing_readers_see_whole_files<H: Host>(host: &mut H) -> Verdict {
    const READS: usize = 200;
    host.given(&[("kept", "always")])?;
    let writes = (0..READS / 8).map(|at| put("c", &format!("{at}"))).collect();
    let reads = || vec![get("kept"); READS];
    let answers = host.race(&scope(), vec![writes, reads(), reads()])?;
    for answer in &answers[1..].concat() {
        if *answer != got(Some("always")) {
            return violated(format!("a racing reader is answered {answer:?}"));
        }
    }
    Ok(format!("{} reads beside {} writes", 2 * READS, READS / 8))
}
