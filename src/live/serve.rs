//! A relay by itself, for a harness that somebody starts by hand.

use std::io;
use std::net::Ipv4Addr;
use std::rc::Rc;

use skep_plan::{AgentCast, Cast, ChannelCast, HarnessCast, Message, PersonCast, RelayCast};
use skep_relay::server::serve;
use skep_relay::{ConnId, Host, Keys, Party, Relay, RelayEvent, RelayHandle, Seen};
use skep_trace::{ClientMsg, Header, RelayMsg, Text};
use skep_world::{Setup, Stage};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use super::clock::Clock;

/// Channels and profiles are a day older than the relay.
const DAY_S: u64 = 86_400;

/// Who uses the relay, and where it is.
#[derive(Clone, Debug)]
pub struct Served {
    /// The port; 0 lets the system choose one.
    pub port: u16,
    /// The channels.
    pub channels: Vec<ChannelCast>,
    /// The name of the agent identity's keys.
    pub agent: Text,
    /// The name of the owner's keys.
    pub owner: Text,
}

/// Serves until the process is asked to stop. `say` hears every line for a person; what comes in
/// through `typed` the owner says in the first channel.
///
/// # Errors
/// When it cannot listen, or the listener fails.
pub fn run(
    served: &Served,
    typed: mpsc::Receiver<String>,
    say: Rc<dyn Fn(&str)>,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, listen(served, typed, say))
}

async fn listen(
    served: &Served,
    typed: mpsc::Receiver<String>,
    say: Rc<dyn Fn(&str)>,
) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, served.port)).await?;
    let url: Text = format!("ws://{}", listener.local_addr()?).into();
    let cast = cast(served);
    let (seed, header) = (0, Header::default());
    let setup = Setup {
        cast: &cast,
        seed,
        mutants: Default::default(),
        header,
        interleave: false,
        schedule: None,
    };
    let stage = Stage::new(&setup, vec![url.clone()]).map_err(io::Error::other)?;
    let clock = Rc::new(Clock::start(1, 0));
    let mut config = stage.relay_config(0, (clock.unix_ms() / 1000).saturating_sub(DAY_S));
    config.owner = Keys::named(&served.owner).pubkey;
    // Whoever has read an address may already ask for the end.
    let (mut int, mut term) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    introduce(served, &stage, &url, &*say);
    let host = Teller { clock: clock.clone(), say, conns: 0 };
    let handle = RelayHandle::new(Relay::new(config), host);
    let accept = async || {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok((stream, Party(0)))
    };
    tokio::select! {
        ended = serve(handle.clone(), accept) => ended.map_err(io::Error::other),
        () = speak(served, typed, stage, handle, &clock) => Ok(()),
        _ = int.recv() => Ok(()),
        _ = term.recv() => Ok(()),
    }
}

/// What a harness must be told.
fn introduce(served: &Served, stage: &Stage, url: &str, say: &dyn Fn(&str)) {
    let (agent, owner) = (Keys::named(&served.agent), Keys::named(&served.owner));
    say(&format!("BUZZ_RELAY_URL={url}"));
    say(&format!("BUZZ_PRIVATE_KEY={}", agent.nsec()));
    say(&format!("BUZZ_ACP_AGENT_OWNER={}", owner.pubkey));
    for channel in &served.channels {
        say(&format!("channel {} is {}", channel.name, stage.mint.channel(&channel.name)));
    }
}

fn cast(served: &Served) -> Cast {
    Cast {
        relays: vec![RelayCast { name: "relay".into() }],
        channels: served.channels.clone(),
        people: vec![PersonCast { name: served.owner.clone(), owner: true }],
        agents: vec![AgentCast::new("agent")],
        harnesses: vec![HarnessCast {
            name: "harness".into(),
            agent: "agent".into(),
            relay: "relay".into(),
            state: "state".into(),
            key: served.agent.clone(),
            started: false,
            settings: Default::default(),
            said: Vec::new(),
        }],
        ..Cast::default()
    }
}

/// The owner says what was typed, as a mention of the agent. Never done: the end of the input is
/// not the end of the relay.
async fn speak(
    served: &Served,
    mut typed: mpsc::Receiver<String>,
    mut stage: Stage,
    relay: RelayHandle<Teller>,
    clock: &Clock,
) {
    while let (Some(line), Some(channel)) = (typed.recv().await, served.channels.first()) {
        let mut message = Message::mention(&channel.name);
        message.by = Some(served.owner.clone());
        message.text = Some(line.into());
        let said = stage.say(&message, clock.unix_ms() / 1000);
        let said = said.expect("the cast has one relay and one harness");
        relay.step(RelayEvent::Publish { event: said.event, to: None });
    }
    std::future::pending::<()>().await;
}

/// Tells a person what happens.
struct Teller {
    clock: Rc<Clock>,
    say: Rc<dyn Fn(&str)>,
    conns: u32,
}

impl Host for Teller {
    fn now_ms(&mut self) -> u64 {
        self.clock.unix_ms()
    }

    fn number(&mut self) -> ConnId {
        self.conns += 1;
        ConnId(self.conns)
    }

    fn seen(&mut self, seen: Seen) {
        let line = match seen {
            Seen::Connected(conn, _) => format!("{} connected", conn.0),
            Seen::Disconnected(conn, _) => format!("{} disconnected", conn.0),
            Seen::ToRelay(conn, _, message) => format!("{} → {}", conn.0, said(&message)),
            Seen::FromRelay(conn, _, message) => format!("{} ← {}", conn.0, answered(&message)),
            Seen::Http(_, call, reply) => format!("POST {} {}", call.path(), reply.status),
            Seen::Doubt(_, text) => format!("note: {text}"),
        };
        (self.say)(&line);
    }
}

fn said(message: &ClientMsg) -> String {
    match message {
        ClientMsg::Event(event) => format!("EVENT kind {}: {}", event.kind, event.content),
        other => skep_relay::bytes::client_frame(other),
    }
}

fn answered(message: &RelayMsg) -> String {
    match message {
        RelayMsg::Event { event, .. } => format!("EVENT kind {}: {}", event.kind, event.content),
        other => skep_relay::bytes::relay_frame(other),
    }
}
