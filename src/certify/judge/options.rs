//! Modes and options of a loaded session: rows 79 to 83, 87.

use serde_json::Value;

use super::{good, loads, outcome};
use crate::certify::evidence::{Evidence, Exchange};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, apart, broken, counted, remark, unknown};

/// Everything that sets a session up, with its result: what made it, loaded it, resumed it.
fn setups(e: &Evidence) -> Result<Vec<(&Exchange, &Value)>, Said> {
    const SETUPS: [Probe; 4] = [Probe::NewMain, Probe::Resume, Probe::ResumeFresh, Probe::NewAgain];
    let others = SETUPS.iter().filter_map(|probe| good(e, *probe).ok());
    let all: Vec<_> =
        loads(e).into_iter().map(|(_, load, result)| (load, result)).chain(others).collect();
    if all.is_empty() { unknown("no session was set up") } else { Ok(all) }
}

/// Those whose result has a field.
fn with<'e>(e: &'e Evidence, field: &str) -> Result<Vec<(&'e Exchange, &'e Value)>, Said> {
    let with: Vec<_> = setups(e)?
        .into_iter()
        .filter_map(|(setup, result)| {
            Some((setup, result.get(field).filter(|one| !one.is_null())?))
        })
        .collect();
    if with.is_empty() { apart(format!("no session has `{field}`")) } else { Ok(with) }
}

/// 79: the mode is one of those there are.
pub(in crate::certify) fn mode(e: &Evidence) -> Judged {
    let loads = with(e, "modes")?;
    for (load, modes) in &loads {
        let mut ids = modes["availableModes"].as_array().into_iter().flatten();
        let current = &modes["currentModeId"];
        if !ids.any(|mode| mode["id"] == *current) {
            return broken(
                format!("the mode {current} is none of those there are"),
                e.moment(load),
            );
        }
    }
    Ok(counted(loads.len(), "setup"))
}

/// The values of an option, listed flat or in groups.
fn values(option: &Value) -> Vec<&Value> {
    let entries = option["options"].as_array().into_iter().flatten();
    entries
        .flat_map(|entry| match entry["options"].as_array() {
            Some(group) => group.iter().map(|one| &one["value"]).collect(),
            None => vec![&entry["value"]],
        })
        .collect()
}

/// 80: the value of an option is one of its choices.
pub(in crate::certify) fn value(e: &Evidence) -> Judged {
    let mut count = 0;
    for (load, options) in with(e, "configOptions")? {
        for option in options.as_array().into_iter().flatten() {
            let current = &option["currentValue"];
            let fits = match option["type"].as_str() {
                Some("boolean") => current.is_boolean(),
                _ => values(option).contains(&current),
            };
            if !fits {
                let why = format!("the option {} is {current}, no choice of it", option["id"]);
                return broken(why, e.moment(load));
            }
            count += 1;
        }
    }
    Ok(counted(count, "option"))
}

/// 81: the mode and the option of the mode agree.
pub(in crate::certify) fn agreement(e: &Evidence) -> Judged {
    let mut count = 0;
    for (load, result) in setups(e)? {
        let mode = &result["modes"]["currentModeId"];
        let mut options = result["configOptions"].as_array().into_iter().flatten();
        let Some(option) = options.find(|option| option["category"] == "mode") else { continue };
        if mode.is_null() {
            continue;
        }
        count += 1;
        if option["currentValue"] != *mode {
            let why = format!("the mode is {mode}, the option says {}", option["currentValue"]);
            return broken(why, e.moment(load));
        }
    }
    if count == 0 { apart("modes are not said twice") } else { Ok(counted(count, "load")) }
}

/// 82: a changed option is answered with all of them.
pub(in crate::certify) fn complete(e: &Evidence) -> Judged {
    let loads = with(e, "configOptions")?;
    let Some(set) = e.first(Probe::SetOption) else { return apart("no option has a choice") };
    let mut options = loads[0].1.as_array().into_iter().flatten();
    let changed = &e.request(set)["params"]["configId"];
    let of_model = options.any(|one| one["id"] == *changed && one["category"] == "model");
    let Some(result) = e.result(set) else {
        if of_model {
            let why =
                format!("the choice of another model {}: it may need a login", outcome(e, set));
            return remark(why, e.moment(set));
        }
        return broken(format!("the change of an option {}", outcome(e, set)), e.moment(set));
    };
    let (wanted, changed) = (&e.request(set)["params"], &result["configOptions"]);
    let mut options = changed.as_array().into_iter().flatten();
    if options.any(|one| one["id"] == wanted["configId"] && one["currentValue"] != wanted["value"])
    {
        return broken("the answer to a change has the old value", e.moment(set));
    }
    let ids = |options: &Value| -> Vec<Value> {
        options.as_array().into_iter().flatten().map(|option| option["id"].clone()).collect()
    };
    let (before, after) = (ids(loads[0].1), ids(&result["configOptions"]));
    match before.iter().all(|id| after.contains(id)) {
        true => Ok(counted(after.len(), "option")),
        false => broken("the answer does not have every option", e.moment(set)),
    }
}

/// 83: a mode that was chosen is there after a load.
pub(in crate::certify) fn kept(e: &Evidence) -> Judged {
    let Some(set) = e.first(Probe::SetMode) else { return apart("there is no mode to choose") };
    if e.result(set).is_none() {
        return remark(
            format!("the choice of a mode that is offered {}", outcome(e, set)),
            e.moment(set),
        );
    }
    let (load, result) = good(e, Probe::LoadFresh)?;
    let (wanted, mode) = (&e.request(set)["params"]["modeId"], &result["modes"]["currentModeId"]);
    if wanted == mode {
        return Ok("it is".to_owned());
    }
    remark(format!("{wanted} was chosen, a new process has {mode}"), e.moment(load))
}

/// 87: options that are on or off are for clients that said they can show them.
pub(in crate::certify) fn no_booleans(e: &Evidence) -> Judged {
    let setups = setups(e)?;
    for (load, result) in &setups {
        let mut options = result["configOptions"].as_array().into_iter().flatten();
        if let Some(option) = options.find(|option| option["type"] == "boolean") {
            return broken(format!("the option {} is on or off", option["id"]), e.moment(load));
        }
    }
    Ok(counted(setups.len(), "setup"))
}
