//! One relay, one agent and one disk around a harness, over byte streams and in virtual time.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use skep_agent::{Agent, AgentDisk, Seen as AgentSeen, Shell};
use skep_harness::HarnessConfig;
use skep_harness::shell::{Agents, Network, Ports, Process, Started, StatusHandle, Watch, run};
use skep_plan::{AgentCast, ChannelKind};
use skep_relay::{
    Channel, ConnId, Fault, Host, Keys, Party, Relay, RelayConfig, RelayEvent, RelayHandle, Seen,
    server,
};
use skep_store::{SimDisk, StoreConfig};
use skep_trace::{Call, Frame, NostrEvent, Note, Text};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::{Notify, mpsc};
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::{Instant, timeout};

/// When every test begins, in milliseconds since 1970.
const START_MS: u64 = 1_800_000_000_000;

const URL: &str = "ws://relay:80";

type Log = Rc<RefCell<Vec<String>>>;

/// Runs a test in virtual time: idle waiting is free, and an hour of it is a hang.
pub(crate) fn virtually(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let bounded = async { timeout(Duration::from_secs(3_600), test).await };
    runtime.block_on(LocalSet::new().run_until(bounded)).expect("the test hangs");
}

/// Everything around one harness after the other.
pub(crate) struct World {
    pub(crate) config: HarnessConfig,
    pub(crate) disk: SimDisk,
    pub(crate) status: StatusHandle,
    relay: RelayHandle<Ear>,
    cast: Arc<AgentCast>,
    agents: Rc<RefCell<AgentDisk>>,
    sockets: mpsc::UnboundedSender<DuplexStream>,
    /// The connections that are open now go silent, as those of a machine that lost its network.
    frozen: Arc<AtomicBool>,
    started: Instant,
    log: Log,
    terminate: Arc<Notify>,
    harness: Option<JoinHandle<i32>>,
    said: u32,
}

impl World {
    pub(crate) fn new(cast: AgentCast) -> Self {
        let started = Instant::now();
        let log = Log::default();
        let relay = relay(started);
        let (sockets, mut incoming) = mpsc::unbounded_channel();
        let serving = relay.clone();
        tokio::task::spawn_local(async move {
            let accept = async || match incoming.recv().await {
                Some(io) => Ok((io, Party(1))),
                None => std::future::pending().await,
            };
            server::serve(serving, accept).await.expect("the listener never fails");
        });
        let (agent, owner) = (Keys::named("agent"), Keys::named("owner"));
        let mut config = HarnessConfig::new(URL, agent.pubkey, owner.pubkey, "/w");
        config.settings.observer = true;
        Self {
            config,
            disk: SimDisk::new(),
            status: StatusHandle::default(),
            relay,
            cast: Arc::new(cast),
            agents: Rc::new(RefCell::new(AgentDisk::new("a", 7))),
            sockets,
            frozen: Arc::default(),
            started,
            log,
            terminate: Arc::default(),
            harness: None,
            said: 0,
        }
    }

    fn now_ms(&self) -> u64 {
        ms_since(self.started)
    }

    /// Starts the next harness and waits until it is ready.
    pub(crate) async fn start(&mut self) {
        self.status = StatusHandle::default();
        let pubkey = self.config.pubkey;
        let ports = Ports {
            network: Sockets { listener: self.sockets.clone(), frozen: self.frozen.clone() },
            volume: self.disk.process(),
            store: StoreConfig::new("/state", URL, pubkey),
            agents: Herd {
                cast: self.cast.clone(),
                disk: self.agents.clone(),
                log: self.log.clone(),
            },
            watch: Journal(self.log.clone()),
            epoch_ms: self.now_ms(),
            keys: Keys::named("agent"),
            seed: 7,
            terminate: self.terminate.clone(),
            status: self.status.clone(),
        };
        self.harness = Some(tokio::task::spawn_local(run(self.config.clone(), ports)));
        self.until(|status| status.ready).await;
    }

    /// Kills the harness: its future is dropped in the middle of whatever it does.
    pub(crate) async fn kill(&mut self) {
        if let Some(harness) = self.harness.take() {
            harness.abort();
            let ended = harness.await.expect_err("it was still running");
            assert!(ended.is_cancelled());
        }
    }

    pub(crate) async fn restart(&mut self) {
        self.kill().await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        self.log.borrow_mut().push("-- restart".into());
        self.start().await;
    }

    /// Asks it to terminate and waits for its exit code.
    pub(crate) async fn terminate(&mut self) -> i32 {
        self.terminate.notify_one();
        self.harness.take().expect("it runs").await.expect("it does not panic")
    }

    pub(crate) async fn until(&self, met: impl Fn(&skep_harness::shell::Status) -> bool) {
        while !met(&self.status.get()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until everything that was said is answered.
    pub(crate) async fn settle(&self) {
        let steps = self.status.get().steps;
        self.until(|status| status.steps > steps).await;
        self.until(|status| status.held.is_empty() && status.at_rest && !status.working).await;
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.said += 1;
        let agent = self.config.pubkey.to_string();
        let tags = vec![tag(&["h", "general"]), tag(&["p", &agent])];
        let text = format!("{text} {}", self.said);
        self.publish(9, tags, text.trim_end_matches(|c: char| c.is_ascii_digit()).trim());
    }

    pub(crate) fn command(&self, command: &str) {
        let agent = self.config.pubkey.to_string();
        self.publish(9, vec![tag(&["h", "general"]), tag(&["p", &agent])], command);
    }

    fn publish(&self, kind: u16, tags: Vec<Vec<Text>>, text: &str) {
        let owner = Keys::named("owner").pubkey;
        let event = NostrEvent::new(owner, self.now_ms() / 1000, kind, tags, text.into());
        self.relay.step(RelayEvent::Publish { event: event.into(), to: None });
    }

    pub(crate) fn switch_model(&self, model: &str) {
        let agent = self.config.pubkey;
        let tags = vec![tag(&["p", &agent.to_string()])];
        let body =
            format!(r#"{{"type":"switch_model","channelId":"general","modelId":"{model}"}}"#);
        let owner = Keys::named("owner").pubkey;
        let event = NostrEvent::new(owner, self.now_ms() / 1000, 24200, tags, body.into());
        let event = event.sealed(agent).into();
        self.relay.step(RelayEvent::Publish { event, to: None });
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.relay.step(RelayEvent::Fault(fault));
    }

    /// The network goes silent until somebody connects again.
    pub(crate) fn freeze(&self) {
        self.frozen.store(true, Ordering::Relaxed);
    }

    /// What happened since the last look, in words.
    pub(crate) fn story(&self) -> Vec<String> {
        std::mem::take(&mut self.log.borrow_mut())
    }

    /// The requests among it.
    pub(crate) fn calls(&self) -> Vec<String> {
        let mut story = self.story();
        story.retain(|line| line.starts_with("session/"));
        story
    }

    /// What the harness published and said to the relay, in words.
    pub(crate) fn wire(&self) -> Vec<String> {
        self.relay.with_host(|ear| std::mem::take(&mut ear.told))
    }
}

/// Unix time in milliseconds, of a test that started at an instant.
fn ms_since(started: Instant) -> u64 {
    START_MS + u64::try_from(started.elapsed().as_millis()).expect("a test is short")
}

/// A relay with one channel.
fn relay(started: Instant) -> RelayHandle<Ear> {
    let (owner, agent) = (Keys::named("owner").pubkey, Keys::named("agent").pubkey);
    let mut config = RelayConfig::new(URL, owner);
    config.channels = vec![Channel {
        id: "general".into(),
        name: "general".into(),
        kind: ChannelKind::Stream,
        archived: false,
        members: vec![owner, agent],
    }];
    RelayHandle::new(Relay::new(config), Ear { started, numbers: 0, told: Vec::new() })
}

/// Remembers what the relay was told.
struct Ear {
    started: Instant,
    numbers: u32,
    told: Vec<String>,
}

impl Host for Ear {
    fn now_ms(&mut self) -> u64 {
        ms_since(self.started)
    }

    fn number(&mut self) -> ConnId {
        self.numbers += 1;
        ConnId(self.numbers)
    }

    fn seen(&mut self, seen: Seen) {
        if let Seen::ToRelay(_, _, message) = seen {
            self.told.push(message.to_json().to_string());
        }
    }
}

struct Sockets {
    listener: mpsc::UnboundedSender<DuplexStream>,
    frozen: Arc<AtomicBool>,
}

impl Network for Sockets {
    type Io = Line;

    async fn connect(&self) -> io::Result<Line> {
        let (near, far) = tokio::io::duplex(16 * 1024);
        self.listener.send(far).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        self.frozen.store(false, Ordering::Relaxed);
        Ok(Line { io: near, frozen: self.frozen.clone() })
    }
}

/// A connection that can go silent without breaking.
pub(crate) struct Line {
    io: DuplexStream,
    frozen: Arc<AtomicBool>,
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.frozen.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.frozen.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// Scripted agents in this very process.
struct Herd {
    cast: Arc<AgentCast>,
    disk: Rc<RefCell<AgentDisk>>,
    log: Log,
}

struct Member(JoinHandle<()>);

impl Agents for Herd {
    type Stdin = DuplexStream;
    type Stdout = DuplexStream;
    type Process = Member;

    fn start(&mut self) -> io::Result<Started<DuplexStream, DuplexStream, Member>> {
        // Small pipes: whoever does not read stands in the way.
        let (stdin, agent_stdin) = tokio::io::duplex(512);
        let (agent_stdout, stdout) = tokio::io::duplex(512);
        let log = self.log.clone();
        let watch = move |seen| {
            if let AgentSeen::Received { frame, .. } = seen {
                log.borrow_mut().push(told(&frame));
            }
        };
        let number = self.disk.borrow().processes() + 1;
        let shell = Shell::new(Agent::new(self.cast.clone(), number), self.disk.clone(), watch);
        let running = async move {
            shell.run(agent_stdin, agent_stdout).await;
        };
        let process = Member(tokio::task::spawn_local(running));
        Ok(Started { stdin, stdout, process })
    }
}

impl Process for Member {
    fn kill(&mut self) {
        self.0.abort();
    }

    async fn exited(&mut self) {
        std::future::pending::<()>().await;
    }
}

struct Journal(Log);

impl Watch for Journal {
    fn note(&mut self, note: &Note) {
        self.0.borrow_mut().push(format!("note {}", note.to_json()["note"]));
    }
}

fn told(frame: &Frame) -> String {
    match frame.call() {
        Some(Call::SessionNew(_)) => "session/new".to_owned(),
        Some(call) => format!("{} {}", call.method(), call.session_id().unwrap_or("")),
        None => "answer".to_owned(),
    }
}

fn tag(parts: &[&str]) -> Vec<Text> {
    parts.iter().map(|part| Text::from(*part)).collect()
}
