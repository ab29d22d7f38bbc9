//! Every rule that a check or a scenario speaks of, with what it means in one line.

/// A numbered rule of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its number: `H-…` for harnesses, `S-…` for stores.
    pub id: &'static str,
    /// What it asks for.
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
    "H-1": "after a restart the remembered session is loaded once, first, and none is opened",
    "H-2" always: "an agent that did not offer loadSession is never asked to load",
    "H-3": "a load carries the directory and the MCP servers that a new session would get",
    "H-4": "a resumed session starts with fresh delivery state and without a zero usage baseline",
    "H-5": "a definitive refusal forgets the receipt and opens one fresh session in the same turn",
    "H-6": "an unanswered load keeps the receipt, opens no session, fails the turn retryably",
    "H-7": "a load answered after its deadline changes nothing",
    "H-8": "a receipt made under another model or permission mode is not even tried",
    "H-9": "only configuration that the agent accepted is recorded",
    "H-10": "with resume switched off nothing is read or written",
    "H-11": "heartbeat sessions are never stored",
    "H-12": "any result of a load is success, and the session is the one that was asked for",
    "H-13" always: "a prompt goes only to a session created or loaded on this agent connection",
    "H-14": "the time limit of a load counts silence; a hard cap ends it all the same",
    "H-20" always: "after a discard the next turn does not run on the discarded session",
    "H-21" always: "a discarded session comes back neither from the disk nor from a sibling",
    "H-22" always: "an agent's death costs no session: the next process is asked to load it",
    "H-23": "discarding one scope leaves the receipts of all others alone",
    "H-24": "a discarded session is closed and deleted where the agent supports it",
    "H-25": "a discard that is not durable counts in memory, is reported and tried again",
    "H-30": "a new session says which channel it is for",
    "H-31": "fresh and resumed sessions of a public channel get one origin, others none",
    "H-32": "a rotation tells an agent that keys its own state by channel",
    "H-40" always: "history replayed during a load is never published",
    "H-41" always: "what the agent asks during a load is answered",
    "H-42": "the replay window closes on every way out; live output may repeat old text",
    "H-43": "history that trickles in after the load's answer does not become output",
    "H-50": "under the channel policy a channel has one session, whatever its threads",
    "H-51": "under the thread policy every channel and canonical root has one session",
    "H-52": "a direct message is one conversation",
    "H-53" always: "ids compare by value: two spellings of a root are one thread",
    "H-54": "a nested reply belongs to its marked root; unmarked tags count for nothing",
    "H-55": "a message for a busy scope waits, and opens no second session",
    "H-56": "commands reach exactly the scope in which they were sent",
    "H-57": "a turn that dies frees its scope at once, and its batch is retried",
    "H-58": "an interrupted turn that must wait keeps everything",
    "H-59": "a thread's prompt carries that thread's messages only, each once",
    "H-60": "typing is shown per scope",
    "H-61": "the backlog cap of a channel bounds all its threads together",
    "H-62": "leaving a channel drops every thread under it",
    "H-70": "two processes that write different scopes lose neither",
    "H-71": "a failed load removes a receipt only while it still names that session",
    "H-72": "a process killed at any point leaves a store that the other reads whole",
    "H-73" always: "a session is used only under the relay, key and conversation it was made in",
    "H-80" always: "every message reaches the agent, or its loss is announced",
    "H-81" always: "a message is prompted once, unless that prompt failed",
    "H-82": "after a reconnect the gap is fetched, and nothing is doubled",
    "H-83" always: "no two turns of one scope run at the same time in one process",
    "H-90" always: "the state directory is private, whole and tidy after every step",
    "H-91" always: "no key, token, credential or prompt text is written to the state directory",
    "H-92": "a store that fails costs no turn and is reported",
    "S-1": "what a put acknowledged is found again, also after a reopen",
    "S-2": "a remove is durable; removing what is absent is no error",
    "S-3": "a conditional remove compares under the same lock as its write",
    "S-4": "another scope's file is treated as empty and left as it is",
    "S-5": "a receipt with another model or mode is reported, not returned",
    "S-6": "opening and reading leave the file byte-equal",
    "S-7": "keys compare by value, session ids byte by byte",
    "S-8": "entries age out after their life; a clock that jumps forgets nothing",
    "S-10": "no acknowledged write of one key is undone by a write of another",
    "S-11": "on one key the last acknowledged operation wins",
    "S-12": "a lock dies with its holder, and waiting for it is bounded",
    "S-13": "no reader ever sees half a file",
    "S-20": "after a crash the file is the old one or the new one, whole",
    "S-21": "what was acknowledged before a crash is there after it",
    "S-22": "leftover temporary files are ignored, and cleaned up some time",
    "S-23": "a temporary name is unique and created exclusively",
    "S-30": "a damaged or oversized file opens as empty, with a warning, without a crash",
    "S-31": "a damaged file is set aside before it is replaced; one bad entry loses no other",
    "S-32": "a newer version's file is never overwritten",
    "S-33": "when nothing can be written the old content survives and the error is reported",
    "S-40": "the directory is 0700 and the file 0600 under any umask",
    "S-41": "a symbolic link at any of the paths is refused, or written through by policy",
    "S-42": "what is no regular file of this user is refused at once",
    "S-50": "one operation costs no more than reading and writing the file once",
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
