//! Tool calls and plans in a replay: rows 51 to 55.

use serde_json::Value;

use super::replay::{Told, content};
use crate::certify::evidence::Evidence;
use crate::certify::said::{Judged, Said, apart, broken, counted, unknown};

/// The tool calls of one load, held against those that were made.
fn tools(e: &Evidence) -> Result<Vec<Told<'_>>, Said> {
    let content = content(e)?;
    if content[0].live.tools.is_empty() {
        return apart("the agent made no tool call");
    }
    Ok(content)
}

/// 51: tool calls come back.
pub(in crate::certify) fn tool_calls(e: &Evidence) -> Judged {
    let content = tools(e)?;
    for Told { probe, load, live, told } in &content {
        let back = |tool: &str| told.tools.iter().any(|one| one.id == tool);
        if let Some(tool) = live.tools.iter().find(|tool| !back(&tool.id)) {
            let why = format!("{}: the call {:?} is missing", probe.word(), tool.title);
            return broken(why, e.moment(load));
        }
    }
    Ok(counted(content[0].live.tools.len(), "call"))
}

/// The replayed tool calls, or the reason why there are none to look at.
fn replayed_tools(e: &Evidence) -> Result<Vec<Told<'_>>, Said> {
    let content = tools(e)?;
    match content.iter().all(|one| one.told.tools.is_empty()) {
        true => unknown("no tool call was replayed"),
        false => Ok(content),
    }
}

/// 52: a replayed call has an id of its own and a title.
pub(in crate::certify) fn tool_shape(e: &Evidence) -> Judged {
    for Told { load, told, .. } in replayed_tools(e)? {
        for (at, update) in e.updates(load) {
            let call = update["sessionUpdate"] == "tool_call";
            if call && !(update["title"].is_string() && update["toolCallId"].is_string()) {
                return broken("a tool call has no title or no id", e.record(at));
            }
        }
        if let Some(tool) = told.tools.iter().find(|tool| tool.announced > 1) {
            return broken(
                format!("the id {:?} stands for two calls", tool.id),
                e.record(tool.line),
            );
        }
    }
    Ok("every call has a title and an id of its own".to_owned())
}

/// 53: an update is about a call that was announced.
pub(in crate::certify) fn tool_updates(e: &Evidence) -> Judged {
    for Told { told, .. } in replayed_tools(e)? {
        if let Some(tool) = told.tools.iter().find(|tool| tool.announced == 0) {
            return broken(format!("nobody announced the call {:?}", tool.id), e.record(tool.line));
        }
    }
    Ok("every call was announced".to_owned())
}

/// 54: what is finished comes back as finished.
pub(in crate::certify) fn tool_ends(e: &Evidence) -> Judged {
    for Told { live, told, .. } in replayed_tools(e)? {
        for tool in &told.tools {
            let ended = live.tools.iter().any(|one| {
                one.id == tool.id && ["completed", "failed"].contains(&one.status.as_str())
            });
            if ended && !["completed", "failed"].contains(&tool.status.as_str()) {
                let why = format!("a finished call comes back as {:?}", tool.status);
                return broken(why, e.record(tool.line));
            }
        }
    }
    Ok("every finished call is finished".to_owned())
}

/// 55: a plan comes back whole.
pub(in crate::certify) fn plans(e: &Evidence) -> Judged {
    let mut count = 0;
    for Told { load, .. } in content(e)? {
        for (at, update) in e.updates(load) {
            if update["sessionUpdate"] != "plan" {
                continue;
            }
            count += 1;
            let whole = |entry: &Value| {
                ["content", "priority", "status"].iter().all(|key| entry[*key].is_string())
            };
            let entries = update["entries"].as_array();
            if !entries.is_some_and(|entries| entries.iter().all(whole)) {
                return broken(
                    "a plan's entry lacks its content, priority or status",
                    e.record(at),
                );
            }
        }
    }
    if count == 0 { apart("no plan was replayed") } else { Ok(counted(count, "plan")) }
}
