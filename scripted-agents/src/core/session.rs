//! Making, restoring and closing sessions.

use std::sync::Arc;

use skep_trace::{Answer, Call, Frame, RpcError, Setup, Text, Update};

use super::answer::{INVALID_PARAMS, not_found};
use super::disk::{Session, Turn};
use super::offer;
use super::step::Step;
use super::task::Task;
use super::update;

impl Step<'_> {
    /// `session/new`: a new id, open and on the disk before it is answered.
    pub(super) fn new_session(&mut self, task: &mut Task, setup: &Setup) {
        if let Some(error) = bad_setup(setup, true) {
            return self.answer(task, Err(error));
        }
        let id = self.minted(task);
        self.begin(Text::clone(&id), &setup.cwd);
        let extra = self.choices(&id);
        self.answer(task, Ok(Answer { session_id: Some(id), extra, ..Answer::default() }));
    }

    /// `session/load`: the history, then the answer; from then on the session is open. Also of a
    /// session that is open already, and while one of its prompts runs.
    pub(super) fn load(&mut self, task: &mut Task, session: &Text, setup: &Setup) {
        if !offer::loads(&self.agent.cast) {
            return self.no_method(task, "session/load");
        }
        if let Err(error) = self.restore(session, setup, true) {
            return self.answer(task, Err(error));
        }
        if !task.replayed {
            self.replay(task, self.agent.cast.script.replay);
        }
        let extra = self.choices(session);
        self.answer(task, Ok(Answer { extra, ..Answer::default() }));
    }

    /// `session/resume`: as load, without the history.
    pub(super) fn resume_session(&mut self, task: &mut Task, session: &Text, setup: &Setup) {
        if !self.agent.cast.resume {
            return self.no_method(task, "session/resume");
        }
        if let Err(error) = self.restore(session, setup, false) {
            return self.answer(task, Err(error));
        }
        let extra = self.choices(session);
        self.answer(task, Ok(Answer { extra, ..Answer::default() }));
    }

    fn restore(&mut self, id: &Text, setup: &Setup, needs_mcp: bool) -> Result<(), RpcError> {
        if !self.knows(id) {
            return Err(not_found(id));
        }
        if let Some(error) = bad_setup(setup, needs_mcp) {
            return Err(error);
        }
        if let Some(session) = self.disk.sessions.get_mut(id) {
            session.cwd = Text::clone(&setup.cwd);
        }
        self.agent.open.insert(Text::clone(id));
        Ok(())
    }

    /// `session/close`: ends what runs, as a cancel does, and forgets nothing.
    pub(super) fn close(&mut self, task: &mut Task, session: &Text) {
        if !self.agent.cast.close {
            return self.no_method(task, "session/close");
        }
        if !self.agent.open.contains(session) {
            return self.answer(task, Err(not_found(session)));
        }
        self.shut(session);
        self.answer(task, Ok(Answer::empty()));
    }

    /// `session/delete`: as close, and gone for good. A session that nobody knows is gone already.
    pub(super) fn delete(&mut self, task: &mut Task, session: &Text) {
        if !self.agent.cast.close {
            return self.no_method(task, "session/delete");
        }
        self.shut(session);
        if self.knows(session) {
            self.disk.remove(session);
        }
        self.answer(task, Ok(Answer::empty()));
    }

    fn shut(&mut self, session: &Text) {
        self.cancel(session);
        self.agent.open.remove(session);
    }

    /// A session of an earlier process is known only where sessions outlive their process.
    pub(super) fn knows(&self, session: &str) -> bool {
        let survives =
            |session: &Session| self.agent.cast.persists || session.born == self.agent.process;
        self.disk.session(session).is_some_and(survives)
    }

    /// The session that a request is about: for `session/new` the one that it makes.
    pub(super) fn session_of(&mut self, task: &mut Task) -> Option<Text> {
        match task.call() {
            Call::SessionNew(_) => Some(self.minted(task)),
            call => call.session_id().map(Text::from),
        }
    }

    fn minted(&mut self, task: &mut Task) -> Text {
        Text::clone(task.minted.get_or_insert_with(|| self.disk.mint()))
    }

    fn begin(&mut self, id: Text, cwd: &Text) {
        let session = self.disk.open(Text::clone(&id), "", self.agent.process);
        session.cwd = Text::clone(cwd);
        self.agent.open.insert(id);
    }

    /// Acts on a scripted success: the session that it is about is open now.
    pub(super) fn adopt(&mut self, task: &mut Task, answer: &Answer) {
        let frame = Arc::clone(&task.frame);
        let (id, setup) = match frame.call() {
            Some(Call::Initialize(_)) => return self.agent.initialized = true,
            Some(Call::SessionNew(setup)) => (answer.session_id.as_ref(), setup),
            Some(
                Call::SessionLoad { session_id, setup } | Call::SessionResume { session_id, setup },
            ) => (Some(session_id), setup),
            _ => return,
        };
        let Some(id) = id else { return };
        if self.knows(id) {
            self.agent.open.insert(Text::clone(id));
        } else {
            self.begin(Text::clone(id), &setup.cwd);
        }
    }

    pub(super) fn open_turn(&mut self, session: &str, prompt: &Arc<[Text]>) -> Option<usize> {
        let turns = &mut self.disk.sessions.get_mut(session)?.turns;
        turns.push(Turn { user: Arc::clone(prompt), agent: Vec::new() });
        Some(turns.len() - 1)
    }

    /// Sends an update of the request's session. What the agent says in a turn becomes history.
    pub(super) fn update(&mut self, task: &mut Task, update: Update) {
        let Some(session_id) = self.session_of(task) else { return };
        if let Some(turn) = task.turn.filter(|_| update::is_history(&update)) {
            let session = self.disk.sessions.get_mut(&session_id);
            if let Some(turn) = session.and_then(|session| session.turns.get_mut(turn)) {
                turn.agent.push(update.clone());
            }
        }
        self.send(Frame::Notification(Call::SessionUpdate { session_id, update }));
    }
}

fn bad_setup(setup: &Setup, needs_mcp: bool) -> Option<RpcError> {
    if !setup.cwd.starts_with('/') {
        return Some(RpcError::new(INVALID_PARAMS, "`cwd` must be an absolute path"));
    }
    let missing = setup.mcp_servers.is_null() && !needs_mcp;
    if setup.mcp_servers.is_array() || missing {
        return None;
    }
    Some(RpcError::new(INVALID_PARAMS, "`mcpServers` must be a list"))
}
