//! What every world is set up with, and what its people say: the same in all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use skep_harness::{HarnessConfig, McpServer, RespondTo};
use skep_mutant::{Mutant, Mutants};
use skep_plan::{AgentCast, Cast, GivenReceipt, Message, Point, RelayFault, Settings};
use skep_relay::{Channel, Fault, Keys, Party, RelayConfig, RelayEvent};
use skep_store::{Config, Key, StoreConfig, StoreOp};
use skep_trace::{Hex32, NameKind, SharedEvent, Text, What};

use crate::canary::in_hash_order;
use crate::compose::Composer;
use crate::mint::Mint;
use crate::world::{Setup, WorldError};

/// How long a restart takes where the scenario does not say: longer than the five seconds before
/// its start for which a harness asks its relay, so that nothing old is delivered again.
pub const DOWNTIME_MS: u64 = 10_000;

/// A harness of the cast, with everything that its names stand for.
#[derive(Clone, Debug)]
pub struct Player {
    /// Its name.
    pub name: Text,
    /// The agent that it starts.
    pub agent: Text,
    /// The place of its relay in the cast.
    pub relay: usize,
    /// The name of its state directory.
    pub state: Text,
    /// Its identity.
    pub keys: &'static Keys,
    /// How its next life is configured.
    pub settings: Settings,
}

/// The cast of a run: names resolved, settings as they are now, words spoken so far.
#[derive(Debug)]
pub struct Stage {
    /// Who takes part.
    pub cast: Cast,
    /// The seed of all choices.
    pub seed: u64,
    /// The fault of ours that is switched on.
    pub mutants: Mutants,
    /// The harnesses, in the order of the cast. A harness's place is its [`Party`].
    pub players: Vec<Player>,
    /// Makes ids.
    pub mint: Mint,
    relays: Vec<Text>,
    agents: BTreeMap<Text, Arc<AgentCast>>,
    composer: Composer,
}

/// A message, ready to be published.
#[derive(Debug)]
pub struct Said {
    /// The place of the relay.
    pub relay: usize,
    /// The only harness that it is delivered to.
    pub to: Option<Party>,
    /// What has to stand on the relay before it: roots of threads that nobody wrote.
    pub roots: Vec<SharedEvent>,
    /// The message.
    pub event: SharedEvent,
    /// The names that came to stand for something by it.
    pub named: Vec<What>,
}

/// The number by which relays know a harness, in all of its lives.
pub fn party(host: usize) -> Party {
    Party(u32::try_from(host).expect("a cast has few harnesses"))
}

/// A harness that is to be started runs already; perhaps because a kill that waits for a point
/// never came.
pub fn runs_already(harness: &str, waits: Option<Point>) -> WorldError {
    match waits {
        Some(at) => WorldError::Harness(format!(
            "harness `{harness}` runs on: it was to be killed at `{at}`, and never came there"
        )),
        None => WorldError::Act(format!("harness `{harness}` runs already")),
    }
}

fn named(kind: NameKind, name: &Text, id: Text) -> What {
    What::Named { kind, name: name.clone(), id }
}

impl Stage {
    /// The stage of a setup, with a URL for each relay of the cast.
    ///
    /// # Errors
    /// When a harness names a relay or an agent that is not in the cast.
    pub fn new(setup: &Setup<'_>, relays: Vec<Text>) -> Result<Self, WorldError> {
        let mint = Mint::new(setup.seed);
        let cast = setup.cast.clone();
        let agents = cast.agents.iter().map(|agent| (agent.name.clone(), Arc::new(agent.clone())));
        let mut stage = Self {
            seed: setup.seed,
            mutants: setup.mutants,
            players: Vec::new(),
            mint,
            relays,
            agents: agents.collect(),
            composer: Composer::new(mint),
            cast,
        };
        for harness in stage.cast.harnesses.clone() {
            stage.agent(&harness.agent)?;
            stage.players.push(Player {
                relay: stage.relay(&harness.relay)?,
                keys: Keys::named(&harness.key),
                name: harness.name,
                agent: harness.agent,
                state: harness.state,
                settings: harness.settings,
            });
        }
        Ok(stage)
    }

    /// What the cast's names stand for, for the head of the trace.
    pub fn names(&self) -> Vec<What> {
        let key = |keys: &Keys| Text::from(keys.pubkey.to_string());
        let people = self.cast.people.iter().map(|person| &person.name);
        let people = people.map(|name| named(NameKind::Person, name, key(Keys::named(name))));
        let channels = self.cast.channels.iter().map(|channel| &channel.name);
        let channels = channels.map(|name| named(NameKind::Channel, name, self.mint.channel(name)));
        let relays = self.cast.relays.iter().zip(&self.relays);
        let relays = relays.map(|(relay, url)| named(NameKind::Relay, &relay.name, url.clone()));
        let players = self.players.iter();
        let players = players.map(|it| named(NameKind::Harness, &it.name, key(it.keys)));
        let names = people.chain(channels).chain(relays).chain(players);
        if self.mutants.has(Mutant::HashOrder) { in_hash_order(names) } else { names.collect() }
    }

    /// The place of the harness with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn harness(&self, name: &str) -> Result<usize, WorldError> {
        let place = self.players.iter().position(|player| &*player.name == name);
        place.ok_or_else(|| WorldError::Act(format!("there is no harness `{name}`")))
    }

    /// The place of the harness that is meant: the named one, or the only one.
    ///
    /// # Errors
    /// When there is no such harness, or none is named and there are several.
    pub fn one_harness(&self, name: Option<&Text>) -> Result<usize, WorldError> {
        match name {
            Some(name) => self.harness(name),
            None if self.players.len() == 1 => Ok(0),
            None => Err(WorldError::Act("say which harness is meant".to_owned())),
        }
    }

    fn relay(&self, name: &str) -> Result<usize, WorldError> {
        let place = self.cast.relays.iter().position(|relay| &*relay.name == name);
        place.ok_or_else(|| WorldError::Act(format!("there is no relay `{name}`")))
    }

    /// The agent with this name, as its next process will be.
    ///
    /// # Errors
    /// When there is none.
    pub fn agent(&self, name: &str) -> Result<Arc<AgentCast>, WorldError> {
        let agent = self.agents.get(name).cloned();
        agent.ok_or_else(|| WorldError::Act(format!("there is no agent `{name}`")))
    }

    /// Changes what an agent's next processes advertise.
    ///
    /// # Errors
    /// When there is no such agent, it has no such capability, or the value is no JSON.
    pub fn set_agent(&mut self, name: &Text, key: &str, value: &str) -> Result<(), WorldError> {
        let mut agent = self.agent(name)?;
        if key != "load-session" {
            return Err(WorldError::Act(format!("an agent has no `{key}` that can be set")));
        }
        let value = serde_json::from_str(value)
            .map_err(|error| WorldError::Act(format!("`{value}` is no JSON: {error}")))?;
        Arc::make_mut(&mut agent).load_session = Some(value);
        self.agents.insert(name.clone(), agent);
        Ok(())
    }

    /// Changes a setting of a harness's next life.
    ///
    /// # Errors
    /// When there is no such harness or setting, or the value does not fit.
    pub fn set(&mut self, harness: &str, key: &str, value: &str) -> Result<(), WorldError> {
        let host = self.harness(harness)?;
        let set = self.players[host].settings.set(key, value);
        set.map_err(|error| WorldError::Act(error.to_string()))
    }

    /// A relay as the cast has it. Every channel stands on every relay, and every agent identity
    /// of that relay is a member. `born_s` dates its channels, in seconds since 1970.
    pub fn relay_config(&self, relay: usize, born_s: u64) -> RelayConfig {
        let mut config = RelayConfig::new(&self.relays[relay], Keys::named("owner").pubkey);
        config.born_s = born_s;
        let members = self.members(relay);
        let channel = |channel: &skep_plan::ChannelCast| Channel {
            id: self.mint.channel(&channel.name),
            name: channel.name.clone(),
            kind: channel.kind,
            archived: false,
            members: members.clone(),
        };
        config.channels = self.cast.channels.iter().map(channel).collect();
        let people = self.cast.people.iter().map(|person| &person.name);
        let agents = self.cast.harnesses.iter().map(|harness| &harness.key);
        let names = people.chain(agents).map(|name| (Keys::named(name).pubkey, name.clone()));
        config.names = names.collect();
        config
    }

    /// The agent identities that use a relay, each once.
    fn members(&self, relay: usize) -> Vec<Hex32> {
        let here = self.players.iter().filter(|player| player.relay == relay);
        let mut members: Vec<_> = here.map(|player| player.keys.pubkey).collect();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Somebody joins or leaves a channel: what every relay is told of every agent identity that
    /// uses it, with the relay's place. `at_s` dates the notice, in seconds since 1970.
    pub fn memberships(&self, channel: &str, joins: bool, at_s: u64) -> Vec<(usize, RelayEvent)> {
        let channel = self.mint.channel(channel);
        let told = |relay| {
            let event =
                |pubkey| RelayEvent::Member { channel: channel.clone(), pubkey, joins, at_s };
            self.members(relay).into_iter().map(move |pubkey| (relay, event(pubkey))).collect()
        };
        (0..self.relays.len()).flat_map::<Vec<_>, _>(told).collect()
    }

    /// The harnesses that are started before the first step, by name.
    pub fn started(&self) -> Vec<Text> {
        let started = self.cast.harnesses.iter().filter(|harness| harness.started);
        started.map(|harness| harness.name.clone()).collect()
    }

    /// How a harness's next life is started, with nothing that only a person would look at.
    pub fn harness_config(&self, host: usize, cwd: &str) -> HarnessConfig {
        let player = &self.players[host];
        HarnessConfig {
            relay_url: self.relays[player.relay].clone(),
            pubkey: player.keys.pubkey,
            owner: Some(Keys::named("owner").pubkey),
            cwd: cwd.into(),
            settings: player.settings.clone(),
            mutants: self.mutants,
            respond_to: RespondTo::Anyone,
            mcp: McpServer { name: "buzz".into(), command: "/bin/true".into(), env: Vec::new() },
            reactions: false,
            typing: false,
            logs: false,
            haste: 1,
        }
    }

    /// Where a harness's store is, below the directory that stands for its state.
    pub fn store_config(&self, host: usize, dir: &str, mutants: Mutants) -> StoreConfig {
        let player = &self.players[host];
        StoreConfig::new(dir, &self.relays[player.relay], player.keys.pubkey).with_mutants(mutants)
    }

    /// The stores of every identity that uses a state directory, without any fault.
    pub fn stores(&self, state: &str, dir: &str) -> Vec<StoreConfig> {
        let mut seen = Vec::new();
        for (host, player) in self.players.iter().enumerate() {
            let identity = (player.relay, player.keys.pubkey);
            if &*player.state == state && !seen.iter().any(|(_, known)| *known == identity) {
                seen.push((host, identity));
            }
        }
        seen.iter().map(|(host, _)| self.store_config(*host, dir, Mutants::NONE)).collect()
    }

    /// The name of the store file of the first harness that uses a state directory.
    pub fn store_file(&self, state: &str) -> Text {
        let user = self.players.iter().find(|player| &*player.state == state);
        let key = user.map_or_else(Hex32::default, |player| player.keys.pubkey);
        format!("sessions-{key}.json").into()
    }

    /// A given receipt: its session's id, the store operation that writes it, and the names.
    ///
    /// # Errors
    /// When it names a harness that is not in the cast.
    pub fn given(&mut self, given: &GivenReceipt) -> Result<GivenSession, WorldError> {
        let host = self.harness(&given.harness)?;
        let (agent, relay) = (self.players[host].agent.clone(), self.players[host].relay);
        let session: Text = format!("{agent}-given-{}", given.session).into();
        let mut names = vec![named(NameKind::Session, &given.session, session.clone())];
        let mut roots = Vec::new();
        if let Some(root) = &given.root {
            self.open_thread(root, &given.channel, &mut roots, &mut names);
        }
        let root = given.root.as_ref().and_then(|root| self.composer.event(root));
        let key =
            Key { channel: self.mint.channel(&given.channel), root: root.map(|event| event.id()) };
        let config = Config { model: given.model.clone(), mode: given.mode.clone() };
        let op = StoreOp::Put { key, session: session.clone(), config };
        Ok(GivenSession { host, agent, relay, session, op, roots, names })
    }

    /// A message of a person, at an instant in seconds since 1970.
    ///
    /// # Errors
    /// When it names a harness or a relay that is not in the cast.
    pub fn say(&mut self, message: &Message, at_s: u64) -> Result<Said, WorldError> {
        let to = message.to.as_deref().map(|name| self.harness(name)).transpose()?;
        let relay = match &message.relay {
            Some(name) => self.relay(name)?,
            None => self.players.get(to.unwrap_or(0)).map_or(0, |player| player.relay),
        };
        let first = self.players.iter().position(|player| player.relay == relay);
        let agent = to.or(first).map_or(Hex32::default(), |host| self.players[host].keys.pubkey);
        let (mut roots, mut names) = (Vec::new(), Vec::new());
        for name in [&message.root, &message.reply_to].into_iter().flatten() {
            self.open_thread(name, &message.channel, &mut roots, &mut names);
        }
        let author = Keys::named(message.by.as_deref().unwrap_or("owner")).pubkey;
        let event = self.composer.message(message, author, agent, at_s);
        let name = message.label.clone().unwrap_or_else(|| event.id().short().into());
        names.push(named(NameKind::Message, &name, event.id().to_string().into()));
        Ok(Said { relay, to: to.map(party), roots, event, named: names })
    }

    fn open_thread(
        &mut self,
        name: &Text,
        channel: &Text,
        roots: &mut Vec<SharedEvent>,
        names: &mut Vec<What>,
    ) {
        if self.composer.event(name).is_some() {
            return;
        }
        let event = self.composer.open_thread(name, &self.mint.channel(channel));
        names.push(named(NameKind::Root, name, event.id().to_string().into()));
        roots.push(event);
    }

    /// The owner's control frame that switches a channel's model.
    ///
    /// # Errors
    /// When the harness that is meant is not in the cast.
    pub fn switch_model(
        &mut self,
        harness: Option<&Text>,
        channel: &Text,
        model: &Text,
        at_s: u64,
    ) -> Result<Said, WorldError> {
        let host = self.one_harness(harness)?;
        let player = &self.players[host];
        let (relay, agent) = (player.relay, player.keys.pubkey);
        let event = self.composer.switch_model(channel, model, agent, at_s);
        let to = harness.map(|_| party(host));
        Ok(Said { relay, to, roots: Vec::new(), event, named: Vec::new() })
    }

    /// A fault with ids in place of names.
    ///
    /// # Errors
    /// When it names a harness that is not in the cast.
    pub fn fault(&self, fault: &RelayFault) -> Result<Fault, WorldError> {
        if let RelayFault::Disconnect { harness: Some(name) } = fault {
            self.harness(name)?;
        }
        let place = |name: &str| self.harness(name).map_or(Party(u32::MAX), party);
        Ok(Fault::resolve(fault, place, |name| self.mint.channel(name)))
    }
}

/// A given receipt with everything that its names stand for.
#[derive(Debug)]
pub struct GivenSession {
    /// The harness in whose scope it is.
    pub host: usize,
    /// The agent that has the session.
    pub agent: Text,
    /// The relay that its thread's root stands on.
    pub relay: usize,
    /// The session's id.
    pub session: Text,
    /// What writes it.
    pub op: StoreOp,
    /// Roots of threads that nobody wrote.
    pub roots: Vec<SharedEvent>,
    /// The names that came to stand for something by it.
    pub names: Vec<What>,
}
