//! What the director does to the event gear.

use skep_plan::{Act, Message, RelayFault};
use skep_relay::{Fault, Keys, Party, RelayEvent};
use skep_trace::{End, Hex32, NameKind, SharedEvent, Text, What};

use super::agent_side::SIGKILL;
use super::crash::Armed;
use super::harness_side::party;
use super::{Due, EventWorld};
use crate::world::WorldError;

/// How long a restart takes where the scenario does not say: longer than the five seconds before
/// its start for which a harness asks its relay, so that nothing old is delivered again.
const DOWNTIME_MS: u64 = 10_000;

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
            Act::Say(message) => self.say(message)?,
            Act::SwitchModel { harness, channel, model } => {
                self.switch_model(harness.as_ref(), channel, model)?;
            }
            Act::Set { harness, key, value } => {
                let host = self.harness(harness)?;
                let set = self.harnesses[host].settings.set(key, value);
                set.map_err(|error| WorldError::Act(error.to_string()))?;
            }
            Act::SetAgent { agent, key, value } => self.set_agent(agent, key, value)?,
            Act::Relay(fault) => self.relay_fault(fault)?,
            Act::Membership { channel, joins } => self.membership(channel, *joins),
            Act::Disk { state, op } => self.disk(state, op)?,
            Act::RunFor { ms } => self.run_until(self.now_ms() + ms),
            Act::Crash { harness, at, power } => {
                let host = self.only_harness(harness.as_ref())?;
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

    /// The place of the harness with this name.
    pub(super) fn harness(&self, name: &str) -> Result<usize, WorldError> {
        let place = self.harnesses.iter().position(|harness| &*harness.name == name);
        place.ok_or_else(|| WorldError::Act(format!("there is no harness `{name}`")))
    }

    fn only_harness(&self, name: Option<&Text>) -> Result<usize, WorldError> {
        match name {
            Some(name) => self.harness(name),
            None if self.harnesses.len() == 1 => Ok(0),
            None => Err(WorldError::Act("say which harness is meant".to_owned())),
        }
    }

    pub(super) fn start(&mut self, names: &[Text]) -> Result<(), WorldError> {
        for name in names {
            let host = self.harness(name)?;
            if self.harnesses[host].core.is_some() {
                return Err(WorldError::Act(format!("harness `{name}` runs already")));
            }
            self.begin_life(host);
        }
        for name in names {
            let host = self.harness(name)?;
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
        let host = self.harness(name)?;
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

    fn say(&mut self, message: &Message) -> Result<(), WorldError> {
        let to = match &message.to {
            Some(name) => Some(self.harness(name)?),
            None => None,
        };
        let relay = match &message.relay {
            Some(name) => self.relay(name)?,
            None => self.harnesses.get(to.unwrap_or(0)).map_or(0, |harness| harness.relay),
        };
        let addressed = to.or_else(|| self.first_on(relay));
        let agent = addressed.map_or(Hex32::default(), |host| self.harnesses[host].pubkey);
        for name in [&message.root, &message.reply_to].into_iter().flatten() {
            self.know_thread(name, &message.channel, relay);
        }
        let author = Keys::named(message.by.as_deref().unwrap_or("owner")).pubkey;
        let created_at = self.unix_ms() / 1000;
        let event = self.composer.message(message, author, agent, created_at);
        let name = message.label.clone().unwrap_or_else(|| event.id().short().into());
        self.name(NameKind::Message, &name, event.id().to_string().into());
        self.publish(relay, event, to.map(party));
        Ok(())
    }

    fn first_on(&self, relay: usize) -> Option<usize> {
        self.harnesses.iter().position(|harness| harness.relay == relay)
    }

    fn publish(&mut self, relay: usize, event: SharedEvent, to: Option<Party>) {
        self.send(Due::Relay { relay, event: RelayEvent::Publish { event, to } });
    }

    pub(super) fn know_thread(&mut self, name: &Text, channel: &Text, relay: usize) {
        if self.composer.event(name).is_some() {
            return;
        }
        let channel = self.mint.channel(channel);
        // An hour before everything else, so that no subscription takes it for news.
        let created_at = crate::mint::EPOCH_S - 3600;
        let event = self.composer.open_thread(name, &channel, created_at);
        self.name(NameKind::Root, name, event.id().to_string().into());
        self.publish(relay, event, None);
    }

    fn switch_model(
        &mut self,
        harness: Option<&Text>,
        channel: &Text,
        model: &Text,
    ) -> Result<(), WorldError> {
        let host = self.only_harness(harness)?;
        let (agent, relay) = (self.harnesses[host].pubkey, self.harnesses[host].relay);
        let created_at = self.unix_ms() / 1000;
        let event = self.composer.switch_model(channel, model, agent, created_at);
        self.publish(relay, event, harness.map(|_| party(host)));
        Ok(())
    }

    fn membership(&mut self, channel: &Text, joins: bool) {
        let id = self.mint.channel(channel);
        let at_s = self.unix_ms() / 1000;
        for relay in 0..self.relays.len() {
            let members: std::collections::BTreeSet<Hex32> = self
                .harnesses
                .iter()
                .filter(|harness| harness.relay == relay)
                .map(|harness| harness.pubkey)
                .collect();
            for pubkey in members {
                let channel = id.clone();
                let event = RelayEvent::Member { channel, pubkey, joins, at_s };
                self.send(Due::Relay { relay, event });
            }
        }
    }

    fn relay_fault(&mut self, fault: &RelayFault) -> Result<(), WorldError> {
        let names: Vec<Text> = self.harnesses.iter().map(|harness| harness.name.clone()).collect();
        let place = |name: &str| names.iter().position(|known| &**known == name);
        if let RelayFault::Disconnect { harness: Some(name) } = fault {
            self.harness(name)?;
        }
        let mint = self.mint;
        let fault = Fault::resolve(
            fault,
            |name| party(place(name).unwrap_or(usize::from(u16::MAX))),
            |name| mint.channel(name),
        );
        for relay in 0..self.relays.len() {
            self.send(Due::Relay { relay, event: RelayEvent::Fault(fault.clone()) });
        }
        Ok(())
    }

    pub(super) fn relay(&self, name: &str) -> Result<usize, WorldError> {
        let place = self.cast.relays.iter().position(|relay| &*relay.name == name);
        place.ok_or_else(|| WorldError::Act(format!("there is no relay `{name}`")))
    }
}
