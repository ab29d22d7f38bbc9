//! Ids that nobody gave and parameters that do not fit: rows 65 to 68, 92, 119 to 121.

use super::replay::is_history;
use super::{answered, asked, good, outcome};
use crate::certify::evidence::{Evidence, Exchange};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, broken, counted, remark, unknown};

/// Loads of ids that nobody gave.
const ODD: [Probe; 6] = [
    Probe::LoadUnknown,
    Probe::LoadEmptyId,
    Probe::LoadUpper,
    Probe::LoadPath,
    Probe::LoadHuge,
    Probe::LoadControl,
];

/// 65: an unknown id is said to be one.
pub(in crate::certify) fn unknown_id(e: &Evidence) -> Judged {
    good(e, Probe::LoadSame)?;
    let load = asked(e, Probe::LoadUnknown)?;
    if e.result(load).is_some() {
        return broken("the load of an unknown session succeeded", e.moment(load));
    }
    match e.code(load) {
        Some(-32002)
            if e.error(load).is_some_and(|error| error["data"]["sessionId"].is_string()) =>
        {
            Ok("-32002, with the id".to_owned())
        }
        Some(-32002) => remark("-32002, but without the id in its data", e.moment(load)),
        Some(code) => broken(format!("the code is {code}, not -32002"), e.moment(load)),
        None => broken(format!("it {}", outcome(e, load)), e.moment(load)),
    }
}

/// 66: a load that failed leaves nothing.
pub(in crate::certify) fn creates_nothing(e: &Evidence) -> Judged {
    let failed: Vec<_> = ODD
        .iter()
        .filter_map(|probe| e.first(*probe))
        .filter(|load| e.error(load).is_some())
        .map(|load| e.session(load))
        .collect();
    if failed.is_empty() {
        return unknown("no load failed");
    }
    good(e, Probe::List)?;
    for probe in [Probe::List, Probe::ListPage, Probe::ListCwd] {
        for list in e.all(probe) {
            let entries = e.result(list).and_then(|result| result["sessions"].as_array());
            let mut entries = entries.into_iter().flatten();
            if entries
                .any(|entry| entry["sessionId"].as_str().is_some_and(|id| failed.contains(&id)))
            {
                return broken("an id whose load failed is listed", e.moment(list));
            }
        }
    }
    Ok(counted(failed.len(), "failed load"))
}

/// 67: parameters that do not fit are said not to.
pub(in crate::certify) fn bad_params(e: &Evidence) -> Judged {
    good(e, Probe::LoadSame)?;
    let all = e.all(Probe::BadParams);
    for load in all {
        match e.code(load) {
            Some(-32602) => {}
            _ => {
                let why = format!("a load with bad parameters {}", outcome(e, load));
                return broken(why, e.moment(load));
            }
        }
    }
    if all.is_empty() { unknown("none were sent") } else { Ok(counted(all.len(), "load")) }
}

/// 68: an id is what it is, letter for letter.
pub(in crate::certify) fn opaque(e: &Evidence) -> Judged {
    good(e, Probe::LoadSame)?;
    let unknown_code = e.first(Probe::LoadUnknown).and_then(|load| e.code(load));
    let mut count = 0;
    for probe in [Probe::LoadEmptyId, Probe::LoadUpper, Probe::LoadPath, Probe::LoadControl] {
        let Some(load) = e.first(probe) else { continue };
        count += 1;
        if e.result(load).is_some() && tells(e, load) {
            let why = format!("{} loaded a session that has another id", probe.word());
            return broken(why, e.moment(load));
        }
        if load.answers.is_empty() {
            return broken(format!("{} was not answered", probe.word()), e.moment(load));
        }
        if e.code(load) != unknown_code && probe != Probe::LoadEmptyId {
            let why = format!("{} {}, unlike an unknown id", probe.word(), outcome(e, load));
            return remark(why, e.moment(load));
        }
    }
    let huge = answered(e, Probe::LoadHuge);
    if let Ok(load) = huge
        && e.result(load).is_some()
        && tells(e, load)
    {
        return broken("a huge id loaded a session", e.moment(load));
    }
    Ok(counted(count, "id"))
}

/// Whether a load tells a history, under whatever id.
fn tells(e: &Evidence, load: &Exchange) -> bool {
    e.between(load).any(|(_, json)| {
        json["method"] == "session/update" && is_history(&json["params"]["update"])
    })
}

/// 92: load and resume know the same sessions.
pub(in crate::certify) fn agreement(e: &Evidence) -> Judged {
    let (load, resume) = (answered(e, Probe::LoadUnknown)?, answered(e, Probe::ResumeUnknown)?);
    if e.code(resume) == Some(-32601) {
        return unknown("there is no resume");
    }
    if e.result(load).is_some() != e.result(resume).is_some() {
        return broken("one of load and resume knows what the other does not", e.moment(resume));
    }
    Ok("neither knows it".to_owned())
}

/// 119: a relative directory.
pub(in crate::certify) fn relative(e: &Evidence) -> Judged {
    recorded(e, Probe::RelativeCwd)
}

/// 121: a load before the handshake.
pub(in crate::certify) fn early(e: &Evidence) -> Judged {
    recorded(e, Probe::EarlyLoad)
}

/// What an agent answers is only recorded.
pub(super) fn recorded(e: &Evidence, probe: Probe) -> Judged {
    let exchange = asked(e, probe)?;
    Ok(outcome(e, exchange))
}
