//! How fast the relay is: `cargo run --release -p skep-relay --example pace`.
//!
//! Numbers for a person to read. No test depends on them, because machines differ.

#![expect(clippy::print_stdout, reason = "an example tells its numbers on standard output")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use skep_plan::ChannelKind;
use skep_relay::client::{Asker, ClientError, Socket, post};
use skep_relay::server::serve_socket;
use skep_relay::{
    Channel, ConnId, Host, HttpId, Keys, Party, Relay, RelayConfig, RelayEvent, RelayHandle, Seen,
    bytes,
};
use skep_trace::{ClientMsg, Filter, Hex32, HttpCall, NostrEvent, RelayMsg, SharedEvent, Text};

const NOW_S: u64 = 1_000_000;
const URL: &str = "ws://relay";

/// The system counts a thread's time by ticks of some milliseconds: fewer rounds would be none.
const ROUNDS: u32 = 50_000;

fn main() {
    core();
    each_step();
    event_bytes();
    wire();
}

fn core() {
    let spent = time(5_000, || {
        let mut relay = Relay::new(config());
        let mut out = Vec::new();
        for event in script() {
            relay.step(NOW_S * 1_000, event, &mut out);
            out.clear();
        }
        black_box(&relay);
    });
    println!("core, a run of {} steps: {spent:?}", script().len());
    let spent = time(5_000, || drop(black_box(script())));
    println!("  of which making what it hears: {spent:?}");
}

fn event_bytes() {
    let fresh = (0..20_000).map(|n| mention(&format!("fresh {n}"))).collect::<Vec<_>>();
    let mut fresh = fresh.iter();
    let spent = time(20_000, || {
        black_box(bytes::event_json(fresh.next().expect("one for each round")).to_string());
    });
    println!("bytes of a new event: {spent:?}");
    let known = mention("known");
    let spent = time(20_000, || {
        black_box(bytes::event_json(&known).to_string());
    });
    println!("bytes of a known event: {spent:?}");
}

fn wire() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let spent = time(2_000, || {
        runtime.block_on(exchange()).expect("the pipe holds");
    });
    println!("wire, a login, a query and 30 frames each way over a pipe: {spent:?}");
}

/// One kind of step after the other, on a relay with a listener and a few events.
fn each_step() {
    let start = script();
    let p = agent().to_string();
    let said = |message| RelayEvent::Message(ConnId(1), Arc::new(message));
    let asked = |call| RelayEvent::Http(HttpId(1), Arc::new(call));
    let typing = |n| ClientMsg::Event(event(agent(), 20_002, &[["h", "red"]], &format!("{n}")));
    let absent = Filter { since: None, ..filter(&[30_174], 'p', &p) };
    let roster = Filter { since: None, ..filter(&[39_002], 'p', &p) };
    let steps: [(&str, &dyn Fn(u32) -> RelayEvent); 5] = [
        ("a publication to one listener", &|n| RelayEvent::Publish {
            event: mention(&n.to_string()),
            to: None,
        }),
        ("a typing event, with its id", &|n| said(typing(n))),
        ("an empty query", &|_| asked(HttpCall::Query(vec![absent.clone()]))),
        ("a query for channels", &|_| asked(HttpCall::Query(vec![roster.clone()]))),
        ("a subscription's end", &|_| said(ClientMsg::Close { sub: "none".into() })),
    ];
    for (name, make) in steps {
        let mut relay = Relay::new(config());
        let mut out = Vec::new();
        start.iter().take(20).for_each(|event| relay.step(NOW_S * 1_000, event.clone(), &mut out));
        let mut inputs: Vec<RelayEvent> = (0..ROUNDS).map(make).collect();
        let kept = inputs.clone();
        let spent = time(ROUNDS, || {
            relay.step(NOW_S * 1_000, inputs.pop().expect("one for each round"), &mut out);
            out.clear();
        });
        drop(kept);
        println!("  {name}: {spent:?}");
    }
}

/// Processor time of one round of the work, so that a busy machine does not count.
fn time(count: u32, mut work: impl FnMut()) -> Duration {
    let start = processor_time();
    (0..count).for_each(|_| work());
    (processor_time() - start) / count
}

#[expect(clippy::disallowed_methods, reason = "an example may ask the system what time it used")]
fn processor_time() -> Duration {
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let nanoseconds = used.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanoseconds.expect("the first field is the time on a processor"))
}

fn owner() -> Hex32 {
    Keys::named("owner").pubkey
}

fn agent() -> Hex32 {
    Keys::named("agent").pubkey
}

fn config() -> RelayConfig {
    let mut config = RelayConfig::new(URL, owner());
    config.channels = ["red", "green", "blue"].map(channel).into();
    config
}

fn channel(name: &str) -> Channel {
    let members = vec![owner(), agent()];
    let kind = ChannelKind::Stream;
    Channel { id: name.into(), name: name.into(), kind, archived: false, members }
}

fn event(author: Hex32, kind: u16, tags: &[[&str; 2]], content: &str) -> SharedEvent {
    let tags = tags.iter().map(|tag| tag.iter().map(|part| Text::from(*part)).collect()).collect();
    Arc::new(NostrEvent::new(author, NOW_S, kind, tags, content.into()))
}

fn mention(content: &str) -> SharedEvent {
    event(owner(), 9, &[["h", "red"], ["p", &agent().to_string()]], content)
}

fn answer(challenge: &str) -> ClientMsg {
    ClientMsg::Auth(event(agent(), 22_242, &[["challenge", challenge], ["relay", URL]], ""))
}

fn filter(kinds: &[u16], letter: char, value: &str) -> Filter {
    let tags = vec![(letter, vec![value.into()])];
    Filter { kinds: Some(kinds.to_vec()), tags, since: Some(NOW_S - 5), ..Filter::default() }
}

fn request(sub: &str, filter: Filter) -> ClientMsg {
    ClientMsg::Req { sub: sub.into(), filters: vec![filter] }
}

/// What a relay hears in a scenario: one harness starts, and ten mentions become turns.
fn script() -> Vec<RelayEvent> {
    let said = |message| RelayEvent::Message(ConnId(1), Arc::new(message));
    let asked = |call| RelayEvent::Http(HttpId(1), Arc::new(call));
    let p = agent().to_string();
    let mut script = vec![
        RelayEvent::Connected { conn: ConnId(1), party: Party(1) },
        said(answer("challenge-1")),
        said(request("membership-notif", filter(&[44_100, 44_101], 'p', &p))),
        asked(HttpCall::Query(vec![Filter { since: None, ..filter(&[39_002], 'p', &p) }])),
        asked(HttpCall::Query(vec![Filter { since: None, ..filter(&[39_000], 'd', "red") }])),
    ];
    let listen = |channel| said(request(channel, filter(&[9, 46_010, 40_007], 'h', channel)));
    script.extend(["red", "green", "blue"].map(listen));
    script.push(said(ClientMsg::Event(event(agent(), 20_001, &[], "online"))));
    for turn in 0..10 {
        let profile = Filter { authors: Some(vec![owner()]), ..filter(&[0], 'p', &p) };
        let typing = event(agent(), 20_002, &[["h", "red"]], &turn.to_string());
        let reaction = event(agent(), 7, &[["e", "m"]], &turn.to_string());
        script.extend([
            RelayEvent::Publish { event: mention(&turn.to_string()), to: None },
            asked(HttpCall::Query(vec![Filter { tags: Vec::new(), ..profile }])),
            asked(HttpCall::Query(vec![filter(&[40_100], 'h', "red")])),
            asked(HttpCall::Query(vec![filter(&[30_174], 'p', &p)])),
            asked(HttpCall::Publish(reaction)),
            asked(HttpCall::Query(vec![filter(&[7], 'e', "m")])),
            said(ClientMsg::Event(typing.clone())),
            said(ClientMsg::Event(typing)),
            said(ClientMsg::Close { sub: "none".into() }),
        ]);
    }
    script
}

struct Clock(u32);

impl Host for Clock {
    fn now_ms(&mut self) -> u64 {
        NOW_S * 1_000
    }

    fn number(&mut self) -> ConnId {
        self.0 += 1;
        ConnId(self.0)
    }

    fn seen(&mut self, seen: Seen) {
        black_box(seen);
    }
}

async fn exchange() -> Result<(), ClientError> {
    let relay = RelayHandle::new(Relay::new(config()), Clock(0));
    let (near, far) = tokio::io::duplex(64 * 1_024);
    let (query_near, query_far) = tokio::io::duplex(64 * 1_024);
    let served = serve_socket(near, relay.clone(), Party(1));
    let query_served = serve_socket(query_near, relay.clone(), Party(1));
    let (done, ..) = tokio::join!(harness(&relay, far, query_far), served, query_served);
    done
}

async fn harness(
    relay: &RelayHandle<Clock>,
    io: tokio::io::DuplexStream,
    query: tokio::io::DuplexStream,
) -> Result<(), ClientError> {
    let asker = Asker { keys: Keys::named("agent"), now_s: NOW_S, nonce: "1" };
    let call = HttpCall::Query(vec![filter(&[30_174], 'd', "red")]);
    post(query, URL, &call, asker).await?;
    let mut socket = Socket::connect(io, URL, [1; 16]).await?;
    let challenge = socket.next().await?;
    assert!(matches!(challenge, Some(RelayMsg::Auth { .. })));
    socket.send(&answer("challenge-1")).await?;
    socket.next().await?;
    socket.send(&request("red", filter(&[9], 'h', "red"))).await?;
    socket.next().await?;
    for _ in 0..30 {
        relay.step(RelayEvent::Publish { event: mention("hello"), to: None });
        socket.next().await?;
        socket.send(&ClientMsg::Close { sub: "none".into() }).await?;
    }
    socket.close().await
}
