//! A request that is under way.

use std::sync::Arc;

use skep_trace::{Call, Frame, Text};

/// One request or notification of the harness, from its arrival until all its actions are done.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// What the harness sent.
    pub(super) frame: Arc<Frame>,
    /// The rule that decides, by its place in the script; none: the agent behaves well.
    pub(super) rule: Option<usize>,
    /// The next action of that rule.
    pub(super) next: usize,
    /// What the next action waits for.
    pub(super) waits: Waits,
    /// It was answered, or is not going to be.
    pub(super) answered: bool,
    /// Its answer is written to the half only.
    pub(super) half: bool,
    /// An action took care of the replay; the answer brings none along.
    pub(super) replayed: bool,
    /// The history follows the answer, with this gap before each update.
    pub(super) late_ms: Option<u64>,
    /// `session/cancel` does not end it.
    pub(super) deaf: bool,
    /// The session that a `session/new` makes, once its id was needed.
    pub(super) minted: Option<Text>,
    /// The turn that a prompt opened in its session's history.
    pub(super) turn: Option<usize>,
    /// Why a prompt could not open a turn.
    pub(super) refusal: Option<Refusal>,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// A timer.
    Timer(u32),
    /// The harness's answer to a request of the agent.
    Answer(i64),
    /// The director.
    Gate,
    /// Nothing that will ever come.
    Forever,
}

/// Why a prompt opens no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The session is not open on this connection.
    Unknown,
    /// The session's load is not answered yet.
    Loading,
    /// Another prompt of the session runs.
    Busy,
}

impl Task {
    pub(super) fn new(frame: Arc<Frame>, rule: Option<usize>) -> Self {
        Self {
            frame,
            rule,
            next: 0,
            waits: Waits::Forever,
            answered: false,
            half: false,
            replayed: false,
            late_ms: None,
            deaf: false,
            minted: None,
            turn: None,
            refusal: None,
        }
    }

    pub(super) fn call(&self) -> &Call {
        self.frame.call().expect("only requests and notifications become tasks")
    }

    /// A prompt of this session that was not answered yet.
    pub(super) fn prompts(&self, session: &str) -> bool {
        let prompt = matches!(self.call(), Call::SessionPrompt { .. });
        prompt && !self.answered && self.call().session_id() == Some(session)
    }

    /// A load or resume of this session that was not answered yet.
    pub(super) fn restores(&self, session: &str) -> bool {
        let restore = matches!(self.call(), Call::SessionLoad { .. } | Call::SessionResume { .. });
        restore && !self.answered && self.call().session_id() == Some(session)
    }
}
