//! What is known at one moment of a run: the records, read into the words of the domain.
//!
//! [`Facts::read`] takes in one record and tells what it means ([`Moment`]); every check looks at
//! moments and at these tables, never at earlier records. Each table is a noun of its own.
//!
//! - [`moment`]: what one record means; start here.
//! - [`life`], [`process`]: who runs, what they asked each other and have not answered.
//! - [`session`], [`prompt`], [`message`]: what the conversation is made of.
//! - [`discard`], [`seam`]: which sessions must not come back.
//! - [`setback`]: what went wrong on the way to a turn.
//! - [`state`]: what was seen of the state directories.
//! - [`names`], [`scope`], [`ids`]: how things are told apart.

mod acp;
pub(crate) mod discard;
pub(crate) mod ids;
pub(crate) mod life;
pub(crate) mod message;
pub(crate) mod moment;
pub(crate) mod names;
pub(crate) mod process;
pub(crate) mod prompt;
mod relay;
pub(crate) mod scope;
mod seam;
pub(crate) mod session;
pub(crate) mod setback;
pub(crate) mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skep_trace::policy::SessionScope;
use skep_trace::{Hex32, NameKind, NostrEvent, Record, Settled, Text, What};

use crate::asked::Asked;
use crate::words::instant;
use discard::Discards;
use ids::{LifeId, MessageId, SessionId};
use life::Lives;
use message::{MESSAGE_KINDS, Messages};
use moment::{Command, Moment, Seen};
use names::Names;
use process::Processes;
use prompt::Prompts;
use scope::{Scope, channel_of, names_key};
use session::{Origin, Sessions};
use setback::Setbacks;
use state::States;

/// Everything that is known so far.
#[derive(Debug)]
pub(crate) struct Facts {
    /// What the scenario asks for.
    pub(crate) asked: Arc<Asked>,
    /// The place of the next record.
    pub(crate) record: usize,
    /// The instant of the last record.
    pub(crate) now_ms: u64,
    /// The step that runs; before the first it is that one.
    pub(crate) step: usize,
    pub(crate) names: Names,
    pub(crate) lives: Lives,
    pub(crate) processes: Processes,
    pub(crate) sessions: Sessions,
    pub(crate) prompts: Prompts,
    pub(crate) messages: Messages,
    pub(crate) discards: Discards,
    pub(crate) setbacks: Setbacks,
    pub(crate) states: States,
    /// A harness was seen to be ready at some time: this world tells.
    pub(crate) tells_ready: bool,
    /// A harness gave its own word about itself at some time.
    pub(crate) tells_notes: bool,
    /// What harnesses said and how they ended before the first step, until the second: starting
    /// up is a part of the first step.
    pub(crate) startup: Vec<(usize, What)>,
    /// The first call of each method, in either direction.
    pub(crate) first_calls: BTreeMap<Text, usize>,
    begun: bool,
    instants: Vec<u64>,
    dms: BTreeSet<Text>,
    owner: Option<Hex32>,
    /// The public key of each harness that was asked for.
    keys: Vec<Option<Hex32>>,
    /// Sessions that the scenario gave and whose place is not yet known.
    given: Vec<usize>,
}

impl Facts {
    /// Nothing happened yet.
    pub(crate) fn new(asked: Arc<Asked>) -> Self {
        Self {
            record: 0,
            now_ms: 0,
            step: 0,
            names: Names::default(),
            lives: Lives::default(),
            processes: Processes::default(),
            sessions: Sessions::default(),
            prompts: Prompts::default(),
            messages: Messages::default(),
            discards: Discards::default(),
            setbacks: Setbacks::default(),
            states: States::default(),
            instants: Vec::new(),
            tells_ready: false,
            tells_notes: false,
            startup: Vec::new(),
            first_calls: BTreeMap::new(),
            begun: false,
            dms: BTreeSet::new(),
            owner: None,
            keys: vec![None; asked.harnesses.len()],
            given: (0..asked.given.len()).collect(),
            asked,
        }
    }

    /// Takes in one record, and tells what it means.
    pub(crate) fn read<'r>(&mut self, record: &'r Record) -> Moment<'r> {
        let place = self.record;
        self.now_ms = record.at_ms;
        self.instants.push(record.at_ms);
        let (seen, call) = self.see(&record.what);
        let mut discards = std::mem::take(&mut self.discards);
        let comeback = discards.follow(place, &seen, self);
        self.discards = discards;
        self.record += 1;
        Moment { record: place, at_ms: record.at_ms, what: &record.what, call, seen, comeback }
    }

    fn see<'r>(&mut self, what: &'r What) -> (Seen<'r>, Option<moment::CallSeen<'r>>) {
        let seen = match what {
            What::Acp { agent, harness, from, frame, .. } => {
                return self.frame(agent, harness, *from, frame);
            }
            What::FromRelay { harness, conn, message } => {
                let life = self.life(harness);
                self.relay_said(life, *conn, message)
            }
            What::ToRelay { harness, conn, message } => {
                let life = self.life(harness);
                self.said_to_relay(life, *conn, message)
            }
            What::Http { harness, call, .. } => {
                let life = self.life(harness);
                self.http(life, call)
            }
            What::Disconnected { harness, conn } => {
                let life = self.life(harness);
                self.lives.get_mut(life).disconnect(*conn);
                Seen::Nothing
            }
            What::Published(event) => self.published(event),
            What::AgentEnded { agent, .. } => match self.processes.find(agent) {
                Some(process) => self.process_ended(process),
                None => Seen::Nothing,
            },
            What::Held { harness, messages } => {
                let life = self.life(harness);
                self.lives.get_mut(life).held = Some((self.record, messages.clone()));
                Seen::Nothing
            }
            What::Disk { state, snapshot, baseline } => {
                self.states.look(state, self.record, snapshot, *baseline);
                Seen::Disk { state, snapshot, baseline: *baseline }
            }
            What::Receipts { state, receipts } => {
                self.states.answer(state, self.record, receipts);
                Seen::Nothing
            }
            other => self.see_run(other),
        };
        (seen, None)
    }

    /// What the run itself tells: steps, names, lives.
    fn see_run<'r>(&mut self, what: &'r What) -> Seen<'r> {
        if !self.begun && matches!(what, What::HarnessEnded(..) | What::Note { .. }) {
            self.startup.push((self.record, what.clone()));
        }
        match what {
            What::Step { index, .. } => {
                self.step = *index;
                if std::mem::replace(&mut self.begun, true) {
                    self.startup.clear();
                }
                self.states.begin_step();
                self.place_given();
            }
            What::Named { kind, name, id } => self.named(*kind, name, id),
            What::HarnessStarted(life) => {
                self.life(life);
            }
            What::HarnessReady(life) => {
                let life = self.life(life);
                self.tells_ready = true;
                self.lives.get_mut(life).ready.get_or_insert(self.record);
            }
            What::HarnessPaused(life, paused) => {
                let life = self.life(life);
                self.lives.get_mut(life).paused = *paused;
            }
            What::HarnessEnded(life, end) => {
                let asked = self.asked.stops.contains(&(self.step, life.harness.clone()));
                let life = self.life(life);
                let own = self.lives.get_mut(life);
                own.ended.get_or_insert((self.record, *end));
                own.told_to_end |= asked;
                self.prompts.end_life(life, self.record);
                return Seen::LifeEnded(life);
            }
            What::AgentStarted { agent, harness } => {
                let life = self.life(harness);
                self.processes.place(agent, life);
            }
            What::Note { .. } => self.tells_notes = true,
            What::Settled { step, how } => {
                let at_rest = !matches!(how, Settled::Bound(_));
                if at_rest {
                    self.lives.settle(self.record);
                }
                return Seen::Settled { step: *step, at_rest };
            }
            _ => {}
        }
        Seen::Nothing
    }

    fn life(&mut self, life: &skep_trace::Life) -> LifeId {
        self.lives.place(life, self.record, self.step, &self.asked)
    }

    fn named(&mut self, kind: NameKind, name: &Text, id: &Text) {
        self.names.give(kind, name, id);
        match kind {
            NameKind::Channel if self.asked.dms.contains(name) => {
                self.dms.insert(channel_of(id));
            }
            NameKind::Person if &**name == self.asked.owner() => self.owner = Hex32::parse(id),
            NameKind::Harness => {
                if let Some(place) = self.asked.harness(name) {
                    self.keys[place] = Hex32::parse(id);
                }
            }
            _ => {}
        }
    }

    /// Sessions that the scenario gave get their place once all their names have ids.
    fn place_given(&mut self) {
        let asked = self.asked.clone();
        let mut waiting = std::mem::take(&mut self.given);
        waiting.retain(|place| {
            let given = &asked.given[*place];
            let id = self.names.id(NameKind::Session, &given.name).cloned();
            let channel = self.names.id(NameKind::Channel, &given.channel).cloned();
            let (Some(id), Some(channel)) = (id, channel) else { return true };
            let root = given.root.as_deref().and_then(|root| self.names.event(root));
            let home = self.lives.home_of(&asked, &given.harness);
            let scope = Some(Scope { channel: channel_of(&channel), root });
            let session = self.sessions.place(&id);
            let origin = Origin { record: None, life: None, home, scope };
            self.sessions.get_mut(session).origins.push(origin);
            false
        });
        self.given = waiting;
    }

    /// When a record happened, for a reader.
    pub(crate) fn instant(&self, record: usize) -> String {
        instant(self.instants.get(record).copied().unwrap_or(self.now_ms))
    }

    /// The milliseconds at which a record happened.
    pub(crate) fn at_ms(&self, record: usize) -> u64 {
        self.instants.get(record).copied().unwrap_or(self.now_ms)
    }

    /// An event names a harness and is meant to be answered: no command of the owner's.
    pub(crate) fn is_mention(&self, event: &NostrEvent) -> bool {
        let named = |key: &Hex32| names_key(event, *key) && event.pubkey != *key;
        let command = || self.is_owner(event) && Command::parse(&event.content).is_some();
        MESSAGE_KINDS.contains(&event.kind) && self.keys.iter().flatten().any(named) && !command()
    }

    /// The name of a session, or its id where it has none.
    pub(crate) fn session_name(&self, session: SessionId) -> &str {
        self.names.name(NameKind::Session, &self.sessions.get(session).id)
    }

    /// The public key of a life's harness.
    pub(crate) fn key(&self, life: LifeId) -> Option<Hex32> {
        self.keys[self.lives.get(life).harness?]
    }

    /// Two harnesses have one identity on one relay.
    pub(crate) fn same_identity(&self, one: LifeId, two: LifeId) -> bool {
        let home = |life| self.lives.home(self.lives.get(life).home);
        let (one, two) = (home(one), home(two));
        one.relay == two.relay && one.key == two.key
    }

    /// The owner's public key.
    pub(crate) fn owner(&self) -> Option<Hex32> {
        self.owner
    }

    /// This channel is a direct message.
    pub(crate) fn is_dm(&self, channel: &str) -> bool {
        self.dms.contains(channel)
    }

    /// The harness keeps a session for each thread of this channel.
    pub(crate) fn splits(&self, life: LifeId, channel: &str) -> bool {
        let policy = self.lives.get(life).settings.policies.session_scope;
        policy == SessionScope::Thread && !self.is_dm(channel)
    }

    /// The conversation that a message belongs to for this life.
    pub(crate) fn scope(&self, life: LifeId, message: MessageId) -> Option<Scope> {
        let message = self.messages.get(message);
        let channel = message.channel.clone()?;
        let own = || message.root.unwrap_or(message.id);
        let root = self.splits(life, &channel).then(own);
        Some(Scope { channel, root })
    }

    /// The mentions of a conversation that a life was given and has not prompted.
    pub(crate) fn waiting<'a>(
        &'a self,
        life: LifeId,
        scope: Option<&'a Scope>,
    ) -> impl Iterator<Item = MessageId> + 'a {
        let unprompted = move |message: &message::MessageFacts| {
            let here = |prompt: &ids::PromptId| self.prompts.get(*prompt).life == life;
            message.deliveries.iter().any(|delivery| delivery.life == life)
                && message.steered.is_none()
                && !message.prompts.iter().any(here)
        };
        let fits = move |id: MessageId| {
            scope.is_none_or(|scope| self.scope(life, id).is_some_and(|own| own.fits(scope)))
        };
        self.messages
            .iter()
            .filter(move |(id, message)| unprompted(message) && fits(*id))
            .map(|(id, _)| id)
    }

    /// A life that has a message prompted its conversation since a record, and left it out.
    pub(crate) fn missed_chance(&self, message: MessageId, since: usize) -> Option<usize> {
        let deliveries = &self.messages.get(message).deliveries;
        let missed = self.prompts.since(since).find(|prompt| {
            let had = deliveries.iter().any(|delivery| delivery.life == prompt.life);
            had && prompt.scope.is_some() && prompt.scope == self.scope(prompt.life, message)
        });
        missed.map(|prompt| prompt.record)
    }
}
