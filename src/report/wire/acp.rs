//! What an ACP frame says, in a few words.

use std::collections::BTreeMap;

use serde_json::Value;
use skep_trace::{Answer, Call, Frame, Process, RpcError, RpcId, Setup, Side, Text};

use super::Weight;
use crate::report::clean::{clean, fit, quote};
use crate::report::names::Names;

/// How much of a prompt or an update is shown.
const TEXT_COLUMNS: usize = 36;

/// Requests that were not answered yet, so that an answer can name its method.
#[derive(Debug, Default)]
pub struct Pending {
    methods: BTreeMap<(Process, bool, RpcId), Text>,
}

/// The frame in a few words, and how much it tells.
pub fn frame_text(
    agent: &Process,
    from: Side,
    frame: &Frame,
    names: &Names,
    pending: &mut Pending,
) -> (String, Weight) {
    let by_agent = from == Side::Agent;
    match frame {
        Frame::Request { id, call } => {
            let key = (agent.clone(), by_agent, id.clone());
            pending.methods.insert(key, call.method().into());
            (call_text(call, names), Weight::Story)
        }
        Frame::Notification(call) => {
            let update = matches!(call, Call::SessionUpdate { .. });
            (call_text(call, names), if update { Weight::Detail } else { Weight::Story })
        }
        Frame::Response { id, outcome } => {
            let method = pending.methods.remove(&(agent.clone(), !by_agent, id.clone()));
            let method = method.map_or("answer to nothing".to_owned(), |method| clean(&method));
            (answer_text(&method, outcome, names), Weight::Story)
        }
        Frame::Garbage(text) => (format!("no JSON-RPC: {}", quote(text, 60)), Weight::Story),
    }
}

/// Updates of one kind on one session may be shown as one line with their number.
pub fn run(frame: &Frame) -> Option<String> {
    match frame {
        Frame::Notification(Call::SessionUpdate { session_id, update }) => {
            Some(format!("{session_id} {}", update.kind()))
        }
        _ => None,
    }
}

fn call_text(call: &Call, names: &Names) -> String {
    let method = clean(call.method());
    let session = call.session_id().map(|id| names.show(id)).unwrap_or_default();
    match call {
        Call::Initialize(_) => method,
        Call::SessionNew(setup) => format!("{method} {}", setup_text(setup, names)),
        Call::SessionLoad { setup, .. } | Call::SessionResume { setup, .. } => {
            format!("{method} {session} {}", setup_text(setup, names))
        }
        Call::SessionPrompt { prompt, .. } => {
            format!("{method} {session} {}", quote(said(prompt), TEXT_COLUMNS))
        }
        Call::SessionUpdate { update, .. } => {
            let text = update.text().map(|text| format!(" {}", quote(content(text), TEXT_COLUMNS)));
            format!("{} {session}{}", clean(update.kind()), text.unwrap_or_default())
        }
        Call::SetModel { model_id: value, .. } | Call::SetMode { mode_id: value, .. } => {
            format!("{method} {session} {}", quote(value, TEXT_COLUMNS))
        }
        _ if session.is_empty() => method,
        _ => format!("{method} {session}"),
    }
}

/// What a harness writes before a message's own words, where it wraps them in context.
const CONTENT: &str = "Content: ";

/// What a person said in a prompt: the message's own words, else the last block's first line.
fn said(prompt: &[Text]) -> &str {
    let block = prompt.iter().rev().find(|block| block.contains(CONTENT)).or(prompt.last());
    block.map_or("", |block| content(block))
}

/// The message's own words in a text, else its first line.
fn content(text: &str) -> &str {
    let own = text.find(CONTENT).map_or(0, |at| at + CONTENT.len());
    text[own..].lines().next().unwrap_or("")
}

fn setup_text(setup: &Setup, names: &Names) -> String {
    let mut parts = vec![format!("cwd: {}", quote(&setup.cwd, 24))];
    let meta = |key: &str| setup.meta.as_ref()?.get(key)?.as_str();
    if let Some(channel) = meta("channelId") {
        parts.push(format!("channel: {}", names.show(channel)));
    }
    let servers = setup.mcp_servers.as_array().map_or(0, Vec::len);
    if servers > 0 {
        parts.push(format!("mcp: {servers}"));
    }
    format!("{{{}}}", parts.join(", "))
}

fn answer_text(method: &str, outcome: &Result<Answer, RpcError>, names: &Names) -> String {
    match outcome {
        Err(error) => {
            format!("{method} failed: {} {}", error.code, quote(&error.message, TEXT_COLUMNS))
        }
        Ok(answer) => match answer_detail(answer, names) {
            Some(detail) => format!("{method} ok: {detail}"),
            None => format!("{method} ok"),
        },
    }
}

fn answer_detail(answer: &Answer, names: &Names) -> Option<String> {
    if answer.null {
        return Some("null".to_owned());
    }
    if let Some(reason) = &answer.stop_reason {
        return Some(fit(&clean(reason), TEXT_COLUMNS));
    }
    if let Some(session) = &answer.session_id {
        return Some(names.show(session));
    }
    let capabilities = answer.field("agentCapabilities")?;
    let loads = match capabilities.get("loadSession") {
        None => "absent".to_owned(),
        Some(Value::Bool(loads)) => loads.to_string(),
        Some(odd) => clean(&odd.to_string()),
    };
    Some(format!("loadSession {}", fit(&loads, TEXT_COLUMNS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[(&str, Side)]) -> Vec<String> {
        let agent = Process { agent: "a".into(), process: 1 };
        let mut pending = Pending::default();
        let names = Names::default();
        let text = |(line, from): &(&str, Side)| {
            frame_text(&agent, *from, &Frame::from_line(line), &names, &mut pending).0
        };
        lines.iter().map(text).collect()
    }

    #[test]
    fn frames_are_told_in_a_few_words() {
        use Side::{Agent, Harness};
        let prompt = r#"{"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"[Buzz event]\nContent: hello\nTags: []"}]}}"#;
        let told = texts(&[
            (r#"{"id":0,"method":"initialize","params":{}}"#, Harness),
            (r#"{"id":0,"result":{"agentCapabilities":{"loadSession":true}}}"#, Agent),
            (
                r#"{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{}],"_meta":{"channelId":"c"}}}"#,
                Harness,
            ),
            (r#"{"id":1,"result":{"sessionId":"s1"}}"#, Agent),
            (
                r#"{"id":2,"method":"session/load","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}}"#,
                Harness,
            ),
            (r#"{"id":2,"error":{"code":-32002,"message":"Resource not found"}}"#, Agent),
            (prompt, Harness),
            (
                r#"{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}"#,
                Agent,
            ),
            (r#"{"id":3,"result":{"stopReason":"end_turn"}}"#, Agent),
            (r#"{"id":9,"result":null}"#, Agent),
            ("[1] starting", Agent),
        ]);
        insta::assert_snapshot!(told.join("\n"), @r#"
        initialize
        initialize ok: loadSession true
        session/new {cwd: "/w", channel: c, mcp: 1}
        session/new ok: s1
        session/load s1 {cwd: "/w"}
        session/load failed: -32002 "Resource not found"
        session/prompt s1 "hello"
        agent_message_chunk s1 "hi"
        session/prompt ok: end_turn
        answer to nothing ok: null
        no JSON-RPC: "[1] starting"
        "#);
    }
}
