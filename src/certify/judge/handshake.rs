//! The handshake: rows 17 to 27.

use serde_json::Value;

use super::{asked, good, outcome};
use crate::certify::evidence::{Evidence, Line};
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, broken, counted, remark, unknown};

/// The result of the first handshake.
fn hello(e: &Evidence) -> Result<(usize, &Value), Said> {
    let (exchange, result) = good(e, Probe::Initialize)?;
    Ok((e.moment(exchange), result))
}

/// 17: it is answered, in the shape that the schema has.
pub(in crate::certify) fn shape(e: &Evidence) -> Judged {
    let exchange = asked(e, Probe::Initialize)?;
    let Some(result) = e.result(exchange) else {
        return broken(format!("the handshake {}", outcome(e, exchange)), e.moment(exchange));
    };
    // What is said about sessions has requirements of its own.
    let mut rest = result.clone();
    if let Some(capabilities) = rest["agentCapabilities"].as_object_mut() {
        capabilities.remove("loadSession");
        capabilities.remove("sessionCapabilities");
    }
    if rest["authMethods"].is_array() {
        rest["authMethods"] = Value::Array(Vec::new());
    }
    match skep_agent::schema::agent_result_misfit("initialize", &rest) {
        Some(why) => broken(format!("the handshake's result: {why}"), e.moment(exchange)),
        None => Ok("the result has its shape".to_owned()),
    }
}

/// 18: a version that is supported is answered as it is.
pub(in crate::certify) fn same_version(e: &Evidence) -> Judged {
    let (at, result) = hello(e)?;
    match &result["protocolVersion"] {
        version if *version == 1 => Ok("1 for 1".to_owned()),
        version => broken(format!("{version} for 1"), at),
    }
}

/// 19: a version that nobody has is answered with one that the agent has.
pub(in crate::certify) fn other_version(e: &Evidence) -> Judged {
    let mut seen = 0;
    for (probe, asked_for) in [(Probe::OddVersion, 65_535), (Probe::ZeroVersion, 0)] {
        let exchange = asked(e, probe)?;
        let Some(result) = e.result(exchange) else {
            if asked_for == 0 && e.error(exchange).is_some() {
                continue;
            }
            return broken(
                format!("version {asked_for}: {}", outcome(e, exchange)),
                e.moment(exchange),
            );
        };
        seen += 1;
        let version = result["protocolVersion"].as_u64();
        if asked_for != 0 && version == Some(asked_for) || version.is_none() {
            let said = &result["protocolVersion"];
            return broken(format!("{said} for {asked_for}"), e.moment(exchange));
        }
    }
    Ok(counted(seen, "odd version"))
}

/// 20: it says who it is.
pub(in crate::certify) fn name(e: &Evidence) -> Judged {
    let (at, result) = hello(e)?;
    let info = &result["agentInfo"];
    if info["name"].is_string() && info["version"].is_string() {
        return Ok(format!("{} {}", info["name"], info["version"]));
    }
    broken("there is no name with a version", at)
}

/// 21: `loadSession` is true or false.
pub(in crate::certify) fn load_flag(e: &Evidence) -> Judged {
    let (at, result) = hello(e)?;
    match result["agentCapabilities"].get("loadSession") {
        None => Ok("it is not there, which means no".to_owned()),
        Some(Value::Bool(flag)) => Ok(flag.to_string()),
        Some(other) => broken(format!("`loadSession` is {other}"), at),
    }
}

/// 22: what is offered of sessions is marked with objects.
pub(in crate::certify) fn markers(e: &Evidence) -> Judged {
    let (at, result) = hello(e)?;
    let marks = &result["agentCapabilities"]["sessionCapabilities"];
    let marks = marks.as_object().into_iter().flatten();
    match marks.clone().find(|(_, mark)| !(mark.is_object() || mark.is_null())) {
        Some((name, mark)) => broken(format!("`{name}` is marked with {mark}"), at),
        None => Ok(counted(marks.count(), "marker")),
    }
}

/// 23: what is advertised is there.
pub(in crate::certify) fn advertised(e: &Evidence) -> Judged {
    const ADVERTISED: [&str; 6] = ["load", "list", "resume", "close", "delete", "fork"];
    let (_, result) = hello(e)?;
    let capabilities = &result["agentCapabilities"];
    let offered = |method: &str| match method.strip_prefix("session/") {
        Some("load") => capabilities["loadSession"] == true,
        Some(name) => {
            ADVERTISED.contains(&name) && capabilities["sessionCapabilities"][name].is_object()
        }
        None => false,
    };
    // Before the handshake nothing is there.
    let missing = e.every().find(|(probe, exchange)| {
        *probe != Probe::EarlyLoad
            && e.code(exchange) == Some(-32601)
            && offered(e.method(exchange))
    });
    match missing {
        Some((_, exchange)) => broken(
            format!("{} is advertised and not there", e.method(exchange)),
            e.moment(exchange),
        ),
        None => Ok("nothing that was advertised is missing".to_owned()),
    }
}

/// 24: what the client does not offer is not asked for.
pub(in crate::certify) fn uninvited(e: &Evidence) -> Judged {
    hello(e)?;
    let asks = |line: &&Line| {
        let method = line.json.as_ref().and_then(|json| json["method"].as_str());
        method.is_some_and(|method| {
            ["fs/", "terminal/", "elicitation/"].iter().any(|begin| method.starts_with(begin))
        })
    };
    match e.agent_side().find(asks) {
        Some(line) => broken("the agent asks for what the client does not offer", line.record),
        None => Ok("nothing was asked for".to_owned()),
    }
}

/// 25: the baseline works without any capability.
pub(in crate::certify) fn baseline(e: &Evidence) -> Judged {
    for probe in [Probe::NewMain, Probe::Turn] {
        let exchange = asked(e, probe)?;
        if e.code(exchange) == Some(-32000) {
            return Err(Said::Unknown("it needs a login".to_owned()));
        }
        if e.result(exchange).is_none() {
            return broken(
                format!("{} {}", e.method(exchange), outcome(e, exchange)),
                e.moment(exchange),
            );
        }
    }
    Ok("sessions and prompts work".to_owned())
}

/// 26: logins in a terminal are for clients that have one.
pub(in crate::certify) fn logins(e: &Evidence) -> Judged {
    let (at, result) = hello(e)?;
    let methods = result["authMethods"].as_array();
    let mut methods = methods.into_iter().flatten();
    match methods.find(|method| method["type"] == "terminal") {
        Some(method) => broken(format!("the login {} needs a terminal", method["id"]), at),
        None => Ok("none needs a terminal".to_owned()),
    }
}

/// 27: every process says the same.
pub(in crate::certify) fn same_again(e: &Evidence) -> Judged {
    let (_, first) = hello(e)?;
    let all = e.all(Probe::Initialize);
    for exchange in all {
        let Some(result) = e.result(exchange) else { continue };
        if result["agentCapabilities"] != first["agentCapabilities"] {
            return remark("another process offers something else", e.moment(exchange));
        }
    }
    if all.len() < 2 {
        unknown("there was one process")
    } else {
        Ok(counted(all.len(), "handshake"))
    }
}
