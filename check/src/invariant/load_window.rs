//! H-41: what the agent asks while a load is open is answered all the same.
//!
//! A request that came in a load must be answered by the time the run comes to rest. An agent
//! that dies unanswered had waited in vain only if it waited long enough for any harness.

use super::{Broken, Invariant, Tally, at};
use crate::facts::Facts;
use crate::facts::ids::ProcessId;
use crate::facts::moment::{Moment, Seen};
use crate::facts::process::AgentAsk;

/// How long a harness may take to answer its agent; real ones answer within milliseconds.
const PATIENCE_MS: u64 = 5_000;

/// The rule; all it needs is in the facts.
pub(crate) struct LoadWindow;

impl Invariant for LoadWindow {
    fn rule(&self) -> &'static str {
        "H-41"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        match &moment.seen {
            Seen::AgentAnswered(ask) if ask.in_load => tally.came_up(),
            Seen::ProcessEnded(process, _) => {
                let waited = |ask: &AgentAsk| moment.at_ms.saturating_sub(ask.at_ms) >= PATIENCE_MS;
                judge(*process, waited, moment, facts, tally);
            }
            Seen::Settled { at_rest: true, .. } => {
                for (process, agent) in facts.processes.iter() {
                    if agent.ended.is_none() {
                        judge(process, |_| true, moment, facts, tally);
                    }
                }
            }
            _ => {}
        }
    }
}

fn judge(
    process: ProcessId,
    waited: impl Fn(&AgentAsk) -> bool,
    moment: &Moment<'_>,
    facts: &Facts,
    tally: &mut Tally,
) {
    let agent = facts.processes.get(process);
    if !facts.lives.get(agent.life).alive() {
        return;
    }
    for ask in agent.asks().filter(|ask| ask.in_load && waited(ask)) {
        tally.came_up();
        tally.broke(|| {
            let asked = at(ask.at_ms);
            let title = "a request of the agent during a load was not answered";
            let detail = format!("{} had asked {asked}", agent.process);
            Broken { record: ask.record, ..Broken::by_harness(moment, title) }.saying(detail)
        });
    }
}
