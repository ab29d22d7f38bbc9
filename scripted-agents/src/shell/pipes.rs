//! The two ends of an agent process, as its shell holds them.

use std::future;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

use super::seen::Ended;

/// Standard input.
pub(crate) trait Source {
    /// Appends what has come, waiting for at least a byte; 0 is the end. Dropping the future
    /// loses nothing.
    async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize>;
}

/// Standard output, standard error, and the process itself.
pub(crate) trait Sink {
    /// Writes all of it; an error is the reader's absence.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Closes standard output.
    async fn close(&mut self);
    /// Tells the process to close its standard input.
    async fn close_stdin(&mut self);
    /// Writes so many bytes to standard error.
    async fn stderr(&mut self, bytes: u64);
    /// Ends the process.
    async fn end(&mut self, ended: Ended);
}

/// Both ends.
pub(crate) struct Pipes<R, S> {
    /// `None` once it is closed.
    pub(crate) source: Option<R>,
    pub(crate) sink: S,
    pub(crate) lifeline: Lifeline,
}

/// Tells that a process elsewhere is gone: its other end is dropped then.
#[derive(Clone)]
pub(crate) struct Lifeline(pub(crate) Option<watch::Receiver<()>>);

impl Lifeline {
    /// Is done when the process is gone; never where the shell is the process.
    pub(crate) async fn cut(&self) {
        let Some(mut alive) = self.0.clone() else { return future::pending().await };
        while alive.changed().await.is_ok() {}
    }
}

/// Byte streams in this process: dropping one closes it.
pub(super) struct Stream<R>(pub(super) R);

/// The writing half; `None` once it is closed.
pub(super) struct StreamSink<W>(pub(super) Option<W>);

impl<R: AsyncRead + Unpin> Source for Stream<R> {
    async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        self.0.read_buf(into).await
    }
}

impl<W: AsyncWrite + Unpin> Sink for StreamSink<W> {
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(stream) = &mut self.0 else { return Err(io::ErrorKind::BrokenPipe.into()) };
        stream.write_all(bytes).await?;
        stream.flush().await
    }

    async fn close(&mut self) {
        if let Some(mut stream) = self.0.take() {
            // A reader that is gone has noticed already.
            let _ = stream.shutdown().await;
        }
    }

    async fn close_stdin(&mut self) {}

    /// In a simulated process nobody reads standard error; the watcher was told.
    async fn stderr(&mut self, _bytes: u64) {}

    async fn end(&mut self, _ended: Ended) {
        self.close().await;
    }
}
