//! The core: what it knows, and who handles what happens to it.

use std::collections::BTreeMap;

use skep_store::{Config, StoreAnswer};
use skep_trace::{Hex32, Note, Text};

use crate::agent::Agent;
use crate::book::Book;
use crate::channel::Channels;
use crate::closed::Closed;
use crate::config::HarnessConfig;
use crate::disk::{Disk, Reason};
use crate::effect::{HarnessEffect, Out};
use crate::event::HarnessEvent;
use crate::http::Http;
use crate::inbox::Inbox;
use crate::late::Late;
use crate::link::Link;
use crate::observer::Observer;
use crate::reaction::Reactions;
use crate::scope::{Scope, Scoping};
use crate::seen::Seen;
use crate::timer::{Slot, Timers};
use crate::turn::Turn;

/// How many scopes with a refusal are remembered; of more, an agent's death may cost the session.
const MOST_GRANTS: usize = 10_000;

/// A harness as a state machine: events in, effects out, nothing else.
#[derive(Debug)]
pub struct Harness {
    pub(crate) config: HarnessConfig,
    pub(crate) scoping: Scoping,
    /// The agent identity as filters and tags spell it.
    pub(crate) pubkey_text: Text,
    pub(crate) timers: Timers,
    pub(crate) link: Link,
    pub(crate) http: Http,
    pub(crate) channels: Channels,
    pub(crate) seen: Seen,
    pub(crate) inbox: Inbox,
    pub(crate) book: Book,
    pub(crate) disk: Disk,
    pub(crate) agent: Agent,
    /// The turn that runs. One agent process does one thing at a time (H-83).
    pub(crate) turn: Option<Turn>,
    pub(crate) observer: Observer,
    pub(crate) reactions: Reactions,
    pub(crate) late: Late,
    /// The models that the owner switched channels to.
    pub(crate) models: BTreeMap<Text, Text>,
    /// Scopes whose agent did not grant what was wanted, with what was wanted and what it granted.
    pub(crate) granted: BTreeMap<Scope, (Config, Config)>,
    /// When the process started, in seconds: the watermark of everything that it asks for.
    pub(crate) started_s: u64,
    /// The newest word about memberships, in seconds.
    pub(crate) membership_s: u64,
    /// What became of the subscriptions to what is said about the agent.
    pub(crate) words_closed: Closed,
    /// The channels are known.
    pub(crate) discovered: bool,
    /// Presence was shown: people can expect to be heard.
    pub(crate) present: bool,
    /// The instant of the first event.
    first_ms: Option<u64>,
    /// When the retry timer is set for.
    pub(crate) retry_ms: u64,
    ended: bool,
}

impl Harness {
    /// A harness that has not started yet.
    pub fn new(config: HarnessConfig) -> Self {
        let policy = config.settings.policies.session_scope;
        Self {
            scoping: Scoping { policy, mutants: config.mutants },
            pubkey_text: config.pubkey.to_string().into(),
            observer: Observer::new(config.settings.observer && config.owner.is_some()),
            config,
            timers: Timers::default(),
            link: Link::new(),
            http: Http::default(),
            channels: Channels::default(),
            seen: Seen::default(),
            inbox: Inbox::default(),
            book: Book::default(),
            disk: Disk::default(),
            agent: Agent::new(),
            turn: None,
            reactions: Reactions::default(),
            late: Late::default(),
            models: BTreeMap::new(),
            granted: BTreeMap::new(),
            started_s: 0,
            membership_s: 0,
            words_closed: Closed::default(),
            discovered: false,
            present: false,
            first_ms: None,
            retry_ms: 0,
            ended: false,
        }
    }

    /// Takes one event in at an instant (Unix time in milliseconds) and adds what is to be done.
    pub fn step(&mut self, now_ms: u64, event: HarnessEvent, effects: &mut Vec<HarnessEffect>) {
        if self.ended {
            return;
        }
        let since_ms = *self.first_ms.get_or_insert(now_ms);
        let real_ms = (now_ms - since_ms.min(now_ms)) / u64::from(self.config.haste.max(1));
        let date_s = (since_ms + real_ms) / 1000;
        let out = &mut Out { now_ms, date_s, logs: self.config.logs, effects };
        self.dispatch(event, out);
        if !self.ended {
            self.go_on(out);
        }
    }

    fn dispatch(&mut self, event: HarnessEvent, out: &mut Out<'_>) {
        match event {
            HarnessEvent::Started => self.start(out),
            HarnessEvent::Connected => self.on_connected(out),
            HarnessEvent::ConnectFailed(why) => self.on_connection_lost(&why, out),
            HarnessEvent::Disconnected => self.on_connection_lost("it was closed", out),
            HarnessEvent::Relay(message) => self.on_relay(&message, out),
            HarnessEvent::Http(ticket, answer) => self.on_http(ticket, answer, out),
            HarnessEvent::AgentStarted => self.on_agent_started(out),
            HarnessEvent::AgentFrame(frame) => self.on_agent_frame(&frame, out),
            HarnessEvent::AgentEnded => self.on_agent_ended(out),
            HarnessEvent::Timer(timer) => {
                if let Some(slot) = self.timers.fired(timer) {
                    self.on_timer(slot, out);
                }
            }
            HarnessEvent::Stored(ticket, answer) => self.on_stored(ticket, answer, out),
            HarnessEvent::Terminate => self.shut_down("it was asked to terminate", out),
        }
    }

    fn on_timer(&mut self, slot: Slot, out: &mut Out<'_>) {
        match slot {
            Slot::Handshake => self.on_handshake_timeout(out),
            Slot::Reconnect => self.connect(out),
            Slot::RateGate => self.on_gate_open(out),
            Slot::Resubscribe => self.reopen_subscriptions(out),
            Slot::Http => self.retry_http(out),
            Slot::Presence => self.show_presence_again(out),
            Slot::Typing => self.show_typing(out),
            Slot::Initialize => self.on_agent_silent_at_start(out),
            Slot::Respawn => self.start_agent(out),
            Slot::Turn => self.on_stage_deadline(out),
            // What may run is looked at after every event.
            Slot::Retry => {}
            Slot::Owed => self.disk.retry(out),
            Slot::Observer => self.publish_observed(out),
            Slot::Heartbeat => self.on_heartbeat(out),
        }
    }

    /// The process runs.
    fn start(&mut self, out: &mut Out<'_>) {
        if let Err(refusal) = self.config.check() {
            out.log(|| refusal.to_string());
            self.exit(1, out);
            return;
        }
        // The watermark is taken before the agent starts: what is said meanwhile is for us too.
        self.started_s = out.now_s();
        self.membership_s = self.started_s;
        self.start_agent(out);
        self.start_heartbeat(out);
    }

    /// Starts the next turn, if one can run and none does.
    fn go_on(&mut self, out: &mut Out<'_>) {
        if self.turn.is_some() || !self.agent.is_ready() {
            return;
        }
        // A turn can end where it begins (a discarded scope, a mutant): then the next one follows.
        while self.turn.is_none() && self.agent.is_ready() {
            match self.inbox.take(out.now_ms) {
                Some(batch) => self.begin_turn(batch, out),
                None => return self.wait_for_retry(out),
            }
        }
    }

    fn wait_for_retry(&mut self, out: &mut Out<'_>) {
        let Some(due_ms) = self.inbox.next_due_ms() else {
            self.timers.cancel(Slot::Retry, out);
            return;
        };
        if self.retry_ms != due_ms || !self.timers.is_set(Slot::Retry) {
            self.retry_ms = due_ms;
            self.timers.set(Slot::Retry, due_ms.saturating_sub(out.now_ms), out);
        }
    }

    fn on_stored(&mut self, ticket: u32, answer: StoreAnswer, out: &mut Out<'_>) {
        let Some(reason) = self.disk.answered(ticket, out) else { return };
        if let StoreAnswer::Failed(why) = &answer {
            out.log(|| format!("session store: {why}"));
            out.note(Note::StoreTrouble(why.clone()));
        }
        match reason {
            Reason::Turn => self.on_turn_stored(ticket, answer, out),
            Reason::Discard(key) => self.on_discard_stored(&key, &answer, out),
            Reason::Nobody => {}
        }
    }

    /// The messages that are taken and not answered: waiting, or in the turn that runs.
    pub fn held(&self) -> Vec<Hex32> {
        let running = self.turn.iter().flat_map(|turn| &turn.batch.messages);
        running.map(|message| message.id).chain(self.inbox.held()).collect()
    }

    /// It hears people: authenticated, subscribed, and said so.
    pub fn ready(&self) -> bool {
        self.present
    }

    /// Nothing is under way: no turn, no question to relay or store, no discard that is owed.
    /// Messages that wait for another attempt do not count.
    pub fn at_rest(&self) -> bool {
        self.turn.is_none() && self.http.len() == 0 && self.disk.is_idle()
    }

    /// The process is over; it takes no more events.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The configuration that a scope's session is wished to have now.
    pub(crate) fn wanted(&self, scope: &Scope) -> Config {
        let switched = scope.channel().and_then(|channel| self.models.get(channel));
        let settings = &self.config.settings;
        Config { model: switched.or(settings.model.as_ref()).cloned(), mode: settings.mode.clone() }
    }

    /// The configuration that a receipt of this scope must have been made with. What this life saw
    /// refused is not asked of it: a receipt says what was granted (H-9), and an agent's death must
    /// not cost the session (H-22).
    pub(crate) fn expected(&self, scope: &Scope) -> Config {
        let wanted = self.wanted(scope);
        match self.granted.get(scope) {
            Some((then, granted)) if *then == wanted => granted.clone(),
            _ => wanted,
        }
    }

    /// The agent granted this of what was wanted.
    pub(crate) fn grant(&mut self, scope: &Scope, wanted: Config, granted: Config) {
        if wanted == granted {
            self.granted.remove(scope);
        } else if self.granted.len() < MOST_GRANTS {
            self.granted.insert(scope.clone(), (wanted, granted));
        }
    }

    /// Ends the process in good order.
    pub(crate) fn shut_down(&mut self, why: &str, out: &mut Out<'_>) {
        out.log(|| format!("shutting down: {why}"));
        self.show_offline(out);
        out.push(HarnessEffect::Disconnect);
        self.exit(0, out);
    }

    /// Ends the process. Its agent goes with it.
    pub(crate) fn exit(&mut self, code: i32, out: &mut Out<'_>) {
        out.push(HarnessEffect::KillAgent);
        out.push(HarnessEffect::Exit(code));
        self.ended = true;
    }
}
