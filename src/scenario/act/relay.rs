//! What goes wrong at the relay, and who may be in a channel.

use skep_plan::{Act, RelayFault};

use crate::scenario::line::Line;
use crate::scenario::scope::Scope;
use crate::scenario::verb::{self, Verb};

/// Every fault.
pub(in crate::scenario) const FAULTS: &[Verb<RelayFault>] = &[
    Verb::new("disconnect", 0, &["harness"], |line, scope| RelayFault::Disconnect {
        harness: scope.harness_prop(line, "harness"),
    }),
    Verb::new("drop", 0, &["count"], |line, _| RelayFault::Drop { count: count(line) }),
    Verb::new("duplicate", 0, &["count"], |line, _| RelayFault::Duplicate { count: count(line) }),
    Verb::new("delay", 0, &["by"], |line, _| RelayFault::Delay { ms: duration(line, "by") }),
    Verb::new("reorder", 0, &[], |_, _| RelayFault::Reorder),
    Verb::new("close-subscription", 0, &["channel", "message"], close_subscription),
    Verb::new("re-auth", 0, &[], |_, _| RelayFault::ReAuth),
    Verb::new("rate-limit", 0, &["for"], rate_limit),
    Verb::new("slow-eose", 0, &["by"], |line, _| RelayFault::SlowEose { ms: duration(line, "by") }),
    Verb::new("restart", 0, &["down"], |line, _| RelayFault::Restart {
        down_ms: duration(line, "down"),
    }),
];

/// Both ways to change who is in a channel.
const MEMBERSHIP: &[Verb<Act>] = &[
    Verb::new("add", 0, &["channel"], |line, scope| member(line, scope, true)),
    Verb::new("remove", 0, &["channel"], |line, scope| member(line, scope, false)),
];

/// What a relay says of a subscription that it closes, where the scenario does not.
const CLOSED: &str = "restricted: not a member of this channel";

pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> Act {
    let fault = verb::second_word(FAULTS, "no fault of a relay", line, scope);
    Act::Relay(fault.unwrap_or(RelayFault::Reorder))
}

pub(super) fn membership(line: &Line<'_>, scope: &mut Scope) -> Act {
    let act = verb::second_word(MEMBERSHIP, "no change of membership", line, scope);
    act.unwrap_or(Act::Membership { channel: "".into(), joins: false })
}

fn member(line: &Line<'_>, scope: &mut Scope, joins: bool) -> Act {
    Act::Membership { channel: scope.used_channel(line, "\"general\""), joins }
}

fn count(line: &Line<'_>) -> u32 {
    line.count_prop("count").unwrap_or(1)
}

fn duration(line: &Line<'_>, key: &str) -> u64 {
    line.needs(key, "\"5s\"").map_or(0, |value| line.duration(value))
}

fn close_subscription(line: &Line<'_>, scope: &mut Scope) -> RelayFault {
    line.needs("channel", "\"general\"");
    RelayFault::CloseSubscription {
        channel: scope.known_channel(line).unwrap_or_else(|| "".into()),
        message: line.text_prop("message").unwrap_or_else(|| CLOSED.into()),
    }
}

/// The wire counts whole seconds.
fn rate_limit(line: &Line<'_>, _: &mut Scope) -> RelayFault {
    let ms = duration(line, "for");
    if let (Some(value), true) = (line.node.prop("for"), !ms.is_multiple_of(1_000)) {
        let help = format!("write `\"{}s\"`", ms.div_ceil(1_000));
        line.at.error(value.span, "a rate limit lasts whole seconds", "not whole", help);
    }
    RelayFault::RateLimit { seconds: ms / 1_000 }
}
