//! What each action of a script means.
//!
//! The actions of a rule run in order, within one step as far as nothing suspends them. `Delay`,
//! `Request` and `Gate` suspend this request alone: others are served meanwhile. After the last
//! action an unanswered request is answered well. Actions that come after an answer still run.

use std::mem;
use std::sync::Arc;

use serde_json::{Value, json};
use skep_plan::Action;
use skep_trace::{Answer, Call, Frame, RpcError, RpcId, Text, Update};

use super::event::AgentEffect;
use super::step::Step;
use super::task::{Task, Waits};
use super::update;

/// What comes after an action.
enum Flow {
    /// The next one.
    Next,
    /// The next one, once this has come.
    Wait(Waits),
    /// None of this rule; the request is answered well.
    Skip,
    /// Nothing more of this request.
    End,
}

impl Step<'_> {
    /// Runs a task's actions until one suspends it or all are done.
    pub(super) fn run(&mut self, mut task: Task) {
        if let Some(rule) = task.rule {
            let cast = Arc::clone(&self.agent.cast);
            while let Some(action) = cast.script.rules[rule].actions.get(task.next) {
                task.next += 1;
                match self.act(&mut task, action) {
                    Flow::Next => {}
                    Flow::Skip => break,
                    Flow::End => return,
                    Flow::Wait(waits) => {
                        task.waits = waits;
                        return self.agent.tasks.push(task);
                    }
                }
            }
        }
        if !task.answered {
            self.reply(&mut task);
        }
    }

    fn act(&mut self, task: &mut Task, action: &Action) -> Flow {
        match action {
            Action::Reply => self.reply(task),
            Action::ReplyWith(result) => self.reply_with(task, result),
            Action::Stop(reason) => self.stop(task, Text::clone(reason)),
            Action::Error { code, message, data } => {
                let (message, data) = (Text::clone(message), data.clone().map(Arc::new));
                self.answer(task, Err(RpcError { code: *code, message, data }));
            }
            // The task stays, so that a cancel finds the prompt and a second one finds it busy.
            Action::Hang => return Flow::Wait(Waits::Forever),
            Action::Delay { ms } => return Flow::Wait(self.wait(*ms)),
            Action::Block { ms } => return Flow::Wait(self.block(*ms)),
            Action::Exit { code } => return self.end(AgentEffect::Exit(*code)),
            Action::Die { signal } => return self.end(AgentEffect::Die(*signal)),
            Action::CloseStdout => self.close_stdout(),
            Action::CloseStdin => self.close_stdin(),
            Action::HalfFrame => self.half_frame(task),
            Action::Garbage(text) => self.garble(text),
            Action::StderrFlood { bytes } => self.out.push(AgentEffect::Stderr { bytes: *bytes }),
            Action::Update { kind, text } => self.update(task, update::body(kind, text)),
            Action::UpdateWith(body) => self.update(task, Update::from_json(body)),
            Action::Chatter { kind, text, gap_ms, count } => {
                self.chatter(task, update::body(kind, text), *gap_ms, *count);
            }
            Action::Replay(replay) => self.replay(task, *replay),
            Action::Request { method } => return Flow::Wait(self.ask(task, method)),
            Action::IgnoreCancel => self.ignore_cancel(task),
            Action::Gate => return Flow::Wait(self.gate()),
            Action::OnlySession(number) => return self.only(task, *number),
        }
        Flow::Next
    }

    /// `delay`: the next action comes after so long.
    fn wait(&mut self, after_ms: u64) -> Waits {
        Waits::Timer(self.set_timer(after_ms))
    }

    /// `block`: as delay, and until then every event waits: other requests, timers, the end of
    /// standard input. They are taken up afterwards in their order.
    fn block(&mut self, after_ms: u64) -> Waits {
        let timer = self.set_timer(after_ms);
        self.agent.blocked = Some(timer);
        Waits::Timer(timer)
    }

    /// `exit` and `die`: nothing of this process follows.
    fn end(&mut self, last: AgentEffect) -> Flow {
        self.agent.dead = true;
        self.out.push(last);
        Flow::End
    }

    /// `close-stdout`: what the agent would send from now on is lost. It goes on serving.
    fn close_stdout(&mut self) {
        if mem::take(&mut self.agent.speaks) {
            self.out.push(AgentEffect::CloseStdout);
        }
    }

    /// `close-stdin`: no further line reaches the agent, nor the end of its input. What is under
    /// way goes on.
    fn close_stdin(&mut self) {
        if mem::take(&mut self.agent.listens) {
            self.out.push(AgentEffect::CloseStdin);
        }
    }

    /// `half-frame`: the well-behaved answer with all that belongs before it, but of the last
    /// line only the first half of its bytes and no newline. What is sent next sticks to it.
    fn half_frame(&mut self, task: &mut Task) {
        task.half = true;
        self.reply(task);
    }

    /// `garbage`: the text as it is; each line of it is a line.
    fn garble(&mut self, text: &str) {
        for line in text.split('\n') {
            self.send(Frame::Garbage(line.into()));
        }
    }

    /// `reply-with`: this result, whatever it is. A result is a success, and the agent acts on it:
    /// the session of a new, load or resume is open from then on, and made empty where the agent
    /// did not know it. Nothing is replayed but what an action replays.
    fn reply_with(&mut self, task: &mut Task, result: &Value) {
        let answer = Answer::from_json(result.clone());
        self.adopt(task, &answer);
        self.answer(task, Ok(answer));
    }

    /// `stop`: a result with this stop reason and nothing else, for a prompt without a word.
    pub(super) fn stop(&mut self, task: &mut Task, reason: Text) {
        self.answer(task, Ok(Answer { stop_reason: Some(reason), ..Answer::default() }));
    }

    /// `request`: a request of the agent, with the parameters that its method wants. The next
    /// action comes once it is answered, whatever the answer. The ids count from 0, as those of
    /// many harnesses do: the two directions must not mix them up.
    fn ask(&mut self, task: &mut Task, method: &str) -> Waits {
        let id = self.agent.asked;
        self.agent.asked += 1;
        let session = self.session_of(task).unwrap_or_default();
        let params = asked(method, &session);
        let call = Call::Other { method: method.into(), params: Arc::new(params) };
        self.send(Frame::Request { id: RpcId::Number(id), call });
        Waits::Answer(id)
    }

    /// `ignore-cancel`: in a prompt's rule it concerns this prompt; in another rule, every
    /// prompt of this process from now on.
    fn ignore_cancel(&mut self, task: &mut Task) {
        if matches!(task.call(), Call::SessionPrompt { .. }) {
            task.deaf = true;
        } else {
            self.agent.deaf = true;
        }
    }

    /// `gate`: the next action comes when the director says so; the oldest at a gate goes first.
    fn gate(&mut self) -> Waits {
        self.out.push(AgentEffect::AtGate);
        Waits::Gate
    }

    /// `only-session`: a guard. A request that names another session, or none that the agent
    /// knows, is answered well and the rest of the rule is left out.
    fn only(&mut self, task: &mut Task, number: u32) -> Flow {
        let session = self.session_of(task);
        let known = session.and_then(|id| self.disk.session(&id).map(super::Session::number));
        if known == Some(number) { Flow::Next } else { Flow::Skip }
    }
}

/// Parameters that a harness can make something of.
fn asked(method: &str, session: &str) -> Value {
    match method {
        "session/request_permission" => json!({
            "sessionId": session,
            "toolCall": {"toolCallId": "call-asked", "title": "a tool that needs permission"},
            "options": [
                {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
                {"optionId": "reject", "name": "Reject once", "kind": "reject_once"},
            ],
        }),
        "fs/read_text_file" => json!({"sessionId": session, "path": "/skep/none"}),
        "fs/write_text_file" => {
            json!({"sessionId": session, "path": "/skep/none", "content": ""})
        }
        "terminal/create" => json!({"sessionId": session, "command": "true"}),
        _ => json!({"sessionId": session}),
    }
}
