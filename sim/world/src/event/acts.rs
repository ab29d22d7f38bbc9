//! What the director does to the event gear.

use skep_plan::{Act, GivenFile};
use skep_relay::{Party, RelayEvent};
use skep_store::{StoreConfig, StoreOp};
use skep_trace::{End, SharedEvent, Text, What};

use super::agent_side::SIGKILL;
use super::crash::Armed;
use super::{Due, EventWorld};
use crate::ground::{Ground, publish};
use crate::mint::EPOCH_S;
use crate::stage::{DOWNTIME_MS, Stage, runs_already};
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

    fn membership(&mut self, channel: &Text, joins: bool) {
        for (relay, event) in self.stage.memberships(channel, joins, self.unix_ms() / 1000) {
            self.send(Due::Relay { relay, event });
        }
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

impl Ground for EventWorld {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn note(&mut self, what: What) {
        self.recorder.note(what);
    }

    /// It is told of when it comes to the relay.
    fn publish(&mut self, relay: usize, event: SharedEvent, to: Option<Party>) {
        self.send(Due::Relay { relay, event: RelayEvent::Publish { event, to } });
    }

    fn agent_knows(&mut self, agent: &Text, session: &Text, turns: &[(&str, &str)]) {
        let disk = self.disks.get_mut(agent);
        disk.expect("every agent of the cast has a disk").give(session, turns);
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
