//! What must hold on every kind of stream.

use std::sync::Arc;

use skep_relay::client::{Asker, ClientError, Socket, post};
use skep_relay::signature::authentic;
use skep_relay::{Fault, Keys, RelayEvent, RelayHandle};
use skep_trace::{
    ClientMsg, Filter, HttpBody, HttpCall, HttpReply, NostrEvent, RelayMsg, SharedEvent, Text,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::ear::{Ear, START_S, URL};

/// How often a client tries to reach a relay that is down.
const ATTEMPTS: usize = 200;

/// Runs everything, one exchange after the other, so that the order of the story is fixed.
pub(crate) async fn suite<Io>(dial: &impl AsyncFn() -> Io, relay: &RelayHandle<Ear>)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    a_mention_crosses_the_wire(dial, relay).await;
    an_observer_frame_is_sealed_and_acknowledged(dial, relay).await;
    channels_are_found_by_post(dial).await;
    strange_requests_are_refused(dial).await;
    a_long_frame_ends_the_connection(dial).await;
    a_delayed_event_comes(dial, relay).await;
    a_restarted_relay_is_reached_again(dial, relay).await;
    // Whoever has not been noticed to be gone is so now, and the story has one end.
    relay.step(RelayEvent::Fault(Fault::Disconnect(None)));
}

fn agent() -> &'static Keys {
    Keys::named("agent")
}

fn event(author: &Keys, kind: u16, tags: &[[&str; 2]], content: &str) -> NostrEvent {
    let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect()).collect();
    NostrEvent::new(author.pubkey, START_S, kind, tags, content.into())
}

fn mention(content: &str) -> SharedEvent {
    let p = agent().pubkey.to_string();
    Arc::new(event(Keys::named("owner"), 9, &[["h", "open"], ["p", &p]], content))
}

fn publish(relay: &RelayHandle<Ear>, event: SharedEvent) {
    relay.step(RelayEvent::Publish { event, to: None });
}

async fn open<Io>(dial: &impl AsyncFn() -> Io) -> Result<(Socket<Io>, Text), ClientError>
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut socket = Socket::connect(dial().await, URL, [7; 16]).await?;
    match socket.next().await? {
        Some(RelayMsg::Auth { challenge }) => Ok((socket, challenge)),
        other => panic!("a relay speaks first: {other:?}"),
    }
}

/// A connection that speaks for the agent.
async fn login<Io>(dial: &impl AsyncFn() -> Io) -> Socket<Io>
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let (mut socket, challenge) = open(dial).await.unwrap();
    let answer = event(agent(), 22_242, &[["challenge", &challenge], ["relay", URL]], "");
    let id = answer.id();
    socket.send(&ClientMsg::Auth(Arc::new(answer))).await.unwrap();
    let ok = RelayMsg::Ok { id, accepted: true, message: "".into() };
    assert_eq!(socket.next().await.unwrap(), Some(ok));
    socket
}

/// A connection that listens to the agent's mentions from now on.
async fn listen<Io>(dial: &impl AsyncFn() -> Io) -> Socket<Io>
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut socket = login(dial).await;
    let tags = vec![('p', vec![agent().pubkey.to_string().into()])];
    let filter = Filter { kinds: Some(vec![9]), limit: Some(0), tags, ..Filter::default() };
    let request = ClientMsg::Req { sub: "ch".into(), filters: vec![filter] };
    socket.send(&request).await.unwrap();
    assert_eq!(socket.next().await.unwrap(), Some(RelayMsg::Eose { sub: "ch".into() }));
    socket
}

async fn hears<Io>(socket: &mut Socket<Io>) -> SharedEvent
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    match socket.next().await.unwrap() {
        Some(RelayMsg::Event { event, .. }) => event,
        other => panic!("no event: {other:?}"),
    }
}

async fn ask<Io>(dial: &impl AsyncFn() -> Io, call: HttpCall) -> HttpReply
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let asker = Asker { keys: agent(), now_s: START_S, nonce: "1" };
    post(dial().await, URL, &call, asker).await.unwrap()
}

async fn a_mention_crosses_the_wire<Io>(dial: &impl AsyncFn() -> Io, relay: &RelayHandle<Ear>)
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut socket = listen(dial).await;
    let said = mention("a text that is \"quoted\" \u{1F41D}");
    publish(relay, said.clone());
    let heard = hears(&mut socket).await;
    assert_eq!((heard.id(), &heard.content), (said.id(), &said.content));
    assert!(authentic(&heard));
    // Longer than some streams hold at once.
    publish(relay, mention(&"x".repeat(9_000)));
    assert_eq!(hears(&mut socket).await.content.len(), 9_000);
    socket.close().await.unwrap();
}

async fn an_observer_frame_is_sealed_and_acknowledged<Io>(
    dial: &impl AsyncFn() -> Io,
    relay: &RelayHandle<Ear>,
) where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let owner = Keys::named("owner").pubkey;
    let frame = event(agent(), 24_200, &[["p", &owner.to_string()]], "telemetry").sealed(owner);
    let id = frame.id();
    let mut socket = login(dial).await;
    socket.send(&ClientMsg::Event(Arc::new(frame))).await.unwrap();
    let ok = RelayMsg::Ok { id, accepted: true, message: "".into() };
    assert_eq!(socket.next().await.unwrap(), Some(ok));
    let told = relay.with_host(|ear| format!("{ear:?}"));
    assert!(told.contains("says EVENT 24200 telemetry"), "opened for the story: {told}");
}

async fn channels_are_found_by_post<Io>(dial: &impl AsyncFn() -> Io)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let tags = vec![('p', vec![agent().pubkey.to_string().into()])];
    let filter = Filter { kinds: Some(vec![39_002]), tags, ..Filter::default() };
    let reply = ask(dial, HttpCall::Query(vec![filter.clone()])).await;
    let HttpBody::Events(events) = &reply.body else { panic!("{reply:?}") };
    assert_eq!((reply.status, events[0].tag("d")), (200, Some("open")));
    assert!(authentic(&events[0]));

    let own = Arc::new(event(agent(), 7, &[["e", "m1"]], "eyes"));
    let accepted = HttpBody::Accepted { id: own.id(), accepted: true, message: "".into() };
    assert_eq!(ask(dial, HttpCall::Publish(own)).await, HttpReply::ok(accepted));
    let tags = vec![('e', vec!["m1".into()])];
    let count = HttpCall::Count(vec![Filter { tags, ..Filter::default() }]);
    assert_eq!(ask(dial, count).await, HttpReply::ok(HttpBody::Count(1)));
}

/// Writes bytes and reads everything that comes back. A server that has heard enough may close
/// before it has read all, and its answer may be lost with what it left unread.
async fn raw<Io>(dial: &impl AsyncFn() -> Io, request: &str) -> String
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut io = dial().await;
    let written = io.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let read = io.read_to_end(&mut answer).await;
    assert!(request.len() > 1_000 || written.is_ok() && read.is_ok(), "{written:?} {read:?}");
    String::from_utf8(answer).unwrap()
}

async fn strange_requests_are_refused<Io>(dial: &impl AsyncFn() -> Io)
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let head = "Host: relay\r\nConnection: close\r\n";
    let answer = raw(dial, &format!("GET / HTTP/1.1\r\n{head}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    assert!(!answer.to_ascii_lowercase().contains("date:"), "{answer}");
    let bare = format!("POST /query HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\n[]");
    let answer = raw(dial, &bare).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let long = format!("POST /query HTTP/1.1\r\n{head}X: {}\r\n\r\n", "x".repeat(40_000));
    let answer = raw(dial, &long).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");

    let nowhere = ask(dial, HttpCall::Other { path: "/nowhere".into() }).await;
    assert_eq!(nowhere.status, 404);
    let filters = vec![Filter { since: Some(1), ..Filter::default() }; 1_000];
    let asker = Asker { keys: agent(), now_s: START_S, nonce: "1" };
    let reply = post(dial().await, URL, &HttpCall::Query(filters), asker).await;
    assert!(!reply.is_ok_and(|reply| reply.status != 413));
}

async fn a_long_frame_ends_the_connection<Io>(dial: &impl AsyncFn() -> Io)
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut socket = login(dial).await;
    socket.send(&ClientMsg::Other("x".repeat(10_001).into())).await.unwrap();
    let notice = RelayMsg::Notice("error: a frame has at most 10000 bytes".into());
    assert_eq!(socket.next().await.unwrap(), Some(notice));
    assert!(!matches!(socket.next().await, Ok(Some(_))));
}

async fn a_delayed_event_comes<Io>(dial: &impl AsyncFn() -> Io, relay: &RelayHandle<Ear>)
where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut socket = listen(dial).await;
    relay.step(RelayEvent::Fault(Fault::Delay(30)));
    publish(relay, mention("late"));
    assert_eq!(&*hears(&mut socket).await.content, "late");
    relay.step(RelayEvent::Fault(Fault::Delay(0)));
    relay.step(RelayEvent::Fault(Fault::Disconnect(None)));
    assert!(!matches!(socket.next().await, Ok(Some(_))));
}

pub(crate) async fn a_slow_reader_is_cut_off<Io>(
    dial: &impl AsyncFn() -> Io,
    relay: &RelayHandle<Ear>,
) where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let _socket = listen(dial).await;
    for count in 0..51 {
        publish(relay, mention(&format!("flood {count}")));
    }
    let told = relay.with_host(Ear::take);
    assert_eq!(told[told.len() - 2..], ["a client reads too slowly and is cut off", "1 is gone"]);
}

pub(crate) async fn a_reader_that_stopped_is_given_up<Io>(
    dial: &impl AsyncFn() -> Io,
    relay: &RelayHandle<Ear>,
) where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let _stopped = listen(dial).await;
    publish(relay, mention(&"more than the stream holds ".repeat(100)));
    tokio::time::sleep(std::time::Duration::from_secs(59)).await;
    assert!(!relay.with_host(Ear::take).contains(&"1 is gone".to_owned()));
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(relay.with_host(Ear::take), ["1 is gone"]);
}

pub(crate) async fn a_relay_that_is_down_takes_nobody<Io>(
    dial: &impl AsyncFn() -> Io,
    relay: &RelayHandle<Ear>,
) where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    relay.step(RelayEvent::Fault(Fault::Restart(50)));
    assert!(open(dial).await.is_err());
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(open(dial).await.is_ok());
}

async fn a_restarted_relay_is_reached_again<Io>(
    dial: &impl AsyncFn() -> Io,
    relay: &RelayHandle<Ear>,
) where
    Io: AsyncRead + AsyncWrite + Unpin,
{
    let mut socket = listen(dial).await;
    relay.step(RelayEvent::Fault(Fault::Restart(50)));
    assert!(!matches!(socket.next().await, Ok(Some(_))));
    for _ in 0..ATTEMPTS {
        if open(dial).await.is_ok() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("the relay stays down");
}
