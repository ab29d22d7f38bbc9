//! Reads discards from the wire: each of the ways in which a conversation's next turn becomes
//! fresh (H-20).

use skep_trace::Text;
use skep_trace::policy::{Cancel, SessionScope};

use super::Facts;
use super::discard::{Comeback, Discard, Discards, Why};
use super::ids::{LifeId, ProcessId, PromptId, SessionId};
use super::moment::{Command, Seen};
use super::process::{Open, Wants};
use super::scope::Scope;

/// Who was told, on which connection, in which record.
#[derive(Clone, Copy)]
struct Told {
    record: usize,
    life: LifeId,
    conn: u32,
}

impl Told {
    fn discard(self, session: SessionId, why: Why) -> Discard {
        Discard::new(session, self.record, why, self.life, Some(self.conn))
    }
}

impl Discards {
    /// Takes in what happened, and tells when a discarded session came back in it.
    pub(super) fn follow(
        &mut self,
        record: usize,
        seen: &Seen<'_>,
        facts: &Facts,
    ) -> Option<Comeback> {
        match seen {
            Seen::Load { process, session, .. } => {
                let life = facts.processes.get(*process).life;
                return self.loaded(life, *session, facts);
            }
            Seen::Prompt(prompt) => return self.prompted(*prompt, facts),
            Seen::Given { session, open: Open { wants: Wants::New { .. }, .. }, .. } => {
                self.given_anew(*session);
            }
            Seen::PromptEnded(prompt) => self.exhausted(record, *prompt, facts),
            Seen::Refused { process, open, error } => {
                self.refused(record, *process, open, error.code, facts);
            }
            Seen::Cancel { process, session } => {
                self.cancelled(*process, *session, facts);
            }
            Seen::Settled { step, at_rest: true } => self.settle(*step, facts),
            _ => self.told(record, seen, facts),
        }
        None
    }

    /// What the relay told a life.
    fn told(&mut self, record: usize, seen: &Seen<'_>, facts: &Facts) {
        match seen {
            // Whoever was told before does not discard again: what is open now began after it.
            Seen::Command { copy: true, .. } | Seen::Left { copy: true, .. } => {}
            Seen::Command { life, conn, command, message, .. } => {
                let told = Told { record, life: *life, conn: *conn };
                if let Some(scope) = facts.scope(*life, *message) {
                    self.commanded(told, *command, &scope, facts);
                }
            }
            Seen::ModelSwitch { life, conn, channel } => {
                self.switched(Told { record, life: *life, conn: *conn }, channel, facts);
            }
            Seen::Left { life, conn, channels, .. } => {
                for channel in channels {
                    let scope = Scope { channel: channel.clone(), root: None };
                    let told = Told { record, life: *life, conn: *conn };
                    self.discard(told, &scope, Why::Left, facts);
                }
            }
            _ => {}
        }
    }

    fn commanded(&mut self, told: Told, command: Command, scope: &Scope, facts: &Facts) {
        match command {
            Command::Rotate => self.discard(told, scope, Why::Rotate, facts),
            Command::Cancel => self.cancel_asked(told, scope, facts),
            Command::Shutdown => {}
        }
    }

    /// A `!cancel` means the turns that run just then; with none running it means nothing.
    fn cancel_asked(&mut self, told: Told, scope: &Scope, facts: &Facts) {
        let running = facts.prompts.running().filter(|(_, prompt)| {
            prompt.life == told.life && prompt.scope.as_ref().is_some_and(|own| own.fits(scope))
        });
        for (prompt, _) in running {
            let session = facts.prompts.get(prompt).session;
            self.cancels.push((prompt, told.discard(session, Why::Cancel)));
        }
    }

    /// Every session that a conversation has had is discarded.
    fn discard(&mut self, told: Told, scope: &Scope, why: Why, facts: &Facts) {
        let home = facts.lives.get(told.life).home;
        for (session, _) in facts.sessions.of(home, scope) {
            self.push(told.discard(session, why));
        }
    }

    /// Under the thread policy a switch that names only a channel is ambiguous: it binds nobody.
    fn switched(&mut self, told: Told, channel: &Text, facts: &Facts) {
        let policy = facts.lives.get(told.life).settings.policies.session_scope;
        if policy == SessionScope::Channel || facts.is_dm(channel) {
            let scope = Scope { channel: channel.clone(), root: None };
            self.discard(told, &scope, Why::ModelSwitch, facts);
        }
    }

    /// A `!cancel` drops the session of the turn that the harness then cancels.
    fn cancelled(&mut self, process: ProcessId, session: SessionId, facts: &Facts) {
        let life = facts.processes.get(process).life;
        if facts.lives.get(life).settings.policies.cancel != Cancel::Discard {
            return;
        }
        let asked = self.cancels.iter().position(|(prompt, discard)| {
            let prompt = facts.prompts.get(*prompt);
            discard.session == session && prompt.process == process && prompt.end.is_none()
        });
        if let Some(place) = asked {
            let (_, discard) = self.cancels.remove(place);
            self.push(discard);
        }
    }

    /// An agent that has no room left in a session must not get it again.
    fn exhausted(&mut self, record: usize, prompt: PromptId, facts: &Facts) {
        let prompt = facts.prompts.get(prompt);
        if prompt.stopped("max_tokens") || prompt.stopped("max_turn_requests") {
            self.push(Discard::new(prompt.session, record, Why::Exhausted, prompt.life, None));
        }
    }

    /// A definitive answer to a load frees the scope; one that came too late decides nothing, and
    /// a refused resume may still be loaded.
    fn refused(
        &mut self,
        record: usize,
        process: ProcessId,
        open: &Open,
        code: i64,
        facts: &Facts,
    ) {
        let Wants::Load { session, resume } = open.wants else { return };
        let process = facts.processes.get(process);
        let settings = facts.lives.get(process.life).settings;
        let in_time = facts.now_ms.saturating_sub(open.heard_ms) < settings.load_timeout_ms;
        if in_time && settings.definitive(code) && !(resume && process.offers.load) {
            self.push(Discard::new(session, record, Why::Refused, process.life, None));
        }
    }
}
