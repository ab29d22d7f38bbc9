//! The S-rules against any store, in any language, behind a line protocol.
//!
//! A store is a program that is asked line by line on its standard input. Checks of `skep-store`'s
//! suite run on it, and others that only processes can be put to: they race, are killed, stopped,
//! limited and watched. Each check has a directory of its own.
//!
//! - [`examine`]: an [`Order`] to an [`Examination`]; start here.
//! - [`protocol`]: what is asked and answered. `program`: one process. `host`: the suite's checks on
//!   processes. `ground`: the directory. `trouble`: processes that do not keep to the protocol.
//!   `race`: several at once, and the moments that a seed chooses. `story`: what was done.
//! - `strace`: what a process asks of the system. `point`, `crash`: every write, sync and rename killed or
//!   failed. `rights`: what user 0 must not be allowed.
//! - [`mod@reference`]: the reference store, behind the protocol.

mod case;
mod checks;
mod crash;
mod examination;
mod ground;
mod host;
pub(crate) mod point;
mod program;
pub mod protocol;
mod race;
pub mod reference;
mod rights;
mod story;
pub(crate) mod strace;
mod table;
mod trouble;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use skep_store::suite::Failure;

pub use examination::{Examination, Row, Standing};
pub use protocol::Offers;
pub use table::{named, names};

use crate::director::parallel::in_parallel;
use ground::{Ground, Kind};
use host::ProgramHost;
use table::Test;

/// The rule's name of the first row: nothing else can be looked at before it holds.
pub const PROTOCOL_ROW: &str = "line";

/// What is to be examined, and how.
#[derive(Clone, Debug)]
pub struct Order {
    /// The store's command, as it is started from any directory.
    pub command: Vec<OsString>,
    /// The same as the user gave it.
    pub said: Vec<OsString>,
    /// What chooses the moments of kills and who does what in races.
    pub seed: u64,
    /// How long an answer may take.
    pub answer: Duration,
    /// How many checks run at once.
    pub jobs: usize,
    /// `strace`, where it is installed.
    pub strace: Option<PathBuf>,
    /// Every write, sync and rename is killed and failed as well.
    pub crash_points: bool,
}

/// Examines a store. `wanted` says which checks, by rule and name; `tell` hears what has ended, from
/// several threads; `stop` is asked before each.
///
/// # Errors
/// When there is no room for temporary files.
pub fn examine(
    order: &Order,
    wanted: &dyn Fn(&str, &str) -> bool,
    tell: &(dyn Fn(&Row) + Sync),
    stop: &(dyn Fn() -> bool + Sync),
) -> std::io::Result<Examination> {
    let began = program::now();
    rights::give_up();
    let mut rows = Vec::new();
    let ground = Ground::new(Kind::Folder)?;
    let offers = match checks::manners::it_speaks_the_protocol(order, &ground) {
        Ok(offers) => {
            rows.push(Row::spoken(&offers));
            offers
        }
        Err(failure) => {
            rows.push(Row::unspoken(&failure));
            Offers::default()
        }
    };
    drop(ground);
    if rows[0].standing == Standing::Held {
        let tests: Vec<Test> = table::tests(order.crash_points)
            .into_iter()
            .filter(|test| wanted(test.rule, test.name))
            .collect();
        let one = |test: &Test| {
            let row = run(order, &offers, test);
            tell(&row);
            row
        };
        let done = in_parallel(&tests, order.jobs, stop, &one);
        rows.extend(done.into_iter().flatten());
    }
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Examination { command: order.said.clone(), seed: order.seed, offers, rows, took_ms })
}

/// One check on a ground of its own.
fn run(order: &Order, offers: &Offers, test: &Test) -> Row {
    let row = |standing, note: String| Row::new(test.rule, test.name, standing, note);
    let mut host = match ProgramHost::new(order, offers, test.ground) {
        Ok(host) => host,
        Err(error) => return row(Standing::Inconclusive, format!("no temporary files: {error}")),
    };
    let came_to = (test.run)(&mut host);
    // Where the ground lies differs from run to run, and says nothing.
    let root = format!("{}/", host.ground.root());
    let plain = |text: &str| text.replace(&root, "");
    match came_to {
        Ok(seen) => row(Standing::Held, plain(&seen)),
        Err(Failure::NotApplicable(why)) => row(Standing::NotApplicable, plain(&why)),
        Err(Failure::Violated(how)) => {
            let files = ground::listing(&host.ground.look());
            let (acts, left_out) = host.story.take();
            let acts = acts.iter().map(|act| plain(act)).collect();
            Row { acts, left_out, files, ..row(Standing::Violated, plain(&how)) }
        }
    }
}
