//! How a harness stands that does not report by itself, told by what is seen of it: its log, its
//! wire, its agent.
//!
//! It is done where a line of its log says so (the lines stand in its profile), its agent owes it
//! no answer, and every message that reached it is in a prompt or answered by such a line. Where
//! one of these is not known, nothing is: then only a silence can tell.

use std::collections::BTreeSet;

use skep_trace::{Call, Frame, Hex32, Life, NostrEvent, Record, RelayMsg, Side, Text, What};

use crate::profile::Settles;

/// The kind of a channel message.
const KIND_MESSAGE: u16 = 9;

/// What is known of one harness.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// The life that this is about.
    life: Option<Life>,
    /// It has shown that it is ready.
    ready: bool,
    /// A turn was begun, and no line said yet that it is over.
    turn: bool,
    /// Something happened that no line is known to answer: an agent died, a connection broke.
    disturbed: bool,
    /// Answers that its agent owes it.
    asked: usize,
    /// Messages that reached it and are in no prompt yet.
    owed: BTreeSet<Hex32>,
    /// Messages that were in one. A relay may deliver them again; they are owed to nobody then.
    prompted: BTreeSet<Hex32>,
    /// It tries again within so many milliseconds.
    retries: Option<u64>,
    /// The line that told last that it is done.
    line: Option<Text>,
}

/// What there is to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// Nothing: this event told.
    Done(Text),
    /// It tries again within so many milliseconds of its last sign.
    Retries(u64),
    /// Nobody knows.
    Unknown,
}

impl Standing {
    pub(super) fn stands(&self) -> Stands {
        let open = self.turn || self.disturbed || self.asked > 0 || !self.owed.is_empty();
        match (&self.line, self.retries) {
            (_, Some(within)) if self.asked == 0 => Stands::Retries(within),
            (Some(line), None) if self.ready && !open => Stands::Done(line.clone()),
            _ => Stands::Unknown,
        }
    }

    /// Its agent owes it an answer.
    pub(super) fn asks(&self) -> bool {
        self.asked > 0
    }

    /// Takes in what happened next. `name` is the harness's.
    pub(super) fn see(&mut self, name: &str, settles: &Settles, record: &Record) {
        match &record.what {
            What::HarnessStarted(life) if &*life.harness == name => {
                *self = Self { life: Some(life.clone()), ..Self::default() };
            }
            What::HarnessReady(life) if self.is(life) => {
                self.ready = true;
                self.line = Some("it is ready".into());
            }
            What::AgentEnded { .. } => self.agent_ended(),
            What::Disconnected { harness, .. } if self.is(harness) => self.disturbed = true,
            What::Acp { harness, from, frame, .. } if self.is(harness) => self.frame(*from, frame),
            What::FromRelay { harness, message, .. } if self.is(harness) => self.told(message),
            What::Log { actor, line } if self.is_named(actor) => self.hear(settles, line),
            _ => {}
        }
    }

    fn is(&self, life: &Life) -> bool {
        self.life.as_ref() == Some(life)
    }

    fn is_named(&self, actor: &str) -> bool {
        self.life.as_ref().is_some_and(|life| life.to_string() == actor)
    }

    /// Whose agent it was is not told here; with two harnesses both are in doubt for a while.
    fn agent_ended(&mut self) {
        self.disturbed = true;
        self.asked = 0;
    }

    fn frame(&mut self, from: Side, frame: &Frame) {
        match (from, frame) {
            (Side::Harness, Frame::Request { call, .. }) => {
                self.asked += 1;
                if let Call::SessionPrompt { prompt, .. } = call {
                    self.turn = true;
                    self.retries = None;
                    let holds =
                        |id: &Hex32| prompt.iter().any(|text| text.contains(&id.to_string()));
                    self.prompted.extend(self.owed.extract_if(.., |id| holds(id)));
                }
            }
            (Side::Agent, Frame::Response { .. }) => self.asked = self.asked.saturating_sub(1),
            _ => {}
        }
    }

    fn told(&mut self, message: &RelayMsg) {
        match message {
            RelayMsg::Event { event, .. } if event.kind == KIND_MESSAGE && !commands(event) => {
                let ids = [event.id()].into_iter();
                self.owed.extend(ids.filter(|id| !self.prompted.contains(id)));
            }
            // A command, a control frame or a membership: a line must say that it was dealt with.
            RelayMsg::Event { .. } => self.disturbed = true,
            _ => {}
        }
    }

    fn hear(&mut self, settles: &Settles, line: &str) {
        let settled = settles.lines.iter().any(|text| line.contains(&**text));
        let retried = settles.retries.iter().find(|(text, _)| line.contains(&**text));
        if let Some((_, within)) = retried {
            self.retries = Some(*within);
            self.turn = false;
        } else if settled {
            self.turn = false;
            self.disturbed = false;
            self.retries = None;
            self.line = Some(line.trim().into());
        }
    }
}

/// An owner's command begins like this, and never reaches the agent.
fn commands(event: &NostrEvent) -> bool {
    event.content.trim_start().starts_with('!')
}

/// What a person would call a sign of life. A harness shows its presence, types and logs without
/// anything coming of it.
pub(super) fn stirs(what: &What) -> bool {
    !matches!(
        what,
        What::Log { .. }
            | What::ToRelay { .. }
            | What::Http { .. }
            | What::Finding { .. }
            | What::Disk { .. }
            | What::Receipts { .. }
            | What::FromRelay { .. }
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skep_trace::{Process, RpcId};

    use super::*;

    fn settles() -> Settles {
        let retries = vec![("again".into(), 45_000)];
        Settles { reports: false, lines: vec!["turn over".into()], retries, quiet_ms: 2_000 }
    }

    struct Scene(Standing);

    impl Scene {
        fn new() -> Self {
            let mut scene = Self(Standing::default());
            scene.see(What::HarnessStarted(life()));
            scene
        }

        fn see(&mut self, what: What) -> &mut Self {
            self.0.see("h", &settles(), &Record { at_ms: 0, what });
            self
        }

        fn logs(&mut self, line: &str) -> &mut Self {
            self.see(What::Log { actor: "h#1".into(), line: line.into() })
        }

        fn acp(&mut self, from: Side, frame: Frame) -> &mut Self {
            let agent = Process { agent: "a".into(), process: 1 };
            self.see(What::Acp { agent, harness: life(), from, frame: Arc::new(frame), raw: None })
        }

        fn prompts(&mut self, text: &str) -> &mut Self {
            let prompt: Arc<[Text]> = Arc::from([Text::from(text)]);
            let call = Call::SessionPrompt { session_id: "S1".into(), prompt };
            self.acp(Side::Harness, Frame::Request { id: RpcId::Number(1), call })
        }

        fn answers(&mut self) -> &mut Self {
            let outcome = Ok(skep_trace::Answer::empty());
            self.acp(Side::Agent, Frame::Response { id: RpcId::Number(1), outcome })
        }

        fn is_done(&self) -> bool {
            matches!(self.0.stands(), Stands::Done(_))
        }
    }

    fn life() -> Life {
        Life { harness: "h".into(), life: 1 }
    }

    fn message() -> Arc<NostrEvent> {
        Arc::new(NostrEvent::new(Hex32([1; 32]), 1, KIND_MESSAGE, Vec::new(), "hello".into()))
    }

    fn delivered(event: &Arc<NostrEvent>) -> What {
        let message = RelayMsg::Event { sub: "ch".into(), event: event.clone() };
        What::FromRelay { harness: life(), conn: 1, message: Arc::new(message) }
    }

    #[test]
    fn a_turn_is_over_when_a_line_says_so_and_not_when_its_answer_comes() {
        let mut scene = Scene::new();
        assert!(!scene.is_done());
        assert!(scene.see(What::HarnessReady(life())).is_done());
        let message = message();
        assert!(!scene.see(delivered(&message)).is_done());
        assert!(!scene.prompts(&format!("Event ID: {}", message.id())).is_done());
        assert!(!scene.answers().is_done());
        assert!(scene.logs("the turn over, well").is_done());
        // Once more, as after a reconnect: it is in a prompt already.
        assert!(scene.see(delivered(&message)).is_done());
    }

    #[test]
    fn a_message_that_is_in_no_prompt_keeps_it_open() {
        let mut scene = Scene::new();
        scene.see(What::HarnessReady(life())).see(delivered(&message()));
        scene.prompts("another").answers().logs("turn over");
        assert_eq!(scene.0.stands(), Stands::Unknown);
    }

    #[test]
    fn a_command_is_dealt_with_when_a_line_says_so() {
        let mut scene = Scene::new();
        let author = Hex32([1; 32]);
        let event = NostrEvent::new(author, 1, KIND_MESSAGE, Vec::new(), "!rotate".into());
        scene.see(What::HarnessReady(life())).see(delivered(&Arc::new(event)));
        assert!(!scene.is_done());
        assert!(scene.logs("turn over").is_done());
    }

    #[test]
    fn a_retry_that_is_announced_is_waited_for() {
        let mut scene = Scene::new();
        scene.see(What::HarnessReady(life())).prompts("x").answers().logs("failed, again in 5 s");
        assert_eq!(scene.0.stands(), Stands::Retries(45_000));
        scene.prompts("x").answers();
        assert_eq!(scene.0.stands(), Stands::Unknown);
        assert!(scene.logs("turn over").is_done());
    }

    #[test]
    fn a_dead_agent_leaves_it_in_doubt_until_the_next_line() {
        let mut scene = Scene::new();
        let agent = Process { agent: "a".into(), process: 1 };
        let end = skep_trace::End::Exit(0);
        scene.see(What::HarnessReady(life())).see(What::AgentEnded { agent, end });
        assert!(!scene.is_done());
        assert!(scene.logs("turn over").is_done());
    }
}
