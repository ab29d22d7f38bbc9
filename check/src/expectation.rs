//! What a step of a scenario expects: one value a line.

use std::fmt;

use skep_trace::Text;

/// One `expect` or `never` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// `never`: it must not happen in this step. About a discarded session it holds on to the end
    /// of the scenario; else a later step may do what this one must not.
    pub never: bool,
    /// What is looked for.
    pub wanted: Wanted,
}

/// What an expectation looks for. A field that is `None` is not looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A request or notification of the harness to its agent (`session/load`, …), or of the agent
    /// to the harness (`session/update`).
    Call(WantedCall),
    /// How the turn that holds this step's message ends.
    Turn(WantedTurn),
    /// What the store remembers of a scope once the step is settled.
    Receipt(WantedReceipt),
    /// A file of a state directory once the step is settled.
    File(WantedFile),
    /// An event that the harness published.
    Relay(WantedRelay),
    /// A harness process ended by itself.
    Exit {
        /// Which harness; `None` is any.
        harness: Option<Text>,
        /// Its exit code; `None` is any.
        code: Option<i32>,
    },
    /// The harness reported trouble with its store (H-92, S-30).
    StoreTrouble {
        /// Which harness; `None` is any.
        harness: Option<Text>,
    },
    /// An agent process was started.
    AgentStarted {
        /// Which agent; `None` is any.
        agent: Option<Text>,
        /// How often.
        count: Count,
    },
    /// These happen in this order.
    Order(Vec<WantedCall>),
}

/// A call that is looked for.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WantedCall {
    /// The method.
    pub method: Text,
    /// How often.
    pub count: Count,
    /// The session that it names: a name that an earlier `bind` or `given` made.
    pub session: Option<Text>,
    /// It must name any session but this one.
    pub not_session: Option<Text>,
    /// Gives this name to the session of the (first) call: of `session/new`, the one it answers.
    pub bind: Option<Text>,
    /// Only calls of this harness.
    pub harness: Option<Text>,
    /// Only calls to this agent.
    pub agent: Option<Text>,
    /// Only prompts that hold this message (its label), or that open a session for its scope.
    pub message: Option<Text>,
    /// Only calls whose text (all its parameters) holds this.
    pub text: Option<Text>,
    /// Only calls whose parameter at this path (`_meta.channelType`, `mcpServers`) has this value
    /// as JSON; a text stands for the JSON string, `*` for any value, `-` for none.
    pub params: Vec<(Text, Text)>,
}

/// A turn's end that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedTurn {
    /// The message; `None` is every mention of this step.
    pub message: Option<Text>,
    /// How it ends.
    pub outcome: TurnOutcome,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The prompt that held the message was answered `end_turn`.
    Done,
    /// It was not, and `retryable`: nothing announced its loss and it is still held.
    Failed {
        /// `None` does not look.
        retryable: Option<bool>,
    },
    /// The prompt was answered with this reason (`cancelled`, `max_tokens`).
    Stopped(&'static str),
}

/// A receipt that is looked for.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WantedReceipt {
    /// The harness whose state is looked at; `None` is the only one.
    pub harness: Option<Text>,
    /// The channel.
    pub channel: Option<Text>,
    /// The thread.
    pub root: Option<Text>,
    /// The session that it names.
    pub session: Option<Text>,
    /// The model that it records; empty is the agent's default.
    pub model: Option<Text>,
    /// The permission mode that it records; empty is the agent's default.
    pub mode: Option<Text>,
    /// How many receipts fit.
    pub count: Count,
}

/// A file that is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WantedFile {
    /// The state directory; `None` is the only one.
    pub state: Option<Text>,
    /// Path below it, `*` for any run of characters; `None` is every store file.
    pub path: Option<Text>,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// It is byte-equal to what it was at the end of the step before.
    pub unchanged: bool,
    /// It is a symbolic link (`true`), or is none.
    pub symlink: Option<bool>,
    /// It holds this text.
    pub text: Option<Text>,
    /// How many files fit.
    pub count: Count,
}

/// A published event that is looked for.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WantedRelay {
    /// Its kind.
    pub kind: Option<u16>,
    /// Its content, opened where it was sealed to the owner, holds this.
    pub text: Option<Text>,
    /// The channel in its `h` tag.
    pub channel: Option<Text>,
    /// Which harness published it.
    pub harness: Option<Text>,
    /// How often.
    pub count: Count,
}

/// How often something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least so often.
    pub at_least: u32,
    /// At most so often; `None` has no limit.
    pub at_most: Option<u32>,
}

impl Default for Count {
    /// At least once.
    fn default() -> Self {
        Self { at_least: 1, at_most: None }
    }
}

impl Count {
    /// Exactly so often.
    pub fn exactly(count: u32) -> Self {
        Self { at_least: count, at_most: Some(count) }
    }

    /// It is reached, though it may yet be passed.
    pub fn reached(self, seen: u32) -> bool {
        seen >= self.at_least
    }

    /// It holds, if nothing more comes.
    pub fn holds(self, seen: u32) -> bool {
        self.reached(seen) && self.at_most.is_none_or(|most| seen <= most)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (1, None) => f.write_str("at least once"),
            (0, None) => f.write_str("any number of times"),
            (least, None) => write!(f, "at least {least} times"),
            (0, Some(0)) => f.write_str("never"),
            (least, Some(most)) if least == most && least == 1 => f.write_str("once"),
            (least, Some(most)) if least == most => write!(f, "{least} times"),
            (0, Some(most)) => write!(f, "at most {most} times"),
            (least, Some(most)) => write!(f, "{least} to {most} times"),
        }
    }
}
