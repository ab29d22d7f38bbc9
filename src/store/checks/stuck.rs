//! A process that stops while it holds the lock: S-12.

use std::fs::File;
use std::io::Read as _;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use skep_store::ops::StoreAnswer;
use skep_store::suite::{Failure, Host as _, Process, Verdict};

use super::super::case::{NOW, demand, not_applicable, put, violated};
use super::super::host::ProgramHost;
use super::super::race;
use skep_plan::Dice;

/// How often a process is stopped to find it with the lock.
const TRIES: u32 = 100;
/// How long another process may be delayed by a stuck one.
const MOST_DELAY: Duration = Duration::from_secs(30);
/// A process that is stopped shows it within so many looks, one a millisecond.
const LOOKS: u32 = 1_000;

/// S-12.
pub(in crate::store) fn a_stuck_holder_delays_others_only_so_long(
    host: &mut ProgramHost,
) -> Verdict {
    host.given(&[("a", "1"), ("h", "0")])?;
    let Some((holder, asked)) = caught(host)? else {
        let why = "the process was never seen with a lock of the system (flock or fcntl)";
        return not_applicable(why);
    };
    let before = host.look();
    let usual = std::mem::replace(&mut host.answer, MOST_DELAY);
    let refused = refused(host);
    let after = host.look();
    host.answer = usual;
    host.slot(holder).program.signal(Signal::CONT);
    let why = refused?;
    demand("a refused put changed the directory", before == after)?;
    let within = host.answer;
    let answer = host.slot(holder).end(&asked, within);
    let answer = answer.map_err(|trouble| host.story.trouble(holder, trouble))?;
    let what = format!("the stuck put, at last, is answered `{answer}`");
    demand(&what, answer == StoreAnswer::Done)?;
    let process = host.opened()?;
    host.done(process, put("b", "2"))?;
    Ok(format!("refused with: {why}"))
}

/// What another process is told while one is stuck. It must be able to read, too.
fn refused(host: &mut ProgramHost) -> Result<String, Failure> {
    let process = host.opened()?;
    let why = match host.apply(process, put("b", "2"), NOW)? {
        StoreAnswer::Failed(why) => why.to_string(),
        answer => {
            return violated(format!("a put past a holder of the lock is answered `{answer}`"));
        }
    };
    let found = host.sees(process, "a")?;
    demand("a get beside a stuck holder finds something else", found.as_deref() == Some("1"))?;
    host.kill(process);
    Ok(why)
}

/// A process that is stopped inside a put, with a lock: it is stopped at one moment after the other
/// until the system says that it has one.
fn caught(host: &mut ProgramHost) -> Result<Option<(Process, skep_store::ops::StoreOp)>, Failure> {
    let process = host.opened()?;
    let pid = host.slot(process).program.pid();
    let mut dice = Dice::new(host.seed ^ 13);
    let mut usual = Duration::from_millis(2);
    let within = host.answer;
    for round in 0..TRIES {
        let op = put("h", &round.to_string());
        let began = super::super::program::now();
        let slot = host.slot(process);
        slot.begin(&op, NOW, within)?;
        race::rest(&mut dice, usual);
        slot.program.signal(Signal::STOP);
        if is_stopped(pid) && holds_lock(pid) {
            host.story.act(process, "SIGSTOP within a put, holding a lock");
            return Ok(Some((process, op)));
        }
        let slot = host.slot(process);
        slot.program.signal(Signal::CONT);
        slot.end(&op, within)?;
        usual = began.elapsed().min(Duration::from_millis(50));
    }
    Ok(None)
}

fn is_stopped(pid: Pid) -> bool {
    for _ in 0..LOOKS {
        let stat = read(&format!("/proc/{}/stat", pid.as_raw_nonzero()));
        // The name in brackets may hold anything; the state follows the last bracket.
        match stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next()) {
            Some('T') => return true,
            Some('Z' | 'X') | None => return false,
            Some(_) => thread::park_timeout(Duration::from_millis(1)),
        }
    }
    false
}

/// The system's list has a line for each lock: number, kind, …, process, …; who only waits has an
/// arrow.
fn holds_lock(pid: Pid) -> bool {
    let pid = pid.as_raw_nonzero().to_string();
    read("/proc/locks").lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(1) != Some(&"->") && words.get(4) == Some(&&*pid)
    })
}

#[expect(clippy::disallowed_methods, reason = "the system tells of processes in files")]
fn read(path: &str) -> String {
    let mut text = String::new();
    // A process that is gone has no file: an empty text says so.
    let _gone = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
    text
}
