//! The wire gear: relay and harnesses as turmoil hosts that exchange real WebSocket and HTTP
//! bytes; agents as children of their harness, on pipes of real NDJSON bytes. Virtual time.
//!
//! Time goes in ticks of [`TICK`], so everything that is not a timer of some program happens on a
//! tick. What one program does within a tick is told with the tick's instant.
//! - `acts`: what the director does.
//! - `hosts`: the relays and harnesses as turmoil hosts.
//! - `child`: agents as children of their harness.
//! - `shared`: what the hosts tell, and what they are told.

mod acts;
mod child;
mod hosts;
mod shared;

use std::time::{Duration, UNIX_EPOCH};

use skep_plan::Act;
use skep_relay::{Relay, RelayHandle};
use skep_trace::{Record, Settled, Trace, What};

use self::hosts::WireHost;
use self::shared::{Lane, Shared};
use crate::ground::give;
use crate::mint::EPOCH_S;
use crate::stage::Stage;
use crate::states::States;
use crate::world::{Outlook, Setup, World, WorldError};

/// The simulation's step. A tick costs the same whatever its length, so ten idle minutes want a
/// long one; ten milliseconds keep a round trip far below the shortest time-out of any harness.
pub const TICK: Duration = Duration::from_millis(10);

/// How many ticks without any sign of life make a step settled: a frame that is under way arrives
/// with the next tick, and its receiver acts on it within that one.
const QUIET_TICKS: u32 = 3;

/// The longest that one step may take.
const STEP_BOUND_MS: u64 = 3_600_000;

/// How long a harness may take to become ready, or to stop, before the scenario goes on.
const PATIENCE_MS: u64 = 120_000;

/// Channels and profiles are a day older than the run.
const BORN_S: u64 = EPOCH_S - 86_400;

/// A simulated world of hosts and bytes.
pub struct WireWorld {
    sim: turmoil::Sim<'static>,
    stage: Stage,
    states: States,
    shared: Shared,
    relays: Vec<RelayHandle<WireHost>>,
    lanes: Vec<Lane>,
    /// Downtime that was not ticked through, because nobody was there to notice.
    skipped_ms: u64,
}

impl WireWorld {
    /// A world in which nothing has happened.
    ///
    /// # Errors
    /// When the cast contradicts itself.
    pub fn new(setup: Setup<'_>) -> Result<Self, WorldError> {
        let urls = setup.cast.relays.iter().map(|relay| format!("ws://{}.test", relay.name).into());
        let stage = Stage::new(&setup, urls.collect())?;
        let agents = setup.cast.agents.iter().map(|agent| agent.name.clone());
        let shared = Shared::new(setup.header, setup.seed, agents, &stage.players);
        let sim = turmoil::Builder::new()
            .rng_seed(setup.seed)
            .epoch(UNIX_EPOCH + Duration::from_secs(EPOCH_S))
            .tick_duration(TICK)
            .min_message_latency(Duration::from_millis(1))
            .max_message_latency(Duration::from_millis(1))
            .simulation_duration(Duration::from_secs(u64::MAX / 1_000_000_000))
            .tcp_capacity(4_096)
            .build();
        let relay = |place| {
            let host = WireHost::new(shared.clone());
            RelayHandle::new(Relay::new(stage.relay_config(place, BORN_S)), host)
        };
        let relays = (0..setup.cast.relays.len()).map(relay).collect();
        let lanes = stage.players.iter().map(|player| Lane::new(&player.name)).collect();
        Ok(Self { sim, states: States::new(), shared, relays, lanes, stage, skipped_ms: 0 })
    }

    fn now_ms(&self) -> u64 {
        self.shared.now_ms()
    }

    fn unix_ms(&self) -> u64 {
        EPOCH_S * 1000 + self.now_ms()
    }

    /// One tick, and the kills that fell due in it.
    fn tick(&mut self) -> Result<(), WorldError> {
        self.sim.step().map_err(|error| WorldError::Ours(error.to_string()))?;
        let elapsed = u64::try_from(self.sim.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.shared.set_now(elapsed + self.skipped_ms);
        self.reap();
        Ok(())
    }

    fn run_until(&mut self, until_ms: u64) -> Result<(), WorldError> {
        if self.lanes.iter().all(|lane| lane.running.is_none()) {
            self.skipped_ms += until_ms.saturating_sub(self.now_ms());
            self.shared.set_now(until_ms.max(self.now_ms()));
            return Ok(());
        }
        while self.now_ms() < until_ms && !self.shared.full() {
            self.tick()?;
        }
        Ok(())
    }

    /// How many steps the harnesses that run have taken. What one does leaves no record before it
    /// arrives.
    fn steps(&self) -> u64 {
        self.lanes.iter().map(Lane::steps).sum()
    }

    /// Somebody waits for a timer that may change what can be seen.
    fn waits(&self) -> bool {
        self.lanes.iter().any(Lane::has_timers)
            || self.shared.agents_wait()
            || self.relays.iter().any(|relay| relay.timers() > 0)
    }

    /// Goes on until something is so, or patience ends.
    fn wait_for(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), WorldError> {
        let until_ms = self.now_ms() + PATIENCE_MS;
        while !done(self) && self.now_ms() < until_ms {
            self.tick()?;
        }
        Ok(())
    }
}

impl World for WireWorld {
    fn open(&mut self) -> Result<(), WorldError> {
        for what in self.stage.names() {
            self.shared.note(what);
        }
        for place in 0..self.relays.len() {
            self.serve_relay(place);
        }
        give(self)?;
        self.start(&self.stage.started())
    }

    fn begin(&mut self, step: usize, title: &str) {
        self.shared.note(What::Step { index: step, title: title.into() });
    }

    fn act(&mut self, index: usize, text: &str, act: &Act) -> Result<(), WorldError> {
        self.shared.note(What::Act { index, text: text.into() });
        self.carry_out(act)
    }

    fn settle(
        &mut self,
        step: usize,
        outlook: &mut dyn FnMut(&[Record]) -> Outlook,
    ) -> Result<Settled, WorldError> {
        let bound_ms = self.now_ms() + STEP_BOUND_MS;
        let mut how = Settled::Drained;
        let (mut quiet, mut last) = (0, (0, 0));
        let met = &mut |records: &[Record]| outlook(records) == Outlook::Met;
        let mut all_met = self.shared.with_records(&mut *met);
        loop {
            self.tick()?;
            let pulse = (self.shared.len(), self.steps());
            if pulse.0 != last.0 {
                all_met = self.shared.with_records(&mut *met);
            }
            if pulse != last {
                (last, quiet) = (pulse, 0);
            } else if !self.lanes.iter().any(Lane::is_working) {
                quiet += 1;
            }
            if quiet >= QUIET_TICKS && (all_met || !self.waits()) {
                break;
            }
            if self.now_ms() > bound_ms || self.shared.full() {
                how = Settled::Bound("the step's expectations".into());
                break;
            }
        }
        self.snapshots();
        self.shared.note(What::Settled { step, how: how.clone() });
        Ok(how)
    }

    fn close(self: Box<Self>) -> Trace {
        let Self { sim, shared, lanes, relays, .. } = *self;
        // The hosts go first: they hold what the trace is taken from.
        drop((sim, lanes, relays));
        shared.into_trace()
    }
}
