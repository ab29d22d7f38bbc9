//! The relay connection: opened, talked over, kept alive, closed.

use std::future::{self, Future};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use skep_relay::client::{ClientError, Socket};
use skep_relay::signature::authentic;
use skep_trace::{ClientMsg, NostrEvent, RelayMsg, Sig, Text};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at, timeout};

use super::ports::Network;
use crate::event::HarnessEvent;

/// How long the stream and the upgrade may take.
const OPENING: Duration = Duration::from_secs(30);

/// How long the relay may take to take a message, or the end of the connection.
const SENDING: Duration = Duration::from_secs(10);

/// How often the relay is asked whether it is still there. One that has not said a word until it
/// is to be asked again is not.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How many messages wait in either direction; a relay that does not take so many is not there.
const WAITING: usize = 1_024;

/// The kind of event whose signature the core asks for.
const KIND_CONTROL: u16 = 24200;

/// Why a connection is over.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("{0}")]
    Stream(#[from] std::io::Error),
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("it took too long")]
    Late,
    #[error("it was closed")]
    Closed,
    #[error("the relay does not answer")]
    Silent,
}

/// One connection. What comes on it after it was given up is never read.
pub(super) struct Wire {
    talk: Option<Pin<Box<dyn Future<Output = Lost>>>>,
    said: mpsc::Sender<Arc<ClientMsg>>,
    heard: mpsc::Receiver<HarnessEvent>,
    open: bool,
    over: bool,
}

impl Wire {
    /// Opens a connection; `nth` tells it from the others of this process.
    pub(super) fn open<N: Network + 'static>(network: Rc<N>, relay: Text, nth: u64) -> Self {
        let (said, to_say) = mpsc::channel(WAITING);
        let (hear, heard) = mpsc::channel(WAITING);
        let talk = async move {
            let talked = talk(&*network, &relay, nth, to_say, hear).await;
            talked.err().unwrap_or(Lost::Closed)
        };
        Self { talk: Some(Box::pin(talk)), said, heard, open: false, over: false }
    }

    /// Says something. Where too much waits already, the connection is over.
    pub(super) fn say(&mut self, message: Arc<ClientMsg>) {
        if self.said.try_send(message).is_err() {
            self.talk = None;
        }
    }

    /// It is being opened.
    pub(super) fn is_opening(&self) -> bool {
        !self.open && !self.over
    }

    /// The next thing that happens on it; its end is told once. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> HarnessEvent {
        if self.over {
            return future::pending().await;
        }
        let lost = tokio::select! {
            biased;
            Some(event) = self.heard.recv() => {
                self.open |= matches!(event, HarnessEvent::Connected);
                return event;
            }
            lost = poll(&mut self.talk) => lost,
        };
        self.talk = None;
        // What was heard before the end was polled for comes before it.
        if let Ok(event) = self.heard.try_recv() {
            self.open |= matches!(event, HarnessEvent::Connected);
            return event;
        }
        self.over = true;
        if self.open {
            HarnessEvent::Disconnected
        } else {
            HarnessEvent::ConnectFailed(lost.to_string().into())
        }
    }

    /// Ends the connection in good order: everything said is written, then it is closed.
    pub(super) async fn close(self) {
        let Self { talk, said, mut heard, .. } = self;
        drop(said);
        let Some(mut talk) = talk else { return };
        let talked = async {
            loop {
                tokio::select! {
                    _ = &mut talk => return,
                    // What is still heard is nobody's any more; it must not stop the writing.
                    Some(_) = heard.recv() => {}
                }
            }
        };
        // Late or not, the connection is over.
        let _ = timeout(SENDING, talked).await;
    }
}

async fn poll(talk: &mut Option<Pin<Box<dyn Future<Output = Lost>>>>) -> Lost {
    match talk {
        Some(talk) => talk.await,
        None => Lost::Closed,
    }
}

async fn talk<N: Network>(
    network: &N,
    relay: &str,
    nth: u64,
    mut to_say: mpsc::Receiver<Arc<ClientMsg>>,
    hear: mpsc::Sender<HarnessEvent>,
) -> Result<(), Lost> {
    let opening = async {
        let io = network.connect().await?;
        let mut key = [0; 16];
        key[..8].copy_from_slice(&nth.to_le_bytes());
        Ok::<_, Lost>(Socket::connect(io, relay, key).await?)
    };
    let mut socket = timeout(OPENING, opening).await.map_err(|_| Lost::Late)??;
    let _ = hear.send(HarnessEvent::Connected).await;
    let mut keepalive = interval_at(Instant::now() + KEEPALIVE, KEEPALIVE);
    let mut heard_before = None;
    loop {
        tokio::select! {
            biased;
            message = to_say.recv() => match message {
                Some(message) => in_time(socket.send(&message)).await?,
                None => return in_time(socket.close()).await,
            },
            message = socket.next() => {
                let message = trusted(message?.ok_or(Lost::Closed)?);
                let _ = hear.send(HarnessEvent::Relay(message.into())).await;
            }
            _ = keepalive.tick() => {
                if heard_before.replace(socket.heard()) == Some(socket.heard()) {
                    return Err(Lost::Silent);
                }
                in_time(socket.ping()).await?;
            }
        }
    }
}

async fn in_time(said: impl Future<Output = Result<(), ClientError>>) -> Result<(), Lost> {
    Ok(timeout(SENDING, said).await.map_err(|_| Lost::Late)??)
}

/// The core believes a signature that is a state. One of bytes becomes one where it holds; it is
/// looked at only on the kind of event that commands something.
fn trusted(message: RelayMsg) -> RelayMsg {
    match message {
        RelayMsg::Event { sub, event } if commands(&event) && authentic(&event) => {
            let mut event = Arc::unwrap_or_clone(event);
            event.sig = Sig::Valid;
            RelayMsg::Event { sub, event: Arc::new(event) }
        }
        other => other,
    }
}

fn commands(event: &NostrEvent) -> bool {
    event.kind == KIND_CONTROL
}
