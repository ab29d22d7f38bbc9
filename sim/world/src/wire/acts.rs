//! What the director does to the wire gear.

use std::sync::Arc;

use skep_harness::shell::StatusHandle;
use skep_plan::{Act, GivenFile, Point};
use skep_relay::{Party, RelayEvent};
use skep_store::{StoreConfig, StoreOp};
use skep_trace::{End, SharedEvent, Text, What};
use tokio::sync::Notify;

use super::hosts::{harness_host, relay_host};
use super::shared::{Launch, RunningLife};
use super::{QUIET_TICKS, WireWorld};
use crate::ground::{Ground, publish};
use crate::stage::{DOWNTIME_MS, Stage, runs_already};
use crate::world::WorldError;

const SIGKILL: i32 = 9;

/// The working directory of every harness.
const CWD: &str = "/w";

impl WireWorld {
    pub(super) fn carry_out(&mut self, act: &Act) -> Result<(), WorldError> {
        match act {
            Act::Start(names) => self.start(names)?,
            Act::Stop(names) => self.stop(names)?,
            Act::Kill { harnesses, .. } => self.kill(harnesses)?,
            Act::Restart { harnesses, downtime_ms } => {
                self.kill(harnesses)?;
                self.run_until(self.now_ms() + downtime_ms.unwrap_or(DOWNTIME_MS))?;
                self.start(harnesses)?;
            }
            Act::Pause(_) | Act::Continue(_) => {
                let why = "a simulated host cannot be suspended; play it in the event gear or live";
                return Err(WorldError::Unsupported(why.to_owned()));
            }
            Act::Say(message) => {
                let said = self.stage.say(message, self.unix_ms() / 1000)?;
                publish(self, said);
            }
            Act::SwitchModel { harness, channel, model } => {
                let at_s = self.unix_ms() / 1000;
                let said = self.stage.switch_model(harness.as_ref(), channel, model, at_s)?;
                publish(self, said);
            }
            Act::Set { harness, key, value } => self.stage.set(harness, key, value)?,
            Act::SetAgent { agent, key, value } => self.stage.set_agent(agent, key, value)?,
            Act::Relay(fault) => {
                let fault = self.stage.fault(fault)?;
                for relay in &self.relays {
                    relay.step(RelayEvent::Fault(fault.clone()));
                }
            }
            Act::Membership { channel, joins } => self.membership(channel, *joins),
            Act::Disk { state, op } => {
                let told = self.states.carry_out(state, op)?;
                self.shared.note(told);
            }
            Act::RunFor { ms } => self.run_until(self.now_ms() + ms)?,
            Act::Crash { harness, at, power } => {
                let host = self.stage.one_harness(harness.as_ref())?;
                if *at == Point::Stored {
                    let why = "this gear has no instant between a store's answer and its harness; \
                               play it in the event gear";
                    return Err(WorldError::Unsupported(why.to_owned()));
                }
                self.shared.arm(host, *at, *power);
                self.set_traps();
            }
            Act::Release(agent) => self.shared.release(agent),
            Act::Together(acts) => {
                for act in acts {
                    self.carry_out(act)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn start(&mut self, names: &[Text]) -> Result<(), WorldError> {
        let mut hosts = Vec::new();
        for name in names {
            let host = self.stage.harness(name)?;
            if self.lanes[host].running.is_some() {
                return Err(runs_already(name, self.shared.armed(host)));
            }
            self.begin_life(host)?;
            hosts.push(host);
        }
        self.wait_for(|world| {
            hosts.iter().all(|host| {
                let running = world.lanes[*host].running.as_ref();
                running.is_none_or(|it| it.status.get().ready)
            })
        })
    }

    fn begin_life(&mut self, host: usize) -> Result<(), WorldError> {
        let player = &self.stage.players[host];
        let (keys, agent) = (player.keys, self.stage.agent(&player.agent)?);
        let relay = relay_host(&self.stage.cast.relays[player.relay].name);
        let dir = self.states.path(&self.stage.players[host].state);
        let volume = self.states.disk.process();
        let (status, terminate) = (StatusHandle::default(), Arc::new(Notify::new()));
        let launch = Launch {
            config: self.stage.harness_config(host, CWD),
            agent,
            volume: volume.clone(),
            store: self.stage.store_config(host, &dir, self.stage.mutants),
            keys,
            relay,
            epoch_ms: self.unix_ms(),
            terminate: terminate.clone(),
            status: status.clone(),
        };
        self.shared.begin_life(host, launch);
        self.shared.note(What::HarnessStarted(self.shared.life(host)));
        self.lanes[host].running =
            Some(RunningLife { status, terminate, volume, told_ready: false });
        self.set_traps();
        self.host_harness(host);
        Ok(())
    }

    fn stop(&mut self, names: &[Text]) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            if let Some(running) = &self.lanes[host].running {
                running.terminate.notify_one();
            }
            self.wait_for(|world| world.lanes[host].running.is_none())?;
        }
        Ok(())
    }

    fn kill(&mut self, names: &[Text]) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            self.kill_harness(host, false);
        }
        // The end of a connection is under way to the relay. A next life that starts before it
        // arrives would have its packets taken for those of the old one, whose port it inherits.
        (0..QUIET_TICKS).try_for_each(|_| self.tick())
    }

    fn running(&self, name: &str) -> Result<usize, WorldError> {
        let host = self.stage.harness(name)?;
        if self.lanes[host].running.is_none() {
            return Err(WorldError::Act(format!("harness `{name}` does not run")));
        }
        Ok(host)
    }

    /// Ends a life as a kill does: fenced at the volume first, so that nothing which its
    /// destructors do counts.
    fn kill_harness(&mut self, host: usize, power: bool) {
        let Some(running) = self.lanes[host].running.take() else { return };
        self.states.disk.kill(running.volume.pid());
        let end = End::Signal { signal: SIGKILL, by_us: true };
        self.shared.note(What::HarnessEnded(self.shared.life(host), end));
        self.sim.crash(harness_host(&self.lanes[host].name));
        self.bury_agents(host);
        if power {
            self.states.power_loss();
        }
    }

    /// The agents of a life that is over die with the host that they ran on.
    fn bury_agents(&self, host: usize) {
        for agent in self.shared.take_agents(host) {
            let end = End::Signal { signal: SIGKILL, by_us: true };
            self.shared.note(What::AgentEnded { agent, end });
        }
    }

    /// Sees which lives became ready, ended by themselves, or came to a point where they are to
    /// be killed.
    pub(super) fn reap(&mut self) {
        for host in 0..self.lanes.len() {
            let Some(running) = &mut self.lanes[host].running else { continue };
            let (ready, exit) = (running.status.get().ready, running.status.get().exit);
            let trapped = self.states.disk.trapped(running.volume.pid());
            if ready && !running.told_ready {
                running.told_ready = true;
                self.shared.note(What::HarnessReady(self.shared.life(host)));
            }
            if trapped && let Some(at) = self.shared.armed_in_store(host) {
                self.shared.reached(host, at);
            }
            if let Some(power) = self.shared.take_doomed(host) {
                self.kill_harness(host, power);
            } else if let Some(code) = exit {
                self.lanes[host].running = None;
                self.shared.note(What::HarnessEnded(self.shared.life(host), End::Exit(code)));
                self.bury_agents(host);
            }
        }
    }

    /// Holds each harness's store at the point at which it is to be killed.
    fn set_traps(&self) {
        for (host, lane) in self.lanes.iter().enumerate() {
            if let Some(running) = &lane.running {
                let point = self.shared.armed_in_store(host);
                self.states.disk.trap(running.volume.pid(), point);
            }
        }
    }

    fn membership(&self, channel: &Text, joins: bool) {
        for (relay, event) in self.stage.memberships(channel, joins, self.unix_ms() / 1000) {
            self.relays[relay].step(event);
        }
    }

    /// Tells of every directory, what the stores answer, and what is held.
    pub(super) fn snapshots(&mut self) {
        let stage = &self.stage;
        let stores = |state: &str, dir: &str| stage.stores(state, dir);
        let unix_ms = self.unix_ms();
        for what in self.states.tell(unix_ms, &stores) {
            self.shared.note(what);
        }
        for (host, lane) in self.lanes.iter().enumerate() {
            if let Some(running) = &lane.running {
                let (harness, messages) =
                    (self.shared.life(host), running.status.get().held.clone());
                self.shared.note(What::Held { harness, messages });
            }
        }
    }
}

impl Ground for WireWorld {
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
        self.states.path(state)
    }

    fn store(&mut self, config: StoreConfig, op: StoreOp) -> Result<(), WorldError> {
        self.states.give(config, op, self.unix_ms())
    }

    fn put_file(&mut self, path: &str, file: &GivenFile) -> Result<What, WorldError> {
        self.states.give_file(&file.state, path, &file.bytes, file.mode)
    }
}
