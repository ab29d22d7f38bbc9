//! The relays and harnesses as turmoil hosts.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use skep_harness::shell::{Network, Ports, Watch, run};
use skep_relay::server::serve;
use skep_relay::{ConnId, Host, Party, Seen};
use skep_trace::{Note, Text, What};

use super::WireWorld;
use super::child::Children;
use super::shared::{Launch, Shared};
use crate::mint::EPOCH_S;

/// The port that every relay serves.
const PORT: u16 = 80;

/// What a relay's shell needs of the run.
pub(super) struct WireHost {
    shared: Shared,
}

impl WireHost {
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared }
    }
}

fn place(party: Party) -> usize {
    usize::try_from(party.0).expect("a cast has few harnesses")
}

impl Host for WireHost {
    fn now_ms(&mut self) -> u64 {
        EPOCH_S * 1000 + self.shared.now_ms()
    }

    fn number(&mut self) -> ConnId {
        self.shared.next_conn()
    }

    fn seen(&mut self, seen: Seen) {
        let life = |party| self.shared.life(place(party));
        self.shared.note(match seen {
            Seen::Connected(conn, party) => What::Connected { harness: life(party), conn: conn.0 },
            Seen::Disconnected(conn, party) => {
                What::Disconnected { harness: life(party), conn: conn.0 }
            }
            Seen::ToRelay(conn, party, message) => {
                What::ToRelay { harness: life(party), conn: conn.0, message }
            }
            Seen::FromRelay(conn, party, message) => {
                What::FromRelay { harness: life(party), conn: conn.0, message }
            }
            Seen::Http(party, call, reply) => What::Http { harness: life(party), call, reply },
            Seen::Doubt(party, text) => {
                What::Finding { actor: life(party).to_string().into(), text }
            }
        });
    }
}

impl WireWorld {
    /// Serves a relay on a host of its own.
    pub(super) fn serve_relay(&mut self, place: usize) {
        let name = relay_host(&self.stage.cast.relays[place].name);
        let handle = self.relays[place].clone();
        let clients: Vec<String> = self.lanes.iter().map(|lane| harness_host(&lane.name)).collect();
        self.sim.host(name, move || {
            let (handle, clients) = (handle.clone(), clients.clone());
            async move {
                let any: SocketAddr = (IpAddr::from(Ipv4Addr::UNSPECIFIED), PORT).into();
                let listener = turmoil::net::TcpListener::bind(any).await?;
                let accept = async || {
                    let (io, from) = listener.accept().await?;
                    Ok((io, who(from.ip(), &clients)))
                };
                Ok(serve(handle, accept).await?)
            }
        });
    }

    /// Makes the simulation run a harness's next life, which its launch describes.
    pub(super) fn host_harness(&mut self, host: usize) {
        let name = harness_host(&self.lanes[host].name);
        if self.lanes[host].hosted {
            return self.sim.bounce(name);
        }
        self.lanes[host].hosted = true;
        let shared = self.shared.clone();
        self.sim.host(name, move || {
            let shared = shared.clone();
            async move {
                if let Some(launch) = shared.take_launch(host) {
                    live(launch, shared, host).await;
                }
                Ok(())
            }
        });
    }
}

/// One life of a harness, to its end.
async fn live(launch: Launch, shared: Shared, host: usize) {
    let agents = Children::new(shared.clone(), host, launch.agent);
    let ports = Ports {
        network: Dial(launch.relay),
        volume: launch.volume,
        store: launch.store,
        agents,
        watch: Told { shared: shared.clone(), host },
        epoch_ms: launch.epoch_ms,
        keys: launch.keys,
        seed: shared.seed(),
        terminate: launch.terminate,
        status: launch.status,
    };
    run(launch.config, ports).await;
}

/// The host that a relay runs on: a name that its URL ends in.
pub(super) fn relay_host(name: &str) -> String {
    format!("{name}.relay")
}

pub(super) fn harness_host(name: &str) -> String {
    format!("{name}.harness")
}

fn who(ip: IpAddr, clients: &[String]) -> Party {
    let name = turmoil::reverse_lookup(ip);
    let place = clients.iter().position(|client| Some(client) == name.as_ref());
    crate::stage::party(place.expect("only harnesses connect to a relay"))
}

/// The way to a relay.
#[derive(Debug)]
struct Dial(String);

impl Network for Dial {
    type Io = turmoil::net::TcpStream;

    async fn connect(&self) -> io::Result<Self::Io> {
        turmoil::net::TcpStream::connect((self.0.as_str(), PORT)).await
    }
}

/// A harness's own words, told.
struct Told {
    shared: Shared,
    host: usize,
}

impl Watch for Told {
    fn note(&mut self, note: &Note) {
        let harness = self.shared.life(self.host);
        self.shared.note(What::Note { harness, note: note.clone() });
    }

    fn log(&mut self, line: &Text) {
        let actor = self.shared.life(self.host).to_string().into();
        self.shared.note(What::Log { actor, line: line.clone() });
    }
}
