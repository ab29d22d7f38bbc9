//! What can be done to a harness from outside to see whether anybody notices, as data.
//!
//! A harness that is not ours has no faults to switch on. But whoever stands at its edges can make
//! it look faulty: what passes is changed on its way, so that the harness together with the
//! tampering behaves as one that breaks a rule. A scenario that stays green then can fail at nothing
//! of the kind.

use std::fmt;

/// Where something is tampered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The state directory, while no life is there.
    Disk,
    /// What a harness and its agents say to each other.
    Agent,
    /// What a relay says to a harness.
    Relay,
}

impl Edge {
    /// The word that reports use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Agent => "agent",
            Self::Relay => "relay",
        }
    }
}

/// Declares the tamperings, with their ids, what they do, what that looks like and which rules it
/// breaks.
macro_rules! tamperings {
    ($($name:ident $edge:ident $id:literal $what:literal $like:literal [$($rule:literal)+])+) => {
        /// One tampering.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Tampering {
            $(#[doc = $what] $name,)+
        }

        impl Tampering {
            /// All of them, in the order in which they are tried.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its name.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// Where it happens.
            pub fn edge(self) -> Edge {
                match self { $(Self::$name => Edge::$edge,)+ }
            }

            /// What it does.
            pub fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)+ }
            }

            /// What the harness looks like then.
            pub fn like(self) -> &'static str {
                match self { $(Self::$name => $like,)+ }
            }

            /// The rules that are broken by a harness that is really like that.
            pub fn rules(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($rule,)+],)+ }
            }
        }
    };
}

tamperings! {
    DiskEmpty Disk "disk/empty"
        "the state directory's files are deleted between two lives"
        "it remembers nothing"
        ["H-1" "H-3" "H-5" "H-6" "H-7" "H-8" "H-9" "H-12" "H-14" "H-22" "H-31" "H-40" "H-41" "H-42"
         "H-43" "H-51" "H-53" "H-70" "H-71" "H-80" "H-83" "S-1" "S-6" "S-7" "S-11" "S-31" "S-33"]
    DiskStale Disk "disk/stale"
        "the first state that held anything is put back between two lives"
        "what it forgets comes back, and what it adds is lost"
        ["H-5" "H-6" "H-8" "H-9" "H-20" "H-21" "H-23" "H-25" "H-70" "H-71" "S-1" "S-2" "S-3" "S-11"]
    DiskDropsEntry Disk "disk/drops-an-entry"
        "one entry of several is taken out of the state file between two lives"
        "it loses what another scope remembers"
        ["H-1" "H-23" "H-51" "H-70" "H-73" "S-1" "S-10"]
    DiskOpen Disk "disk/open-to-all"
        "the state files are made readable to everybody between two lives"
        "it writes files that others may read"
        ["H-90" "S-40"]
    LoadUnknown Agent "agent/load-unknown"
        "a session/load is answered with `not found` although the agent knows the session"
        "it takes a good load for a failed one"
        ["H-1" "H-3" "H-6" "H-12" "H-14" "H-22" "H-31" "H-40" "H-41" "H-43"]
    NoLoadSession Agent "agent/no-load-session"
        "the answer to initialize says that the agent cannot load sessions"
        "it does not look at what its agent offers"
        ["H-1" "H-3" "H-5" "H-6" "H-7" "H-8" "H-12" "H-14" "H-22" "H-31" "H-40" "H-42" "H-53"]
    ExtraSession Agent "agent/extra-session"
        "a session is opened before each prompt, and not used"
        "it opens sessions that nobody needs"
        ["H-1" "H-2" "H-5" "H-6" "H-7" "H-11" "H-13" "H-20" "H-22" "H-50" "H-51" "H-52" "H-53" "H-54" "H-55"
         "H-56" "H-62" "H-70" "H-82" "H-90"]
    OneSession Agent "agent/one-session"
        "every prompt goes to the first session of the process"
        "it mixes conversations up"
        ["H-1" "H-11" "H-13" "H-20" "H-21" "H-22" "H-23" "H-51" "H-54" "H-55" "H-56" "H-57" "H-60"]
    NoMeta Agent "agent/no-meta"
        "`_meta` and variables are taken out of session/new and session/load"
        "it does not say where a session belongs"
        ["H-3" "H-30" "H-31" "H-32"]
    LateReplay Agent "agent/late-replay"
        "the history of a load reaches the harness after its answer instead of before"
        "it takes history for news"
        ["H-40" "H-42" "H-43"]
    PromptLost Agent "agent/prompt-lost"
        "the first prompt of each process is answered and never reaches the agent"
        "it loses a message"
        ["H-2" "H-10" "H-11" "H-13" "H-57" "H-58" "H-59" "H-62" "H-72" "H-80" "H-82" "H-92" "S-1" "S-12"]
    PromptTwice Agent "agent/prompt-twice"
        "every prompt reaches the agent twice"
        "it sends one message twice"
        ["H-59" "H-80" "H-81" "H-82" "H-83"]
    NoCancel Agent "agent/no-cancel"
        "a session/cancel never reaches the agent"
        "it does not pass on that a turn is to stop"
        ["H-56" "H-57" "H-58"]
    RequestLost Agent "agent/request-lost"
        "what the agent asks of the harness never reaches it"
        "it leaves its agent without an answer"
        ["H-41"]
    MessageLost Relay "relay/message-lost"
        "the first message to a life never reaches it"
        "it overhears a message"
        ["H-52" "H-53" "H-54" "H-61" "H-80" "H-82" "S-4"]
    MessageTwice Relay "relay/message-twice"
        "every message reaches the harness twice"
        "it does not know a message again"
        ["H-81" "H-82"]
}

impl Tampering {
    /// The one of that name.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().find(|tampering| tampering.id() == id).copied()
    }

    /// It may break what a scenario with these rules is about; on the disk only where there is a
    /// second life to find it.
    pub fn fits<'a>(self, mut rules: impl Iterator<Item = &'a str>, restarts: bool) -> bool {
        let possible = self.edge() != Edge::Disk || restarts;
        possible && rules.any(|rule| self.rules().contains(&rule))
    }
}

impl fmt::Display for Tampering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tampering_has_a_name_that_begins_with_its_edge_and_rules_that_there_are() {
        for tampering in Tampering::ALL {
            assert!(tampering.id().starts_with(&format!("{}/", tampering.edge().word())));
            assert_eq!(Tampering::parse(tampering.id()), Some(*tampering));
            let unknown = tampering.rules().iter().find(|rule| skep_check::rule(rule).is_none());
            assert_eq!(unknown, None, "{tampering}");
        }
    }

    #[test]
    fn the_disk_is_only_tampered_with_between_two_lives() {
        let fits = |restarts| Tampering::DiskEmpty.fits(["H-1"].into_iter(), restarts);
        assert!(fits(true) && !fits(false));
        assert!(!Tampering::DiskEmpty.fits(["H-30"].into_iter(), true));
    }
}
