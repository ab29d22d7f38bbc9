//! The relay's bytes: one suite over an in-memory pipe, over real sockets and over simulated ones.

#![expect(clippy::unwrap_used, reason = "a test's helpers are tests")]

mod ear;
mod suite;

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

use ear::Ear;
use skep_relay::server::{ServeError, serve};
use skep_relay::{Party, RelayHandle};
use suite::suite;
use tokio::io::DuplexStream;
use tokio::sync::{Mutex, mpsc};

/// Everything below happens in far less; a wait that is longer is a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes that the pipe holds: less than some frames, so that writers wait for readers.
const PIPE_BYTES: usize = 512;

/// A relay that is served on pipes.
struct Pipes {
    relay: RelayHandle<Ear>,
    dialled: mpsc::UnboundedSender<DuplexStream>,
}

impl Pipes {
    /// The pipes, and the future that serves them.
    fn new() -> (Self, impl Future<Output = Result<(), ServeError>>) {
        let (dialled, taken) = mpsc::unbounded_channel();
        let taken = Mutex::new(taken);
        let start = tokio::time::Instant::now();
        let relay = ear::relay(move || start.elapsed());
        let accept = async move || {
            let near = taken.lock().await.recv().await.expect("the test holds the other end");
            Ok((near, Party(1)))
        };
        let served = serve(relay.clone(), accept);
        (Self { relay, dialled }, served)
    }

    async fn dial(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        self.dialled.send(near).expect("the server holds the other end");
        far
    }
}

async fn within<T>(
    served: impl Future<Output = Result<(), ServeError>>,
    test: impl Future<Output = T>,
) -> T {
    tokio::select! {
        served = served => panic!("{served:?}"),
        done = tokio::time::timeout(PATIENCE, test) => done.expect("the test hangs"),
    }
}

/// What happened in the suite over a pipe.
fn over_a_pipe() -> Vec<String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (pipes, served) = Pipes::new();
        within(served, suite(&async || pipes.dial().await, &pipes.relay)).await;
        pipes.relay.with_host(Ear::take)
    })
}

#[test]
fn the_suite_holds_over_a_pipe() {
    assert_eq!(over_a_pipe(), over_a_pipe());
}

/// Only here: on one thread nobody else empties the queue while it is being filled.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_too_slowly_is_cut_off() {
    let (pipes, served) = Pipes::new();
    let dial = async || pipes.dial().await;
    within(served, suite::a_slow_reader_is_cut_off(&dial, &pipes.relay)).await;
}

/// Only here: where time is real, it takes a minute.
#[tokio::test(start_paused = true)]
async fn a_client_that_stopped_reading_is_given_up() {
    let (pipes, served) = Pipes::new();
    let dial = async || pipes.dial().await;
    let test = suite::a_reader_that_stopped_is_given_up(&dial, &pipes.relay);
    tokio::select! {
        served = served => panic!("{served:?}"),
        () = test => {}
    }
}

/// Only here: where time is real, a busy machine may let the downtime pass unseen.
#[tokio::test(start_paused = true)]
async fn nobody_is_served_while_the_relay_is_down() {
    let (pipes, served) = Pipes::new();
    let dial = async || pipes.dial().await;
    within(served, suite::a_relay_that_is_down_takes_nobody(&dial, &pipes.relay)).await;
}

/// The server on other threads, as a live world may have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_suite_holds_over_real_sockets() {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let start = tokio::time::Instant::now();
    let handle = ear::relay(move || start.elapsed());
    let accept = async move || {
        let (io, _) = listener.accept().await?;
        Ok((io, Party(1)))
    };
    let server = tokio::spawn(serve(handle.clone(), accept));
    let dial = async || tokio::net::TcpStream::connect(address).await.unwrap();
    tokio::time::timeout(PATIENCE, suite(&dial, &handle)).await.expect("the suite hangs");
    server.abort();
    let told = handle.with_host(Ear::take);
    let piped = std::thread::spawn(over_a_pipe).join().unwrap();
    same_story(told, piped);
}

#[test]
fn the_suite_holds_over_simulated_sockets_and_tells_the_same_story_twice() {
    let told = over_simulated_sockets(7);
    assert_eq!(told, over_simulated_sockets(7));
    same_story(told, over_a_pipe());
}

/// The story of each connection for itself: on some streams a new one overtakes the end of the
/// one before.
fn same_story(mut told: Vec<String>, mut other: Vec<String>) {
    for story in [&mut told, &mut other] {
        story.sort_by_key(|line| line.split(' ').next().map(str::to_owned));
    }
    let first_difference = told.iter().zip(&other).position(|(one, other)| one != other);
    let place = first_difference.unwrap_or(told.len().min(other.len()));
    assert_eq!(told.get(place), other.get(place), "line {place} of {}/{}", told.len(), other.len());
}

fn over_simulated_sockets(seed: u64) -> Vec<String> {
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .epoch(std::time::UNIX_EPOCH)
        .simulation_duration(PATIENCE)
        .build();
    let handle = ear::relay(|| turmoil::sim_elapsed().unwrap_or_default());
    let served = handle.clone();
    sim.host("relay", move || {
        let handle = served.clone();
        async move {
            let any: SocketAddr = (IpAddr::from(Ipv4Addr::UNSPECIFIED), 80).into();
            let listener = turmoil::net::TcpListener::bind(any).await?;
            let accept = async || {
                let (io, _) = listener.accept().await?;
                Ok((io, Party(1)))
            };
            Ok(serve(handle, accept).await?)
        }
    });
    let told = Rc::new(RefCell::new(Vec::new()));
    let tell = told.clone();
    sim.client("harness", async move {
        let dial = async || turmoil::net::TcpStream::connect("relay:80").await.unwrap();
        suite(&dial, &handle).await;
        tell.replace(handle.with_host(Ear::take));
        Ok(())
    });
    sim.run().unwrap();
    told.take()
}
