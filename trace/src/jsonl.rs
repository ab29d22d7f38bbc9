//! The JSON Lines form of a trace: a header line, then one record a line.
//!
//! The header is `{"skep_trace":1,…}`. Each record is `{"at":ms,"kind":…,…}` with its payload
//! beside. Frames stand verbatim where a foreign program wrote them. A torn last line is dropped.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::acp::{Frame, Text};
use crate::hex::{self, Hex32};
use crate::nostr::{ClientMsg, HttpCall, HttpReply, NostrEvent, RelayMsg};
use crate::record::{
    End, Header, Life, NameKind, Note, Process, Receipt, Record, Settled, Side, Trace, What,
};
use crate::sighting::Sighting;
use crate::snapshot::Snapshot;

/// The version that this build writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// A trace file that cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// The first line is no trace header.
    #[error("line 1 is no trace header; a trace begins with {{\"skep_trace\":{VERSION},…}}")]
    NoHeader,
    /// The header names another version.
    #[error("this trace has version {0}; this build of skep reads version {VERSION}")]
    Version(u64),
    /// A line in the middle is no record.
    #[error("line {0} is no trace record")]
    BadLine(usize),
}

/// The whole trace as text.
pub fn write(trace: &Trace) -> String {
    let mut text = header_json(&trace.header).to_string();
    text.push('\n');
    for record in &trace.records {
        writeln!(text, "{}", record_json(record)).expect("writing to a string cannot fail");
    }
    text
}

/// Reads a trace. A last line without its newline is a torn write and is dropped when it does
/// not parse.
///
/// # Errors
/// When the header is missing or of another version, or a line before the last is no record.
pub fn read(text: &str) -> Result<Trace, ReadError> {
    let mut lines = text.lines().enumerate();
    let head = lines.next().and_then(|(_, line)| serde_json::from_str(line).ok());
    let header = read_header(&head.ok_or(ReadError::NoHeader)?)?;
    let mut records = Vec::new();
    let last = text.lines().count();
    for (at, line) in lines {
        let value = serde_json::from_str::<Value>(line).ok();
        match value.as_ref().and_then(read_record) {
            Some(record) => records.push(record),
            None if at + 1 == last && !text.ends_with('\n') => break,
            None => return Err(ReadError::BadLine(at + 1)),
        }
    }
    Ok(Trace { header, records })
}

/// SHA-256 over the text form: two runs are the same run when their digests are.
pub fn digest(trace: &Trace) -> String {
    hex::encode(&Sha256::digest(write(trace).as_bytes()))
}

fn header_json(header: &Header) -> Value {
    let uses: Map<String, Value> =
        header.uses.iter().map(|(name, text)| (name.to_string(), (&**text).into())).collect();
    json!({
        "skep_trace": VERSION, "test": &*header.test, "file": &*header.file,
        "source": &*header.source, "world": &*header.world, "seed": header.seed,
        "profile": &*header.profile, "uses": uses,
    })
}

fn read_header(value: &Value) -> Result<Header, ReadError> {
    let version = value.get("skep_trace").and_then(Value::as_u64).ok_or(ReadError::NoHeader)?;
    if version != VERSION {
        return Err(ReadError::Version(version));
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").into();
    Ok(Header {
        test: text("test"),
        file: text("file"),
        source: text("source"),
        world: text("world"),
        seed: value.get("seed").and_then(Value::as_u64).unwrap_or(0),
        profile: text("profile"),
        uses: read_uses(value),
    })
}

fn read_uses(value: &Value) -> BTreeMap<Text, Text> {
    let uses = value.get("uses").and_then(Value::as_object).into_iter().flatten();
    uses.filter_map(|(name, text)| Some((name.as_str().into(), text.as_str()?.into()))).collect()
}

fn record_json(record: &Record) -> Value {
    let (kind, mut body) = what_json(&record.what);
    body["at"] = Value::from(record.at_ms);
    body["kind"] = Value::from(kind);
    body
}

fn what_json(what: &What) -> (&'static str, Value) {
    match what {
        What::Step { index, title } => ("step", json!({"index": index, "title": &**title})),
        What::Act { index, text } => ("act", json!({"index": index, "text": &**text})),
        What::Named { kind, name, id } => {
            ("named", json!({"of": kind.word(), "name": &**name, "id": &**id}))
        }
        What::HarnessStarted(life) => ("harness-started", json!({"harness": name(life)})),
        What::HarnessReady(life) => ("harness-ready", json!({"harness": name(life)})),
        What::HarnessPaused(life, paused) => {
            ("harness-paused", json!({"harness": name(life), "paused": paused}))
        }
        What::HarnessEnded(life, end) => {
            ("harness-ended", json!({"harness": name(life), "end": end_json(*end)}))
        }
        What::AgentStarted { agent, harness } => {
            ("agent-started", json!({"agent": name(agent), "harness": name(harness)}))
        }
        What::AgentEnded { agent, end } => {
            ("agent-ended", json!({"agent": name(agent), "end": end_json(*end)}))
        }
        What::Acp { agent, harness, from, frame, raw } => {
            let from = if *from == Side::Agent { "agent" } else { "harness" };
            let mut body = json!({
                "agent": name(agent), "harness": name(harness), "from": from,
                "frame": frame.to_json(),
            });
            if let Some(raw) = raw {
                body["raw"] = Value::from(&**raw);
            }
            ("acp", body)
        }
        What::Connected { harness, conn } => {
            ("connected", json!({"harness": name(harness), "conn": conn}))
        }
        What::Disconnected { harness, conn } => {
            ("disconnected", json!({"harness": name(harness), "conn": conn}))
        }
        What::ToRelay { harness, conn, message } => (
            "to-relay",
            json!({"harness": name(harness), "conn": conn, "message": message.to_json()}),
        ),
        What::FromRelay { harness, conn, message } => (
            "from-relay",
            json!({"harness": name(harness), "conn": conn, "message": message.to_json()}),
        ),
        What::Http { harness, call, reply } => (
            "http",
            json!({
                "harness": name(harness), "path": call.path(), "body": call.body(),
                "status": reply.status, "reply": reply.body_json(),
            }),
        ),
        What::Published(event) => ("published", json!({"event": event.to_json()})),
        What::Note { harness, note } => {
            let mut body = note_json(note);
            body["harness"] = Value::from(name(harness));
            ("note", body)
        }
        What::Log { actor, line } => ("log", json!({"actor": &**actor, "line": &**line})),
        What::Held { harness, messages } => {
            ("held", json!({"harness": name(harness), "messages": hexes(messages)}))
        }
        What::Disk { state, snapshot, baseline } => (
            "disk",
            json!({"state": &**state, "snapshot": snapshot.to_json(), "baseline": baseline}),
        ),
        What::Receipts { state, receipts } => {
            let receipts = Value::from_iter(receipts.iter().map(receipt_json));
            ("receipts", json!({"state": &**state, "receipts": receipts}))
        }
        What::Finding { actor, text } => ("finding", json!({"actor": &**actor, "text": &**text})),
        What::Sighting { agent, sighting } => {
            let mut body = sighting.to_json();
            body["agent"] = Value::from(name(agent));
            ("sighting", body)
        }
        What::Settled { step, how } => {
            let mut body = settled_json(how);
            body["step"] = Value::from(*step);
            ("settled", body)
        }
    }
}

fn name(who: &impl ToString) -> String {
    who.to_string()
}

fn hexes(ids: &[Hex32]) -> Value {
    Value::from_iter(ids.iter().map(Hex32::to_string))
}

fn end_json(end: End) -> Value {
    match end {
        End::Exit(code) => json!({"exit": code}),
        End::Signal { signal, by_us } => json!({"signal": signal, "by_us": by_us}),
    }
}

impl Note {
    /// The note as JSON, as it stands in a trace and as the reference harness prints it.
    pub fn to_json(&self) -> Value {
        note_json(self)
    }

    /// Reads what [`Self::to_json`] wrote.
    pub fn from_json(value: &Value) -> Option<Self> {
        read_note(value)
    }
}

fn note_json(note: &Note) -> Value {
    match note {
        Note::TurnDone { messages } => json!({"note": "turn-done", "messages": hexes(messages)}),
        Note::TurnFailed { messages, retryable, why } => json!({
            "note": "turn-failed", "messages": hexes(messages), "retryable": retryable,
            "why": &**why,
        }),
        Note::StoreTrouble(text) => json!({"note": "store-trouble", "text": &**text}),
        Note::Other(text) => json!({"note": "other", "text": &**text}),
    }
}

fn receipt_json(receipt: &Receipt) -> Value {
    json!({
        "relay": &*receipt.relay, "pubkey": receipt.pubkey.to_string(),
        "channel": &*receipt.channel, "root": receipt.root.map(|root| root.to_string()),
        "session": &*receipt.session, "model": receipt.model.as_deref(),
        "mode": receipt.mode.as_deref(),
    })
}

fn settled_json(how: &Settled) -> Value {
    match how {
        Settled::Drained => json!({"how": "drained"}),
        Settled::Event(text) => json!({"how": "event", "text": &**text}),
        Settled::Quiet(ms) => json!({"how": "quiet", "ms": ms}),
        Settled::Bound(text) => json!({"how": "bound", "text": &**text}),
    }
}

fn read_record(value: &Value) -> Option<Record> {
    let at_ms = value.get("at")?.as_u64()?;
    Some(Record { at_ms, what: read_what(value)? })
}

fn read_what(value: &Value) -> Option<What> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(Text::from);
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    let flag = |key: &str| value.get(key).and_then(Value::as_bool);
    let count = |key: &str| number(key).and_then(|number| usize::try_from(number).ok());
    let conn = || number("conn").and_then(|conn| u32::try_from(conn).ok());
    let harness = || read_life(value.get("harness")?.as_str()?);
    let agent = || read_process(value.get("agent")?.as_str()?);
    let end = || read_end(value.get("end")?);
    Some(match value.get("kind")?.as_str()? {
        "step" => What::Step { index: count("index")?, title: text("title")? },
        "act" => What::Act { index: count("index")?, text: text("text")? },
        "named" => What::Named {
            kind: read_name_kind(&text("of")?)?,
            name: text("name")?,
            id: text("id")?,
        },
        "harness-started" => What::HarnessStarted(harness()?),
        "harness-ready" => What::HarnessReady(harness()?),
        "harness-paused" => What::HarnessPaused(harness()?, flag("paused")?),
        "harness-ended" => What::HarnessEnded(harness()?, end()?),
        "agent-started" => What::AgentStarted { agent: agent()?, harness: harness()? },
        "agent-ended" => What::AgentEnded { agent: agent()?, end: end()? },
        "acp" => What::Acp {
            agent: agent()?,
            harness: harness()?,
            from: if &*text("from")? == "agent" { Side::Agent } else { Side::Harness },
            frame: Arc::new(Frame::from_json(value.get("frame")?.clone())?),
            raw: text("raw"),
        },
        "connected" => What::Connected { harness: harness()?, conn: conn()? },
        "disconnected" => What::Disconnected { harness: harness()?, conn: conn()? },
        "to-relay" => What::ToRelay {
            harness: harness()?,
            conn: conn()?,
            message: Arc::new(ClientMsg::from_json(value.get("message")?)),
        },
        "from-relay" => What::FromRelay {
            harness: harness()?,
            conn: conn()?,
            message: Arc::new(RelayMsg::from_json(value.get("message")?)),
        },
        "http" => What::Http {
            harness: harness()?,
            call: Arc::new(HttpCall::from_json(&text("path")?, value.get("body")?)),
            reply: Arc::new(HttpReply::from_json(
                u16::try_from(number("status")?).ok()?,
                value.get("reply")?,
            )),
        },
        "published" => What::Published(Arc::new(NostrEvent::from_json(value.get("event")?)?)),
        "note" => What::Note { harness: harness()?, note: read_note(value)? },
        "log" => What::Log { actor: text("actor")?, line: text("line")? },
        "held" => What::Held { harness: harness()?, messages: read_hexes(value.get("messages")?)? },
        "disk" => What::Disk {
            state: text("state")?,
            snapshot: Arc::new(Snapshot::from_json(value.get("snapshot")?)?),
            baseline: flag("baseline")?,
        },
        "receipts" => What::Receipts {
            state: text("state")?,
            receipts: value
                .get("receipts")?
                .as_array()?
                .iter()
                .map(read_receipt)
                .collect::<Option<_>>()?,
        },
        "finding" => What::Finding { actor: text("actor")?, text: text("text")? },
        "sighting" => What::Sighting { agent: agent()?, sighting: Sighting::from_json(value)? },
        "settled" => What::Settled { step: count("step")?, how: read_settled(value)? },
        _ => return None,
    })
}

fn read_name_kind(word: &str) -> Option<NameKind> {
    let (kind, _) = NameKind::WORDS.into_iter().find(|(_, known)| *known == word)?;
    Some(kind)
}

fn read_life(text: &str) -> Option<Life> {
    let (harness, life) = text.rsplit_once('#')?;
    Some(Life { harness: harness.into(), life: life.parse().ok()? })
}

fn read_process(text: &str) -> Option<Process> {
    let (agent, process) = text.rsplit_once('#')?;
    Some(Process { agent: agent.into(), process: process.parse().ok()? })
}

fn read_end(value: &Value) -> Option<End> {
    let number = |key: &str| i32::try_from(value.get(key)?.as_i64()?).ok();
    match number("exit") {
        Some(code) => Some(End::Exit(code)),
        None => {
            Some(End::Signal { signal: number("signal")?, by_us: value.get("by_us")?.as_bool()? })
        }
    }
}

fn read_hexes(value: &Value) -> Option<Vec<Hex32>> {
    value.as_array()?.iter().map(|id| Hex32::parse(id.as_str()?)).collect()
}

fn read_note(value: &Value) -> Option<Note> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(Text::from);
    let messages = || read_hexes(value.get("messages")?);
    Some(match value.get("note")?.as_str()? {
        "turn-done" => Note::TurnDone { messages: messages()? },
        "turn-failed" => Note::TurnFailed {
            messages: messages()?,
            retryable: value.get("retryable")?.as_bool()?,
            why: text("why")?,
        },
        "store-trouble" => Note::StoreTrouble(text("text")?),
        "other" => Note::Other(text("text")?),
        _ => return None,
    })
}

fn read_receipt(value: &Value) -> Option<Receipt> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(Text::from);
    let hex = |key: &str| text(key).and_then(|digits| Hex32::parse(&digits));
    Some(Receipt {
        relay: text("relay")?,
        pubkey: hex("pubkey")?,
        channel: text("channel")?,
        root: hex("root"),
        session: text("session")?,
        model: text("model"),
        mode: text("mode"),
    })
}

fn read_settled(value: &Value) -> Option<Settled> {
    let text = || value.get("text").and_then(Value::as_str).map(Text::from);
    Some(match value.get("how")?.as_str()? {
        "drained" => Settled::Drained,
        "event" => Settled::Event(text()?),
        "quiet" => Settled::Quiet(value.get("ms")?.as_u64()?),
        "bound" => Settled::Bound(text()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Setup};

    fn trace() -> Trace {
        let harness = Life { harness: "h".into(), life: 1 };
        let agent = Process { agent: "a".into(), process: 2 };
        let setup =
            Setup { cwd: "/w".into(), mcp_servers: Arc::new(json!([])), meta: None, extra: None };
        let call = Call::SessionLoad { session_id: "s1".into(), setup };
        let frame = Arc::new(Frame::Request { id: crate::RpcId::Number(1), call });
        let whats = vec![
            What::Step { index: 0, title: "first".into() },
            What::Named { kind: NameKind::Relay, name: "r".into(), id: "ws://r".into() },
            What::HarnessStarted(harness.clone()),
            What::Acp { agent, harness: harness.clone(), from: Side::Harness, frame, raw: None },
            What::Held { harness: harness.clone(), messages: vec![Hex32([3; 32])] },
            What::HarnessEnded(harness, End::Signal { signal: 9, by_us: true }),
            What::Settled { step: 0, how: Settled::Drained },
        ];
        let records = whats.into_iter().map(|what| Record { at_ms: 4, what }).collect();
        Trace { header: Header { test: "t".into(), ..Header::default() }, records }
    }

    #[test]
    fn a_trace_survives_the_round_trip() {
        assert_eq!(read(&write(&trace())), Ok(trace()));
    }

    #[test]
    fn every_note_survives_the_round_trip() {
        let messages = vec![Hex32([3; 32])];
        for note in [
            Note::TurnDone { messages: messages.clone() },
            Note::TurnFailed { messages, retryable: true, why: "overloaded".into() },
            Note::StoreTrouble("disk full".into()),
            Note::Other("hello".into()),
        ] {
            assert_eq!(Note::from_json(&note.to_json()), Some(note));
        }
    }

    #[test]
    fn a_torn_last_line_is_dropped() {
        let text = write(&trace());
        let torn = read(&text[..text.len() - 5]).unwrap();
        assert_eq!(torn.records.len(), trace().records.len() - 1);
    }

    #[test]
    fn another_version_and_a_broken_middle_are_refused() {
        assert_eq!(read("{\"skep_trace\":2}\n"), Err(ReadError::Version(2)));
        assert_eq!(read("hello\n"), Err(ReadError::NoHeader));
        let text = write(&trace()).replacen("\"kind\":\"step\"", "\"kind\":\"stop\"", 1);
        assert_eq!(read(&text), Err(ReadError::BadLine(2)));
    }
}
