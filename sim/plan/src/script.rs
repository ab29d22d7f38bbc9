//! What a scripted agent does, by protocol step.

use serde_json::Value;
use skep_trace::Text;

/// Rules, tried in order: the first that fits a request decides. A request that none fits is
/// answered as a well-behaved agent would.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The rules.
    pub rules: Vec<Rule>,
    /// How every load replays, unless a rule says otherwise.
    pub replay: Replay,
}

/// `on "session/load" nth=2 process=1 { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The method.
    pub method: Text,
    /// Only the nth request of that method, from 1. Counted within the process when `process` is
    /// given, else over all processes of the agent.
    pub nth: Option<u32>,
    /// Only from the nth request on (`from=2`), counted the same way.
    pub from: Option<u32>,
    /// Only in the nth process of this agent, from 1.
    pub process: Option<u32>,
    /// What is done, in order. Where no action answers or ends anything, the well-behaved answer
    /// follows the last one.
    pub actions: Vec<Action>,
}

/// One thing that a scripted agent does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Answers as a well-behaved agent would.
    Reply,
    /// Answers with this result.
    ReplyWith(Value),
    /// Answers a prompt with this stop reason.
    Stop(Text),
    /// Answers with an error.
    Error {
        /// The code.
        code: i64,
        /// The message.
        message: Text,
        /// The data.
        data: Option<Value>,
    },
    /// Never answers; further requests are served.
    Hang,
    /// Waits before the next action.
    Delay {
        /// How long.
        ms: u64,
    },
    /// Exits by itself.
    Exit {
        /// The exit code.
        code: i32,
    },
    /// Dies by a signal.
    Die {
        /// Its number.
        signal: i32,
    },
    /// Closes its standard output and lives on.
    CloseStdout,
    /// Stops reading its standard input and lives on.
    CloseStdin,
    /// Writes the first half of its answer, then nothing more of it.
    HalfFrame,
    /// Writes a line that is no JSON.
    Garbage(Text),
    /// Writes so many bytes to its standard error.
    StderrFlood {
        /// How many.
        bytes: u64,
    },
    /// Sends a `session/update` for the request's session.
    Update {
        /// `agent_message_chunk`, `user_message_chunk`, `tool_call`, …
        kind: Text,
        /// The text of a chunk, the title of another kind.
        text: Text,
    },
    /// Replays the session's history now.
    Replay(Replay),
    /// Sends a request of its own and waits for the answer before the next action.
    Request {
        /// `session/request_permission`, …
        method: Text,
    },
    /// From now on `session/cancel` does not end the running prompt.
    IgnoreCancel,
    /// Waits for the director: a crash point or a `release` act lets it go on.
    Gate,
    /// The actions below are for requests that name this session alone, counted from 1 in the
    /// order in which the agent came to know its sessions. Others are answered well.
    OnlySession(u32),
    /// Sends a `session/update` with this body, verbatim, for the request's session.
    UpdateWith(Value),
    /// Sends updates of the request's session in the background, whatever else happens.
    Chatter {
        /// `agent_thought_chunk`, `available_commands_update`, …
        kind: Text,
        /// As in `Update`.
        text: Text,
        /// The gap before each.
        gap_ms: u64,
        /// How many.
        count: u32,
    },
    /// Waits before the next action and serves nothing and nobody meanwhile.
    Block {
        /// How long.
        ms: u64,
    },
}

/// How a load replays the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// All of it, in order, before the answer.
    #[default]
    All,
    /// Nothing.
    None,
    /// Only what the user said.
    OnlyUser,
    /// Only the first so many messages: an older state than the one that was in use.
    First(u32),
    /// Only the last so many messages.
    Last(u32),
    /// Everything twice.
    Twice,
    /// Everything, after the answer; each update so many milliseconds after the one before.
    AfterResponse {
        /// The gap before each update.
        gap_ms: u64,
    },
    /// Updates of another session among them.
    Interleaved,
}
