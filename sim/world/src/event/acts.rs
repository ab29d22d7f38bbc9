//! What the director does to the event gear.

use skep_mutant::Mutants;
use skep_plan::{Act, Given, GivenReceipt};
use skep_relay::RelayEvent;
use skep_trace::{End, Text, What};

use super::agent_side::SIGKILL;
use super::crash::Armed;
use super::{Due, EventWorld};
use crate::mint::EPOCH_S;
use crate::stage::{DOWNTIME_MS, Said, runs_already};
use crate::world::WorldError;

/// How long a harness may take to become ready, or to stop, before the scenario goes on.
const PATIENCE_MS: u64 = 120_000;

impl EventWorld {
    pub(super) fn carry_out(&mut self, act: &Act) -> Result<(), WorldError> {
        match act {
            Act::Start(names) => self.start(names)?,
            Act::Stop(names) => self.stop(names)?,
            Act::Kill { harnesses, group } => self.kill(harnesses, *group)?,
            Act::Restart { harnesses, downtime_ms } => {
                self.kill(harnesses, false)?;
                self.run_until(self.now_ms() + downtime_ms.unwrap_or(DOWNTIME_MS));
                self.start(harnesses)?;
            }
            Act::Pause(names) => self.pause(names, true)?,
            Act::Continue(names) => self.pause(names, false)?,
            Act::Say(message) => {
                let said = self.stage.say(message, self.unix_ms() / 1000)?;
                self.publish(said);
            }
            Act::SwitchModel { harness, channel, model } => {
                let at_s = self.unix_ms() / 1000;
                let said = self.stage.switch_model(harness.as_ref(), channel, model, at_s)?;
                self.publish(said);
            }
            Act::Set { harness, key, value } => self.stage.set(harness, key, value)?,
            Act::SetAgent { agent, key, value } => self.stage.set_agent(agent, key, value)?,
            Act::Relay(fault) => {
                let fault = self.stage.fault(fault)?;
                for relay in 0..self.relays.len() {
                    self.send(Due::Relay { relay, event: RelayEvent::Fault(fault.clone()) });
                }
            }
            Act::Membership { channel, joins } => self.membership(channel, *joins),
            Act::Disk { state, op } => {
                let told = self.states.carry_out(state, op)?;
                self.recorder.note(told);
            }
            Act::RunFor { ms } => self.run_until(self.now_ms() + ms),
            Act::Crash { harness, at, power } => {
                let host = self.stage.one_harness(harness.as_ref())?;
                self.armed.push(Armed { host, at: *at, power: *power });
            }
            Act::Release(agent) => self.release(agent),
            Act::Together(acts) => {
                for act in acts {
                    self.carry_out(act)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn start(&mut self, names: &[Text]) -> Result<(), WorldError> {
        for name in names {
            let host = self.stage.harness(name)?;
            if self.harnesses[host].core.is_some() {
                let waits = self.armed.iter().find(|armed| armed.host == host);
                return Err(runs_already(name, waits.map(|armed| armed.at)));
            }
            self.begin_life(host);
        }
        for name in names {
            let host = self.stage.harness(name)?;
            self.wait_for(|world| {
                let it = &world.harnesses[host];
                it.ready || it.core.is_none()
            });
        }
        Ok(())
    }

    fn stop(&mut self, names: &[Text]) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            let (life, event) = (self.harnesses[host].life, skep_harness::HarnessEvent::Terminate);
            self.send(Due::Harness { host, life, via: super::Via::Own, event });
            self.wait_for(|world| world.harnesses[host].core.is_none());
        }
        Ok(())
    }

    fn kill(&mut self, names: &[Text], group: bool) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            self.end_harness(host, End::Signal { signal: SIGKILL, by_us: true }, group);
        }
        Ok(())
    }

    fn pause(&mut self, names: &[Text], paused: bool) -> Result<(), WorldError> {
        for name in names {
            let host = self.running(name)?;
            let life = self.harnesses[host].life();
            self.recorder.note(What::HarnessPaused(life, paused));
            if paused {
                self.harnesses[host].paused = true;
            } else {
                self.resume_harness(host);
            }
        }
        Ok(())
    }

    fn running(&self, name: &str) -> Result<usize, WorldError> {
        let host = self.stage.harness(name)?;
        if self.harnesses[host].core.is_none() {
            return Err(WorldError::Act(format!("harness `{name}` does not run")));
        }
        Ok(host)
    }

    /// Goes on until something is so, nothing is left to do, or patience ends.
    fn wait_for(&mut self, done: impl Fn(&Self) -> bool) {
        let until_ms = self.now_ms() + PATIENCE_MS;
        while !done(self) && self.busy() && self.queue.next_due().is_some_and(|due| due <= until_ms)
        {
            self.advance();
        }
    }

    fn publish(&mut self, said: Said) {
        said.named.into_iter().for_each(|what| self.recorder.note(what));
        let relay = said.relay;
        for event in said.roots {
            self.send(Due::Relay { relay, event: RelayEvent::Publish { event, to: None } });
        }
        let event = RelayEvent::Publish { event: said.event, to: said.to };
        self.send(Due::Relay { relay, event });
    }

    fn membership(&mut self, channel: &Text, joins: bool) {
        for (relay, event) in self.stage.memberships(channel, joins, self.unix_ms() / 1000) {
            self.send(Due::Relay { relay, event });
        }
    }

    /// What the scenario says is there before the first start.
    pub(super) fn give(&mut self) -> Result<(), WorldError> {
        for given in self.stage.cast.given.clone() {
            match given {
                Given::Receipt(receipt) => self.give_receipt(&receipt)?,
                Given::File(file) => {
                    let path = file.path.unwrap_or_else(|| self.stage.store_file(&file.state));
                    self.states.give_file(&file.state, &path, &file.bytes, file.mode)?;
                }
            }
        }
        Ok(())
    }

    /// A receipt that an earlier life left: written by the store itself, without any fault.
    fn give_receipt(&mut self, receipt: &GivenReceipt) -> Result<(), WorldError> {
        let given = self.stage.given(receipt)?;
        given.names.into_iter().for_each(|what| self.recorder.note(what));
        if receipt.known {
            let disk = self.disks.get_mut(&given.agent);
            let disk = disk.expect("every agent of the cast has a disk");
            disk.give(&given.session, &[("earlier question", "earlier answer")]);
        }
        for event in given.roots {
            let event = RelayEvent::Publish { event, to: None };
            self.send(Due::Relay { relay: given.relay, event });
        }
        let dir = self.states.path(&self.stage.players[given.host].state);
        let config = self.stage.store_config(given.host, &dir, Mutants::NONE);
        self.states.give(config, given.op, self.unix_ms())
    }

    /// Tells of every directory, what the stores answer, and what is held.
    pub(super) fn snapshots(&mut self) {
        let stage = &self.stage;
        let stores = |state: &str, dir: &str| stage.stores(state, dir);
        for what in self.states.tell(EPOCH_S * 1000 + self.recorder.now_ms(), &stores) {
            self.recorder.note(what);
        }
        for host in 0..self.harnesses.len() {
            let it = &self.harnesses[host];
            if let Some(core) = &it.core {
                let (harness, messages) = (it.life(), core.held());
                self.recorder.note(What::Held { harness, messages });
            }
        }
    }
}
