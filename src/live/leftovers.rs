//! What a harness leaves behind: processes that outlive it, in its group or out of it.

use skep_trace::{Record, Trace, What};

use super::child::AgentState;
use super::{Site, strays};

impl Site {
    /// Tells of what outlived its harness: agents, and other processes that it started.
    pub(super) fn leftovers(&self) {
        for host in 0..self.shared.lanes() {
            let left = self
                .shared
                .with_lane(host, |lane| lane.past.iter().filter(|group| group.lives()).count());
            if left > 0 {
                self.remark(host, "processes that it started outlived it; they are stopped now");
            }
        }
        let over = |agent: &&AgentState| {
            let current = (0..self.shared.lanes())
                .any(|host| self.shared.runs(host) && self.shared.life(host) == agent.harness);
            !agent.ended() && !current
        };
        let outlived = self.shared.with_agents(|agents| {
            let left = agents.iter().filter(over);
            left.map(|agent| (agent.process.to_string(), agent.harness.to_string()))
                .collect::<Vec<_>>()
        });
        for (agent, harness) in outlived {
            let text = format!("its agent {agent} outlived it; it is stopped now");
            self.shared.note(What::Finding { actor: harness.into(), text: text.into() });
        }
    }

    /// Stops what left its group to live on, and tells of it. Called when everything else is gone.
    pub(super) fn sweep(&self, trace: &mut Trace) {
        let strays = strays::stop_all(self.folder.path());
        let Some(life) = (0..self.shared.lanes()).map(|host| self.shared.life(host)).next() else {
            return;
        };
        if !strays.is_empty() {
            let at_ms = trace.records.last().map_or(0, |record| record.at_ms);
            let text = format!("{} of its processes hid from its end; stopped now", strays.len());
            let (actor, text) = (life.to_string().into(), text.into());
            trace.records.push(Record { at_ms, what: What::Finding { actor, text } });
        }
    }
}
