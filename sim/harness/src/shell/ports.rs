//! What a harness stands on: each a seam between the simulated world and the real one.

use std::future::Future;
use std::io;
use std::sync::Arc;

use skep_relay::Keys;
use skep_store::StoreConfig;
use skep_trace::{Frame, Note, Text};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use super::status::{Status, StatusHandle};

/// Everything that one harness stands on.
#[derive(Debug)]
pub struct Ports<N, V, A, W> {
    /// The way to the relay.
    pub network: N,
    /// The disk that the store is on.
    pub volume: V,
    /// Where the store is on it, and whose it is.
    pub store: StoreConfig,
    /// Where agents come from.
    pub agents: A,
    /// Who watches.
    pub watch: W,
    /// Unix time in milliseconds at which the harness starts; tokio's clock counts from there.
    pub epoch_ms: u64,
    /// The keys of the agent identity.
    pub keys: &'static Keys,
    /// Tells two runs of one identity apart where a number must be unique.
    pub seed: u64,
    /// Notified when the process is asked to terminate.
    pub terminate: Arc<Notify>,
    /// What others may know of it.
    pub status: StatusHandle,
}

/// The way to the relay.
pub trait Network {
    /// A stream to it.
    type Io: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Opens a stream to the relay's one port.
    ///
    /// # Errors
    /// When nobody answers there.
    fn connect(&self) -> impl Future<Output = io::Result<Self::Io>>;
}

/// Where agents come from.
pub trait Agents {
    /// The agent's standard input.
    type Stdin: AsyncWrite + Unpin;
    /// The agent's standard output.
    type Stdout: AsyncRead + Unpin;
    /// What it is held by.
    type Process: Process;

    /// Starts one.
    ///
    /// # Errors
    /// When it cannot be started.
    fn start(&mut self) -> io::Result<Started<Self::Stdin, Self::Stdout, Self::Process>>;
}

/// A started agent.
#[derive(Debug)]
pub struct Started<I, O, P> {
    /// Its standard input.
    pub stdin: I,
    /// Its standard output.
    pub stdout: O,
    /// What it is held by.
    pub process: P,
}

/// What a started agent is held by.
pub trait Process {
    /// Kills it and all that it started. Killing what is dead is no error.
    fn kill(&mut self);

    /// Waits until it has exited by itself. Dropping the future loses nothing.
    fn exited(&mut self) -> impl Future<Output = ()>;

    /// Its number, where it is a process of the operating system.
    fn id(&self) -> Option<u32> {
        None
    }
}

/// Who watches a harness. Each call comes before what it tells of takes effect.
pub trait Watch {
    /// The harness says something about itself.
    fn note(&mut self, note: &Note) {
        let _ = note;
    }

    /// The harness writes a log line.
    fn log(&mut self, line: &Text) {
        let _ = line;
    }

    /// The harness writes to its agent.
    fn to_agent(&mut self, frame: &Frame) {
        let _ = frame;
    }

    /// The harness is ready for messages.
    fn ready(&mut self) {}

    /// Nothing of the harness's own is under way: what it does next is set off by a timer, or by
    /// what others send.
    fn rest(&mut self, status: &Status) {
        let _ = status;
    }
}

/// Nobody watches.
impl Watch for () {}
