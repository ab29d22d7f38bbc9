//! What stands before the first start: relays, identities, disks, and what they already hold.

use std::sync::Arc;

use skep_agent::AgentDisk;
use skep_harness::{HarnessConfig, McpServer, RespondTo};
use skep_plan::{AgentCast, Given, HarnessCast};
use skep_relay::{Channel, Keys, Relay, RelayConfig};
use skep_trace::{NameKind, Text, What};

use super::EventWorld;
use super::harness_side::HarnessHost;
use super::relay_side::RelayHost;
use crate::mint::EPOCH_S;
use crate::world::WorldError;

/// The working directory of every harness.
const CWD: &str = "/w";

impl EventWorld {
    pub(super) fn build(&mut self) -> Result<(), WorldError> {
        let cast = self.cast.clone();
        for person in &cast.people {
            let pubkey = Keys::named(&person.name).pubkey.to_string();
            self.name(NameKind::Person, &person.name, pubkey.into());
        }
        for channel in &cast.channels {
            self.name(NameKind::Channel, &channel.name, self.mint.channel(&channel.name));
        }
        for relay in &cast.relays {
            self.add_relay(&relay.name);
        }
        for agent in &cast.agents {
            self.disks.insert(agent.name.clone(), AgentDisk::new(&agent.name, self.seed));
            self.casts.insert(agent.name.clone(), Arc::new(agent.clone()));
        }
        for harness in &cast.harnesses {
            self.add_harness(harness)?;
        }
        for given in &cast.given {
            match given {
                Given::Receipt(receipt) => self.give_receipt(receipt)?,
                Given::File(file) => self.give_file(file)?,
            }
        }
        Ok(())
    }

    fn add_relay(&mut self, name: &Text) {
        let url: Text = format!("ws://{name}.test").into();
        self.name(NameKind::Relay, name, url.clone());
        let mut config = RelayConfig::new(&url, Keys::named("owner").pubkey);
        config.born_s = EPOCH_S - 86_400;
        config.channels = self.channels(name);
        config.names = self.names();
        self.relays.push(RelayHost::new(url, Relay::new(config)));
    }

    /// Every channel stands on every relay, and every agent identity of that relay is a member.
    fn channels(&self, relay: &Text) -> Vec<Channel> {
        let here = self.cast.harnesses.iter().filter(|harness| harness.relay == *relay);
        let mut members: Vec<_> = here.map(|harness| Keys::named(&harness.key).pubkey).collect();
        members.sort_unstable();
        members.dedup();
        let channel = |channel: &skep_plan::ChannelCast| Channel {
            id: self.mint.channel(&channel.name),
            name: channel.name.clone(),
            kind: channel.kind,
            archived: false,
            members: members.clone(),
        };
        self.cast.channels.iter().map(channel).collect()
    }

    fn names(&self) -> Vec<(skep_trace::Hex32, Text)> {
        let people = self.cast.people.iter().map(|person| &person.name);
        let agents = self.cast.harnesses.iter().map(|harness| &harness.key);
        people.chain(agents).map(|name| (Keys::named(name).pubkey, name.clone())).collect()
    }

    fn add_harness(&mut self, cast: &HarnessCast) -> Result<(), WorldError> {
        let pubkey = Keys::named(&cast.key).pubkey;
        self.name(NameKind::Harness, &cast.name, pubkey.to_string().into());
        let state = self.state_place(&cast.state);
        let relay = self.relay(&cast.relay)?;
        self.harnesses.push(HarnessHost::new(cast, relay, state, pubkey));
        Ok(())
    }

    /// How the next life of a harness is started.
    pub(super) fn harness_config(&self, host: usize) -> HarnessConfig {
        let it = &self.harnesses[host];
        HarnessConfig {
            relay_url: self.relays[it.relay].url.clone(),
            pubkey: it.pubkey,
            owner: Some(Keys::named("owner").pubkey),
            cwd: CWD.into(),
            settings: it.settings.clone(),
            mutants: self.mutants,
            respond_to: RespondTo::Anyone,
            mcp: McpServer { name: "buzz".into(), command: "/bin/true".into(), env: Vec::new() },
            reactions: false,
            typing: false,
            logs: false,
            haste: 1,
        }
    }

    /// The agent that a harness starts, as it is now.
    pub(super) fn agent_cast(&self, host: usize) -> Arc<AgentCast> {
        self.casts[&self.harnesses[host].agent_name].clone()
    }

    pub(super) fn set_agent(
        &mut self,
        name: &Text,
        key: &str,
        value: &str,
    ) -> Result<(), WorldError> {
        let cast = self.casts.get_mut(name);
        let cast = cast.ok_or_else(|| WorldError::Act(format!("there is no agent `{name}`")))?;
        if key != "load-session" {
            return Err(WorldError::Act(format!("an agent has no `{key}` that can be set")));
        }
        let value = serde_json::from_str(value)
            .map_err(|error| WorldError::Act(format!("`{value}` is no JSON: {error}")))?;
        Arc::make_mut(cast).load_session = Some(value);
        Ok(())
    }

    pub(super) fn name(&mut self, kind: NameKind, name: &Text, id: Text) {
        self.recorder.note(What::Named { kind, name: name.clone(), id });
    }
}
