//! The judges: one pure function a requirement, from the evidence to what is said of it.
//!
//! - `wire`: lines and envelopes. `handshake`: `initialize`. `session`: `session/new`.
//! - `load`: success, order, number. `replay`, `tools`: what it tells. `beyond`: what follows a
//!   load, and what must not happen while it runs. `odd`: ids and parameters that do not fit.
//! - `options`: modes and options. `neighbours`: list, resume, close, delete, fork.
//! - `prompt`: turns. `info`: what is only recorded.

pub(super) mod beyond;
pub(super) mod handshake;
pub(super) mod info;
pub(super) mod load;
pub(super) mod neighbours;
pub(super) mod odd;
pub(super) mod options;
pub(super) mod prompt;
pub(super) mod replay;
pub(super) mod session;
pub(super) mod tools;
pub(super) mod wire;

use serde_json::Value;

use super::evidence::{Evidence, Exchange};
use super::probe::Probe;
use super::said::{Said, unknown};

/// The first exchange of a probe, answered or not.
pub(super) fn asked(e: &Evidence, probe: Probe) -> Result<&Exchange, Said> {
    e.first(probe).ok_or_else(|| Said::Unknown(format!("{} was not tried", probe.word())))
}

/// The first exchange of a probe with its result, where it has one.
pub(super) fn good(e: &Evidence, probe: Probe) -> Result<(&Exchange, &Value), Said> {
    let exchange = asked(e, probe)?;
    match e.result(exchange) {
        Some(result) => Ok((exchange, result)),
        None => unknown(format!("{} {}", probe.word(), outcome(e, exchange))),
    }
}

/// The first exchange of a probe, answered with a result or an error.
pub(super) fn answered(e: &Evidence, probe: Probe) -> Result<&Exchange, Said> {
    let exchange = asked(e, probe)?;
    if exchange.answers.is_empty() {
        return unknown(format!("{} was not answered", probe.word()));
    }
    Ok(exchange)
}

/// What came of a request, in a few words.
pub(super) fn outcome(e: &Evidence, exchange: &Exchange) -> String {
    match e.error(exchange) {
        Some(error) => format!("failed with {}", error["code"]),
        None if exchange.answers.is_empty() => "was not answered".to_owned(),
        None => "succeeded".to_owned(),
    }
}

/// Whether the agent offers loads.
pub(super) fn offers_loads(e: &Evidence) -> Result<bool, Said> {
    let (_, hello) = good(e, Probe::Initialize)?;
    Ok(hello["agentCapabilities"]["loadSession"] == true)
}

/// The loads of sessions that exist, with whatever came of them.
pub(super) const LOADS: [Probe; 16] = [
    Probe::LoadSame,
    Probe::LoadTwice,
    Probe::LoadFresh,
    Probe::LoadMore,
    Probe::LoadKilled,
    Probe::LoadSecond,
    Probe::LoadOtherClient,
    Probe::LoadServers,
    Probe::LoadSource,
    Probe::LoadCancelled,
    Probe::LoadAfterKill,
    Probe::LoadAfterGroupKill,
    Probe::LoadWithout,
    Probe::LoadBeside,
    Probe::LoadTrouble,
    Probe::LoadBulk,
];

/// Those of them that succeeded.
pub(super) fn loads(e: &Evidence) -> Vec<(Probe, &Exchange, &Value)> {
    let all = LOADS.iter().flat_map(|probe| e.all(*probe).iter().map(|one| (*probe, one)));
    all.filter_map(|(probe, one)| Some((probe, one, e.result(one)?))).collect()
}

/// The same, but there must be some.
pub(super) fn some_loads(e: &Evidence) -> Result<Vec<(Probe, &Exchange, &Value)>, Said> {
    let loads = loads(e);
    if loads.is_empty() { unknown("no load succeeded") } else { Ok(loads) }
}
