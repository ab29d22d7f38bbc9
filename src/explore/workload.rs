//! A random workload, as data: the ground that it stands on, and what happens there.
//!
//! An operation is raw: it says what is wanted, not what must follow. What makes no sense where it
//! comes (a rotate of a conversation that nobody began) is left out when the workload is told as a
//! [story](super::story).

/// What is drawn from a seed and made smaller when it fails.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Who takes part, and how they are set up.
    pub ground: Ground,
    /// What happens, in order.
    pub ops: Vec<Op>,
    /// Where the lengths of hops are drawn from, where they differ.
    pub schedule: u8,
}

/// Who takes part, and how they are set up. Every field's default is the plain case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// A session belongs to a thread, not to a channel.
    pub threads: bool,
    /// Sessions bring an MCP server along.
    pub tools: bool,
    /// The observer feed is on.
    pub feed: bool,
    /// What the agent offers to choose from.
    pub choice: Choice,
    /// Turns after which a session is rotated; 0 is never.
    pub max_turns: u8,
    /// Heartbeats come.
    pub heartbeat: bool,
    /// How many harnesses share the state directory.
    pub pair: Pair,
    /// How much longer a hop may take, in milliseconds.
    pub spread_ms: u8,
}

/// What an agent offers to choose from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    #[default]
    Nothing,
    /// Two models.
    Models,
    /// Two permission modes.
    Modes,
    /// Two models, of which it takes none when asked.
    RefusedModels,
}

/// How many harnesses share the state directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pair {
    /// One has it for itself.
    #[default]
    One,
    /// Two of one identity.
    Twins,
    /// Two identities.
    Strangers,
    /// One identity on two relays.
    Neighbours,
}

/// Where something is said: all three are taken modulo what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The channel.
    pub channel: u8,
    /// The thread; 0 is the top of the channel.
    pub thread: u8,
    /// The harness that hears it.
    pub harness: u8,
}

/// How a mention is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dress {
    /// As everybody does.
    #[default]
    Plain,
    /// The thread's id in capitals.
    UpperRoot,
    /// The thread's id in capitals and small letters.
    MixedRoot,
    /// The thread is marked by the root alone.
    RootOnly,
    /// The thread is marked by a reply alone.
    ReplyOnly,
    /// The tag has no marker: it is in no thread.
    Unmarked,
    /// Positional tags: it is in no thread.
    Positional,
    /// It answers a message of the thread.
    Nested,
    /// A guest says `!rotate`, which is a message.
    GuestsCommand,
}

/// What the agent does with the load that a mention leads to, if it leads to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadFault {
    /// It answers well.
    #[default]
    None,
    /// It does not know the session.
    NotFound,
    /// It fails.
    Refused,
    /// `null` is its answer.
    Null,
    /// Its answer names another session.
    OtherId,
    /// It does not answer, so many times.
    Hang(u8),
    /// It exits, so many times.
    Exit(u8),
    /// It answers after the deadline.
    Late,
    /// It takes long, and talks meanwhile.
    Talks,
    /// It talks without an end.
    TalksForEver,
    /// It asks something itself.
    Asks,
    /// The history comes after the answer.
    Trickles,
    /// The history comes twice.
    Twice,
}

/// What becomes of the turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnFault {
    /// It ends well.
    #[default]
    None,
    /// The session's room is used up.
    MaxTokens,
    /// The session's requests are used up.
    MaxRequests,
    /// The agent answers with an error once.
    Error,
    /// The agent dies under it.
    Dies,
    /// The agent answers and exits.
    DiesAfter,
}

/// What the relay does around a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelayTrouble {
    /// Nothing.
    #[default]
    None,
    /// Delivers twice.
    Duplicate,
    /// Loses the connection.
    Disconnect,
    /// Is away for half a minute.
    Away,
    /// Delivers late.
    Delay,
    /// Asks for authentication again.
    ReAuth,
    /// Refuses for a while.
    RateLimit,
    /// Says late that all old events were sent.
    SlowEose,
    /// Closes the subscription.
    CloseSubscription,
}

/// What comes while a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// A second message.
    Mention,
    /// `!rotate`.
    Rotate,
    /// `!cancel`.
    Cancel,
    /// The owner switches the model.
    Switch,
}

/// What is changed before a harness starts again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    #[default]
    None,
    /// The other model, or the other permission mode.
    Choice,
    /// Another title, which matters to nobody.
    Title,
    /// Resume is switched off, or on again.
    Resume,
    /// The agent no longer offers to load, or does again.
    LoadSession,
}

/// How a harness goes down and comes up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Down {
    /// It is killed.
    #[default]
    Killed,
    /// It is asked to end.
    Stopped,
    /// It is away for forty days.
    Long,
}

/// A point at which a harness is killed; which ones there are depends on what it is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// While it opens, loads or prompts.
    Early,
    /// When that was answered.
    Answered,
    /// While the receipt is written.
    TempWritten,
    /// When it was renamed.
    Renamed,
    /// When it is stored.
    Stored,
    /// When the prompt was sent.
    PromptSent,
    /// When the power fails then.
    PowerLoss,
}

/// What happens to the store's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Junk in the middle.
    Corrupt,
    /// Its end is cut off.
    Truncate,
    /// NUL bytes follow.
    NulTail,
    /// A second value follows.
    Garbage,
    /// It is gone.
    Delete,
    /// It is readable by all.
    Chmod,
    /// A newer version wrote it.
    Newer,
    /// It is a link.
    Symlink,
    /// It holds something else, which is to be kept.
    Precious,
}

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A mention.
    Mention {
        /// Where.
        spot: Spot,
        /// How it is written.
        dress: Dress,
        /// What the agent does with its load.
        load: LoadFault,
        /// What becomes of its turn.
        turn: TurnFault,
        /// What the relay does.
        relay: RelayTrouble,
    },
    /// Several mentions at one instant.
    Burst {
        /// Where.
        spots: [Spot; 3],
    },
    /// A turn runs, and something comes in between.
    Busy {
        /// Where.
        spot: Spot,
        /// What.
        then: Meanwhile,
    },
    /// The owner rotates.
    Rotate {
        /// Where.
        spot: Spot,
        /// The disk is full meanwhile.
        full: bool,
    },
    /// The agent leaves a channel and comes back.
    Leave {
        /// Which.
        channel: u8,
    },
    /// The owner switches the model of an idle session.
    Switch {
        /// Where.
        spot: Spot,
    },
    /// A harness starts again.
    Restart {
        /// Which.
        harness: u8,
        /// How it went down.
        down: Down,
        /// What changed.
        change: Change,
    },
    /// A harness is killed at a point of a mention, and starts again.
    Crash {
        /// Where.
        spot: Spot,
        /// At which point.
        at: Death,
    },
    /// Something happens to the file behind the harness's back.
    Disk {
        /// What.
        damage: Damage,
        /// Where the next mention is.
        spot: Spot,
    },
    /// A mention while nothing can be written.
    Full {
        /// Where.
        spot: Spot,
        /// The directory is read-only; else the disk is full.
        read_only: bool,
    },
    /// Time passes.
    Idle,
    /// One twin's load is refused when the other has long opened a session.
    Overtaken {
        /// Where.
        spot: Spot,
    },
}

/// The kinds of operations: what a swarm is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// [`Op::Mention`].
    Mention,
    /// [`Op::Burst`].
    Burst,
    /// [`Op::Busy`].
    Busy,
    /// [`Op::Rotate`].
    Rotate,
    /// [`Op::Leave`].
    Leave,
    /// [`Op::Switch`].
    Switch,
    /// [`Op::Restart`].
    Restart,
    /// [`Op::Crash`].
    Crash,
    /// [`Op::Disk`].
    Disk,
    /// [`Op::Full`].
    Full,
    /// [`Op::Idle`].
    Idle,
    /// [`Op::Overtaken`].
    Overtaken,
}

impl Kind {
    /// All of them, the plainest first.
    pub const ALL: [Self; 12] = [
        Self::Mention,
        Self::Restart,
        Self::Rotate,
        Self::Idle,
        Self::Burst,
        Self::Busy,
        Self::Leave,
        Self::Switch,
        Self::Crash,
        Self::Disk,
        Self::Full,
        Self::Overtaken,
    ];
}
