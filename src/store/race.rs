//! Several processes at once, each with a thread of ours that asks it; what they do is a history.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use skep_check::history::{Entry, Op, Result as Outcome};
use skep_plan::Dice;
use skep_store::ops::{Lookup, StoreAnswer, StoreOp};
use skep_store::suite::{Failure, Scope};
use skep_trace::Text;

use super::case::NOW;
use super::host::{Opened, ProgramHost};
use super::program::{Launch, now};
use super::trouble::Trouble;

/// Of so many operations one is killed before its answer, where a race kills.
const KILLS: u32 = 12;

/// What every racer needs.
struct Track<'a> {
    launch: &'a Launch,
    dir: String,
    scope: Scope,
    within: Duration,
    /// The next moment.
    moments: AtomicU64,
}

/// A history, and what there is to say of how it came about.
pub(super) struct Raced {
    pub(super) entries: Vec<Entry>,
    pub(super) killed: usize,
    pub(super) refused: usize,
}

/// Runs each list in a process of its own, all at the same time; nobody is killed.
///
/// # Errors
/// When one of them does not keep to the protocol.
pub(super) fn all(
    host: &ProgramHost,
    scope: &Scope,
    work: Vec<Vec<StoreOp>>,
) -> Result<Vec<Vec<StoreAnswer>>, Failure> {
    let track = Track::of(host, scope);
    let one = |ops: Vec<StoreOp>| -> Result<Vec<StoreAnswer>, Trouble> {
        let (mut opened, _) = track.open()?;
        ops.iter().map(|op| opened.apply(op, NOW, track.within)).collect()
    };
    let answers = side_by_side(work, &one)?;
    Ok(answers)
}

/// Runs each list in processes that follow each other: with `kills`, one is killed now and then
/// between its question and its answer, at a moment that the seed chooses.
///
/// # Errors
/// When one of them does not keep to the protocol.
pub(super) fn history(
    host: &ProgramHost,
    scope: &Scope,
    work: Vec<Vec<StoreOp>>,
    kills: bool,
) -> Result<Raced, Failure> {
    let track = Track::of(host, scope);
    let seed = host.seed;
    let numbered: Vec<_> = work.into_iter().enumerate().collect();
    let one = |(number, ops): (usize, Vec<StoreOp>)| {
        let dice = Dice::new(seed ^ ((number as u64 + 1) << 32));
        Racer { track: &track, number, lives: 0, dice, kills, usual: Duration::from_millis(2) }
            .run(&ops)
    };
    let entries: Vec<Entry> = side_by_side(numbered, &one)?.into_iter().flatten().collect();
    let count = |wanted: Outcome| entries.iter().filter(|one| one.result == wanted).count();
    let (killed, refused) = (count(Outcome::Unknown), count(Outcome::Failed));
    Ok(Raced { entries, killed, refused })
}

fn side_by_side<T: Send, R: Send>(
    work: Vec<T>,
    one: &(dyn Fn(T) -> Result<R, Trouble> + Sync),
) -> Result<Vec<R>, Trouble> {
    thread::scope(|threads| {
        let racers: Vec<_> =
            work.into_iter().map(|item| threads.spawn(move || one(item))).collect();
        let results = racers.into_iter().map(thread::ScopedJoinHandle::join);
        results.map(|result| result.expect("a racer does not panic")).collect()
    })
}

impl<'a> Track<'a> {
    fn of(host: &'a ProgramHost, scope: &Scope) -> Self {
        Self {
            launch: &host.launch,
            dir: host.ground.state(),
            scope: scope.clone(),
            within: host.answer,
            moments: AtomicU64::new(1),
        }
    }

    fn open(&self) -> Result<(Opened, super::protocol::Offers), Trouble> {
        Opened::start(self.launch, &self.dir, &self.scope, NOW, self.within)
    }

    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::SeqCst)
    }
}

/// One thread of ours and the processes that it asks, one after the other.
struct Racer<'a> {
    track: &'a Track<'a>,
    number: usize,
    lives: usize,
    dice: Dice,
    kills: bool,
    /// How long the last answer took: a kill lies somewhere in such a time.
    usual: Duration,
}

impl Racer<'_> {
    fn run(mut self, ops: &[StoreOp]) -> Result<Vec<Entry>, Trouble> {
        let mut entries = Vec::new();
        let mut opened = None;
        for op in ops {
            let mut process = match opened.take() {
                Some(process) => process,
                None => {
                    self.lives += 1;
                    self.track.open()?.0
                }
            };
            let entry = if self.kills && self.dice.throw(KILLS) == 0 {
                self.kill_within(&mut process, op)?
            } else {
                let entry = self.ask(&mut process, op)?;
                opened = Some(process);
                entry
            };
            entries.push(entry);
        }
        Ok(entries)
    }

    fn ask(&mut self, process: &mut Opened, op: &StoreOp) -> Result<Entry, Trouble> {
        let (start, began) = (self.track.moment(), now());
        let answer = process.apply(op, NOW, self.track.within)?;
        self.usual = began.elapsed();
        Ok(self.entry(op, start, Some((self.track.moment(), &answer))))
    }

    fn kill_within(&mut self, process: &mut Opened, op: &StoreOp) -> Result<Entry, Trouble> {
        let start = self.track.moment();
        process.begin(op, NOW, self.track.within)?;
        rest(&mut self.dice, self.usual);
        process.program.kill();
        Ok(self.entry(op, start, None))
    }

    fn entry(&self, op: &StoreOp, start: u64, end: Option<(u64, &StoreAnswer)>) -> Entry {
        let (key, op) = asked(op);
        let process = self.number * 100 + self.lives;
        Entry {
            process: u32::try_from(process).expect("a race has few processes"),
            key,
            op,
            result: end.map_or(Outcome::Unknown, |(_, answer)| outcome(answer)),
            clock_ms: NOW,
            start,
            end: end.map(|(end, _)| end),
        }
    }
}

/// Waits for some part of a time, or a little longer than all of it: the dice say how long.
pub(super) fn rest(dice: &mut Dice, usual: Duration) {
    thread::park_timeout(usual * dice.throw(16) / 12);
}

fn asked(op: &StoreOp) -> (Text, Op) {
    match op {
        StoreOp::Get { key, .. } => (key.channel.clone(), Op::Get),
        StoreOp::Put { key, session, .. } => (key.channel.clone(), Op::Put(session.clone())),
        StoreOp::Remove { key } => (key.channel.clone(), Op::Remove),
        StoreOp::RemoveIf { key, expected } => {
            (key.channel.clone(), Op::RemoveIf(expected.clone()))
        }
        StoreOp::RemoveChannel { channel } => (channel.clone(), Op::Remove),
    }
}

fn outcome(answer: &StoreAnswer) -> Outcome {
    match answer {
        StoreAnswer::Got(Lookup::Found { session } | Lookup::Incompatible { session }) => {
            Outcome::Saw(Some(session.clone()))
        }
        StoreAnswer::Got(Lookup::Absent) => Outcome::Saw(None),
        StoreAnswer::Done => Outcome::Done,
        StoreAnswer::Removed(removed) => Outcome::Removed(*removed),
        StoreAnswer::Failed(_) => Outcome::Failed,
    }
}
