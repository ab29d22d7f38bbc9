//! Frames and bodies as a wire carries them.
//!
//! Writing is where an event gets its id, its signature and its ciphertext. Reading checks the
//! form only: what a signature is worth is asked of [`crate::signature`] by whoever cares.
//! Sealed content is opened on reading if one of the two keys is known here, so that traces and
//! checks see what was said.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};
use skep_trace::{
    ClientMsg, Hex32, HttpBody, HttpCall, HttpReply, NostrEvent, RelayMsg, SharedEvent, Sig, hex,
};

use crate::keys::Keys;

/// The shortest NIP-44 payload: version, nonce, one padded block, code; as base64.
const SEALED_BYTES: usize = 132;

/// A client's frame.
pub fn client_frame(message: &ClientMsg) -> String {
    match message {
        ClientMsg::Event(event) => json!(["EVENT", event_json(event)]).to_string(),
        ClientMsg::Auth(event) => json!(["AUTH", event_json(event)]).to_string(),
        ClientMsg::Other(text) => text.to_string(),
        plain => plain.to_json().to_string(),
    }
}

/// A relay's frame.
pub fn relay_frame(message: &RelayMsg) -> String {
    match message {
        RelayMsg::Event { sub, event } => json!(["EVENT", &**sub, event_json(event)]).to_string(),
        RelayMsg::Other(text) => text.to_string(),
        plain => plain.to_json().to_string(),
    }
}

/// The body of an HTTP request.
pub fn call_body(call: &HttpCall) -> String {
    match call {
        HttpCall::Publish(event) => event_json(event).to_string(),
        plain => plain.body().to_string(),
    }
}

/// The body of an HTTP answer. Text stands as a JSON string.
pub fn reply_body(reply: &HttpReply) -> String {
    match &reply.body {
        HttpBody::Events(events) => {
            Value::from_iter(events.iter().map(|event| event_json(event))).to_string()
        }
        _ => reply.body_json().to_string(),
    }
}

/// Reads a client's frame; what is none is kept as it stands.
pub fn read_client_frame(text: &str) -> ClientMsg {
    let other = || ClientMsg::Other(text.into());
    let Some(value) = frame(text, 1) else { return other() };
    match ClientMsg::from_json(&value) {
        ClientMsg::Event(event) => ClientMsg::Event(opened(event)),
        ClientMsg::Other(_) => other(),
        plain => plain,
    }
}

/// Reads a relay's frame; what is none is kept as it stands.
pub fn read_relay_frame(text: &str) -> RelayMsg {
    let other = || RelayMsg::Other(text.into());
    let Some(value) = frame(text, 2) else { return other() };
    match RelayMsg::from_json(&value) {
        RelayMsg::Event { sub, event } => RelayMsg::Event { sub, event: opened(event) },
        RelayMsg::Other(_) => other(),
        plain => plain,
    }
}

/// Reads an HTTP request's body.
pub fn read_call(path: &str, body: &[u8]) -> HttpCall {
    let other = || HttpCall::Other { path: path.into() };
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return other() };
    if path == "/events" && !as_on_a_wire(&mut value) {
        return other();
    }
    match HttpCall::from_json(path, &value) {
        HttpCall::Publish(event) => HttpCall::Publish(opened(event)),
        plain => plain,
    }
}

/// Reads an HTTP answer's body.
pub fn read_reply(status: u16, body: &[u8]) -> HttpReply {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else {
        let body = HttpBody::Other(String::from_utf8_lossy(body).into());
        return HttpReply { status, body };
    };
    let mut events = value.as_array_mut().into_iter().flatten();
    if !events.all(as_on_a_wire) {
        return HttpReply { status, body: HttpBody::Other(value.to_string().into()) };
    }
    let mut reply = HttpReply::from_json(status, &value);
    if let HttpBody::Events(events) = &mut reply.body {
        *events = events.drain(..).map(opened).collect();
    }
    reply
}

/// The event with its content sealed, if it is to be sealed and its author's key is known.
pub fn sealed(event: &NostrEvent) -> Cow<'_, NostrEvent> {
    let (Some(reader), None) = (event.sealed_to, &event.ciphertext) else {
        return Cow::Borrowed(event);
    };
    let Some(ciphertext) =
        Keys::of(&event.pubkey).and_then(|keys| keys.seal(&reader, &event.content).ok())
    else {
        return Cow::Borrowed(event);
    };
    // A new event, because the id that was read of the clear one is not the id of this one.
    let (tags, content) = (event.tags.clone(), event.content.clone());
    let mut sealed = NostrEvent::new(event.pubkey, event.created_at, event.kind, tags, content);
    sealed.sealed_to = Some(reader);
    sealed.ciphertext = Some(ciphertext.into());
    sealed.sig = event.sig.clone();
    Cow::Owned(sealed)
}

/// The event as JSON, with its id and signature. An author whose key is unknown here cannot
/// sign: the signature is zeros, as a forged one's.
pub fn event_json(event: &NostrEvent) -> Value {
    let event = sealed(event);
    let id = event.id();
    let tags: Vec<Vec<&str>> =
        event.tags.iter().map(|tag| tag.iter().map(|part| &**part).collect()).collect();
    json!({
        "id": id.to_string(), "pubkey": event.pubkey.to_string(),
        "created_at": event.created_at, "kind": event.kind, "tags": tags,
        "content": event.wire_content(), "sig": hex::encode(&signature(&event, &id)),
    })
}

fn signature(event: &NostrEvent, id: &Hex32) -> [u8; 64] {
    match &event.sig {
        Sig::Bytes(bytes) => **bytes,
        Sig::Valid => Keys::of(&event.pubkey).map_or([0; 64], |keys| keys.sign(id)),
        Sig::Forged => [0; 64],
    }
}

/// A frame's JSON. The event that stands at `place`, if any, must be as on a wire.
fn frame(text: &str, place: usize) -> Option<Value> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let event = value.get_mut(place).filter(|part| part.is_object() && part.get("sig").is_some());
    event.is_none_or(as_on_a_wire).then_some(value)
}

/// Traces write more of an event than a wire does: a signature's state, opened content. From a
/// wire neither is believed.
fn as_on_a_wire(event: &mut Value) -> bool {
    let Some(fields) = event.as_object_mut() else { return true };
    fields.remove("sealed_to");
    fields.get("sig").and_then(Value::as_str).is_some_and(|sig| sig.len() == 128)
}

/// The event with its content opened, if it is sealed and one of the two keys is known here.
fn opened(event: SharedEvent) -> SharedEvent {
    match open(&event) {
        Some((reader, content)) => {
            let mut event = Arc::unwrap_or_clone(event);
            event.ciphertext = Some(std::mem::replace(&mut event.content, content.into()));
            event.sealed_to = Some(reader);
            Arc::new(event)
        }
        None => event,
    }
}

fn open(event: &NostrEvent) -> Option<(Hex32, String)> {
    let looks_sealed = event.content.len() >= SEALED_BYTES && event.content.starts_with('A');
    let reader = Hex32::parse(event.tag("p").filter(|_| looks_sealed)?)?;
    let opened = match Keys::of(&reader) {
        Some(keys) => keys.open(&event.pubkey, &event.content),
        None => Keys::of(&event.pubkey)?.open(&reader, &event.content),
    };
    Some((reader, opened.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::authentic;
    use nostr::event::Event;
    use proptest::prelude::*;
    use skep_trace::Filter;

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![".{0,12}", Just("\u{7f}\u{8}\u{c}\t\n\r\"\\/\u{2028}\u{1F41D}".to_owned())]
    }

    proptest! {
        #[test]
        fn ids_and_signatures_hold_for_another_implementation(
            author in "[a-d]", created_at in 0..1u64 << 40, kind: u16,
            tags in prop::collection::vec(prop::collection::vec(text(), 1..4), 0..4),
            content in text(),
        ) {
            let tags = tags.into_iter().map(|tag| tag.into_iter().map(Into::into).collect());
            let author = Keys::named(&author).pubkey;
            let event = NostrEvent::new(author, created_at, kind, tags.collect(), content.into());
            let json = event_json(&event).to_string();
            let theirs = Event::from_json(&json).unwrap();
            prop_assert!(theirs.verify().is_ok(), "{json}");
            prop_assert_eq!(theirs.id.to_hex(), event.id().to_string());

            let frame = relay_frame(&RelayMsg::Event { sub: "s".into(), event: Arc::new(event.clone()) });
            let RelayMsg::Event { event: read, .. } = read_relay_frame(&frame) else {
                panic!("{frame}");
            };
            prop_assert!(authentic(&read));
            prop_assert_eq!(&read.tags, &event.tags);
            prop_assert_eq!(&read.content, &event.content);
            prop_assert_eq!(event_json(&read), event_json(&event));
        }
    }

    fn note() -> NostrEvent {
        NostrEvent::new(Keys::named("writer").pubkey, 7, 9, Vec::new(), "hello".into())
    }

    #[test]
    fn a_forged_event_has_zeros_for_a_signature_and_is_seen_through() {
        let mut event = note();
        event.sig = Sig::Forged;
        assert_eq!(event_json(&event)["sig"], "0".repeat(128));
        let call = read_call("/events", event_json(&event).to_string().as_bytes());
        let HttpCall::Publish(read) = call else { panic!("{call:?}") };
        assert!(!authentic(&read));
    }

    fn sealed_note() -> NostrEvent {
        let reader = Keys::named("reader").pubkey;
        let mut event = note().sealed(reader);
        event.tags = vec![vec!["p".into(), reader.to_string().into()]];
        event
    }

    #[test]
    fn sealed_content_crosses_the_wire_and_is_opened_on_the_other_side() {
        let event = sealed_note();
        let frame = client_frame(&ClientMsg::Event(Arc::new(event.clone())));
        assert!(!frame.contains("hello"));
        let theirs = Event::from_json(event_json(&event).to_string()).unwrap();
        assert!(theirs.verify().is_ok());

        let ClientMsg::Event(read) = read_client_frame(&frame) else { panic!("{frame}") };
        assert_eq!((&*read.content, read.sealed_to), ("hello", event.sealed_to));
        assert!(authentic(&read));
        assert_eq!(client_frame(&ClientMsg::Event(read)), frame);
    }

    #[test]
    fn a_strangers_seal_stays_closed() {
        let mut event = sealed(&sealed_note()).into_owned();
        event.tags = vec![vec!["p".into(), Keys::named("third").pubkey.to_string().into()]];
        let frame = client_frame(&ClientMsg::Event(Arc::new(event)));
        let ClientMsg::Event(read) = read_client_frame(&frame) else { panic!("{frame}") };
        assert_eq!(read.sealed_to, None);
    }

    #[test]
    fn the_words_of_traces_are_not_believed_on_a_wire() {
        let trusting = format!(r#"["EVENT",{}]"#, note().to_json());
        assert!(trusting.contains(r#""sig":"valid""#));
        assert_eq!(read_client_frame(&trusting), ClientMsg::Other(trusting.as_str().into()));
        assert!(matches!(
            read_call("/events", note().to_json().to_string().as_bytes()),
            HttpCall::Other { .. }
        ));
        let mut opened = event_json(&note());
        opened["sealed_to"] = "11".repeat(32).into();
        opened["opened"] = "made up".into();
        let frame = json!(["EVENT", opened]).to_string();
        let ClientMsg::Event(read) = read_client_frame(&frame) else { panic!("{frame}") };
        assert_eq!(&*read.content, "hello");
    }

    #[test]
    fn what_is_no_frame_is_kept_as_it_stands() {
        for junk in ["", "{", "[]", r#"["REQ"]"#, r#"["EVENT",{"id":1}]"#, "[ \"WHAT\" ]"] {
            assert_eq!(read_client_frame(junk), ClientMsg::Other(junk.into()));
            assert_eq!(read_relay_frame(junk), RelayMsg::Other(junk.into()));
            assert_eq!(client_frame(&ClientMsg::Other(junk.into())), junk);
        }
    }

    #[test]
    fn requests_and_answers_survive_the_round_trip() {
        let filter = Filter { kinds: Some(vec![9]), limit: Some(2), ..Filter::default() };
        for call in [HttpCall::Query(vec![filter.clone()]), HttpCall::Count(vec![filter])] {
            assert_eq!(read_call(call.path(), call_body(&call).as_bytes()), call);
        }
        for body in [
            HttpBody::Events(vec![Arc::new(note())]),
            HttpBody::Events(Vec::new()),
            HttpBody::Count(3),
            HttpBody::Accepted { id: note().id(), accepted: true, message: "".into() },
            HttpBody::Other("there is nothing here".into()),
        ] {
            let reply = HttpReply { status: 200, body };
            assert_eq!(read_reply(200, reply_body(&reply).as_bytes()), reply);
        }
        assert_eq!(read_reply(502, b"<html>").body, HttpBody::Other("<html>".into()));
    }
}
