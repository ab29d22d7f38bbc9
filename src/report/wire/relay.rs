//! What a relay frame says, in a few words.

use serde_json::Value;
use skep_trace::{ClientMsg, Filter, HttpBody, HttpCall, HttpReply, NostrEvent, RelayMsg};

use super::Weight;
use crate::report::clean::{clean, fit, quote};
use crate::report::names::Names;

/// How much of an event's content or a relay's word is shown.
const TEXT_COLUMNS: usize = 36;

/// The feed that tells the owner what an agent does.
const OBSERVER: u16 = 24_200;

/// Kinds of events that a story can be told with.
const STORY_KINDS: [u16; 4] = [9, 44_100, 44_101, 46_010];

/// What a client says to its relay, and how much that tells.
pub fn said(message: &ClientMsg, names: &Names) -> (String, Weight) {
    match message {
        ClientMsg::Event(told) => (format!("EVENT {}", event(told, names)), event_weight(told)),
        ClientMsg::Req { sub, filters } => {
            let text = format!("REQ {}{}", names.subscription(sub), filters_text(filters));
            (text, Weight::Noise)
        }
        ClientMsg::Close { sub } => (format!("CLOSE {}", names.subscription(sub)), Weight::Detail),
        ClientMsg::Auth(_) => ("AUTH".to_owned(), Weight::Noise),
        ClientMsg::Other(text) => (format!("no message: {}", quote(text, 60)), Weight::Story),
    }
}

/// What a relay says to its client, and how much that tells.
pub fn heard(message: &RelayMsg, names: &Names) -> (String, Weight) {
    match message {
        RelayMsg::Event { event: told, .. } => {
            (format!("EVENT {}", event(told, names)), event_weight(told))
        }
        RelayMsg::Ok { id, accepted: true, .. } => {
            (format!("OK {}", names.hex(*id)), Weight::Noise)
        }
        RelayMsg::Ok { id, message, .. } => {
            let why = quote(message, TEXT_COLUMNS);
            (format!("OK {} refused: {why}", names.hex(*id)), Weight::Story)
        }
        RelayMsg::Eose { sub } => (format!("EOSE {}", names.subscription(sub)), Weight::Noise),
        RelayMsg::Closed { sub, message } => {
            let why = quote(message, TEXT_COLUMNS);
            (format!("CLOSED {}: {why}", names.subscription(sub)), Weight::Story)
        }
        RelayMsg::Notice(text) => (format!("NOTICE {}", quote(text, 60)), Weight::Story),
        RelayMsg::Auth { .. } => ("AUTH challenge".to_owned(), Weight::Noise),
        RelayMsg::Other(text) => (format!("no message: {}", quote(text, 60)), Weight::Story),
    }
}

/// A query or publication over HTTP, with its answer.
pub fn http(call: &HttpCall, reply: &HttpReply, names: &Names) -> (String, Weight) {
    let (asked, weight) = match call {
        HttpCall::Query(filters) | HttpCall::Count(filters) => {
            (filters_text(filters), Weight::Noise)
        }
        HttpCall::Publish(told) => (format!(" {}", event(told, names)), event_weight(told)),
        HttpCall::Other { .. } => (String::new(), Weight::Detail),
    };
    let path = fit(&clean(call.path()), 24);
    (format!("POST {path}{}: {}", fit(&asked, 60), reply_text(reply)), weight)
}

fn reply_text(reply: &HttpReply) -> String {
    let body = match &reply.body {
        HttpBody::Events(events) if events.len() == 1 => "1 event".to_owned(),
        HttpBody::Events(events) => format!("{} events", events.len()),
        HttpBody::Accepted { accepted: true, .. } => "accepted".to_owned(),
        HttpBody::Accepted { message, .. } => format!("refused: {}", quote(message, TEXT_COLUMNS)),
        HttpBody::Count(count) => format!("count {count}"),
        HttpBody::Other(text) => quote(text, TEXT_COLUMNS),
    };
    if reply.status == 200 { body } else { format!("status {} {body}", reply.status) }
}

/// An event: its kind, its author, its channel, its text.
pub fn event(event: &NostrEvent, names: &Names) -> String {
    let mut text = format!("{} by {}", kind_word(event.kind), names.hex(event.pubkey));
    if let Some(channel) = event.tag("h") {
        text.push_str(&format!(" in {}", names.show(channel)));
    }
    let content = if event.kind == OBSERVER { observed(&event.content) } else { None };
    match content {
        Some(content) => text.push_str(&format!(": {content}")),
        None if event.content.is_empty() => {}
        None => text.push_str(&format!(": {}", quote(&event.content, TEXT_COLUMNS))),
    }
    text
}

/// What an observer frame tells of: the texts in it, else the kinds of its parts.
fn observed(content: &str) -> Option<String> {
    let frame: Value = serde_json::from_str(content).ok()?;
    let mut texts = Vec::new();
    strings(&frame, "text", &mut texts);
    if texts.is_empty() {
        strings(&frame, "type", &mut texts);
    }
    let told: Vec<String> = texts.iter().map(|text| quote(text, TEXT_COLUMNS)).collect();
    (!told.is_empty()).then(|| fit(&told.join(", "), 2 * TEXT_COLUMNS))
}

/// Every text under this key, at any depth. JSON that was parsed is never deeper than the parser
/// allows.
fn strings<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| strings(value, key, found)),
        Value::Object(fields) => {
            found.extend(fields.get(key).and_then(Value::as_str));
            fields.values().for_each(|value| strings(value, key, found));
        }
        _ => {}
    }
}

fn event_weight(event: &NostrEvent) -> Weight {
    match event.kind {
        kind if STORY_KINDS.contains(&kind) => Weight::Story,
        20_001 | 20_002 => Weight::Noise,
        _ => Weight::Detail,
    }
}

/// A kind by the word that the rest of skep uses for it, else by its number.
fn kind_word(kind: u16) -> String {
    let word = match kind {
        0 => "profile",
        5 => "deletion",
        7 => "reaction",
        9 => "message",
        20_001 => "presence",
        20_002 => "typing",
        22_242 => "authentication",
        24_200 => "observer frame",
        30_174 => "memory",
        39_000 => "channel description",
        39_002 => "member list",
        40_100 => "canvas",
        44_100 => "joining",
        44_101 => "leaving",
        44_200 => "usage",
        _ => return format!("kind {kind}"),
    };
    word.to_owned()
}

/// What is asked for: ` for message, kind 46010`.
fn filters_text(filters: &[Filter]) -> String {
    let kinds = filters.iter().flat_map(|filter| filter.kinds.iter().flatten());
    let mut words: Vec<String> = kinds.map(|kind| kind_word(*kind)).collect();
    words.dedup();
    if words.is_empty() { String::new() } else { format!(" for {}", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skep_trace::Hex32;

    use super::*;

    #[test]
    fn an_observer_frame_tells_the_texts_in_it() {
        let content = r#"{"frames":[{"type":"x","update":{"content":{"text":"old\nwords"}}}]}"#;
        assert_eq!(observed(content).as_deref(), Some("\"old\\nwords\""));
        assert_eq!(observed(r#"{"frames":[{"type":"x"}]}"#).as_deref(), Some("\"x\""));
        assert_eq!(observed("no JSON"), None);
    }

    #[test]
    fn relay_frames_are_told_in_a_few_words() {
        let names = Names::default();
        let tags = vec![vec!["h".into(), "general".into()]];
        let told = Arc::new(NostrEvent::new(Hex32([1; 32]), 0, 9, tags, "hello\nyou".into()));
        let filter = Filter { kinds: Some(vec![9, 46_010]), ..Filter::default() };
        let lines = [
            said(&ClientMsg::Event(told.clone()), &names).0,
            said(
                &ClientMsg::Req { sub: "ch-general".into(), filters: vec![filter.clone()] },
                &names,
            )
            .0,
            heard(&RelayMsg::Event { sub: "x".into(), event: told }, &names).0,
            heard(&RelayMsg::Closed { sub: "x".into(), message: "restricted: no".into() }, &names)
                .0,
            http(
                &HttpCall::Query(vec![filter]),
                &HttpReply { status: 503, body: HttpBody::Other("".into()) },
                &names,
            )
            .0,
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        EVENT message by 01010101 in general: "hello\nyou"
        REQ ch-general for message, kind 46010
        EVENT message by 01010101 in general: "hello\nyou"
        CLOSED x: "restricted: no"
        POST /query for message, kind 46010: status 503 ""
        "#);
    }
}
