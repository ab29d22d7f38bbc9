//! Carries a play out on the simulated disk, line by line.

use std::collections::BTreeMap;

use skep_trace::{Hex32, Text};

use super::doubts::Told;
use super::{Act, Doubted, Operation, Pace, Place, Play, Process, Turn, answer_word};
use crate::ops::{StoreAnswer, StoreOp};
use crate::suite::case::{Case, NOW, scope};
use crate::suite::host::Step;
use crate::suite::sequence::Fate;
use crate::suite::{Failure, Host, LocalHost, Scope, SimGround, Subject};
use crate::volume::Op;

const DAY_MS: u64 = 24 * 3_600_000;

/// More steps than any operation takes that need not wait.
pub(super) const MOST_STEPS: usize = 1_000;

/// What a play came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything was as expected.
    Held,
    /// Something was not: where, and how.
    Broken(Place, String),
    /// The play does not fit the store: where, and what would.
    Unfit(Place, String),
}

/// Plays a play on a store.
pub fn play<S: Subject>(subject: &S, play: &Play) -> End {
    let host = LocalHost::new(subject.clone(), SimGround::default());
    let mut player = Player {
        subject: subject.clone(),
        host,
        given: Vec::new(),
        laid: false,
        guests: BTreeMap::new(),
        ops: Vec::new(),
        acts: 0,
        file: None,
    };
    for line in &play.lines {
        if let Err(end) = player.line(line.place, &line.act) {
            return end;
        }
    }
    End::Held
}

/// A process, and the operation that it began.
pub(super) struct Guest {
    pub(super) process: crate::suite::Process,
    now_ms: u64,
    /// The place of its operation among those that were begun.
    pub(super) op: Option<usize>,
    pub(super) before: Option<Op>,
    dead: bool,
}

pub(super) struct Player<S: Subject> {
    pub(super) subject: S,
    pub(super) host: LocalHost<S, SimGround>,
    pub(super) given: Vec<(Text, Text)>,
    /// The given receipts are on the disk.
    laid: bool,
    pub(super) guests: BTreeMap<Text, Guest>,
    pub(super) ops: Vec<(StoreOp, Fate)>,
    acts: usize,
    pub(super) file: Option<String>,
}

pub(super) type Done<T = ()> = Result<T, End>;

impl<S: Subject> Player<S> {
    fn line(&mut self, place: Place, act: &Act) -> Done {
        if let Act::Given { channel, session } = act {
            if self.laid {
                return unfit(place, "what is given stands before everything that happens");
            }
            self.given.push((channel.clone(), session.clone()));
            return Ok(());
        }
        if !self.laid {
            self.lay(place)?;
        }
        match act {
            Act::Given { .. } => Ok(()),
            Act::Process(process) => self.process(place, process),
            Act::Do { process, ops } => ops.iter().try_for_each(|op| self.carry_out(process, op)),
            Act::Schedule(turns) => turns.iter().try_for_each(|turn| self.turn(turn)),
            Act::Kill(name) => self.kill(place, name),
            Act::PowerCut(doubts) => self.power_cut(place, doubts),
            Act::Outside(change) => self.outside(place, change),
            Act::Expect(expectation) => self.expect(place, expectation),
        }
    }

    pub(super) fn given(&self) -> Vec<(&str, &str)> {
        self.given.iter().map(|(channel, session)| (&**channel, &**session)).collect()
    }

    fn lay(&mut self, place: Place) -> Done {
        let given = self.given.clone();
        let given: Vec<(&str, &str)> =
            given.iter().map(|(one, other)| (&**one, &**other)).collect();
        self.host.given(&given).map_err(|failure| broken(place, &failure))?;
        self.host.make_durable();
        self.laid = true;
        Ok(())
    }

    fn process(&mut self, place: Place, process: &Process) -> Done {
        let now_ms = NOW + process.days * DAY_MS;
        let scope = scope_of(process);
        let number = self.host.open(&scope, now_ms).map_err(|failure| broken(place, &failure))?;
        let mut guest = Guest { process: number, now_ms, op: None, before: None, dead: false };
        if let Some(Operation { op, .. }) = &process.op {
            self.host
                .begin(number, op.clone(), now_ms)
                .map_err(|failure| broken(place, &failure))?;
            guest.op = Some(self.ops.len());
            self.ops.push((op.clone(), Fate { began: usize::MAX, answer: None }));
            let step = self.host.step(number);
            self.take(&mut guest, step);
        }
        self.guests.insert(process.name.clone(), guest);
        Ok(())
    }

    fn take(&mut self, guest: &mut Guest, step: Step) {
        let Some(at) = guest.op else { return };
        match step {
            Step::Before(op) => guest.before = Some(op),
            Step::Done(answer) => {
                guest.before = None;
                self.ops[at].1.answer = Some((self.acts, answer));
            }
        }
    }

    pub(super) fn guest(&self, place: Place, name: &str) -> Done<&Guest> {
        match self.guests.get(name) {
            Some(guest) if guest.dead => unfit(place, &format!("`{name}` is dead")),
            Some(guest) => Ok(guest),
            None => unfit(place, &format!("there is no process `{name}`")),
        }
    }

    fn carry_out(&mut self, name: &str, operation: &Operation) -> Done {
        let place = operation.place;
        let guest = self.guest(place, name)?;
        if guest.before.is_some() {
            return unfit(place, &format!("`{name}` is in the middle of another operation"));
        }
        let (process, now_ms) = (guest.process, guest.now_ms);
        let answer = self.host.apply(process, operation.op.clone(), now_ms);
        let hangs = |_| End::Broken(place, format!("`{name}` hangs: it waits without end"));
        let answer = answer.map_err(hangs)?;
        expect_answer(operation, &answer)
    }

    fn turn(&mut self, turn: &Turn) -> Done {
        turn.steps.iter().try_for_each(|pace| self.pace(turn, pace))
    }

    fn pace(&mut self, turn: &Turn, pace: &Pace) -> Done {
        let Turn { place, process, .. } = turn;
        match pace {
            Pace::Step(word) => match self.guest(*place, process)?.before {
                Some(op) if op.word() == &**word => {
                    self.step(process);
                    Ok(())
                }
                Some(op) => {
                    let what = format!("`{process}` does `{}` next, not `{word}`", op.word());
                    unfit(*place, &what)
                }
                None => unfit(*place, &format!("`{process}` is done before `{word}`")),
            },
            Pace::Before(word) => {
                self.until(turn, |_, guest| guest.before.is_some_and(|op| op.word() == &**word))
            }
            Pace::Locked => self.until(turn, |host, guest| host.holds_lock(guest.process)),
            Pace::Rest => self.until(turn, |_, guest| guest.before.is_none()),
        }
    }

    /// Lets one go on until something is so.
    fn until(
        &mut self,
        turn: &Turn,
        is_there: impl Fn(&LocalHost<S, SimGround>, &Guest) -> bool,
    ) -> Done {
        let Turn { place, process, .. } = turn;
        for _ in 0..MOST_STEPS {
            let guest = self.guest(*place, process)?;
            if is_there(&self.host, guest) {
                return Ok(());
            }
            if guest.before.is_none() {
                return unfit(*place, &format!("`{process}` is done before that"));
            }
            self.step(process);
        }
        Err(End::Broken(
            *place,
            format!("`{process}` is still on its way after {MOST_STEPS} steps"),
        ))
    }

    fn step(&mut self, name: &Text) {
        let Some(mut guest) = self.guests.remove(name) else { return };
        if let Some(at) = guest.op {
            let fate = &mut self.ops[at].1;
            fate.began = fate.began.min(self.acts);
        }
        let step = self.host.step(guest.process);
        self.take(&mut guest, step);
        self.acts += 1;
        self.guests.insert(name.clone(), guest);
    }

    fn kill(&mut self, place: Place, name: &Text) -> Done {
        let process = self.guest(place, name)?.process;
        self.host.kill(process);
        if let Some(guest) = self.guests.get_mut(name) {
            (guest.dead, guest.before) = (true, None);
        }
        Ok(())
    }

    fn power_cut(&mut self, place: Place, doubts: &[Doubted]) -> Done {
        let mut told = Told { doubts, at: 0, unfit: None };
        self.host.power_loss(&mut told).map_err(|failure| broken(place, &failure))?;
        if let Some(unfit) = told.unfit {
            return Err(unfit);
        }
        if let Some(more) = doubts.get(told.at) {
            return unfit(more.place, "the disk leaves no doubt about this");
        }
        for guest in self.guests.values_mut() {
            (guest.dead, guest.before) = (true, None);
        }
        Ok(())
    }
}

fn scope_of(process: &Process) -> Scope {
    let usual = scope();
    Scope {
        relay: process.relay.clone().unwrap_or(usual.relay),
        pubkey: process.agent.as_ref().map_or(usual.pubkey, |name| another_agent(name)),
    }
}

/// A key that is not the usual one: the name's bytes, over and over.
fn another_agent(name: &str) -> Hex32 {
    let mut bytes = [0xb8; 32];
    for (byte, letter) in bytes.iter_mut().zip(name.bytes()) {
        *byte ^= letter;
    }
    Hex32(bytes)
}

fn expect_answer(operation: &Operation, answer: &StoreAnswer) -> Done {
    let Some(expected) = &operation.answers else { return Ok(()) };
    let word = answer_word(answer);
    must(operation.place, word == **expected, || {
        let why = match answer {
            StoreAnswer::Failed(why) => format!(" ({why})"),
            _ => String::new(),
        };
        format!("the answer is `{word}`{why}, not `{expected}`")
    })
}

pub(super) fn must(place: Place, is_so: bool, how: impl FnOnce() -> String) -> Done {
    if is_so { Ok(()) } else { Err(End::Broken(place, how())) }
}

pub(super) fn unfit<T>(place: Place, what: &str) -> Done<T> {
    Err(End::Unfit(place, what.to_owned()))
}

pub(super) fn broken(place: Place, failure: &Failure) -> End {
    let (Failure::Violated(how) | Failure::NotApplicable(how)) = failure;
    End::Broken(place, how.clone())
}
