//! What the director does: one value a line of a step.

use std::fmt;

use skep_trace::Text;

/// One act.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Starts harnesses that are not running.
    Start(Vec<Text>),
    /// TERM, then waits for the exit.
    Stop(Vec<Text>),
    /// KILL.
    Kill {
        /// Whom.
        harnesses: Vec<Text>,
        /// Also everything that they started.
        group: bool,
    },
    /// Kill, downtime, start.
    Restart {
        /// Whom.
        harnesses: Vec<Text>,
        /// How long they are down; `None` is longer than the profile's delivery overlap.
        downtime_ms: Option<u64>,
    },
    /// SIGSTOP.
    Pause(Vec<Text>),
    /// SIGCONT.
    Continue(Vec<Text>),
    /// A person writes a message.
    Say(Message),
    /// The owner switches the model by a control frame.
    SwitchModel {
        /// On which harness.
        harness: Option<Text>,
        /// In which channel.
        channel: Text,
        /// To which model.
        model: Text,
    },
    /// Changes a setting; it counts from the next start on.
    Set {
        /// Of which harness.
        harness: Text,
        /// The setting.
        key: Text,
        /// Its new value.
        value: Text,
    },
    /// The agent's next processes advertise something else (`load-session`).
    SetAgent {
        /// Of which agent.
        agent: Text,
        /// The capability.
        key: Text,
        /// Its new value, as JSON text.
        value: Text,
    },
    /// Something goes wrong at the relay.
    Relay(RelayFault),
    /// The agent joins (`true`) or leaves (`false`) a channel.
    Membership {
        /// Which channel.
        channel: Text,
        /// Joins.
        joins: bool,
    },
    /// Something happens to a state directory behind the harness's back.
    Disk {
        /// Which directory.
        state: Text,
        /// What.
        op: DiskOp,
    },
    /// Lets time pass.
    RunFor {
        /// How much.
        ms: u64,
    },
    /// Kills a harness when it reaches a point; comes before the act that takes it there.
    Crash {
        /// Whom; `None` is the only one.
        harness: Option<Text>,
        /// Where.
        at: Point,
        /// Power loss: what was not synced is lost as well (sim only).
        power: bool,
    },
    /// Lets an agent that waits at a gate go on.
    Release(Text),
    /// Several acts at the same instant.
    Together(Vec<Act>),
}

/// A message to a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// A name for it (`as="m1"`), to refer to it later.
    pub label: Option<Text>,
    /// The channel.
    pub channel: Text,
    /// The thread that it belongs to: the name of a thread or of an earlier message.
    pub root: Option<Text>,
    /// The message that it answers, where that is not the root.
    pub reply_to: Option<Text>,
    /// How the root's id is spelled.
    pub spelling: Spelling,
    /// How the channel's id is spelled in the `h` tag.
    pub channel_spelling: Spelling,
    /// How the agent's key is spelled in the `p` tag.
    pub key_spelling: Spelling,
    /// How the thread is marked.
    pub form: TagForm,
    /// Who writes; `None` is the owner.
    pub by: Option<Text>,
    /// The harness that the relay delivers it to; `None` is all with that identity.
    pub to: Option<Text>,
    /// The relay that it is published on; `None` is the addressed harness's, or the first.
    pub relay: Option<Text>,
    /// It names the agent (a mention).
    pub mention: bool,
    /// Its text; `None` is made from its place in the scenario.
    pub text: Option<Text>,
}

impl Message {
    /// A mention by the owner at the top of a channel.
    pub fn mention(channel: &str) -> Self {
        Self {
            label: None,
            channel: channel.into(),
            root: None,
            reply_to: None,
            spelling: Spelling::Lower,
            channel_spelling: Spelling::Lower,
            key_spelling: Spelling::Lower,
            form: TagForm::Marked,
            by: None,
            to: None,
            relay: None,
            mention: true,
            text: None,
        }
    }
}

/// How hex (or a UUID) is spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// All lower case.
    #[default]
    Lower,
    /// All upper case.
    Upper,
    /// Every other letter in upper case.
    Mixed,
}

impl Spelling {
    /// The words that scenarios use.
    pub const WORDS: &[&str] = &["lower", "upper", "mixed"];

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "lower" => Some(Self::Lower),
            "upper" => Some(Self::Upper),
            "mixed" => Some(Self::Mixed),
            _ => None,
        }
    }

    /// Spells a lower-case id this way.
    pub fn apply(self, id: &str) -> String {
        match self {
            Self::Lower => id.to_ascii_lowercase(),
            Self::Upper => id.to_ascii_uppercase(),
            Self::Mixed => mix(id),
        }
    }
}

fn mix(id: &str) -> String {
    let mut upper = false;
    let flip = |letter: char| {
        upper ^= letter.is_ascii_alphabetic();
        if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
    };
    id.chars().map(flip).collect()
}

/// How a thread is marked in the tags (NIP-10 and what is found in the wild, case E11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TagForm {
    /// `reply` alone for a direct reply, `root` and `reply` for a nested one.
    #[default]
    Marked,
    /// Only a `root` marker.
    RootOnly,
    /// Only a `reply` marker.
    ReplyOnly,
    /// `root` and `reply` with the same id.
    Both,
    /// Two unmarked, positional tags.
    Positional,
    /// A single unmarked tag.
    Unmarked,
    /// A `mention` marker before an unmarked tag.
    MentionFirst,
    /// The `root` marker in the fifth place.
    FifthSlot,
    /// A 63-digit id.
    Short,
    /// 64 characters that are no hex.
    NotHex,
    /// An empty id.
    Empty,
}

impl TagForm {
    /// The words that scenarios use, and what each stands for.
    pub const WORDS: &[(&str, Self)] = &[
        ("marked", Self::Marked),
        ("root-only", Self::RootOnly),
        ("reply-only", Self::ReplyOnly),
        ("both", Self::Both),
        ("positional", Self::Positional),
        ("unmarked", Self::Unmarked),
        ("mention-first", Self::MentionFirst),
        ("fifth-slot", Self::FifthSlot),
        ("short", Self::Short),
        ("not-hex", Self::NotHex),
        ("empty", Self::Empty),
    ];
}

/// Something that goes wrong at the relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelayFault {
    /// Closes the connections of a harness, or of all.
    Disconnect {
        /// Whose.
        harness: Option<Text>,
    },
    /// Loses the next so many events that it would have delivered live.
    Drop {
        /// How many.
        count: u32,
    },
    /// Delivers the next so many events twice.
    Duplicate {
        /// How many.
        count: u32,
    },
    /// Delivers everything later.
    Delay {
        /// By how much.
        ms: u64,
    },
    /// Holds the next event back until the one after it was delivered.
    Reorder,
    /// Closes a channel's subscription with this message.
    CloseSubscription {
        /// Which channel's.
        channel: Text,
        /// Why, as the wire says it.
        message: Text,
    },
    /// Asks for authentication again, with a new challenge.
    ReAuth,
    /// Refuses for so many seconds.
    RateLimit {
        /// For how long.
        seconds: u64,
    },
    /// Sends the end of stored events late.
    SlowEose {
        /// By how much.
        ms: u64,
    },
    /// Closes every connection and refuses new ones for a while; keeps its events.
    Restart {
        /// For how long.
        down_ms: u64,
    },
}

/// Something that happens to a state directory behind the harness's back. Where no path is meant,
/// it happens to every store file in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskOp {
    /// Overwrites the middle of the file with junk.
    Corrupt,
    /// Cuts so many bytes off the end.
    Truncate {
        /// How many.
        bytes: u64,
    },
    /// Appends so many NUL bytes.
    NulTail {
        /// How many.
        bytes: u64,
    },
    /// Appends a second, broken value.
    AppendGarbage,
    /// Changes the permission bits.
    Chmod {
        /// The new bits.
        mode: u32,
    },
    /// Moves the file away and puts a symbolic link to it in its place.
    Symlink,
    /// No write finds room (`true`), or room is made (`false`).
    Fill(bool),
    /// The directory refuses writes (`true`), or takes them again.
    ReadOnly(bool),
    /// Remembers the whole directory under a name.
    Snapshot(Text),
    /// Puts back what was remembered.
    Restore(Text),
    /// Deletes the file.
    Delete,
    /// Writes the file anew.
    Write(Box<[u8]>),
}

/// Where a harness can be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// `session/new` was sent, its answer is not yet read.
    NewSent,
    /// `session/new` was answered; nothing about it is stored yet, or it is just being stored.
    NewAnswered,
    /// `session/load` was sent, nothing came back.
    LoadSent,
    /// In the middle of the replay.
    MidReplay,
    /// The load was answered, nothing is prompted yet.
    LoadAnswered,
    /// A prompt was sent, nothing came back.
    PromptSent,
    /// A prompt was answered.
    PromptAnswered,
    /// The store's temporary file was written, not renamed.
    TempWritten,
    /// The store's temporary file was renamed over the old one, the directory not yet synced.
    Renamed,
    /// The store's operation is complete and acknowledged.
    Stored,
}

impl Point {
    /// The words that scenarios use, and what each stands for.
    pub const WORDS: &[(&str, Self)] = &[
        ("new-sent", Self::NewSent),
        ("new-answered", Self::NewAnswered),
        ("load-sent", Self::LoadSent),
        ("mid-replay", Self::MidReplay),
        ("load-answered", Self::LoadAnswered),
        ("prompt-sent", Self::PromptSent),
        ("prompt-answered", Self::PromptAnswered),
        ("temp-written", Self::TempWritten),
        ("renamed", Self::Renamed),
        ("stored", Self::Stored),
    ];

    /// The word that scenarios use.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// It lies inside the store, where only our own processes can be stopped.
    pub fn in_store(self) -> bool {
        matches!(self, Self::TempWritten | Self::Renamed | Self::Stored)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_know_their_words() {
        for (word, point) in Point::WORDS {
            assert_eq!(point.word(), *word);
        }
    }

    #[test]
    fn mixed_spelling_changes_case_only() {
        let id = "ab01cdef";
        assert_eq!(Spelling::Mixed.apply(id), "Ab01CdEf");
        assert_eq!(Spelling::Mixed.apply(id).to_lowercase(), id);
    }
}
