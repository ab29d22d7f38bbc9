//! Reads the frames between a harness and its agent into facts.

use serde_json::Value;
use skep_trace::{Answer, Call, Frame, Life, Process, RpcError, RpcId, Setup, Side, Text};

use super::Facts;
use super::ids::{LifeId, ProcessId, PromptId, SessionId};
use super::moment::{CallSeen, Seen};
use super::process::{Open, Wants};
use super::prompt::{Prompt, PromptEnd, event_ids};
use super::scope::{Scope, channel_of};
use super::session::Origin;
use super::setback::Setback;

impl Facts {
    /// One frame, whoever sent it.
    pub(super) fn frame<'r>(
        &mut self,
        agent: &Process,
        harness: &Life,
        from: Side,
        frame: &'r Frame,
    ) -> (Seen<'r>, Option<CallSeen<'r>>) {
        let life = self.lives.place(harness, self.record, self.step, &self.asked);
        let process = self.processes.place(agent, life);
        let life = self.processes.get(process).life;
        let call = frame.call().map(|call| CallSeen { life, process, from, call });
        if let Some(method) = frame.call().map(Call::method)
            && !self.first_calls.contains_key(method)
        {
            self.first_calls.insert(method.into(), self.record);
        }
        let seen = match (from, frame) {
            (Side::Harness, Frame::Request { id, call }) => self.request(process, id, call),
            (Side::Harness, Frame::Notification(call)) => self.notification(process, call),
            (Side::Harness, Frame::Response { id, .. }) => {
                match self.processes.get_mut(process).agent_answered(id) {
                    Some(ask) => Seen::AgentAnswered(ask),
                    None => Seen::Nothing,
                }
            }
            (Side::Agent, Frame::Request { id, .. }) => {
                let (record, now_ms) = (self.record, self.now_ms);
                self.processes.get_mut(process).agent_asks(id, record, now_ms);
                Seen::Nothing
            }
            (Side::Agent, Frame::Notification(call)) => self.update(process, call),
            (Side::Agent, Frame::Response { id, outcome }) => {
                match self.processes.get_mut(process).answered(id) {
                    Some(open) => self.answer(process, open, outcome),
                    None => Seen::Nothing,
                }
            }
            (_, Frame::Garbage(_)) => Seen::Nothing,
        };
        (seen, call)
    }

    fn request<'r>(&mut self, process: ProcessId, id: &RpcId, call: &'r Call) -> Seen<'r> {
        let (wants, seen) = match call {
            Call::Initialize(_) => (Wants::Initialize, Seen::Nothing),
            Call::SessionNew(setup) => (Wants::New { channel: meta_channel(setup) }, Seen::Nothing),
            Call::SessionLoad { session_id, .. } => self.load(process, session_id, false),
            Call::SessionResume { session_id, .. } => self.load(process, session_id, true),
            Call::SessionPrompt { session_id, prompt } => {
                let prompt = self.prompt(process, session_id, prompt);
                (Wants::Prompt(prompt), Seen::Prompt(prompt))
            }
            Call::SessionClose { session_id } | Call::SessionDelete { session_id } => {
                let session = self.sessions.place(session_id);
                self.sessions.get_mut(session).closed.get_or_insert(self.record);
                (Wants::Other, Seen::Nothing)
            }
            Call::Other { params, .. } => {
                self.steer(params);
                (Wants::Other, Seen::Nothing)
            }
            _ => (Wants::Other, Seen::Nothing),
        };
        let (record, at_ms) = (self.record, self.now_ms);
        let open = Open { record, at_ms, heard_ms: at_ms, wants };
        self.processes.get_mut(process).ask(id, open);
        seen
    }

    fn load<'r>(&mut self, process: ProcessId, id: &Text, resume: bool) -> (Wants, Seen<'r>) {
        let session = self.sessions.place(id);
        self.sessions.get_mut(session).last_load = Some(self.record);
        (Wants::Load { session, resume }, Seen::Load { process, session, resume })
    }

    fn prompt(&mut self, process: ProcessId, id: &Text, blocks: &[Text]) -> PromptId {
        let session = self.sessions.place(id);
        let life = self.processes.get(process).life;
        let messages: Vec<_> =
            event_ids(blocks).into_iter().map(|id| self.messages.place(id)).collect();
        let scope = messages.iter().find_map(|message| self.scope(life, *message));
        self.learn_scope(life, session, scope.as_ref());
        let prompt = self.prompts.push(Prompt {
            record: self.record,
            life,
            process,
            session,
            on_live_session: self.processes.get(process).live.contains(&session),
            messages: messages.clone(),
            scope,
            end: None,
            cancelled: None,
        });
        self.sessions.get_mut(session).prompts.push(prompt);
        for message in messages {
            let known = &mut self.messages.get_mut(message).prompts;
            if known.last() != Some(&prompt) {
                known.push(prompt);
            }
        }
        prompt
    }

    /// The first prompt of a session tells which conversation it belongs to.
    fn learn_scope(&mut self, life: LifeId, session: SessionId, scope: Option<&Scope>) {
        let Some(scope) = scope else { return };
        let home = self.lives.get(life).home;
        let origins = &mut self.sessions.get_mut(session).origins;
        if origins.is_empty() {
            origins.push(Origin { record: None, life: Some(life), home, scope: None });
        }
        for origin in origins.iter_mut().filter(|origin| origin.scope.is_none()) {
            origin.scope = Some(scope.clone());
        }
    }

    /// A vendor's request that hands messages into a running turn.
    fn steer(&mut self, params: &Value) {
        let Some(blocks) = params.get("prompt").and_then(Value::as_array) else { return };
        let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
        for id in event_ids(&texts.map(Text::from).collect::<Vec<_>>()) {
            let message = self.messages.place(id);
            self.messages.get_mut(message).steered.get_or_insert(self.record);
        }
    }

    fn notification<'r>(&mut self, process: ProcessId, call: &'r Call) -> Seen<'r> {
        let Call::SessionCancel { session_id } = call else { return Seen::Nothing };
        let session = self.sessions.place(session_id);
        self.prompts.cancel(process, session, self.record);
        Seen::Cancel { process, session }
    }

    fn update<'r>(&mut self, process: ProcessId, call: &'r Call) -> Seen<'r> {
        let Call::SessionUpdate { session_id, update } = call else { return Seen::Nothing };
        let session = self.sessions.place(session_id);
        let replay = self.processes.get_mut(process).heard(session, self.now_ms);
        let title = || match update {
            skep_trace::Update::Other(body) => body.get("title").and_then(Value::as_str),
            _ => None,
        };
        Seen::Update { process, session, text: update.text().or_else(title), replay }
    }

    fn answer<'r>(
        &mut self,
        process: ProcessId,
        open: Open,
        outcome: &'r Result<Answer, RpcError>,
    ) -> Seen<'r> {
        if let Wants::Prompt(prompt) = open.wants {
            let end = match outcome {
                Ok(answer) => {
                    PromptEnd::Stopped(answer.stop_reason.clone().unwrap_or_else(|| "".into()))
                }
                Err(error) => PromptEnd::Refused(error.code),
            };
            self.prompts.end(prompt, self.record, end);
            return Seen::PromptEnded(prompt);
        }
        match outcome {
            Ok(answer) => self.granted(process, open, answer),
            Err(error) => self.refused(process, open, error),
        }
    }

    fn granted<'r>(&mut self, process: ProcessId, open: Open, answer: &Answer) -> Seen<'r> {
        let session = match &open.wants {
            Wants::Initialize => {
                self.processes.get_mut(process).introduce(answer);
                return Seen::Nothing;
            }
            Wants::New { channel } => match &answer.session_id {
                Some(id) => self.opened(process, id, channel.as_ref()),
                None => return Seen::Nothing,
            },
            Wants::Load { session, .. } => *session,
            Wants::Prompt(_) | Wants::Other => return Seen::Nothing,
        };
        self.processes.get_mut(process).live.insert(session);
        Seen::Given { session, open }
    }

    fn opened(&mut self, process: ProcessId, id: &Text, channel: Option<&Text>) -> SessionId {
        let life = self.processes.get(process).life;
        let home = self.lives.get(life).home;
        let whole = channel.filter(|channel| !self.splits(life, channel));
        let scope = whole.map(|channel| Scope { channel: channel.clone(), root: None });
        let session = self.sessions.place(id);
        let origin = Origin { record: Some(self.record), life: Some(life), home, scope };
        self.sessions.get_mut(session).origins.push(origin);
        session
    }

    fn refused<'r>(&mut self, process: ProcessId, open: Open, error: &'r RpcError) -> Seen<'r> {
        if open.wants == Wants::Other {
            return Seen::Nothing;
        }
        self.set_back(process, &open, Some(error.code));
        Seen::Refused { process, open, error }
    }

    fn set_back(&mut self, process: ProcessId, open: &Open, code: Option<i64>) {
        self.setbacks.push(Setback {
            record: self.record,
            life: self.processes.get(process).life,
            process,
            wants: open.wants.clone(),
            code,
        });
    }

    /// An agent's process is gone, and with it whatever it had not answered.
    pub(super) fn process_ended<'r>(&mut self, process: ProcessId) -> Seen<'r> {
        let left = self.processes.get_mut(process).end(self.record);
        for open in &left {
            match open.wants {
                Wants::Prompt(prompt) => {
                    self.prompts.end(prompt, self.record, PromptEnd::AgentDied);
                }
                Wants::Other => {}
                _ => self.set_back(process, open, None),
            }
        }
        Seen::ProcessEnded(process, left)
    }
}

/// The channel that a new session says it is for (H-30).
fn meta_channel(setup: &Setup) -> Option<Text> {
    setup.meta.as_ref()?.get("channelId")?.as_str().map(channel_of)
}
