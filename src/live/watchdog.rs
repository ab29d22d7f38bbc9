//! What becomes of a harness that takes more memory than its profile allows: it is stopped before
//! the machine is.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use skep_trace::What;

use super::shared::Shared;

/// How often is looked. Nothing tells of memory that was taken, so it must be asked for.
const PERIOD: Duration = Duration::from_millis(200);

/// The size of a page where it is not asked for; larger pages only make the bound larger.
const PAGE_BYTES: u64 = 4_096;

/// Watches one process; never done. Where the system does not tell, nothing is watched.
pub(super) async fn watch(shared: Shared, host: usize, pid: u32, most_mib: u64) {
    let mut ticks = tokio::time::interval(PERIOD);
    loop {
        ticks.tick().await;
        let Some(mib) = resident_mib(pid) else { continue };
        if mib > most_mib {
            let actor = shared.life(host).to_string().into();
            let text = format!(
                "it held {mib} MiB of memory, more than the {most_mib} that its profile allows, and was stopped"
            );
            shared.note(What::Finding { actor, text: text.as_str().into() });
            shared.with_lane(host, |lane| {
                if let Some(running) = &lane.running {
                    running.group.signal_all(Signal::KILL);
                }
            });
            return;
        }
    }
}

/// The memory that a process really holds.
#[expect(clippy::disallowed_methods, reason = "the table is the system's, not a file")]
fn resident_mib(pid: u32) -> Option<u64> {
    let table = std::fs::read_to_string(PathBuf::from(format!("/proc/{pid}/statm"))).ok()?;
    Some(pages(&table)? * PAGE_BYTES / (1024 * 1024))
}

/// The second number of the table counts the pages in memory.
fn pages(table: &str) -> Option<u64> {
    table.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_holds_some_memory_and_one_that_is_gone_none() {
        assert!(resident_mib(std::process::id()).is_some());
        assert_eq!(resident_mib(u32::MAX), None);
        assert_eq!(pages("100 25 3"), Some(25));
        assert_eq!(pages(""), None);
    }
}
