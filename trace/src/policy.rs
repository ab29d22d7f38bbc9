//! The choices a harness may make where public harnesses disagree.
//!
//! Each policy is a small enum whose [`Display`](std::fmt::Display) is the word that scenarios
//! and profiles use, and whose `parse` reads it back.

use std::fmt;

/// All policies of one harness. The default is the reference profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Policies {
    /// What a session belongs to.
    pub session_scope: SessionScope,
    /// What an unanswered load means.
    pub indeterminate: Indeterminate,
    /// Which error answers to a load are definitive.
    pub error_class: ErrorClass,
    /// What two processes with one state directory promise each other.
    pub overlap: Overlap,
    /// What a cancelled turn does to its session.
    pub cancel: Cancel,
    /// What a second message does to a running turn.
    pub in_flight: InFlight,
    /// Which messages the harness must not lose.
    pub delivery: Delivery,
    /// Which configuration must match for a receipt to be used.
    pub compatibility: Compatibility,
}

/// Declares a policy whose values are plain words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, PartialOrd, Ord)]
        pub enum $name { $($(#[$value_doc])* $value,)+ }

        impl $name {
            /// Every word that [`Self::parse`] reads.
            pub const WORDS: &[&str] = &[$($word,)+];

            /// Reads the word that scenarios and profiles use.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$value),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$value => $word,)+ })
            }
        }
    };
}

words! {
    /// What one session belongs to.
    SessionScope {
        /// One session a channel, whatever the threads (H-50).
        #[default]
        Channel = "channel",
        /// One session a (channel, canonical root) (H-51).
        Thread = "thread",
    }
}

words! {
    /// Which JSON-RPC error answers to a load are definitive (H-5).
    ErrorClass {
        /// Every error is: the agent answered.
        #[default]
        Answered = "answered",
        /// Only a not-found answer is; others are indeterminate.
        NotFound = "not-found",
        /// None is; only the owner's rotate frees the scope.
        None = "none",
    }
}

words! {
    /// What two processes with one state directory promise each other.
    Overlap {
        /// Re-read under a lock, apply one operation, replace.
        #[default]
        Merge = "merge",
        /// One owner a scope; others refuse.
        Lease = "lease",
    }
}

words! {
    /// What a cancelled turn does to its session.
    Cancel {
        /// The session is dropped with the turn.
        #[default]
        Discard = "discard",
        /// The session is kept.
        Keep = "keep",
    }
}

words! {
    /// What a second message does to a running turn.
    InFlight {
        /// It waits for the turn to end.
        #[default]
        Queue = "queue",
        /// It is handed into the running turn.
        Steer = "steer",
        /// The turn is cancelled; both go into a new prompt.
        Interrupt = "interrupt",
    }
}

words! {
    /// Which configuration must match for a receipt to be used (H-8).
    Compatibility {
        /// Model and permission mode.
        #[default]
        ModelMode = "model+mode",
        /// Also command, arguments, prompt and MCP servers.
        Full = "full",
    }
}

/// What an unanswered load means (H-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indeterminate {
    /// After so many attempts in a row, forget and open fresh.
    Bounded(u32),
    /// Never ages into deletion or a competing session.
    Retain,
    /// Any failure opens fresh.
    Fork,
}

impl Default for Indeterminate {
    fn default() -> Self {
        Self::Bounded(3)
    }
}

impl Indeterminate {
    /// The shapes that [`Self::parse`] reads.
    pub const WORDS: &[&str] = &["bounded(3)", "retain", "fork"];

    /// Reads the word that scenarios and profiles use.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "retain" => Some(Self::Retain),
            "fork" => Some(Self::Fork),
            _ => argument(word, "bounded").filter(|count| *count > 0).map(Self::Bounded),
        }
    }
}

impl fmt::Display for Indeterminate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bounded(attempts) => write!(f, "bounded({attempts})"),
            Self::Retain => f.write_str("retain"),
            Self::Fork => f.write_str("fork"),
        }
    }
}

/// Which messages the harness must not lose (H-80).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// What the relay delivers while it runs, plus so many seconds before its start.
    Live(u32),
    /// Everything since the newest handled event, after any downtime.
    Durable,
}

impl Default for Delivery {
    fn default() -> Self {
        Self::Live(5)
    }
}

impl Delivery {
    /// The shapes that [`Self::parse`] reads.
    pub const WORDS: &[&str] = &["live(5)", "durable"];

    /// Reads the word that scenarios and profiles use.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "durable" => Some(Self::Durable),
            _ => argument(word, "live").map(Self::Live),
        }
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live(overlap_s) => write!(f, "live({overlap_s})"),
            Self::Durable => f.write_str("durable"),
        }
    }
}

/// The number in `name(number)`.
fn argument(word: &str, name: &str) -> Option<u32> {
    word.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        for word in ["bounded(3)", "bounded(7)", "retain", "fork"] {
            assert_eq!(Indeterminate::parse(word).unwrap().to_string(), word);
        }
        for word in SessionScope::WORDS {
            assert_eq!(SessionScope::parse(word).unwrap().to_string(), *word);
        }
        assert_eq!(Delivery::parse("live(5)"), Some(Delivery::Live(5)));
        assert_eq!(Indeterminate::parse("bounded(0)"), None);
        assert_eq!(ErrorClass::parse("any"), None);
    }
}
