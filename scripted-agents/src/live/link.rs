//! One agent process, as its director holds it.

use std::io;
use std::time::Duration;

use skep_trace::Text;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use super::wire::{Inbox, Order, Report};
use crate::shell::{Ended, Keep, Lifeline, Pipes, Shell, Sink, Source, Watch};

/// How long a process that was told to end may take: it has nothing to do but that.
const END_TIME: Duration = Duration::from_secs(5);

/// A connected agent process that waits for its orders. Dropping it ends the process.
pub struct AgentLink {
    token: Text,
    pid: u32,
    parent: u32,
    orders: mpsc::Sender<Order>,
    stdin: mpsc::Receiver<Vec<u8>>,
    done: mpsc::Receiver<bool>,
    alive: watch::Receiver<()>,
    carrier: Carrier,
}

/// The task that carries messages; it ends with the link.
struct Carrier(AbortHandle);

impl Drop for Carrier {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The carrier's ends. The lifeline is the first to break: whoever finds the others broken knows.
struct Ends {
    _alive: watch::Sender<()>,
    stdin: mpsc::Sender<Vec<u8>>,
    done: mpsc::Sender<bool>,
}

impl AgentLink {
    /// Hears who is calling.
    pub(super) async fn answer(stream: UnixStream) -> io::Result<Self> {
        let pid = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
        let (reader, writer) = stream.into_split();
        let mut inbox = Inbox::new(reader);
        let (kind, body) = inbox.next().await?;
        let Report::Hello { token, parent } = Report::read(kind, body)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let pid = pid.ok_or(io::ErrorKind::Unsupported)?;
        // At most one read and one other order are under way.
        let (orders, queue) = mpsc::channel(2);
        let (stdin, read) = mpsc::channel(1);
        let (done, acknowledged) = mpsc::channel(1);
        let (_alive, alive) = watch::channel(());
        let carrier = tokio::spawn(carry(inbox, writer, queue, Ends { _alive, stdin, done }));
        Ok(Self {
            token: token.into(),
            pid,
            parent,
            orders,
            stdin: read,
            done: acknowledged,
            alive,
            carrier: Carrier(carrier.abort_handle()),
        })
    }

    /// Which agent of which harness the process says it is.
    pub fn token(&self) -> &Text {
        &self.token
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The process that started it, as it saw it: the harness, or something that it started.
    pub fn parent(&self) -> u32 {
        self.parent
    }
}

impl<K: Keep, W: Watch> Shell<K, W> {
    /// Runs the agent in a process elsewhere until one of them ends. A process that is killed
    /// ends the agent at once, also where the watcher holds it.
    pub async fn serve(self, link: AgentLink) -> Ended {
        let source = LinkSource { orders: link.orders.clone(), stdin: link.stdin, asked: false };
        let lifeline = Lifeline(Some(link.alive));
        let sink = LinkSink { orders: link.orders, done: link.done, lifeline: lifeline.clone() };
        let ended = self.run_over(Pipes { source: Some(source), sink, lifeline }).await;
        drop(link.carrier);
        ended
    }
}

/// Carries orders out and reports in until the process is gone or the link is dropped.
async fn carry(
    mut inbox: Inbox<OwnedReadHalf>,
    writer: impl AsyncWrite + Unpin,
    queue: mpsc::Receiver<Order>,
    ends: Ends,
) {
    tokio::select! {
        biased;
        _ = bring(&mut inbox, &ends) => {}
        () = send(writer, queue) => {}
    }
}

async fn bring(inbox: &mut Inbox<OwnedReadHalf>, ends: &Ends) -> io::Result<()> {
    loop {
        let (kind, body) = inbox.next().await?;
        // A shell that is at its end wants no more reports.
        let _ = match Report::read(kind, body)? {
            Report::Stdin(bytes) => ends.stdin.send(bytes).await.is_ok(),
            Report::Done => ends.done.send(true).await.is_ok(),
            Report::Failed => ends.done.send(false).await.is_ok(),
            Report::Hello { .. } => return Err(io::ErrorKind::InvalidData.into()),
        };
    }
}

/// Sends orders as long as someone gives any. Afterwards only the process's end is waited for.
async fn send(mut writer: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Order>) {
    while let Some(order) = queue.recv().await {
        if writer.write_all(&order.to_bytes()).await.is_err() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

struct LinkSource {
    orders: mpsc::Sender<Order>,
    stdin: mpsc::Receiver<Vec<u8>>,
    /// A read was ordered and not yet answered.
    asked: bool,
}

impl Source for LinkSource {
    async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        if !self.asked {
            self.orders.send(Order::Read).await.map_err(|_| io::ErrorKind::ConnectionAborted)?;
            self.asked = true;
        }
        let bytes = self.stdin.recv().await.ok_or(io::ErrorKind::ConnectionAborted)?;
        self.asked = false;
        into.extend_from_slice(&bytes);
        Ok(bytes.len())
    }
}

struct LinkSink {
    orders: mpsc::Sender<Order>,
    done: mpsc::Receiver<bool>,
    lifeline: Lifeline,
}

impl LinkSink {
    /// Gives an order and waits until it was carried out.
    async fn order(&mut self, order: Order) -> io::Result<()> {
        self.orders.send(order).await.map_err(|_| io::ErrorKind::ConnectionAborted)?;
        match self.done.recv().await {
            Some(true) => Ok(()),
            Some(false) => Err(io::ErrorKind::BrokenPipe.into()),
            None => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

/// Orders that fail because the process is gone fail silently here: the lifeline tells.
impl Sink for LinkSink {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.order(Order::Write(bytes.to_vec())).await
    }

    async fn close(&mut self) {
        let _ = self.order(Order::CloseStdout).await;
    }

    async fn close_stdin(&mut self) {
        let _ = self.order(Order::CloseStdin).await;
    }

    async fn stderr(&mut self, bytes: u64) {
        let _ = self.order(Order::Stderr(bytes)).await;
    }

    async fn end(&mut self, ended: Ended) {
        let order = match ended {
            Ended::Exit(code) => Order::Exit(code),
            Ended::Signal(signal) => Order::Die(signal),
            Ended::Gone => return,
        };
        if self.orders.send(order).await.is_ok() {
            // Past its time the process is left to the drop of its link.
            let _ = tokio::time::timeout(END_TIME, self.lifeline.cut()).await;
        }
    }
}
