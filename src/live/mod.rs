//! The live world: harnesses and agents as processes of the operating system, relays on ports of
//! this machine, state directories on the real disk, the real clock.
//!
//! Everything of a run is on one thread: the director waits inside the run's own runtime, and
//! whatever happens meanwhile is recorded in the order in which it is seen here.
//!
//! - [`groups`]: what must not be left behind. `strays`: processes that left their group.
//! - `acts`: what the director does. `settle`: when a step is over. `standing`: how a harness
//!   stands that does not report. `watchdog`: what becomes of one that takes too much memory.
//!   `leftovers`: what outlives a harness.
//! - `harness`, `process`, `lane`: harness processes. `child`: agents. `relay`, `peer`: relays, and
//!   who calls them.
//! - `states`: the directories. `clock`, `haste`: time. `shared`: what they all tell.
//! - `tamper`: what is done to a harness at its edges, to see whether anybody notices.
//! - [`serve`]: a relay by itself, for a harness that somebody starts by hand.

mod acts;
mod child;
mod clock;
pub mod groups;
mod harness;
mod haste;
mod lane;
mod leftovers;
mod peer;
mod process;
mod relay;
pub mod serve;
mod settle;
mod shared;
mod standing;
mod states;
pub(crate) mod strays;
mod tamper;
mod watchdog;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use skep_agent::{AgentPort, DirectorAddress, wrapper_script};
use skep_plan::Act;
use skep_relay::{Relay, RelayHandle};
use skep_trace::{Record, Settled, Text, Trace, What};
use skep_world::{Outlook, Setup, Stage, World, WorldError};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use self::child::AgentState;
use self::clock::Clock;
use self::groups::Folder;
use self::relay::LiveHost;
use self::shared::Shared;
use self::standing::Standing;
use self::states::States;
use crate::profile::HarnessProfile;
use crate::tampering::Tampering;

/// Channels and profiles are a day older than the run.
const DAY_S: u64 = 86_400;

/// How long processes that were killed may take to be gone at the end.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// The harness that is tested.
#[derive(Clone, Debug)]
pub struct Tested {
    /// A program and its arguments; `None` is the reference harness of this very executable.
    pub command: Option<Vec<OsString>>,
    /// How it is configured, and how it shows what it does.
    pub profile: Arc<HarnessProfile>,
    /// What is done to it at its edges, to see whether anybody notices.
    pub tampering: Option<Tampering>,
}

/// A world of processes. Dropping it kills them.
pub struct LiveWorld {
    // Dropped in this order: the tasks with everything that they hold, the runtime, the folder.
    tasks: LocalSet,
    runtime: Runtime,
    site: Site,
}

/// Everything that is directed.
struct Site {
    shared: Shared,
    stage: Stage,
    states: States,
    relays: Vec<RelayHandle<LiveHost>>,
    folder: Folder,
    /// This executable.
    program: PathBuf,
    /// The harness that is tested.
    tested: Tested,
    /// How each harness stands, as far as its records are read.
    standings: Vec<Standing>,
    /// How many records that is.
    read: usize,
}

fn ours(what: &str) -> impl Fn(io::Error) -> WorldError {
    move |error| WorldError::Ours(format!("{what}: {error}"))
}

impl LiveWorld {
    /// A world in which nothing has happened. `downtimes_ms` is how long harnesses will be down in
    /// all restarts together: where the harness can be told the time, people live so far in the past
    /// at first, and no downtime is waited for.
    ///
    /// # Errors
    /// When the cast contradicts itself, or the machine has no port, folder or socket for it.
    pub fn new(setup: Setup<'_>, downtimes_ms: u64, tested: Tested) -> Result<Self, WorldError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ours("no runtime can be built"))?;
        let folder = Folder::new().map_err(ours("no temporary folder can be made"))?;
        let tasks = LocalSet::new();
        let opening = async {
            let ports = setup.cast.relays.iter().map(|_| listen());
            let ports = ports.collect::<Result<Vec<_>, _>>();
            let ports = ports.map_err(ours("no port is free for a relay"))?;
            let urls = ports.iter().map(|(_, url)| url.clone()).collect();
            let site = Site::new(setup, (downtimes_ms, urls), folder, tested)?;
            site.serve(ports.into_iter().map(|(listener, _)| listener))?;
            Ok(site)
        };
        let site = tasks.block_on(&runtime, opening)?;
        Ok(Self { tasks, runtime, site })
    }
}

/// The harness's clock can be set: then so can everybody's.
fn tells_time(tested: &Tested) -> bool {
    tested.profile.ways.contains_key("clock-ahead")
}

/// A port of this machine, and the URL of a relay on it.
fn listen() -> io::Result<(TcpListener, Text)> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let url = format!("ws://{}", listener.local_addr()?).into();
    Ok((listener, url))
}

impl Site {
    fn new(
        setup: Setup<'_>,
        (downtimes_ms, urls): (u64, Vec<Text>),
        folder: Folder,
        tested: Tested,
    ) -> Result<Self, WorldError> {
        let program = std::env::current_exe().map_err(ours("this program cannot be found"))?;
        let stage = Stage::new(&setup, urls)?;
        let agents = stage.cast.agents.iter().map(|agent| &agent.name);
        let casts = agents.map(|name| Ok((name.clone(), stage.agent(name)?)));
        let casts = casts.collect::<Result<BTreeMap<_, _>, WorldError>>()?;
        // A program whose clock cannot be told has the time that everybody has.
        let hasty = tested.profile.ways.contains_key("haste");
        let haste = if hasty { haste::of(&stage.cast) } else { 1 };
        let behind_ms = if tells_time(&tested) { downtimes_ms } else { 0 };
        let clock = Clock::start(haste, behind_ms);
        let born_s = (clock.unix_ms() / 1000).saturating_sub(DAY_S);
        let shared = Shared::new(setup.header, setup.seed, clock, casts, &stage.players);
        shared.set_ready(tested.profile.ready.clone());
        shared.set_tampering(tested.tampering);
        let relay = |place| {
            let relay = Relay::new(stage.relay_config(place, born_s));
            RelayHandle::new(relay, LiveHost::new(shared.clone()))
        };
        let relays = (0..stage.cast.relays.len()).map(relay).collect();
        let states = States::new(folder.path().join("state"), setup.seed);
        let standings = stage.players.iter().map(|_| Standing::default()).collect();
        let site =
            Self { shared, stage, states, relays, folder, program, tested, standings, read: 0 };
        site.furnish().map_err(ours("the temporary folder cannot be filled"))?;
        Ok(site)
    }

    /// The folders and scripts that harnesses are given.
    fn furnish(&self) -> io::Result<()> {
        let folder = self.folder.path();
        std::fs::create_dir(folder.join("state"))?;
        std::fs::create_dir(folder.join("w"))?;
        for host in 0..self.shared.lanes() {
            let director = DirectorAddress { socket: self.socket(), token: host.to_string() };
            let script = wrapper_script(&self.program, &director);
            let _writing = process::programs();
            states::write(&self.agent(host), script.as_bytes())?;
            states::set_mode(&self.agent(host), 0o700)?;
        }
        Ok(())
    }

    /// Where agents call.
    fn socket(&self) -> PathBuf {
        self.folder.path().join("agents")
    }

    /// A harness's agent, as a command.
    fn agent(&self, host: usize) -> PathBuf {
        self.folder.path().join(format!("agent-{host}"))
    }

    /// Answers everybody from now on. Must be called within the local set.
    fn serve(&self, listeners: impl Iterator<Item = TcpListener>) -> Result<(), WorldError> {
        for (relay, listener) in listeners.enumerate() {
            let handle = self.relays[relay].clone();
            let shared = self.shared.clone();
            tokio::task::spawn_local(relay::serve_relay(shared, relay, listener, handle));
        }
        let port = AgentPort::bind(&self.socket());
        let port = port.map_err(ours("no socket can be made for agents"))?;
        tokio::task::spawn_local(child::serve_agents(self.shared.clone(), port));
        Ok(())
    }

    async fn open(&mut self) -> Result<(), WorldError> {
        for what in self.stage.names() {
            self.shared.note(what);
        }
        skep_world::ground::give(self)?;
        let started = self.stage.started();
        self.start(&started).await?;
        started.iter().try_for_each(|name| self.must_be_ready(name))
    }

    /// Kills everything that still runs, and waits until it is gone.
    async fn end(&self) {
        for host in 0..self.shared.lanes() {
            if self.shared.runs(host) {
                // What cannot be killed now is killed again when its group is dropped.
                let _stuck = self.kill_harness(host, true).await;
            }
        }
        for host in 0..self.shared.lanes() {
            self.shared.with_lane(host, |lane| {
                lane.past.iter().for_each(|group| group.signal_all(Signal::KILL));
            });
        }
        self.shared.with_agents(|agents| {
            agents.iter_mut().filter(|agent| !agent.ended()).for_each(AgentState::kill);
        });
        let gone = |shared: &Shared| shared.with_agents(|all| all.iter().all(AgentState::ended));
        let _stuck = self.shared.wait(CLOSE_TIME, gone).await;
    }
}

impl World for LiveWorld {
    fn open(&mut self) -> Result<(), WorldError> {
        self.tasks.block_on(&self.runtime, self.site.open())
    }

    fn begin(&mut self, step: usize, title: &str) {
        self.site.shared.note(What::Step { index: step, title: title.into() });
    }

    fn act(&mut self, index: usize, text: &str, act: &Act) -> Result<(), WorldError> {
        self.site.shared.note(What::Act { index, text: text.into() });
        self.tasks.block_on(&self.runtime, self.site.carry_out(act))
    }

    fn settle(
        &mut self,
        step: usize,
        outlook: &mut dyn FnMut(&[Record]) -> Outlook,
    ) -> Result<Settled, WorldError> {
        let how = self.tasks.block_on(&self.runtime, self.site.settled(outlook));
        self.site.snapshots()?;
        self.site.shared.note(What::Settled { step, how: how.clone() });
        Ok(how)
    }

    fn close(self: Box<Self>) -> Trace {
        self.site.leftovers();
        // Taken first: how everything ends now is not the scenario's business.
        let mut trace = self.site.shared.take_trace();
        self.tasks.block_on(&self.runtime, self.site.end());
        self.site.sweep(&mut trace);
        trace
    }
}
