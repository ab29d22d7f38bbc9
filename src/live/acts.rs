//! What the director does to the live world.

use std::time::Duration;

use rustix::process::Signal;
use skep_plan::{Act, GivenFile, RelayFault};
use skep_relay::{Party, RelayEvent};
use skep_store::{StoreConfig, StoreOp};
use skep_trace::{End, Life, SharedEvent, Text, What};
use skep_world::WorldError;
use skep_world::ground::{Ground, publish};
use skep_world::stage::{DOWNTIME_MS, Stage, runs_already};

use super::Site;
use super::child::AgentState;
use super::harness::{self, Place};
use super::settle::{self, Left};
use super::shared::Shared;
use crate::profile::Ready;

/// How long it may take to come to rest after that.
const REST_TIME: Duration = Duration::from_secs(2);

/// A harness asks its relay for the five seconds before its start: after this long, counted in whole
/// seconds, nothing that was said before is delivered again.
const LOOK_BACK: Duration = Duration::from_millis(6_500);

/// How long a process that was killed may take to be gone, with its sockets.
const KILL_TIME: Duration = Duration::from_secs(5);

impl Site {
    pub(super) async fn carry_out(&mut self, act: &Act) -> Result<(), WorldError> {
        match act {
            Act::Start(names) => self.start(names).await?,
            Act::Stop(names) => self.stop(names).await?,
            Act::Kill { harnesses, group } => self.kill(harnesses, *group).await?,
            Act::Restart { harnesses, downtime_ms } => {
                self.kill(harnesses, false).await?;
                self.stay_down(downtime_ms.unwrap_or(DOWNTIME_MS)).await;
                self.start(harnesses).await?;
            }
            Act::Pause(names) => self.pause(names, true)?,
            Act::Continue(names) => self.pause(names, false)?,
            Act::Say(message) => {
                let said = self.stage.say(message, self.date_s())?;
                publish(self, said);
            }
            Act::SwitchModel { harness, channel, model } => {
                let at_s = self.date_s();
                let said = self.stage.switch_model(harness.as_ref(), channel, model, at_s)?;
                publish(self, said);
            }
            Act::Set { harness, key, value } => self.stage.set(harness, key, value)?,
            Act::SetAgent { agent, key, value } => {
                self.stage.set_agent(agent, key, value)?;
                self.shared.set_cast(agent, self.stage.agent(agent)?);
            }
            Act::Relay(fault) => self.fault(fault)?,
            Act::Membership { channel, joins } => self.membership(channel, *joins),
            Act::Disk { state, op } => {
                let told =
                    self.states.carry_out(state, op).map_err(|error| self.owner_of(error))?;
                self.shared.note(told);
            }
            Act::RunFor { ms } => tokio::time::sleep(self.shared.clock().real(*ms)).await,
            Act::Crash { harness, at, power } => {
                if *power || at.in_store() {
                    let why = "a real store cannot be stopped half-way, nor a machine unplugged; \
                               play it in the simulator";
                    return Err(WorldError::Unsupported(why.to_owned()));
                }
                let host = self.stage.one_harness(harness.as_ref())?;
                self.shared.with_lane(host, |lane| lane.armed.push(*at));
            }
            Act::Release(name) => self.shared.with_agents(|agents| {
                let meant = agents.iter_mut().filter(|agent| agent.process.agent == *name);
                meant.for_each(AgentState::release);
            }),
            Act::Together(acts) => {
                for act in acts {
                    Box::pin(self.carry_out(act)).await?;
                }
            }
        }
        Ok(())
    }

    /// A downtime passes: at once where the harness can be told the time, else really, but no longer
    /// than it can matter.
    async fn stay_down(&self, ms: u64) {
        match super::tells_time(&self.tested) {
            true => self.shared.clock().skip(ms),
            false => tokio::time::sleep(Duration::from_millis(ms).min(LOOK_BACK)).await,
        }
    }

    /// The date that people write on their messages.
    fn date_s(&self) -> u64 {
        self.shared.clock().unix_ms() / 1000
    }

    pub(super) async fn start(&mut self, names: &[Text]) -> Result<(), WorldError> {
        // One after the other: their agents are numbered in this order.
        for name in names {
            let host = self.stage.harness(name)?;
            if self.shared.runs(host) {
                let waits = self.shared.with_lane(host, |lane| lane.armed.first().copied());
                return Err(runs_already(name, waits));
            }
            self.hang_up(host).await;
            self.begin_life(host)?;
            self.become_ready(host).await;
        }
        Ok(())
    }

    /// Waits until a harness hears people, and until its agent is there, if it has one by now.
    async fn become_ready(&self, host: usize) {
        let ready = |shared: &Shared| {
            shared.with_lane(host, |lane| lane.running.as_ref().is_none_or(|it| it.ready))
        };
        let most = Duration::from_millis(self.tested.profile.waits.ready);
        if !self.shared.wait(most, ready).await {
            self.remark(host, "it is not ready, and is not waited for any longer");
        }
        if self.reports() {
            let rests = |shared: &Shared| settle::of_harness(shared, host) != Left::Work;
            // One that cannot come to rest now has reasons that the step is about.
            let _ = self.shared.wait(REST_TIME, rests).await;
        }
    }

    /// A harness that does not become ready before anything happened is to blame for it: nothing
    /// can be played with it. One that has ended is the judge's to blame.
    pub(super) fn must_be_ready(&self, name: &Text) -> Result<(), WorldError> {
        let host = self.stage.harness(name)?;
        let waits = self.shared.with_lane(host, |lane| {
            lane.running.as_ref().is_some_and(|running| !running.ready && !running.paused)
        });
        if !waits || self.tested.command.is_none() {
            return Ok(());
        }
        let awaited = match &self.tested.profile.ready {
            Ready::Presence => "to publish its presence".to_owned(),
            Ready::Subscription => "to subscribe to a channel".to_owned(),
            Ready::Log(text) => format!("to log `{text}`"),
        };
        let life = self.shared.life(host);
        let connected = self.shared.with_lane(host, |lane| {
            lane.running.as_ref().is_some_and(|running| running.talk.connections > 0)
        });
        let instead = if connected { "it connected and" } else { "it did not even connect, and" };
        let seconds = self.tested.profile.waits.ready.div_ceil(1_000);
        Err(WorldError::Harness(format!(
            "{life} did not become ready: it was {awaited}; {instead} nothing more came in \
             {seconds} s"
        )))
    }

    /// What a life that is over sent has arrived: nothing of it is taken for the next one's.
    async fn hang_up(&self, host: usize) {
        let life = self.shared.life(host);
        if !self.shared.wait(KILL_TIME, |shared| shared.hung_up(&life)).await {
            self.remark(host, "a connection of it stays open although it is gone");
        }
    }

    /// Our own harness keeps its store: where nothing is there, the scenario comes too early.
    fn owner_of(&self, error: WorldError) -> WorldError {
        match error {
            WorldError::Harness(text) if self.tested.command.is_none() => WorldError::Act(text),
            other => other,
        }
    }

    pub(super) fn remark(&self, host: usize, text: &str) {
        let actor = self.shared.life(host).to_string().into();
        self.shared.note(What::Finding { actor, text: text.into() });
    }

    fn begin_life(&mut self, host: usize) -> Result<(), WorldError> {
        let cwd = self.folder.path().join("w");
        let config = self.stage.harness_config(host, &cwd.to_string_lossy());
        let lives = self.shared.with_lane(host, |lane| lane.lives);
        if let Some(tampering) = self.tested.tampering.filter(|_| lives > 0) {
            self.states.tamper(&self.stage.players[host].state, tampering)?;
        }
        let player = &self.stage.players[host];
        let state = self.states.path(&player.state);
        let place = Place {
            command: match &self.tested.command {
                Some(command) => command.clone(),
                None => vec![self.program.clone().into(), "reference-harness".into()],
            },
            agent: self.agent(host),
            state: &state,
            cwd: &cwd,
        };
        let time = (self.shared.clock().haste(), self.shared.clock().ahead_ms());
        let mut launch = harness::launch(&self.tested.profile, &config, player.keys, place, time);
        if self.tested.command.is_none() {
            harness::tell_fault(&config, &mut launch);
        }
        match harness::start(&self.shared, host, &launch, self.tested.profile.memory_mib) {
            Err(why) if self.tested.command.is_some() => {
                Err(WorldError::Harness(format!("the harness cannot be started: {why}")))
            }
            started => started.map_err(WorldError::Ours),
        }
    }

    async fn stop(&mut self, names: &[Text]) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            let most = Duration::from_millis(self.tested.profile.waits.stop);
            self.signal(host, Signal::TERM);
            if !self.shared.wait(most, |shared| !shared.runs(host)).await {
                self.remark(host, "it ignored TERM and was killed");
                self.kill_harness(host, false).await?;
            }
        }
        Ok(())
    }

    async fn kill(&mut self, names: &[Text], group: bool) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            self.kill_harness(host, group).await?;
        }
        Ok(())
    }

    /// Kills a harness and waits until it is gone, until the relay knows it, and until its agent
    /// does.
    pub(super) async fn kill_harness(&self, host: usize, group: bool) -> Result<(), WorldError> {
        let life = self.shared.life(host);
        self.shared.with_lane(host, |lane| {
            if let Some(running) = &mut lane.running {
                running.by_us = true;
                match group {
                    true => running.group.signal_all(Signal::KILL),
                    false => running.group.signal(Signal::KILL),
                }
            }
        });
        if group {
            self.shared.kill_agents(&life);
        }
        if !self.shared.wait(KILL_TIME, |shared| !shared.runs(host)).await {
            return Err(WorldError::Ours(format!("{life} was killed and is not gone")));
        }
        self.hang_up(host).await;
        self.orphans(&life).await;
        Ok(())
    }

    /// Waits until the agents of a life that is over have noticed. One that is stuck is left.
    async fn orphans(&self, life: &Life) {
        let know = |shared: &Shared| {
            shared.with_agents(|agents| {
                let mut own = agents.iter().filter(|agent| agent.harness == *life);
                own.all(|agent| agent.ended() || (agent.left && agent.quiet))
            })
        };
        // One that does not read its input does not know; it is dealt with at the end.
        let _ = self.shared.wait(KILL_TIME, know).await;
    }

    fn pause(&mut self, names: &[Text], paused: bool) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            self.shared.note(What::HarnessPaused(self.shared.life(host), paused));
            self.shared.with_lane(host, |lane| {
                if let Some(running) = &mut lane.running {
                    running.paused = paused;
                    // What it said before is not known to hold any more.
                    running.rest = running.rest.take().filter(|_| !paused);
                }
            });
            self.signal(host, if paused { Signal::STOP } else { Signal::CONT });
        }
        Ok(())
    }

    fn signal(&self, host: usize, signal: Signal) {
        self.shared.with_lane(host, |lane| {
            if let Some(running) = &lane.running {
                running.group.signal(signal);
            }
        });
    }

    fn running(&self, name: &str) -> Result<usize, WorldError> {
        let host = self.stage.harness(name)?;
        if !self.shared.runs(host) {
            let fell = self.shared.with_lane(host, |lane| lane.fell);
            return Err(match (fell, &self.tested.command) {
                (Some(End::Exit(code)), Some(_)) => WorldError::Harness(format!(
                    "harness `{name}` does not run any more: it ended by itself, with code {code}"
                )),
                (Some(End::Signal { signal, .. }), Some(_)) => WorldError::Harness(format!(
                    "harness `{name}` does not run any more: it died of signal {signal}"
                )),
                _ => WorldError::Act(format!("harness `{name}` does not run")),
            });
        }
        Ok(host)
    }

    /// A relay's waits are as much shorter as everybody's.
    fn fault(&self, fault: &RelayFault) -> Result<(), WorldError> {
        let real =
            |ms: u64| u64::try_from(self.shared.clock().real(ms).as_millis()).unwrap_or(u64::MAX);
        let fault = match fault.clone() {
            RelayFault::Delay { ms } => RelayFault::Delay { ms: real(ms) },
            RelayFault::SlowEose { ms } => RelayFault::SlowEose { ms: real(ms) },
            RelayFault::Restart { down_ms } => RelayFault::Restart { down_ms: real(down_ms) },
            other => other,
        };
        let fault = self.stage.fault(&fault)?;
        for relay in &self.relays {
            relay.step(RelayEvent::Fault(fault.clone()));
        }
        Ok(())
    }

    fn membership(&self, channel: &Text, joins: bool) {
        for (relay, event) in self.stage.memberships(channel, joins, self.date_s()) {
            self.relays[relay].step(event);
        }
    }

    /// Tells of every directory, what the stores answer, and what is held.
    pub(super) fn snapshots(&mut self) -> Result<(), WorldError> {
        let stage = &self.stage;
        let stores = |state: &str, dir: &str| stage.stores(state, dir);
        let readable = self.tested.profile.has.contains("readable-store");
        let told = self.states.tell(self.shared.clock().unix_ms(), &stores)?;
        // What we would read in a store of another format is nothing, and would be taken for that.
        let told = told.into_iter().filter(|it| readable || !matches!(it, What::Receipts { .. }));
        told.for_each(|what| self.shared.note(what));
        for host in 0..self.shared.lanes() {
            let held = self.shared.with_lane(host, |lane| {
                let running = lane.running.as_ref()?;
                running.rest.as_ref().map(|(status, _)| (lane.life(), status.held.clone()))
            });
            if let Some((harness, messages)) = held {
                self.shared.note(What::Held { harness, messages });
            }
        }
        Ok(())
    }
}

impl Ground for Site {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn note(&mut self, what: What) {
        self.shared.note(what);
    }

    fn publish(&mut self, relay: usize, event: SharedEvent, to: Option<Party>) {
        self.shared.note(What::Published(event.clone()));
        self.relays[relay].step(RelayEvent::Publish { event, to });
    }

    fn agent_knows(&mut self, agent: &Text, session: &Text, turns: &[(&str, &str)]) {
        self.shared.disk(agent).borrow_mut().give(session, turns);
    }

    fn state_path(&mut self, state: &Text) -> Text {
        self.states.path(state).into()
    }

    fn store(&mut self, config: StoreConfig, op: StoreOp) -> Result<(), WorldError> {
        self.states.give(config, op, self.shared.clock().unix_ms())
    }

    fn put_file(&mut self, path: &str, file: &GivenFile) -> Result<What, WorldError> {
        self.states.give_file(&file.state, path, &file.bytes, file.mode)
    }
}
