//! Certificates: what an agent's `loadSession` and its neighbours are worth.
//!
//! skep plays the client. It holds a conversation, ends or kills the agent, loads the conversation
//! in a new process, and holds what is replayed against what was streamed live. Everything that it
//! sees is a trace, and every verdict is a pure function of that trace.
//!
//! - [`certify`]: an [`Order`] to a [`Certificate`]; start here.
//! - [`requirements`]: the table of requirements, [`Requirement`] by [`Requirement`]; `judge`: a
//!   function for each. [`Probe`]: what is asked. `evidence`, `transcript`: how a trace is read.
//! - `lane`: the plans, which share processes. `client`, `process`, `tenants`, `log`: an agent, its
//!   pipes, all that it starts, its standard error. `server`: the servers of sessions.
//! - [`Profile`], `home`: how an agent is set up. `stub`: a model, for agents that would ask one;
//!   `model`: the same for a lane. [`Trial`]: an agent by hand, with such a home and model.
//! - [`proof`]: the broken agents, and what each must turn red.
//! - [`Trouble`]: what stood in the way of an agent that did not get as far as a turn.
//! - [`Bounds`]: what is waited for, and how much is read.

mod bounds;
mod certificate;
mod client;
mod evidence;
mod home;
mod judge;
mod lane;
mod log;
mod model;
mod order;
mod probe;
mod process;
pub mod proof;
mod requirement;
mod rows;
mod said;
pub mod server;
mod stub;
mod tape;
mod tenants;
mod transcript;
mod trial;
mod trouble;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skep_trace::{Header, Trace};

pub use bounds::{Bounds, MOST_STARTS};
pub use certificate::{Certificate, Row, Standing};
pub use order::Order;
pub use probe::Probe;
pub use requirement::{Gate, Level, REVISION, Requirement, Tier};
pub use rows::{requirements, section};
pub use stub::{Asked, Ear, Stub};
pub use trial::{Ended, Event, Ground, Trial};
pub use trouble::{Login, Remedy, Stage, Trouble};

pub use crate::profile::AgentProfile as Profile;

use crate::director::parallel::in_parallel;
use lane::Lane;
use tape::Tape;

/// The world of a certificate's trace, in its header.
pub const WORLD: &str = "certify";

/// Certifies an agent. `tell` hears what is being done, from several threads; `stop` is asked
/// between lanes.
pub fn certify(
    order: &Order,
    tell: &(dyn Fn(&str) + Sync),
    stop: &(dyn Fn() -> bool + Sync),
) -> Certificate {
    Certificate::of(observe(order, tell, stop))
}

/// Cuts the tape as soon as the user wants to stop; until all is over.
fn cut_when(tape: &Tape, stop: &(dyn Fn() -> bool + Sync), over: &AtomicBool) {
    // A user's wish is no event that could be waited for: it is looked at now and then.
    const LOOK: Duration = Duration::from_millis(20);
    while !over.load(Ordering::SeqCst) {
        if stop() {
            return tape.cut();
        }
        std::thread::park_timeout(LOOK);
    }
}

/// Plays all lanes and gives the trace.
fn observe(order: &Order, tell: &(dyn Fn(&str) + Sync), stop: &(dyn Fn() -> bool + Sync)) -> Trace {
    let tape = Arc::new(Tape::start());
    let jobs = Lane::ALL.len();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| cut_when(&tape, stop, &over));
        in_parallel(&Lane::ALL, jobs, stop, &|lane| lane.play(order, &tape, tell));
        over.store(true, Ordering::SeqCst);
    });
    let command: Vec<_> = order.command.iter().map(|word| word.to_string_lossy()).collect();
    let header = Header {
        test: "certificate".into(),
        file: command.join(" ").into(),
        world: WORLD.into(),
        profile: order.profile.name.as_str().into(),
        ..Header::default()
    };
    tape.finish(header)
}
