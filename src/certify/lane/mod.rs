//! The plans: lanes of processes that share a home, each probe where it costs no further start.
//!
//! - `main`: the conversation, its loads, its deaths. Start here.
//! - `neighbours`: list, resume, close, delete, fork in the first process.
//! - `later`: the processes after it. `trouble`: odd handshakes, a model in trouble, cancels at bad
//!   moments. `bulk`: much.
//! - `words`: what is said in prompts. `site`: a home, and how processes are started in it.

mod bulk;
mod later;
mod main;
mod neighbours;
mod site;
mod trouble;
pub(super) mod words;

use std::sync::Arc;

pub(super) use neighbours::MOST_PAGES;

use super::order::Order;
use super::tape::Tape;

/// One lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The conversation and its loads.
    Main,
    /// Much, and a pause.
    Bulk,
    /// Odd handshakes, a model in trouble, cancels at bad moments.
    Trouble,
}

impl Lane {
    /// The longest first, so that lanes which run beside each other end together.
    pub(super) const ALL: [Self; 3] = [Self::Main, Self::Bulk, Self::Trouble];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Bulk => "bulk",
            Self::Trouble => "trouble",
        }
    }

    /// Plays the lane to its end. `tell` hears what is being done.
    pub(super) fn play(self, order: &Order, tape: &Arc<Tape>, tell: &(dyn Fn(&str) + Sync)) {
        let site = match site::Site::new(self.word(), order, tape, tell) {
            Ok(site) => site,
            Err(error) => {
                let agent = skep_trace::Process { agent: self.word().into(), process: 1 };
                let text = format!("no home for the agent: {error}").into();
                return tape.saw(&agent, skep_trace::Sighting::Trouble(text));
            }
        };
        match self {
            Self::Main => main::play(site),
            Self::Bulk => bulk::play(site),
            Self::Trouble => trouble::play(site),
        }
    }
}
