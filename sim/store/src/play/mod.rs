//! A play: a few operations on a store, what happens to them, and what must follow, as data.
//!
//! A play is short and says all that matters: who does what, in which order of system calls, where
//! the power goes out and what the disk then has. The same play can be put to any store. `skep
//! explore store` writes one for each thing that it finds broken, and plays it again.
//!
//! - `player`, `outside`, `expect`, `doubts`: carry a play out on the simulated disk, line by line.
//! - `words`: operations and answers as a file spells them.
//! - `text`: a play as a file.

mod doubts;
mod expect;
mod outside;
mod player;
mod text;
mod words;

pub use player::{End, play};
pub use text::{comment, file};
pub use words::{OPS, answer_word};

use skep_trace::Text;

use crate::ops::StoreOp;

/// A play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Play {
    /// What happens and what is expected, in order.
    pub lines: Vec<Line>,
}

/// One line of a play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands in its file, in bytes; for who shows it.
    pub place: Place,
    /// What it says.
    pub act: Act,
}

/// From a byte of a file up to, not including, another.
pub type Place = (usize, usize);

/// What a line of a play says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A receipt that is there from the start, durably.
    Given {
        /// Its channel.
        channel: Text,
        /// Its session.
        session: Text,
    },
    /// A process opens the store, and stands before the first step of an operation if it has one.
    Process(Process),
    /// A process carries out operations, each to its end.
    Do {
        /// Who.
        process: Text,
        /// What, in order.
        ops: Vec<Operation>,
    },
    /// Processes go on with the operations that they began.
    Schedule(Vec<Turn>),
    /// A process is killed.
    Kill(Text),
    /// The power is cut, and this is what became of what was not synced.
    PowerCut(Vec<Doubted>),
    /// Something is changed behind the store's back.
    Outside(Change),
    /// Something must be so.
    Expect(Expectation),
}

/// A process and the agent that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its name in the play.
    pub name: Text,
    /// The agent, if it is not the usual one: another one a name.
    pub agent: Option<Text>,
    /// The relay, if it is not the usual one.
    pub relay: Option<Text>,
    /// So many days later than the others.
    pub days: u64,
    /// The operation that it begins.
    pub op: Option<Operation>,
}

/// An operation and the answer that it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Where it stands.
    pub place: Place,
    /// The operation.
    pub op: StoreOp,
    /// The word for its answer, see [`answer_word`]; none where any will do.
    pub answers: Option<Text>,
}

/// A process's turn in a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Where it stands.
    pub place: Place,
    /// Who.
    pub process: Text,
    /// How it goes on.
    pub steps: Vec<Pace>,
}

/// How a process goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pace {
    /// By this step, which must be its next: [`Op::word`](crate::Op::word).
    Step(Text),
    /// Until this step would be its next.
    Before(Text),
    /// Until it holds a lock.
    Locked,
    /// To the end of its operation.
    Rest,
}

/// What became of something that was not synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubted {
    /// Where it stands.
    pub place: Place,
    /// What it is about.
    pub what: Text,
    /// What became of it.
    pub way: Text,
}

/// A change behind the store's back. A path lies below the ground's own directory; `@file` is the
/// file that holds the first receipt, `@lock` another one beside it, `@temp` the temporary file that
/// the next process would make for a put, `@agent` the usual agent's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file with this text.
    File(Text, Text),
    /// The first place where the file has this text has that one instead.
    Replace(Text, Text, Text),
    /// A symbolic link.
    Link(Text, Text),
    /// A FIFO.
    Fifo(Text),
    /// A directory.
    Dir(Text),
    /// Another user's.
    GiveAway(Text),
    /// Other bits.
    Chmod(Text, u32),
    /// The state directory is full, or has room again.
    Full(bool),
    /// The state directory takes no writes, or takes them again.
    ReadOnly(bool),
    /// The umask of processes from now on.
    Umask(u32),
}

/// What must be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// What a new process finds is what the begun operations leave one after the other, in an order
    /// that their answers allow; one that was not answered may count or not.
    Explained,
    /// What stands at the path has these bits.
    Mode(Text, u32),
    /// The file holds this text, no more and no less.
    Holds(Text, Text),
    /// Some file in the state directory holds this text, no more and no less.
    Kept(Text),
    /// The process was warned of something.
    Warned(Text),
    /// No name in the state directory has this in it.
    NoName(Text),
}
