//! HTTP calls to the relay: several at a time, each with a time limit.

use std::collections::VecDeque;
use std::future::{self, Future};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use skep_relay::Keys;
use skep_relay::client::{Asker, post};
use skep_trace::{HttpCall, HttpReply, Text};
use tokio::time::timeout;

use super::ports::Network;
use crate::event::HarnessEvent;

/// How many calls are under way at a time; the others wait for their turn.
const AT_A_TIME: usize = 8;

/// How long one call may take.
const PATIENCE: Duration = Duration::from_secs(10);

type Outcome = Result<Arc<HttpReply>, Text>;
type UnderWay = Pin<Box<dyn Future<Output = (u32, Outcome)>>>;

/// The calls under way and those that wait.
pub(super) struct Calls<N> {
    network: Rc<N>,
    relay: Text,
    keys: &'static Keys,
    seed: u64,
    under_way: FuturesUnordered<UnderWay>,
    waiting: VecDeque<(u32, Arc<HttpCall>)>,
    made: u64,
}

impl<N: Network + 'static> Calls<N> {
    pub(super) fn new(network: Rc<N>, relay: Text, keys: &'static Keys, seed: u64) -> Self {
        let under_way = FuturesUnordered::new();
        Self { network, relay, keys, seed, under_way, waiting: VecDeque::new(), made: 0 }
    }

    pub(super) fn make(&mut self, ticket: u32, call: Arc<HttpCall>, now_ms: u64) {
        self.waiting.push_back((ticket, call));
        self.go_on(now_ms);
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    fn go_on(&mut self, now_ms: u64) {
        while self.under_way.len() < AT_A_TIME {
            let Some((ticket, call)) = self.waiting.pop_front() else { return };
            self.made += 1;
            // Two tickets of one second must differ, also between two lives of one identity.
            let nonce = format!("{:016x}-{}", self.seed, self.made);
            let (network, relay, keys) = (self.network.clone(), self.relay.clone(), self.keys);
            let now_s = now_ms / 1000;
            self.under_way.push(Box::pin(async move {
                let asked = ask(&*network, &relay, &call, Asker { keys, now_s, nonce: &nonce });
                let outcome = timeout(PATIENCE, asked).await;
                (ticket, outcome.unwrap_or_else(|_| Err("no answer in time".into())))
            }));
        }
    }

    /// The next answer. Dropping the future loses nothing.
    pub(super) async fn next(&mut self, now_ms: u64) -> HarnessEvent {
        self.go_on(now_ms);
        match self.under_way.next().await {
            Some((ticket, outcome)) => HarnessEvent::Http(ticket, outcome),
            None => future::pending().await,
        }
    }
}

async fn ask<N: Network>(network: &N, relay: &str, call: &HttpCall, asker: Asker<'_>) -> Outcome {
    let io = network.connect().await.map_err(|error| Text::from(error.to_string()))?;
    let reply = post(io, relay, call, asker).await;
    reply.map(Arc::new).map_err(|error| error.to_string().into())
}
