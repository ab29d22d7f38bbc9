//! How much faster than the wall's clock a run may go.

use skep_plan::{Action, AgentCast, Cast, Replay};

/// The most: a minute of silence is six seconds.
const MOST: u64 = 10;

/// No wait of a script or of a harness becomes shorter than this: a loaded machine takes a few
/// dozen milliseconds for what has no wait at all, and the order of the two must not turn round.
const SHORTEST_MS: u64 = 200;

/// How many times faster a run with this cast goes.
pub(super) fn of(cast: &Cast) -> u32 {
    let scripted = cast.agents.iter().flat_map(waits);
    let limits = cast.harnesses.iter().flat_map(|harness| {
        let settings = &harness.settings;
        [settings.load_timeout_ms, settings.request_timeout_ms, settings.idle_timeout_ms]
    });
    let shortest = scripted.chain(limits).filter(|ms| *ms > 0).min().unwrap_or(u64::MAX);
    let haste = (shortest / SHORTEST_MS).clamp(1, MOST);
    u32::try_from(haste).expect("it has a limit")
}

fn waits(agent: &AgentCast) -> impl Iterator<Item = u64> {
    let actions = agent.script.rules.iter().flat_map(|rule| &rule.actions);
    actions.filter_map(wait).chain(gap(agent.script.replay))
}

fn wait(action: &Action) -> Option<u64> {
    match action {
        Action::Delay { ms } | Action::Block { ms } => Some(*ms),
        Action::Chatter { gap_ms, .. } => Some(*gap_ms),
        Action::Replay(replay) => gap(*replay),
        _ => None,
    }
}

fn gap(replay: Replay) -> Option<u64> {
    match replay {
        Replay::AfterResponse { gap_ms } => Some(gap_ms),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use skep_plan::Rule;

    use super::*;

    fn with(action: Action) -> u32 {
        let mut agent = AgentCast::new("a");
        let method = "session/load".into();
        let actions = vec![action];
        agent.script.rules = vec![Rule { method, nth: None, from: None, process: None, actions }];
        of(&Cast { agents: vec![agent], ..Cast::default() })
    }

    #[test]
    fn the_shortest_wait_keeps_its_length() {
        assert_eq!(of(&Cast::default()), 10);
        assert_eq!(with(Action::Delay { ms: 60_000 }), 10);
        assert_eq!(with(Action::Delay { ms: 1_000 }), 5);
        assert_eq!(with(Action::Replay(Replay::AfterResponse { gap_ms: 100 })), 1);
    }
}
