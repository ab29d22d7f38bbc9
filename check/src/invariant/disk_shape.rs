//! H-90: after every step the state directory is private, whole and tidy.
//!
//! Directories are 0700 and files 0600 or stricter, `.json` files are whole JSON, no symbolic
//! link and no special file stands there, and nothing temporary is left. What the scenario itself
//! put there is its own affair, wherever the harness moves it, until the harness changes it. What
//! is left of a kill may lie there as well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use skep_trace::{Entry, EntryKind, Snapshot, Text};

use super::{Broken, Invariant, Tally};
use crate::facts::Facts;
use crate::facts::moment::{Moment, Seen};

/// The rule, with what it knows of each state directory.
#[derive(Default)]
pub(crate) struct DiskShape {
    states: BTreeMap<Text, Shape>,
}

/// One state directory.
#[derive(Default)]
struct Shape {
    /// The last look at it.
    last: Arc<Snapshot>,
    /// Temporary files that a kill left.
    leftovers: BTreeSet<Text>,
    /// A harness on it was ended since the last look.
    killed: bool,
}

impl Invariant for DiskShape {
    fn rule(&self) -> &'static str {
        "H-90"
    }

    fn see(&mut self, moment: &Moment<'_>, facts: &Facts, tally: &mut Tally) {
        match &moment.seen {
            Seen::LifeEnded(life) => {
                let state = &facts.lives.home(facts.lives.get(*life).home).state;
                self.states.entry(state.clone()).or_default().killed = true;
            }
            Seen::Disk { state, snapshot, baseline } => {
                let shape = self.states.entry((*state).clone()).or_default();
                let own = facts.states.get(state).and_then(|state| state.baseline.as_deref());
                if !*baseline {
                    tally.came_up();
                    shape.judge(snapshot, own, moment, tally);
                }
                shape.look(snapshot);
            }
            _ => {}
        }
    }
}

impl Shape {
    fn judge(
        &mut self,
        snapshot: &Snapshot,
        baseline: Option<&Snapshot>,
        moment: &Moment<'_>,
        tally: &mut Tally,
    ) {
        if self.killed {
            let temps = snapshot.entries.keys().filter(|path| is_temporary(path));
            self.leftovers.extend(temps.cloned());
        }
        for (path, entry) in &snapshot.entries {
            // What is as it was at the last look is the scenario's doing, or told already.
            if self.last.entries.get(path) == Some(entry) {
                continue;
            }
            if let Some(wrong) = self.wrong(path, entry, baseline) {
                let title = "the state directory is not as it must be";
                tally.broke(|| Broken::by_harness(moment, title).saying(wrong));
            }
        }
    }

    fn wrong(&self, path: &Text, entry: &Entry, baseline: Option<&Snapshot>) -> Option<String> {
        let mode = entry.mode & 0o7777;
        match &entry.kind {
            EntryKind::Symlink(_) => return Some(format!("{path} is a symbolic link")),
            EntryKind::Special => return Some(format!("{path} is a special file")),
            EntryKind::Dir => {
                return (mode & !0o700 != 0)
                    .then(|| format!("the directory {path} has mode {mode:04o}"));
            }
            EntryKind::File { bytes, .. } => {
                let moved = bytes.as_deref().is_some_and(|bytes| is_moved(bytes, mode, baseline));
                if !moved && mode & !0o600 != 0 {
                    return Some(format!("{path} has mode {mode:04o}"));
                }
                let json = path.ends_with(".json") && !moved;
                if json && bytes.as_deref().is_some_and(|bytes| !is_json(bytes)) {
                    return Some(format!("{path} is no whole JSON"));
                }
            }
        }
        let left = is_temporary(path) && !self.leftovers.contains(path);
        left.then(|| format!("{path} was left behind"))
    }

    fn look(&mut self, snapshot: &Arc<Snapshot>) {
        self.killed = false;
        self.leftovers.retain(|path| snapshot.entries.contains_key(path));
        self.last = snapshot.clone();
    }
}

/// These bytes are the scenario's, with the mode that they had there: a damaged file, set aside.
fn is_moved(bytes: &[u8], mode: u32, baseline: Option<&Snapshot>) -> bool {
    let mut files = baseline.into_iter().flat_map(Snapshot::files);
    files.any(|(_, own_mode, own)| own == Some(bytes) && own_mode & 0o7777 == mode)
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok()
}

fn is_temporary(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with('~') || name.split(['.', '-', '_']).any(|part| part == "tmp" || part == "temp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_are_known_by_their_names() {
        for name in ["sessions.json.tmp", ".tmp-7", "a/x.tmp.81", "sessions.json~", "a_temp"] {
            assert!(is_temporary(name), "{name}");
        }
        for name in ["sessions.json", "sessions.lock", "template.json", "."] {
            assert!(!is_temporary(name), "{name}");
        }
    }
}
