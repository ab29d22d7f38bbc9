//! The wire, one line a record: who said what to whom.
//!
//! - [`moment`]: the few lines around an instant that a story shows.
//! - [`listing`]: all of them, up to an instant.
//! - [`acp`], [`relay`]: what a frame says, in a few words.
//! - [`teardown`]: what is left out, for it ends with the run.

pub mod acp;
pub mod listing;
pub mod moment;
pub mod relay;
pub mod teardown;

use skep_trace::{End, Note, Side, Trace, What};

use self::acp::Pending;
use super::clean::{clean, quote};
use super::names::Names;

/// One record in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireLine {
    /// When.
    pub at_ms: u64,
    /// Between whom: `h#2 → a#2`, or whom it is about.
    pub who: String,
    /// What.
    pub text: String,
    /// How much it tells.
    pub weight: Weight,
    /// Lines that follow one another with the same run may be shown as one, with their number.
    pub run: Option<String>,
}

/// How much a line tells; a story has room for few.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Housekeeping: subscriptions, acknowledgements, presence, logs.
    Noise,
    /// What fills the picture in: updates, queries, reactions.
    Detail,
    /// What the story is told with: requests, answers, messages, starts and ends.
    Story,
}

/// Every record's line, by its place in the trace; bookkeeping of our own has none, and neither has
/// what only ends with the run.
pub fn lines(trace: &Trace, names: &Names) -> Vec<Option<WireLine>> {
    let mut pending = Pending::default();
    let teardown = teardown::begin(&trace.records);
    let line = |(at, record): (usize, &skep_trace::Record)| {
        if at >= teardown && teardown::is_of_it(&record.what) {
            return None;
        }
        let mut line = what_line(&record.what, names, &mut pending)?;
        line.at_ms = record.at_ms;
        Some(line)
    };
    trace.records.iter().enumerate().map(line).collect()
}

impl WireLine {
    fn new(who: impl Into<String>, text: impl Into<String>, weight: Weight) -> Self {
        Self { at_ms: 0, who: who.into(), text: text.into(), weight, run: None }
    }
}

fn what_line(what: &What, names: &Names, pending: &mut Pending) -> Option<WireLine> {
    let story = |who: String, text: &str| WireLine::new(who, text, Weight::Story);
    Some(match what {
        What::HarnessStarted(life) => story(life.to_string(), "started"),
        What::HarnessPaused(life, true) => story(life.to_string(), "suspended"),
        What::HarnessPaused(life, false) => story(life.to_string(), "continued"),
        What::HarnessEnded(life, end) => story(life.to_string(), &ended(*end)),
        What::AgentStarted { agent, harness } => {
            WireLine::new(agent.to_string(), format!("started by {harness}"), Weight::Noise)
        }
        What::AgentEnded { agent, end } => story(agent.to_string(), &ended(*end)),
        What::Acp { agent, harness, from, frame, .. } => {
            let (frame_text, weight) = acp::frame_text(agent, *from, frame, names, pending);
            let arrow = if *from == Side::Harness { "→" } else { "←" };
            let mut line = WireLine::new(format!("{harness} {arrow} {agent}"), frame_text, weight);
            line.run = acp::run(frame).map(|run| format!("{agent} {run}"));
            line
        }
        What::Connected { harness, .. } => {
            WireLine::new(harness.to_string(), "connected to the relay", Weight::Detail)
        }
        What::Disconnected { harness, .. } => story(harness.to_string(), "lost its connection"),
        What::ToRelay { harness, message, .. } => {
            let (text, weight) = relay::said(message, names);
            WireLine::new(format!("{harness} → relay"), text, weight)
        }
        What::FromRelay { harness, message, .. } => {
            let (text, weight) = relay::heard(message, names);
            WireLine::new(format!("{harness} ← relay"), text, weight)
        }
        What::Http { harness, call, reply } => {
            let (text, weight) = relay::http(call, reply, names);
            WireLine::new(format!("{harness} → relay"), text, weight)
        }
        What::Published(event) => {
            let who = format!("{} → relay", names.hex(event.pubkey));
            WireLine::new(who, relay::event(event, names), Weight::Story)
        }
        What::Note { harness, note } => note_line(harness.to_string(), note),
        What::Log { actor, line } => {
            WireLine::new(clean(actor), format!("log {}", quote(line, 80)), Weight::Noise)
        }
        What::Finding { actor, text } => {
            WireLine::new(clean(actor), format!("finding: {}", clean(text)), Weight::Detail)
        }
        What::Sighting { agent, sighting } => {
            WireLine::new(agent.to_string(), clean(&sighting.told()), Weight::Detail)
        }
        What::Step { .. }
        | What::Act { .. }
        | What::Named { .. }
        | What::HarnessReady(_)
        | What::Held { .. }
        | What::Disk { .. }
        | What::Receipts { .. }
        | What::Settled { .. } => return None,
    })
}

fn note_line(who: String, note: &Note) -> WireLine {
    let (text, weight) = match note {
        Note::TurnDone { .. } => ("says: the turn is done".to_owned(), Weight::Noise),
        Note::TurnFailed { retryable, why, .. } => {
            let kept = if *retryable { ", kept for another attempt" } else { "" };
            (format!("says: the turn failed{kept}: {}", clean(why)), Weight::Detail)
        }
        Note::StoreTrouble(text) => {
            (format!("says: trouble with its store: {}", clean(text)), Weight::Story)
        }
        Note::Other(text) => (format!("says: {}", clean(text)), Weight::Noise),
    };
    WireLine::new(who, text, weight)
}

/// How a process ended, in a few words.
pub fn ended(end: End) -> String {
    match end {
        End::Exit(code) => format!("exited with code {code}"),
        End::Signal { signal: 9, by_us: true } => "killed".to_owned(),
        End::Signal { signal: 15, by_us: true } => "stopped".to_owned(),
        End::Signal { signal, by_us: true } => format!("ended by the scenario's signal {signal}"),
        End::Signal { signal, by_us: false } => format!("died by signal {signal}"),
    }
}
