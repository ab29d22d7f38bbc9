//! Everything that is worth reaching sometimes. What was never reached in a sweep is told: a rule
//! that held where nothing happened says nothing.

/// Every mark that a workload can set, in the order of the alphabet.
pub const WORKLOAD: &[&str] = &[
    "burst/of-one",
    "burst/of-two",
    "busy/cancel",
    "busy/mention",
    "busy/rotate",
    "busy/switch",
    "change/choice",
    "change/load-session",
    "change/resume",
    "change/title",
    "crash/load-answered",
    "crash/load-sent",
    "crash/mid-replay",
    "crash/new-answered",
    "crash/new-sent",
    "crash/power-loss",
    "crash/prompt-answered",
    "crash/prompt-sent",
    "crash/renamed",
    "crash/stored",
    "crash/temp-written",
    "disk/chmod",
    "disk/corrupt",
    "disk/delete",
    "disk/full",
    "disk/garbage",
    "disk/newer",
    "disk/nul-tail",
    "disk/precious",
    "disk/read-only",
    "disk/symlink",
    "disk/truncate",
    "dress/guests-command",
    "dress/mixed",
    "dress/nested",
    "dress/plain",
    "dress/positional",
    "dress/reply-only",
    "dress/root-only",
    "dress/unmarked",
    "dress/upper",
    "idle",
    "leave",
    "load/asks",
    "load/exits",
    "load/hangs",
    "load/late",
    "load/not-found",
    "load/null",
    "load/other-id",
    "load/refused",
    "load/talks",
    "load/talks-for-ever",
    "load/trickles",
    "load/twice",
    "overtaken",
    "relay/away",
    "relay/close-subscription",
    "relay/delay",
    "relay/disconnect",
    "relay/duplicate",
    "relay/rate-limit",
    "relay/re-auth",
    "relay/slow-eose",
    "restart/kill",
    "restart/long",
    "restart/stop",
    "rotate/full",
    "rotate/idle",
    "rotate/of-disk",
    "switch/idle",
    "turn/dies",
    "turn/dies-after",
    "turn/error",
    "turn/limit",
    "turn/max-requests",
    "turn/max-tokens",
];

/// The family of a mark: the word before its dash.
pub fn family(mark: &str) -> &str {
    mark.split('/').next().unwrap_or(mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{draw, story};

    #[test]
    fn every_goal_is_reached_and_nothing_else() {
        let mut reached = std::collections::BTreeSet::new();
        for seed in 0..12_000 {
            reached.extend(story::tell(&draw::tree(seed).current(), "x").marks);
        }
        assert!(WORKLOAD.is_sorted());
        assert_eq!(reached.into_iter().collect::<Vec<_>>(), WORKLOAD);
    }
}
