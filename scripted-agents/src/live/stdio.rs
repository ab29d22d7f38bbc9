//! The process's real standard streams, taken so that closing one closes it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::process::{Resource, Rlimit, Signal};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

/// A shell's convention for the exit code of a process that died by a signal.
const SIGNAL_BASE: i32 = 128;

/// A flood's lines, as wide as a terminal, and how many are written at once.
const LINE_BYTES: usize = 80;
const PORTION_LINES: usize = 50;

type Reader = Box<dyn AsyncRead + Unpin>;
type Writer = Box<dyn AsyncWrite + Unpin>;

/// Takes standard input away from its descriptor, which leads nowhere from then on: the harness's
/// pipe has one end left, and who drops that closes it.
pub(super) fn take_stdin() -> io::Result<Reader> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(nowhere()?)?;
    Ok(match kind(&stdin)? {
        FileType::Fifo => Box::new(pipe::Receiver::from_owned_fd(stdin)?),
        FileType::Socket => Box::new(socket(stdin)?),
        _ => Box::new(Blocking(File::from(stdin))),
    })
}

/// The same for standard output.
pub(super) fn take_stdout() -> io::Result<Writer> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(nowhere()?)?;
    Ok(match kind(&stdout)? {
        FileType::Fifo => Box::new(pipe::Sender::from_owned_fd(stdout)?),
        FileType::Socket => Box::new(socket(stdout)?),
        _ => Box::new(Blocking(File::from(stdout))),
    })
}

fn nowhere() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

fn kind(stream: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(stream)?.st_mode))
}

/// Some runtimes give their children sockets for pipes.
fn socket(stream: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(stream);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// A file or a terminal: there is nothing to wait for in the one, and a person at the other.
struct Blocking(File);

impl AsyncRead for Blocking {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = self.0.read(into.initialize_unfilled());
        Poll::Ready(read.map(|count| into.advance(count)))
    }
}

impl AsyncWrite for Blocking {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.0.write(bytes))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Writes so many bytes to standard error, in lines, from a thread of its own: nobody need read
/// them, and a pipe that is full must not keep the process from hearing its director. The stream
/// is the harness's own as often as not, so it is left as it is and written blockingly.
pub(super) fn flood(bytes: u64) -> oneshot::Receiver<()> {
    let (done, finished) = oneshot::channel();
    thread::spawn(move || {
        let lines = [&[b'.'; LINE_BYTES - 1][..], b"\n"].concat().repeat(PORTION_LINES);
        let mut left = bytes;
        while left > 0 {
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(lines.len());
            if io::stderr().write_all(&lines[lines.len() - count..]).is_err() {
                break;
            }
            left -= count as u64;
        }
        // The process may be at its end already.
        let _ = done.send(());
    });
    finished
}

/// Dies by a signal, leaving no core file behind. Where the signal does not kill (it is none, or
/// something handles it), the exit code says which it was.
pub(super) fn die(signal: i32) -> i32 {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // A core file is a nuisance, not a reason to live on.
    let _ = rustix::process::setrlimit(Resource::Core, none);
    if let Some(named) = Signal::from_named_raw(signal) {
        // The first of a signal that the runtime watches for stack overflows only disarms that.
        for _ in 0..2 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), named);
        }
    }
    SIGNAL_BASE + signal
}
