//! What a mention leads to: which session it finds, what may go wrong on the way, and what must
//! follow.

use super::Story;
use super::sheet::StepText;
use super::state::{CHANNELS, Kept, Key, Live};
use crate::explore::workload::{Choice, LoadFault, TurnFault};

/// What the agent says in each turn, where the feed is on.
pub(super) const WORDS: &str = "fresh words";

/// A mention that a harness hears.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) home: usize,
    pub(super) key: Key,
    pub(super) label: String,
    pub(super) load: LoadFault,
    pub(super) turn: TurnFault,
    /// Nothing else happens in its step: what it does not lead to must not be there at all.
    pub(super) alone: bool,
    /// Its turn goes on when its step is over.
    pub(super) goes_on: bool,
}

impl Story {
    /// Writes down what must follow from a mention, and knows it from then on.
    pub(super) fn turn(&mut self, heard: &Heard, step: &mut StepText) {
        // A turn whose agent dies loads once more than it would.
        let heard = &Heard { alone: heard.alone && heard.turn != TurnFault::Dies, ..heard.clone() };
        let before = self.state.homes[heard.home].live.get(&heard.key).cloned();
        match before {
            Some(Live::Session { name, turns }) => {
                self.not_opened(heard, step);
                if heard.alone {
                    step.expect("never \"session/load\"");
                }
                self.prompted(heard, &name, turns, step);
            }
            Some(Live::Unsure) => self.found_somehow(heard, step),
            None => match self.state.loadable(heard.home, &heard.key) {
                Err(()) => self.found_somehow(heard, step),
                Ok(Some(session)) => self.loaded(heard, &session, step),
                Ok(None) => {
                    if heard.alone {
                        step.expect("never \"session/load\"");
                    }
                    self.opened(heard, step);
                }
            },
        }
    }

    fn not_opened(&self, heard: &Heard, step: &mut StepText) {
        step.expect(format!("never \"session/new\" message=\"{}\"", heard.label));
    }

    /// Nobody can say which session it is; whichever it is, from now on it is known.
    fn found_somehow(&mut self, heard: &Heard, step: &mut StepText) {
        let name = self.state.session();
        self.state.lose_count();
        let label = &heard.label;
        step.expect(format!(
            "expect \"session/prompt\" message=\"{label}\" at-least=1 bind=\"{name}\""
        ));
        self.done(heard, true, step);
        let mut live = Live::Session { name: name.clone(), turns: 1 };
        let mut kept = Some(Kept::Session { name, choice: self.state.homes[heard.home].choice });
        let was_live = self.state.homes[heard.home].live.contains_key(&heard.key);
        // What was in memory may have been lost at the agent, and another session found instead.
        if was_live || self.state.ground.max_turns > 0 {
            live = Live::Unsure;
        }
        // A session that was in memory is not stored again; one that was found is.
        if was_live || self.state.ground.max_turns > 0 || !self.state.homes[heard.home].loads {
            kept = Some(Kept::Unsure);
        }
        self.state.homes[heard.home].live.insert(heard.key.clone(), live);
        if self.state.homes[heard.home].resume {
            self.state.keep(heard.home, &heard.key, kept);
        }
    }

    /// A remembered session is loaded, or is not.
    fn loaded(&mut self, heard: &Heard, session: &str, step: &mut StepText) {
        let (times, found) = self.script_load(heard.load);
        let exactly = if heard.turn == TurnFault::Dies { "at-least" } else { "count" };
        step.expect(format!(
            "expect \"session/load\" {exactly}={times} session=\"{session}\"{}",
            self.setup(heard, false)
        ));
        if heard.alone {
            step.expect(format!("never \"session/load\" not-session=\"{session}\""));
        }
        let scripted = self.state.next("session/load").is_some();
        self.state.asks("session/load", times);
        match heard.load {
            LoadFault::Hang(_) | LoadFault::Exit(_) | LoadFault::Late | LoadFault::TalksForEver
                if scripted =>
            {
                self.state.respawn(heard.home);
            }
            LoadFault::Asks if scripted && heard.alone => {
                step.expect("expect \"session/request_permission\" count=1");
            }
            _ => {}
        }
        if found {
            self.not_opened(heard, step);
            self.prompted(heard, session, 0, step);
        } else {
            self.state.keep(heard.home, &heard.key, None);
            self.opened(heard, step);
        }
    }

    /// What the agent does with the load: how often it comes, and whether it succeeds in the end.
    fn script_load(&mut self, fault: LoadFault) -> (u32, bool) {
        let Some(nth) = self.state.next("session/load") else { return (1, true) };
        let talk = "update kind=\"agent_message_chunk\" text=\"old words\"";
        let mut rule = |offset: u32, actions: &[&str]| {
            self.sheet.rule("session/load", nth + offset, actions);
        };
        let (mark, times, found) = match fault {
            LoadFault::None => return (1, true),
            LoadFault::NotFound => {
                rule(0, &["error code=-32002 message=\"Resource not found\""]);
                ("load/not-found", 1, false)
            }
            LoadFault::Refused => {
                rule(0, &["error code=-32603 message=\"Internal error\""]);
                ("load/refused", 1, false)
            }
            LoadFault::Null => {
                rule(0, &["reply #null"]);
                ("load/null", 1, true)
            }
            LoadFault::OtherId => {
                rule(0, &["reply #\"{\"sessionId\": \"other\"}\"#"]);
                ("load/other-id", 1, true)
            }
            LoadFault::Hang(times) | LoadFault::Exit(times) => {
                let (mark, silence) = match fault {
                    LoadFault::Hang(_) => ("load/hangs", "hang"),
                    _ => ("load/exits", "exit code=1"),
                };
                (0..u32::from(times)).for_each(|offset| rule(offset, &[silence]));
                // The reference policy gives up after three in a row.
                (mark, if times < 3 { u32::from(times) + 1 } else { 3 }, times < 3)
            }
            LoadFault::Late => {
                rule(0, &["delay \"15s\"", "replay all", "reply"]);
                ("load/late", 2, true)
            }
            LoadFault::Talks => {
                rule(0, &["delay \"6s\"", talk, "delay \"6s\"", "reply"]);
                ("load/talks", 1, true)
            }
            LoadFault::TalksForEver => {
                let on = ["delay \"6s\"", talk];
                rule(0, &[&on[..], &on[..], &on[..], &["delay \"6s\"", "reply"]].concat());
                ("load/talks-for-ever", 2, true)
            }
            LoadFault::Asks => {
                rule(0, &["request \"session/request_permission\"", "replay all", "reply"]);
                ("load/asks", 1, true)
            }
            LoadFault::Trickles => {
                rule(0, &["replay after-response gap=\"100ms\""]);
                ("load/trickles", 1, true)
            }
            LoadFault::Twice => {
                rule(0, &["replay twice"]);
                ("load/twice", 1, true)
            }
        };
        self.mark(mark);
        self.impatient = true;
        (times, found)
    }

    /// A new session is opened and, where receipts are written, remembered.
    fn opened(&mut self, heard: &Heard, step: &mut StepText) {
        let name = self.state.session();
        let label = &heard.label;
        step.expect(format!(
            "expect \"session/new\" count=1 bind=\"{name}\" message=\"{label}\"{}",
            self.setup(heard, true)
        ));
        self.state.asks("session/new", 1);
        if self.state.homes[heard.home].resume && !self.state.homes[heard.home].loads {
            // What an agent that loads nothing would be asked for later is nobody's promise.
            self.state.keep(heard.home, &heard.key, Some(Kept::Unsure));
        } else if self.state.homes[heard.home].resume {
            let choice = self.state.homes[heard.home].choice;
            self.state.keep(
                heard.home,
                &heard.key,
                Some(Kept::Session { name: name.clone(), choice }),
            );
            self.state.file = true;
        }
        self.prompted(heard, &name, 0, step);
    }

    /// What a request for a session carries.
    fn setup(&self, heard: &Heard, new: bool) -> String {
        let (channel, kind) = CHANNELS[heard.key.channel];
        let mut params = Vec::new();
        if new {
            params.push(format!("param \"_meta.channelId\" \"{channel}\""));
            params.push(format!("param \"_meta.channelType\" \"{kind}\""));
        }
        if self.state.ground.tools {
            params.push("param \"cwd\" \"/w\"".to_owned());
            params.push("param \"mcpServers.0.command\" \"*\"".to_owned());
            let origin = if kind == "stream" { channel } else { "-" };
            params.push(format!(
                "param \"mcpServers.0.env.BUZZ_GIT_ORIGIN_CHANNEL_ID\" \"{origin}\""
            ));
        }
        if params.is_empty() { String::new() } else { format!(" {{ {}; }}", params.join("; ")) }
    }

    /// The session is prompted, and what becomes of the turn.
    fn prompted(&mut self, heard: &Heard, session: &str, turns: u8, step: &mut StepText) {
        let label = &heard.label;
        let fault = self.script_turn(heard, session);
        let times = if matches!(fault, TurnFault::Error | TurnFault::Dies) { 2 } else { 1 };
        step.expect(format!(
            "expect \"session/prompt\" count={times} session=\"{session}\" message=\"{label}\""
        ));
        self.state.asks("session/prompt", times);
        if fault == TurnFault::Dies {
            step.expect(format!("expect \"session/load\" at-least=1 session=\"{session}\""));
            step.expect("expect agent-started at-least=1");
            self.state.asks("session/load", 1);
        }
        if matches!(fault, TurnFault::Dies | TurnFault::DiesAfter) {
            self.state.respawn(heard.home);
        }
        let live = Live::Session { name: session.to_owned(), turns: turns + 1 };
        self.state.homes[heard.home].live.insert(heard.key.clone(), live);
        self.state.crowded(heard.home, &heard.key);
        match fault {
            TurnFault::MaxTokens => self.exhausted(heard, "max_tokens", step),
            TurnFault::MaxRequests => self.exhausted(heard, "max_turn_requests", step),
            _ => self.ended(heard, fault, turns + 1, step),
        }
    }

    fn ended(&mut self, heard: &Heard, fault: TurnFault, turns: u8, step: &mut StepText) {
        if heard.goes_on {
            return;
        }
        self.done(heard, fault == TurnFault::None, step);
        let limit = self.state.ground.max_turns;
        if limit > 0 && turns >= limit {
            self.mark("turn/limit");
            self.state.discard(heard.home, &heard.key);
        }
        if fault == TurnFault::DiesAfter {
            self.state.homes[heard.home].live.clear();
        }
        self.receipt(heard.home, &heard.key, step);
    }

    /// The turn used up what the session may use.
    fn exhausted(&mut self, heard: &Heard, reason: &str, step: &mut StepText) {
        step.expect(format!("expect turn=\"{reason}\" message=\"{}\"", heard.label));
        self.state.discard(heard.home, &heard.key);
        self.receipt(heard.home, &heard.key, step);
    }

    /// The turn is done; `spoken`: the agent says what it always says.
    fn done(&self, heard: &Heard, spoken: bool, step: &mut StepText) {
        step.expect(format!("expect turn=\"done\" message=\"{}\"", heard.label));
        if self.state.ground.feed && spoken {
            step.expect(format!("expect relay event kind=24200 text=\"{WORDS}\""));
        }
    }

    /// What the agent does with the prompt, as far as the model can follow it.
    fn script_turn(&mut self, heard: &Heard, session: &str) -> TurnFault {
        let Some(nth) = self.state.next("session/prompt") else { return TurnFault::None };
        let (mark, actions): (_, &[&str]) = match heard.turn {
            TurnFault::None => return TurnFault::None,
            TurnFault::MaxTokens => ("turn/max-tokens", &["stop \"max_tokens\""]),
            TurnFault::MaxRequests => ("turn/max-requests", &["stop \"max_turn_requests\""]),
            TurnFault::Error => ("turn/error", &["error code=-32603 message=\"overloaded\""]),
            TurnFault::Dies => ("turn/dies", &["exit code=1"]),
            TurnFault::DiesAfter => ("turn/dies-after", &["reply", "exit code=1"]),
        };
        let again = matches!(heard.turn, TurnFault::Error | TurnFault::Dies);
        if again && self.state.ground.max_turns > 0 {
            return TurnFault::None;
        }
        // Only a session that can be loaded outlives its agent.
        let next = || self.state.loadable_next(heard.home, &heard.key);
        if heard.turn == TurnFault::Dies && next() != Ok(Some(session.to_owned())) {
            return TurnFault::None;
        }
        self.sheet.rule("session/prompt", nth, actions);
        self.mark(mark);
        heard.turn
    }

    /// What the store must hold of a scope now, where that is known.
    pub(super) fn receipt(&self, home: usize, key: &Key, step: &mut StepText) {
        let it = &self.state.homes[home];
        if !it.resume {
            return;
        }
        let of = self.state.meant(home, "harness");
        let words = key.words();
        match self.state.kept(home, key) {
            Some(Kept::Unsure) => {}
            Some(Kept::Session { name, choice }) => {
                let made = match (self.state.ground.choice, choice) {
                    (Choice::Nothing, _) => String::new(),
                    (Choice::RefusedModels, _) => " model=\"\"".to_owned(),
                    (Choice::Models, 0) => " model=\"m1\"".to_owned(),
                    (Choice::Models, _) => " model=\"m2\"".to_owned(),
                    (Choice::Modes, 0) => " mode=\"ask\"".to_owned(),
                    (Choice::Modes, _) => " mode=\"free\"".to_owned(),
                };
                step.expect(format!("expect receipt{of} {words} session=\"{name}\"{made} count=1"));
            }
            None => step.expect(format!("expect receipt{of} {words} count=0")),
        }
    }
}
