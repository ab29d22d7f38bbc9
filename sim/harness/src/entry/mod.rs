//! The reference harness as a process: settings from the environment, the real disk, loopback
//! TCP, child processes, signals.
//!
//! - [`main`]: start here.
//! - [`environment`]: what the variables mean.
//! - `child`: agents as child processes.
//! - `journal`: lines on standard output.

mod child;
pub mod environment;
mod journal;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use skep_store::{RealVolume, StoreConfig};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use self::child::Children;
use self::environment::Environment;
use self::journal::Journal;
use crate::shell::{Network, Ports, StatusHandle, run};

/// The environment does not say what is needed: the same code that public builds use.
const BAD_ENVIRONMENT: i32 = 2;

/// Runs the reference harness until it ends, and says with which exit code.
///
/// `env` is the whole environment; the agent inherits it. `cwd` is the absolute directory that
/// sessions work in. It must be run on a runtime with time, sockets and signals.
pub async fn main(env: &BTreeMap<String, String>, cwd: &str) -> i32 {
    match Environment::read(env, cwd) {
        Ok(environment) => serve(environment, env).await,
        Err(error) => {
            journal::complain(&error);
            BAD_ENVIRONMENT
        }
    }
}

async fn serve(environment: Environment, env: &BTreeMap<String, String>) -> i32 {
    let epoch_ms = unix_ms().saturating_add_signed(environment.ahead_ms);
    let config = environment.config;
    let terminate = Arc::new(Notify::new());
    let store = StoreConfig::new(&environment.state_dir, &config.relay_url, config.pubkey);
    let ports = Ports {
        network: Loopback { address: environment.address },
        volume: RealVolume::new(epoch_ms),
        store: store.with_mutants(config.mutants),
        agents: Children::new(environment.agent, env.clone(), &config.cwd),
        watch: Journal::new(environment.tells_rest),
        epoch_ms,
        keys: environment.keys,
        seed: epoch_ms,
        terminate: terminate.clone(),
        status: StatusHandle::default(),
    };
    tokio::select! {
        biased;
        code = run(config, ports) => code,
        // Never done: it only passes the signals on.
        code = pass_signals_on(&terminate) => code,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the process reads the date once, at its start; from there tokio's clock counts"
)]
fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

async fn pass_signals_on(terminate: &Notify) -> i32 {
    let listen = |kind| signal(kind).ok();
    let (mut term, mut int) = (listen(SignalKind::terminate()), listen(SignalKind::interrupt()));
    loop {
        tokio::select! {
            () = received(&mut term) => terminate.notify_one(),
            () = received(&mut int) => terminate.notify_one(),
        }
    }
}

/// Waits for a signal; one that cannot be listened for never comes.
async fn received(signals: &mut Option<tokio::signal::unix::Signal>) {
    if let Some(signals) = signals
        && signals.recv().await.is_some()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// TCP to the relay's host and port.
#[derive(Debug)]
struct Loopback {
    address: String,
}

impl Network for Loopback {
    type Io = TcpStream;

    async fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
