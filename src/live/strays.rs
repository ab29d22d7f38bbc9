//! What a harness leaves behind: processes that outlive it, in its group or out of it.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use skep_trace::{Record, Trace, What};

use super::Site;
use super::child::AgentState;

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
        let strays = strays(self.folder.path());
        strays.iter().for_each(|pid| stop(*pid));
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

/// Stops every process that has to do with a folder, for the end of the whole run.
pub(super) fn stop_all(folder: &Path) {
    strays(folder).into_iter().for_each(stop);
}

fn stop(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _gone = kill_process(pid, Signal::KILL);
    }
}

/// The processes whose environment names a run's folder, as that of everything does that a harness
/// of the run starts, or that stand in it. Where the system does not tell, none.
fn strays(folder: &Path) -> Vec<u32> {
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != own && belongs(*pid, folder)).collect()
}

#[expect(clippy::disallowed_methods, reason = "the table is the system's, not a file")]
fn belongs(pid: u32, folder: &Path) -> bool {
    let place = PathBuf::from(format!("/proc/{pid}"));
    if std::fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder)) {
        return true;
    }
    let env = std::fs::read(place.join("environ")).unwrap_or_default();
    let name = folder.as_os_str().as_encoded_bytes();
    env.windows(name.len()).any(|part| part == name)
}
