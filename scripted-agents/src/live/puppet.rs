//! The process's side: it does what it is told, and nothing else.

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::parent_id;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;

use super::stdio;
use super::wire::{Inbox, Order, Report};

/// The most that is read of standard input at once: it fits into the socket's buffer, so that a
/// report never waits for the director to read.
const PORTION_BYTES: usize = 16_384;

/// How a puppet ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// It was told to exit with this code.
    Exit(i32),
    /// It was told to die by this signal.
    Die(i32),
    /// Its director is gone.
    Lost,
}

struct Puppet<R, W> {
    orders: Inbox<OwnedReadHalf>,
    reports: OwnedWriteHalf,
    stdin: Option<R>,
    stdout: Option<W>,
    /// A portion of standard input is wanted.
    reading: bool,
    /// What is being written, and how much of it was.
    writing: Option<(Vec<u8>, usize)>,
    /// A flood on standard error goes on.
    flood: Option<oneshot::Receiver<()>>,
    todo: VecDeque<Order>,
}

/// Obeys until told to end, or until nobody is there to tell.
pub(super) async fn obey<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    socket: UnixStream,
    token: &str,
    stdin: R,
    stdout: W,
) -> Last {
    let (reader, reports) = socket.into_split();
    let mut puppet = Puppet {
        orders: Inbox::new(reader),
        reports,
        stdin: Some(stdin),
        stdout: Some(stdout),
        reading: false,
        writing: None,
        flood: None,
        todo: VecDeque::new(),
    };
    puppet.live(token).await.unwrap_or(Last::Lost)
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Puppet<R, W> {
    /// Every error is the director's absence.
    async fn live(&mut self, token: &str) -> io::Result<Last> {
        self.report(&Report::Hello { token: token.to_owned(), parent: parent_id() }).await?;
        loop {
            let idle = self.writing.is_none() && self.flood.is_none();
            match if idle { self.todo.pop_front() } else { None } {
                Some(order) => {
                    if let Some(last) = self.begin(order).await? {
                        return Ok(last);
                    }
                }
                None => self.wait().await?,
            }
        }
    }

    async fn wait(&mut self) -> io::Result<()> {
        let mut portion = Vec::with_capacity(PORTION_BYTES);
        tokio::select! {
            biased;
            order = self.orders.next() => {
                let (kind, body) = order?;
                match Order::read(kind, body)? {
                    Order::Read => self.reading = true,
                    order => self.todo.push_back(order),
                }
            }
            // A pipe that fails has ended.
            read = read(&mut self.stdin, &mut portion), if self.reading => {
                self.reading = false;
                portion.truncate(read.unwrap_or(0));
                self.report(&Report::Stdin(portion)).await?;
            }
            written = write(&mut self.stdout, &self.writing) => self.wrote(written).await?,
            () = flooded(&mut self.flood) => {
                self.flood = None;
                self.report(&Report::Done).await?;
            }
        }
        Ok(())
    }

    async fn wrote(&mut self, written: io::Result<usize>) -> io::Result<()> {
        let Ok(count) = written else {
            self.writing = None;
            return self.report(&Report::Failed).await;
        };
        if let Some((bytes, done)) = &mut self.writing {
            *done += count;
            if *done == bytes.len() {
                self.writing = None;
                return self.report(&Report::Done).await;
            }
        }
        Ok(())
    }

    async fn begin(&mut self, order: Order) -> io::Result<Option<Last>> {
        match order {
            Order::Exit(code) => return Ok(Some(Last::Exit(code))),
            Order::Die(signal) => return Ok(Some(Last::Die(signal))),
            Order::Write(bytes) if bytes.is_empty() => {}
            Order::Write(bytes) => {
                self.writing = Some((bytes, 0));
                return Ok(None);
            }
            Order::Stderr(bytes) => {
                self.flood = Some(stdio::flood(bytes));
                return Ok(None);
            }
            Order::CloseStdin => self.stdin = None,
            Order::CloseStdout => self.stdout = None,
            // It was taken up when it came.
            Order::Read => return Ok(None),
        }
        self.report(&Report::Done).await?;
        Ok(None)
    }

    async fn report(&mut self, report: &Report) -> io::Result<()> {
        self.reports.write_all(&report.to_bytes()).await
    }
}

async fn read<R: AsyncRead + Unpin>(
    stdin: &mut Option<R>,
    portion: &mut Vec<u8>,
) -> io::Result<usize> {
    match stdin {
        Some(stdin) => stdin.take(PORTION_BYTES as u64).read_buf(portion).await,
        None => std::future::pending().await,
    }
}

async fn write<W: AsyncWrite + Unpin>(
    stdout: &mut Option<W>,
    writing: &Option<(Vec<u8>, usize)>,
) -> io::Result<usize> {
    let Some((bytes, done)) = writing else { return std::future::pending().await };
    match stdout {
        Some(stdout) => stdout.write(&bytes[*done..]).await,
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

async fn flooded(flood: &mut Option<oneshot::Receiver<()>>) {
    match flood {
        // A thread that is gone has written what it could.
        Some(done) => drop(done.await),
        None => std::future::pending().await,
    }
}
