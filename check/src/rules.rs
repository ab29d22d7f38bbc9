//! Every rule that a check or a scenario speaks of, with what it means in one line.

/// A numbered rule of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number: `H-…` for harnesses, `S-…` for stores, `W-…` for our own simulator.
    pub id: &'static str,
    /// What it demands, in one line that completes "it demands that …".
    pub meaning: &'static str,
    /// It is checked in every run, whatever the scenario expects.
    pub always: bool,
}

/// Declares the rules; `always` marks those that every run is checked against.
macro_rules! rules {
    (@always) => { false };
    (@always always) => { true };
    ($($id:literal $($always:ident)? : $meaning:literal,)+) => {
        /// All rules, in the order of their contracts.
        pub const RULES: &[Rule] =
            &[$(Rule { id: $id, meaning: $meaning, always: rules!(@always $($always)?) },)+];
    };
}

rules! {
    // Resume.
    "H-1": "a restart loads a known scope's session, once, before it prompts, and opens no other",
    "H-2" always: "an agent that does not offer loadSession is never asked to load",
    "H-3": "a load carries the working directory and MCP servers that a new session would get",
    "H-4": "a resumed session starts with fresh delivery state and no zero-usage baseline",
    "H-5": "a refused load forgets the receipt and opens one fresh session within the same turn",
    "H-6": "a load that nobody answers keeps the receipt, opens nothing and loses no message",
    "H-7": "an answer or replay that comes after the load's deadline changes nothing",
    "H-8": "a receipt of another model or permission mode is not loaded",
    "H-9": "only a model and mode that the agent accepted are recorded",
    "H-10": "with resume switched off no receipt is read or written",
    "H-11": "heartbeat sessions are neither stored nor resumed",
    "H-12": "any load result is success, and the session keeps the id that was asked for",
    "H-13" always: "a prompt names only a session that this agent process created or loaded",
    "H-14": "the load's time limit counts silence, and a hard cap ends it all the same",
    // Lifecycle.
    "H-20" always: "whatever ends a session clears it from memory and from disk together",
    "H-21" always: "a discarded session is never loaded or prompted again",
    "H-22" always: "an agent's death leaves the receipt: its successor is asked to load the session",
    "H-23": "discarding one scope's session leaves every other scope's receipt",
    "H-24": "a discarded session is closed and deleted at the agent, and retained ones are bounded",
    "H-25": "a discard that cannot be written is final in memory, is reported, and is tried again",
    // Origin.
    "H-30": "session/new names its channel and the channel's type; a heartbeat names neither",
    "H-31": "a public channel's origin variable is equal for new and load, and absent elsewhere",
    "H-32": "a rotate tells agents that keep state by channel to start afresh",
    // Replay.
    "H-40" always: "history that is replayed in a load is not published, posted, counted or stored again",
    "H-41" always: "during a load its response and the agent's own requests are still answered",
    "H-42": "the replay window closes on every way out, and swallows no live text",
    "H-43": "history that trickles in after the load does not become the next turn's output",
    // Scope and threads.
    "H-50": "under the channel policy a channel has one session, whatever its threads",
    "H-51": "under the thread policy each channel and root has one session of its own",
    "H-52": "a direct conversation is always one scope",
    "H-53" always: "roots are one when their value is, however they are spelled",
    "H-54": "a reply belongs to the thread that its root marker names; unmarked tags name none",
    "H-55": "a message for a busy scope waits for that scope's worker; other scopes go on",
    "H-56": "steering and commands reach the scope that they were sent in, and no other",
    "H-57": "a turn that ends badly frees its own scope at once",
    "H-58": "an interrupted turn that must wait loses neither the request nor what followed it",
    "H-59": "a thread's prompt carries that thread's messages only, each of them once",
    "H-60": "typing is shown for one scope without touching another's",
    "H-61": "the backlog cap of a channel bounds all its threads together",
    "H-62": "leaving a channel drops every scope below it",
    // Overlap.
    "H-70": "two processes that write different scopes lose neither; of one scope the later stays",
    "H-71": "a failed load removes the receipt only while it still names that session",
    "H-72": "a process killed at any point leaves a store that the other can read whole",
    "H-73" always: "communities and agents that share a directory never see each other's receipts",
    // Delivery.
    "H-80" always: "every message that was accepted reaches the agent, or its loss is announced",
    "H-81" always: "one message is not prompted twice in a process's life, unless that prompt failed",
    "H-82": "after a reconnect subscriptions are renewed and the gap is fetched, without doubles",
    "H-83" always: "two turns of one scope never run at once within a process",
    // State on disk.
    "H-90" always: "the store's rules hold for the state directory after every step",
    "H-91" always: "no key, token, prompt or credential is written to the state directory",
    "H-92": "a store that cannot be read or written is reported and costs no turn",
    // The store: meaning.
    "S-1": "what a put acknowledged, a get returns, also after a reopen",
    "S-2": "a remove forgets for good, and removing what is absent is no error",
    "S-3": "a compare-and-remove removes only the session that it expects",
    "S-4": "a file of another relay or agent is taken for empty and left alone",
    "S-5": "a receipt of another model or mode is reported, not returned",
    "S-6": "opening, reading and closing leave the file as it was, byte for byte",
    "S-7": "keys compare by value, and session ids byte by byte",
    "S-8": "a clock that jumps forgets nothing; only long disuse does",
    // The store: concurrency.
    "S-10": "no acknowledged operation is undone by another handle's work on another key",
    "S-11": "of operations on one key the last that was acknowledged counts",
    "S-12": "a lock ends with its holder, and a stuck one delays others only up to a bound",
    "S-13": "no reader ever sees half a file",
    // The store: crash.
    "S-20": "after a crash the file is the one from before or the one from after, whole",
    "S-21": "what was acknowledged before a crash is there after it",
    "S-22": "leftover temporary files are ignored, and cleaned up some time",
    "S-23": "a temporary name is unique and created exclusively",
    // The store: bad input.
    "S-30": "a damaged file opens as empty with a warning, in bounded time and memory",
    "S-31": "a damaged file is set aside before it is replaced, and its good entries are kept",
    "S-32": "the file of a newer version is never overwritten",
    "S-33": "a write that fails leaves the old content and reports the error",
    // The store: permissions.
    "S-40": "the directory is 0700 and the file 0600 under any umask, also after a rewrite",
    "S-41": "a symbolic link in the store's place is refused, and its target left alone",
    "S-42": "a path that is no regular file is refused at once, never waited on",
    // The store: cost.
    "S-50": "an operation on ten thousand entries costs about one read and one write of the file",
    // The simulator.
    "W-1": "one seed gives one trace, byte for byte, wherever and whenever it is played",
}

/// The rule of that number.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_own_number_and_a_meaning() {
        for (place, rule) in RULES.iter().enumerate() {
            assert!(!rule.meaning.is_empty());
            assert_eq!(RULES.iter().position(|other| other.id == rule.id), Some(place));
        }
        assert_eq!(rule("H-13").map(|rule| rule.always), Some(true));
        assert_eq!(rule("H-999"), None);
    }
}
