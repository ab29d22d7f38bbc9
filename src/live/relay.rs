//! The relays, on ports of this machine.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use skep_relay::server::serve;
use skep_relay::{ConnId, Host, Party, RelayHandle, Seen};
use skep_trace::{ClientMsg, Life, RelayMsg, Text, What};
use skep_world::stage::party;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::lane::Talk;
use super::peer;
use super::shared::{Shared, Ticket};
use super::tamper::Lossy;
use crate::profile::Ready;

/// The kind of event by which a harness shows that it hears people.
const KIND_PRESENCE: u16 = 20001;

/// What a relay's shell needs of the run.
pub(super) struct LiveHost {
    shared: Shared,
    /// Whose each connection is, as long as it lasts.
    lives: BTreeMap<ConnId, Life>,
    lossy: Lossy,
}

impl LiveHost {
    pub(super) fn new(shared: Shared) -> Self {
        Self { shared, lives: BTreeMap::new(), lossy: Lossy::default() }
    }

    fn connected(&mut self, conn: ConnId, party: Party) -> What {
        let harness = self.shared.life(place(party));
        self.lives.insert(conn, harness.clone());
        self.with_talk(&harness, party, |talk| {
            *talk =
                Talk { connections: talk.connections + 1, open: Some(conn.0), ..Talk::default() };
        });
        What::Connected { harness, conn: conn.0 }
    }

    fn disconnected(&mut self, conn: ConnId, party: Party) -> What {
        let harness = self.life(conn, party);
        self.lives.remove(&conn);
        self.with_talk(&harness, party, |talk| {
            talk.open = talk.open.filter(|open| *open != conn.0);
        });
        What::Disconnected { harness, conn: conn.0 }
    }

    fn life(&self, conn: ConnId, party: Party) -> Life {
        let known = self.lives.get(&conn).cloned();
        known.unwrap_or_else(|| self.shared.life(place(party)))
    }

    fn with_talk(&self, life: &Life, party: Party, change: impl FnOnce(&mut Talk)) {
        self.shared.with_lane(place(party), |lane| {
            if lane.life() == *life
                && let Some(running) = &mut lane.running
            {
                change(&mut running.talk);
            }
        });
    }

    /// A harness that shows what its profile names hears people.
    fn look_for_readiness(&self, life: &Life, party: Party, message: &ClientMsg) {
        let shown = match (self.shared.ready(), message) {
            (Ready::Presence, ClientMsg::Event(event)) => {
                event.kind == KIND_PRESENCE && &*event.content == "online"
            }
            (Ready::Subscription, ClientMsg::Req { filters, .. }) => {
                filters.iter().any(|filter| filter.tags.iter().any(|(name, _)| *name == 'h'))
            }
            _ => false,
        };
        if shown {
            self.shared.is_ready(place(party), life);
        }
    }
}

fn place(party: Party) -> usize {
    usize::try_from(party.0).expect("a cast has few harnesses")
}

impl Host for LiveHost {
    fn now_ms(&mut self) -> u64 {
        self.shared.clock().unix_ms()
    }

    fn number(&mut self) -> ConnId {
        self.shared.next_conn()
    }

    fn copies(&mut self, party: Party, message: &RelayMsg) -> usize {
        let Some(tampering) = self.shared.tampering() else { return 1 };
        let life = self.shared.life(place(party));
        let copies = self.lossy.copies(tampering, &life, message);
        // It is counted once when it is seen; the harness counts what reaches it.
        self.with_talk(&life, party, |talk| {
            talk.said = (talk.said + copies as u64).saturating_sub(1);
        });
        copies
    }

    fn seen(&mut self, seen: Seen) {
        let what = match seen {
            Seen::Connected(conn, party) => self.connected(conn, party),
            Seen::Disconnected(conn, party) => self.disconnected(conn, party),
            Seen::ToRelay(conn, party, message) => {
                let harness = self.life(conn, party);
                self.with_talk(&harness, party, |talk| talk.heard += 1);
                let what = What::ToRelay {
                    harness: harness.clone(),
                    conn: conn.0,
                    message: message.clone(),
                };
                self.shared.note(what);
                return self.look_for_readiness(&harness, party, &message);
            }
            Seen::FromRelay(conn, party, message) => {
                let harness = self.life(conn, party);
                self.with_talk(&harness, party, |talk| talk.said += 1);
                What::FromRelay { harness, conn: conn.0, message }
            }
            Seen::Http(party, call, reply) => {
                What::Http { harness: self.shared.life(place(party)), call, reply }
            }
            Seen::Doubt(party, text) => {
                What::Finding { actor: self.shared.life(place(party)).to_string().into(), text }
            }
        };
        self.shared.note(what);
    }
}

/// Serves a relay until the run ends.
pub(super) async fn serve_relay(
    shared: Shared,
    relay: usize,
    listener: TcpListener,
    handle: RelayHandle<LiveHost>,
) {
    let accept = async || loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        if let Some(host) = caller(&shared, relay, &stream)? {
            let _ticket = shared.ticket(&shared.life(host));
            return Ok((Socket { stream, _ticket }, party(host)));
        }
        let text = "a connection was refused: nobody knows which harness opened it".into();
        shared.note(What::Finding { actor: "relay".into(), text });
    };
    if let Err(error) = serve(handle, accept).await {
        let line: Text = format!("the relay ended: {error}").into();
        shared.note(What::Log { actor: "relay".into(), line });
    }
}

/// Which harness opened a connection: the only one that it can be, or the one whose process holds
/// the other end. Never a guess.
fn caller(shared: &Shared, relay: usize, stream: &TcpStream) -> io::Result<Option<usize>> {
    let running = |host: &usize| {
        shared.with_lane(*host, |lane| lane.relay == relay && lane.running.is_some())
    };
    let hosts: Vec<usize> = (0..shared.lanes()).filter(running).collect();
    if let [host] = hosts[..] {
        return Ok(Some(host));
    }
    let pid = |host: &usize| shared.with_lane(*host, |lane| lane.pids.last().copied());
    let pids: Vec<u32> = hosts.iter().filter_map(pid).collect();
    let holder = peer::holder(stream.peer_addr()?, stream.local_addr()?, &pids);
    Ok(hosts.into_iter().find(|host| pid(host) == holder && holder.is_some()))
}

/// A stream that tells when it is closed.
struct Socket {
    stream: TcpStream,
    _ticket: Ticket,
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
