//! What the gears are held against: the same messages without skep.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use skep_relay::client::{Asker, Socket, post};
use skep_relay::server::serve;
use skep_relay::{ConnId, Host, Keys, Party, Relay, RelayConfig, RelayEvent, RelayHandle, Seen};
use skep_trace::{ClientMsg, Frame, HttpCall, RelayMsg, Trace, What};
use skep_world::stage::DOWNTIME_MS;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

/// The wire traffic of a run.
pub(crate) struct Traffic {
    /// What was said on each connection.
    to_relay: BTreeMap<u32, Vec<Arc<ClientMsg>>>,
    from_relay: Vec<Arc<RelayMsg>>,
    http: Vec<Arc<HttpCall>>,
    acp: Vec<Arc<Frame>>,
    virtual_ms: u64,
}

impl Traffic {
    /// What a trace holds.
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut traffic = Self {
            to_relay: BTreeMap::new(),
            from_relay: Vec::new(),
            http: Vec::new(),
            acp: Vec::new(),
            virtual_ms: lived_ms(trace),
        };
        for record in &trace.records {
            match &record.what {
                // Who a connection belongs to is proven anew on each, and here to nobody.
                What::ToRelay { conn, message, .. } if !matches!(**message, ClientMsg::Auth(_)) => {
                    traffic.to_relay.entry(*conn).or_default().push(message.clone());
                }
                What::FromRelay { message, .. } => traffic.from_relay.push(message.clone()),
                What::Http { call, .. } => traffic.http.push(call.clone()),
                What::Acp { frame, .. } => traffic.acp.push(frame.clone()),
                _ => {}
            }
        }
        traffic
    }

    /// How many messages that is.
    pub(crate) fn messages(&self) -> usize {
        let to_relay: usize = self.to_relay.values().map(Vec::len).sum();
        to_relay + self.from_relay.len() + 2 * self.http.len() + self.acp.len()
    }
}

/// The time that somebody lived through: the wire gear skips downtime, so its comparison does too.
fn lived_ms(trace: &Trace) -> u64 {
    let gaps = trace.records.windows(2).map(|two| two[1].at_ms - two[0].at_ms);
    gaps.filter(|gap| *gap < DOWNTIME_MS).sum()
}

/// As many messages, there and back over channels of a paused runtime of one thread.
pub(crate) fn channels(messages: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime needs no more than memory");
    runtime.block_on(async {
        let (to, mut from) = mpsc::channel::<usize>(64);
        let (back, mut answers) = mpsc::channel::<usize>(64);
        tokio::spawn(async move {
            while let Some(message) = from.recv().await {
                tokio::time::sleep(Duration::from_millis(1)).await;
                if back.send(message).await.is_err() {
                    return;
                }
            }
        });
        for message in 0..messages / 2 {
            to.send(message).await.expect("the echo lives as long as this");
            answers.recv().await.expect("the echo answers");
        }
    });
}

struct Deaf(u32);

impl Host for Deaf {
    fn now_ms(&mut self) -> u64 {
        1_767_225_600_000
    }

    fn number(&mut self) -> ConnId {
        self.0 += 1;
        ConnId(self.0)
    }

    fn seen(&mut self, _: Seen) {}
}

/// Two turmoil hosts that exchange the traffic's bytes: the relay's server, and a client that says
/// everything that the harness said; its frames to the agent go through a pipe beside it. As much
/// virtual time passes.
pub(crate) fn hosts(traffic: &Traffic) {
    let mut sim = turmoil::Builder::new()
        .rng_seed(7)
        .epoch(std::time::UNIX_EPOCH + Duration::from_secs(1_767_225_600))
        .tick_duration(skep_world::wire::TICK)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(1))
        .simulation_duration(Duration::from_secs(1_000_000))
        .tcp_capacity(4_096)
        .build();
    let config = RelayConfig::new("ws://relay.test", Keys::named("owner").pubkey);
    let handle = RelayHandle::new(Relay::new(config), Deaf(0));
    let served = handle.clone();
    sim.host("relay", move || {
        let handle = served.clone();
        async move {
            let listener = turmoil::net::TcpListener::bind(("0.0.0.0", 80)).await?;
            let accept = async || Ok((listener.accept().await?.0, Party(0)));
            Ok(serve(handle, accept).await?)
        }
    });
    let (said, asked) = (traffic.to_relay.clone(), traffic.http.clone());
    let (lines, heard) = (traffic.acp.clone(), traffic.from_relay.clone());
    sim.client("harness", async move {
        for (nth, call) in asked.iter().enumerate() {
            let io = turmoil::net::TcpStream::connect("relay:80").await?;
            let nonce = nth.to_string();
            let asker = Asker { keys: Keys::named("agent"), now_s: 1_767_225_600, nonce: &nonce };
            post(io, "ws://relay.test", call, asker).await?;
        }
        for said in said.values() {
            let io = turmoil::net::TcpStream::connect("relay:80").await?;
            let mut socket = Socket::connect(io, "ws://relay.test", [0; 16]).await?;
            for message in said {
                socket.send(message).await?;
            }
        }
        // What the relay said is written and read once more beside the socket: a relay that
        // nobody authenticated to says less than the one in the run.
        for message in &heard {
            let text = skep_relay::bytes::relay_frame(message);
            std::hint::black_box(skep_relay::bytes::read_relay_frame(&text));
        }
        pipe(&lines).await?;
        Ok(())
    });
    let end = Duration::from_millis(traffic.virtual_ms);
    while sim.elapsed() < end {
        sim.step().expect("nothing fails in a bare simulation");
    }
    handle.step(RelayEvent::Timer(0));
}

/// Frames as lines through a pipe, each read back.
async fn pipe(frames: &[Arc<Frame>]) -> std::io::Result<()> {
    let (mut near, far) = tokio::io::duplex(64 * 1024);
    let mut far = BufReader::new(far);
    let mut line = String::new();
    for frame in frames {
        near.write_all(format!("{}\n", frame.to_line()).as_bytes()).await?;
        line.clear();
        far.read_line(&mut line).await?;
        std::hint::black_box(Frame::from_line(line.trim_end()));
    }
    Ok(())
}
