//! A trace, arranged for judging: lines, exchanges, what was seen beside them.

use std::collections::BTreeMap;

use serde_json::Value;
use skep_trace::{End, Process, RpcId, Side, Sighting, Text, Trace, What};

use super::probe::Probe;

/// One line of the wire.
#[derive(Debug)]
pub(super) struct Line {
    /// Its place in the trace.
    pub(super) record: usize,
    pub(super) agent: Process,
    pub(super) from: Side,
    pub(super) raw: Text,
    /// What it says; `None` where it is no JSON.
    pub(super) json: Option<Value>,
}

/// A request of ours, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// The request: an index into the lines.
    pub(super) request: usize,
    /// Its answers: indices into the lines. One is as it should be.
    pub(super) answers: Vec<usize>,
    /// We stopped waiting.
    pub(super) gave_up: bool,
    /// The time for everything was up: nothing can be said of it.
    cut: bool,
}

impl Exchange {
    /// It was waited for long enough, and never answered.
    pub(super) fn is_mute(&self) -> bool {
        self.gave_up && self.answers.is_empty()
    }
}

/// A sighting with its place.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) record: usize,
    pub(super) agent: Process,
    pub(super) sighting: Sighting,
}

/// Everything that verdicts rest on.
#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) lines: Vec<Line>,
    exchanges: BTreeMap<Probe, Vec<Exchange>>,
    pub(super) seen: Vec<Seen>,
    /// Processes that have ended: how, and where in the trace.
    pub(super) ends: Vec<(usize, Process, End)>,
    /// Answers that no request of ours has: indices into the lines.
    pub(super) strays: Vec<usize>,
    pub(super) starts: usize,
}

impl Evidence {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut evidence = Self {
            lines: Vec::new(),
            exchanges: BTreeMap::new(),
            seen: Vec::new(),
            ends: Vec::new(),
            strays: Vec::new(),
            starts: 0,
        };
        let mut reading = Reading::default();
        for (record, one) in trace.records.iter().enumerate() {
            match &one.what {
                What::AgentStarted { .. } => evidence.starts += 1,
                What::AgentEnded { agent, end } => {
                    evidence.ends.push((record, agent.clone(), *end));
                }
                What::Sighting { agent, sighting } => {
                    reading.sighting(agent, sighting);
                    let (agent, sighting) = (agent.clone(), sighting.clone());
                    evidence.seen.push(Seen { record, agent, sighting });
                }
                What::Acp { agent, from, frame, raw, .. } => {
                    let raw = raw.clone().unwrap_or_else(|| frame.to_line().into());
                    let json = serde_json::from_str(&raw).ok();
                    let agent = agent.clone();
                    evidence.lines.push(Line { record, agent, from: *from, raw, json });
                    reading.line(&mut evidence);
                }
                _ => {}
            }
        }
        evidence.exchanges = reading.exchanges();
        evidence
    }

    /// All exchanges of a probe.
    pub(super) fn all(&self, probe: Probe) -> &[Exchange] {
        self.exchanges.get(&probe).map_or(&[], Vec::as_slice)
    }

    pub(super) fn first(&self, probe: Probe) -> Option<&Exchange> {
        self.all(probe).first()
    }

    /// Every exchange, by probe.
    pub(super) fn every(&self) -> impl Iterator<Item = (Probe, &Exchange)> {
        self.exchanges.iter().flat_map(|(probe, all)| all.iter().map(|one| (*probe, one)))
    }

    pub(super) fn json(&self, line: usize) -> &Value {
        self.lines[line].json.as_ref().unwrap_or(&Value::Null)
    }

    pub(super) fn request<'e>(&'e self, exchange: &Exchange) -> &'e Value {
        self.json(exchange.request)
    }

    pub(super) fn method<'e>(&'e self, exchange: &Exchange) -> &'e str {
        self.request(exchange)["method"].as_str().unwrap_or_default()
    }

    /// The session that a request names.
    pub(super) fn session<'e>(&'e self, exchange: &Exchange) -> &'e str {
        self.request(exchange)["params"]["sessionId"].as_str().unwrap_or_default()
    }

    pub(super) fn result<'e>(&'e self, exchange: &Exchange) -> Option<&'e Value> {
        self.json(*exchange.answers.first()?)
            .get("result")
            .filter(|_| self.error(exchange).is_none())
    }

    pub(super) fn error<'e>(&'e self, exchange: &Exchange) -> Option<&'e Value> {
        self.json(*exchange.answers.first()?).get("error")
    }

    pub(super) fn code(&self, exchange: &Exchange) -> Option<i64> {
        self.error(exchange)?["code"].as_i64()
    }

    /// The record to look at: the answer, or the request where there is none.
    pub(super) fn moment(&self, exchange: &Exchange) -> usize {
        let line = exchange.answers.first().copied().unwrap_or(exchange.request);
        self.lines[line].record
    }

    /// Where an exchange is over: its answer, or the end of what its process said.
    fn until(&self, exchange: &Exchange) -> usize {
        exchange.answers.first().copied().unwrap_or(self.lines.len())
    }

    /// The lines of the agent between a request and its answer.
    pub(super) fn between<'e>(
        &'e self,
        exchange: &Exchange,
    ) -> impl Iterator<Item = (usize, &'e Value)> + use<'e> {
        self.agent_lines(exchange, exchange.request + 1, self.until(exchange))
    }

    fn agent_lines<'e>(
        &'e self,
        exchange: &Exchange,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = (usize, &'e Value)> + use<'e> {
        let process = &self.lines[exchange.request].agent;
        (from..to.max(from)).filter_map(move |at| {
            let line = &self.lines[at];
            let ours = line.from == Side::Agent && line.agent == *process;
            Some((at, line.json.as_ref().filter(|_| ours)?))
        })
    }

    /// The updates of a session between a request and its answer.
    pub(super) fn updates<'e>(&'e self, exchange: &Exchange) -> Vec<(usize, &'e Value)> {
        let session = self.session(exchange).to_owned();
        self.between(exchange)
            .filter_map(|(at, json)| Some((at, update_of(json, &session)?)))
            .collect()
    }

    /// Updates of a session after an answer, until we ask for something else in it.
    pub(super) fn late<'e>(&'e self, exchange: &Exchange) -> Vec<(usize, &'e Value)> {
        let Some(answer) = exchange.answers.first() else { return Vec::new() };
        let process = &self.lines[exchange.request].agent;
        let session = self.session(exchange).to_owned();
        let asks = |line: &Line| {
            line.from == Side::Harness
                && line.agent == *process
                && line
                    .json
                    .as_ref()
                    .is_some_and(|json| json["params"]["sessionId"] == session.as_str())
        };
        let next = self.lines.iter().skip(answer + 1).position(asks);
        let to = next.map_or(self.lines.len(), |next| answer + 1 + next);
        let lines = self.agent_lines(exchange, answer + 1, to);
        lines.filter_map(|(at, json)| Some((at, update_of(json, &session)?))).collect()
    }

    /// The lines that agents wrote.
    pub(super) fn agent_side(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.from == Side::Agent)
    }

    /// Every update of every session: its record and its parameters.
    pub(super) fn every_update(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.agent_side().filter_map(|line| {
            let json = line.json.as_ref().filter(|json| json["method"] == "session/update")?;
            Some((line.record, &json["params"]))
        })
    }

    /// What was done for a probe that is no request, in order.
    pub(super) fn did(&self, wanted: Probe) -> Vec<(usize, &Process, &Text)> {
        self.seen
            .iter()
            .filter_map(|seen| match &seen.sighting {
                Sighting::Did { probe, about } if **probe == *wanted.word() => {
                    Some((seen.record, &seen.agent, about))
                }
                _ => None,
            })
            .collect()
    }

    /// Something was noted of this very exchange of a probe: before its process was asked for
    /// anything else.
    pub(super) fn is_noted(&self, probe: Probe, exchange: &Exchange) -> bool {
        let line = &self.lines[exchange.request];
        let next = self.seen.iter().find(|seen| {
            seen.record > line.record
                && seen.agent == line.agent
                && matches!(seen.sighting, Sighting::Asked { .. })
        });
        let until = line.record..next.map_or(usize::MAX, |next| next.record);
        let ours = |(record, agent, _): &(usize, &Process, &Text)| {
            **agent == line.agent && until.contains(record)
        };
        self.did(probe).iter().any(ours)
    }

    pub(super) fn record(&self, line: usize) -> usize {
        self.lines[line].record
    }
}

/// The body of an update, where a message is one of this session.
pub(super) fn update_of<'j>(json: &'j Value, session: &str) -> Option<&'j Value> {
    let ours = json["method"] == "session/update" && json["params"]["sessionId"] == session;
    ours.then(|| &json["params"]["update"])
}

/// What is known while the trace is read.
#[derive(Default)]
struct Reading {
    /// The probe of the request that comes next, by process and id.
    asked: BTreeMap<(Process, RpcId), Probe>,
    open: BTreeMap<(Process, RpcId), usize>,
    found: Vec<(Probe, Exchange)>,
}

impl Reading {
    fn sighting(&mut self, agent: &Process, sighting: &Sighting) {
        match sighting {
            Sighting::Asked { probe, request } => {
                let probe = Probe::ALL.iter().find(|known| known.word() == &**probe);
                if let Some(probe) = probe {
                    self.asked.insert((agent.clone(), request.clone()), *probe);
                }
            }
            Sighting::GaveUp { request, .. } => {
                if let Some(at) = self.open.get(&(agent.clone(), request.clone())) {
                    self.found[*at].1.gave_up = true;
                }
            }
            Sighting::OutOfTime { request } => {
                if let Some(at) = self.open.get(&(agent.clone(), request.clone())) {
                    self.found[*at].1.cut = true;
                }
            }
            _ => {}
        }
    }

    /// Takes in the line that was read last.
    fn line(&mut self, evidence: &mut Evidence) {
        let at = evidence.lines.len() - 1;
        let line = &evidence.lines[at];
        let Some(json) = &line.json else { return };
        let Some(id) = json.get("id").and_then(RpcId::from_json) else {
            let answers = json.get("result").or(json.get("error")).is_some();
            if line.from == Side::Agent && answers && json.get("method").is_none() {
                evidence.strays.push(at);
            }
            return;
        };
        let key = (line.agent.clone(), id);
        let is_call = json.get("method").is_some();
        if line.from == Side::Harness && is_call {
            if let Some(probe) = self.asked.remove(&key) {
                self.open.insert(key, self.found.len());
                let exchange =
                    Exchange { request: at, answers: Vec::new(), gave_up: false, cut: false };
                self.found.push((probe, exchange));
            }
        } else if line.from == Side::Agent && !is_call {
            match self.open.get(&key) {
                Some(found) => self.found[*found].1.answers.push(at),
                None => evidence.strays.push(at),
            }
        }
    }

    fn exchanges(self) -> BTreeMap<Probe, Vec<Exchange>> {
        let mut exchanges: BTreeMap<Probe, Vec<Exchange>> = BTreeMap::new();
        for (probe, exchange) in self.found.into_iter().filter(|(_, exchange)| !exchange.cut) {
            exchanges.entry(probe).or_default().push(exchange);
        }
        exchanges
    }
}
