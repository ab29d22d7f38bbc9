//! What a certificate comes to: a verdict a requirement, and a word for all of them.

use std::fmt;

use serde_json::Value;
use skep_trace::{Sighting, Trace};

use super::evidence::Evidence;
use super::probe::Probe;
use super::requirement::{Gate, Level, Requirement, Tier};
use super::rows::requirements;
use super::said::Said;
use super::trouble::Trouble;

/// What is said of one requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It holds.
    Held,
    /// It is broken, and no MUST; or worth a remark.
    Advisory,
    /// It is broken, and a MUST.
    Violated,
    /// It could not be observed: never counted as held.
    Inconclusive,
    /// It could not be observed because the agent wants a login.
    Blocked,
    /// The agent does not offer what it is about.
    NotApplicable,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Held,
        Self::Advisory,
        Self::Violated,
        Self::Inconclusive,
        Self::Blocked,
        Self::NotApplicable,
    ];

    /// Its sign in pictures.
    pub fn sign(self) -> char {
        match self {
            Self::Held => '✓',
            Self::Advisory => '!',
            Self::Violated => '✗',
            Self::Inconclusive => '?',
            Self::Blocked => '⊘',
            Self::NotApplicable => '-',
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Held => "it holds",
            Self::Advisory => "a SHOULD is broken, or something is worth a remark",
            Self::Violated => "a MUST is broken",
            Self::Inconclusive => "it could not be observed; never counted as held",
            Self::Blocked => "it could not be observed because the agent wants a login",
            Self::NotApplicable => "the agent does not offer what it is about",
        }
    }

    /// Broken, whatever the level.
    pub fn is_broken(self) -> bool {
        matches!(self, Self::Advisory | Self::Violated)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Held => "held",
            Self::Advisory => "advisory",
            Self::Violated => "violated",
            Self::Inconclusive => "inconclusive",
            Self::Blocked => "blocked",
            Self::NotApplicable => "not applicable",
        })
    }
}

/// One requirement with what is said of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// The requirement.
    pub requirement: &'static Requirement,
    /// What is said.
    pub standing: Standing,
    /// Why, or what was seen.
    pub note: String,
    /// The record that shows it: an index into the trace.
    pub record: Option<usize>,
}

/// A certificate.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The agent's name and version, as it says them itself; empty where it does not.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// Every requirement, by number.
    pub rows: Vec<Row>,
    /// The highest tier of which, and of those under it, every MUST holds; `None`: not even the
    /// lowest.
    pub tier: Option<Tier>,
    /// Processes that were started.
    pub starts: usize,
    /// From the first record to the last, in milliseconds.
    pub took_ms: u64,
    /// The time between the start of each process and its first answer, in milliseconds.
    pub start_ups_ms: Vec<u64>,
    /// What stood in the way, where the agent did not get as far as a turn.
    pub trouble: Option<Trouble>,
    /// When the time for everything was up, in milliseconds; `None` where it sufficed.
    pub out_of_time_ms: Option<u64>,
    /// The trace that all of it rests on.
    pub trace: Trace,
}

impl Certificate {
    /// Judges a trace.
    pub fn of(trace: Trace) -> Self {
        let evidence = Evidence::of(&trace);
        let offer = Offer::of(&evidence);
        let rows: Vec<_> =
            requirements().iter().map(|row| judged(row, &evidence, &offer)).collect();
        let info = &offer.hello["agentInfo"];
        let text = |key: &str| info[key].as_str().unwrap_or_default().to_owned();
        let (agent, version) = (text("name"), text("version"));
        let (starts, start_ups_ms) = (evidence.starts, start_ups(&evidence, &trace));
        let took_ms = trace.records.last().map_or(0, |record| record.at_ms);
        let tier = tier(&rows);
        let trouble = Trouble::of(&trace, &evidence);
        let out_of_time_ms = out_of_time(&evidence, &trace);
        Self {
            agent,
            version,
            rows,
            tier,
            starts,
            took_ms,
            start_ups_ms,
            trouble,
            out_of_time_ms,
            trace,
        }
    }

    /// How many requirements have a standing.
    pub fn count(&self, standing: Standing) -> usize {
        self.rows.iter().filter(|row| row.standing == standing).count()
    }

    /// The certificate in one word.
    pub fn word(&self) -> String {
        match self.tier {
            Some(tier) => tier.to_string(),
            None if self.rows.iter().any(|row| row.standing == Standing::Blocked) => {
                "blocked".to_owned()
            }
            None => "none".to_owned(),
        }
    }
}

/// What the agent says that it offers.
struct Offer {
    hello: Value,
    /// It wants a login before sessions.
    blocked: bool,
    /// It could not be started at all, or does not shake hands: why.
    trouble: Option<String>,
}

impl Offer {
    fn of(e: &Evidence) -> Self {
        let hello = e.first(Probe::Initialize).and_then(|exchange| e.result(exchange)).cloned();
        let new = e.first(Probe::NewMain).and_then(|exchange| e.code(exchange));
        let trouble = e.seen.iter().find_map(|seen| match &seen.sighting {
            Sighting::Trouble(text) => Some(text.to_string()),
            _ => None,
        });
        Self { hello: hello.unwrap_or_default(), blocked: new == Some(-32000), trouble }
    }

    /// What a gate needs and is not there.
    fn lacks(&self, gate: Gate) -> Option<String> {
        if self.hello.is_null() {
            return None;
        }
        let capabilities = &self.hello["agentCapabilities"];
        let loads = capabilities["loadSession"] == true;
        if gate == Gate::NoLoad {
            return loads.then(|| "it offers loads".to_owned());
        }
        let has = |name: &&&str| match **name {
            "loadSession" => loads,
            name => capabilities["sessionCapabilities"][name].is_object(),
        };
        let lacking = gate.needs().iter().find(|name| !has(name));
        lacking.map(|name| format!("it does not offer `{name}`"))
    }
}

fn judged(requirement: &'static Requirement, e: &Evidence, offer: &Offer) -> Row {
    let row = |standing, note, record| Row { requirement, standing, note, record };
    if let Some(lack) = offer.lacks(requirement.gate) {
        return row(Standing::NotApplicable, lack, None);
    }
    match (requirement.judge)(e) {
        Ok(note) => row(Standing::Held, note, None),
        Err(Said::Broken(why, at)) => {
            let must = requirement.level == Level::Must
                || requirement.level == Level::May && requirement.derived;
            row(if must { Standing::Violated } else { Standing::Advisory }, why, at)
        }
        Err(Said::Remark(why, at)) => row(Standing::Advisory, why, at),
        Err(Said::Apart(why)) => row(Standing::NotApplicable, why, None),
        Err(Said::Unknown(_)) if offer.blocked => {
            row(Standing::Blocked, "it needs a login (-32000)".to_owned(), None)
        }
        Err(Said::Unknown(why)) => {
            row(Standing::Inconclusive, offer.trouble.clone().unwrap_or(why), None)
        }
    }
}

/// The highest tier that counts.
fn tier(rows: &[Row]) -> Option<Tier> {
    let counts = |tier: Tier| {
        let musts = rows
            .iter()
            .filter(|row| row.requirement.tier == tier && row.requirement.level == Level::Must);
        musts.clone().all(|row| {
            matches!(row.standing, Standing::Held | Standing::NotApplicable | Standing::Advisory)
        }) && musts.into_iter().any(|row| row.standing == Standing::Held)
    };
    Tier::ALL.into_iter().take_while(|tier| counts(*tier)).last()
}

/// When something was first left out because the time for everything was up.
fn out_of_time(e: &Evidence, trace: &Trace) -> Option<u64> {
    let late = |sighting: &Sighting| matches!(sighting, Sighting::OutOfTime { .. });
    let first = e.seen.iter().find(|seen| late(&seen.sighting))?;
    Some(trace.records[first.record].at_ms)
}

/// How long each process took from its start to its first answer.
fn start_ups(e: &Evidence, trace: &Trace) -> Vec<u64> {
    use skep_trace::{Side, What};
    let mut all = Vec::new();
    for record in &trace.records {
        let What::AgentStarted { agent, .. } = &record.what else { continue };
        let first = e.lines.iter().find(|line| line.agent == *agent && line.from == Side::Agent);
        if let Some(line) = first {
            all.push(trace.records[line.record].at_ms.saturating_sub(record.at_ms));
        }
    }
    all
}
