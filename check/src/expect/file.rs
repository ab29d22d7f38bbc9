//! `expect file mode=0600`: files of a state directory, once their step is settled.
//!
//! The path and the text choose files; mode, symlink and unchanged are what each of them must
//! have. Without a count there must be at least one, and every one must fit; with a count exactly
//! the fitting ones are counted. Without a path every store file is meant: what ends in `.json`.
//! *Unchanged* compares with the end of the step before, or with what the scenario itself did to
//! the disk since.

use std::sync::Arc;

use skep_trace::{Entry, EntryKind, Snapshot, Text};

use super::{Bind, Found, Stretch, Watch};
use crate::expectation::{Count, WantedFile};
use crate::facts::Facts;
use crate::facts::moment::Moment;
use crate::facts::state::StateFacts;
use crate::verdict::Blame;

/// Watches for files.
pub(crate) struct FileWatch {
    wanted: WantedFile,
    never: bool,
    found: Option<Found>,
}

/// The files that were chosen, and what is wrong with those that do not fit.
#[derive(Default)]
struct Choice {
    fit: u32,
    wrong: Vec<String>,
    fitting: Option<Text>,
}

impl FileWatch {
    pub(crate) fn new(wanted: WantedFile, never: bool) -> Self {
        Self { wanted, never, found: None }
    }

    fn chooses(&self, path: &str, entry: &Entry, snapshot: &Snapshot) -> bool {
        let file = matches!(entry.kind, EntryKind::File { .. } | EntryKind::Symlink(_));
        let named = match &self.wanted.path {
            Some(pattern) => glob(pattern, path),
            None => file && path.ends_with(".json"),
        };
        let holds = |text: &Text| {
            snapshot.bytes(path).is_some_and(|bytes| contains(bytes, text.as_bytes()))
        };
        named && self.wanted.text.as_ref().is_none_or(holds)
    }

    /// What is wrong with a chosen file.
    fn wrong(&self, path: &str, entry: &Entry, state: &StateFacts) -> Option<String> {
        let mode = entry.mode & 0o7777;
        if let Some(wanted) = self.wanted.mode.filter(|wanted| *wanted != mode) {
            return Some(format!("{path} has mode {mode:04o}, not {wanted:04o}"));
        }
        let link = matches!(entry.kind, EntryKind::Symlink(_));
        match self.wanted.symlink {
            Some(true) if !link => return Some(format!("{path} is no symbolic link")),
            Some(false) if link => return Some(format!("{path} is a symbolic link")),
            _ => {}
        }
        let before = state.reference.as_ref().and_then(|before| before.entries.get(path));
        let changed = before.is_none_or(|before| before.kind != entry.kind);
        (self.wanted.unchanged && changed).then(|| format!("{path} is not what it was"))
    }

    fn choose(&self, state: &StateFacts, snapshot: &Snapshot, choice: &mut Choice) {
        let chosen = snapshot.entries.iter();
        for (path, entry) in chosen.filter(|(path, entry)| self.chooses(path, entry, snapshot)) {
            match self.wrong(path, entry, state) {
                Some(wrong) => choice.wrong.push(wrong),
                None => {
                    choice.fit += 1;
                    choice.fitting.get_or_insert_with(|| path.clone());
                }
            }
        }
    }

    fn judge(&self, facts: &Facts, stretch: &Stretch) -> Found {
        let looks = looks(self.wanted.state.as_ref(), facts, stretch);
        let Some(record) = looks.iter().map(|(record, _, _)| *record).max() else {
            return Found::inconclusive("nobody looked at the state directory in this step");
        };
        let mut choice = Choice::default();
        for (_, state, snapshot) in &looks {
            self.choose(state, snapshot, &mut choice);
        }
        self.weigh(&choice, record)
    }

    fn weigh(&self, choice: &Choice, record: usize) -> Found {
        if self.never {
            return match &choice.fitting {
                None => Found::held("there is none"),
                Some(path) => {
                    let title = "a file is there that must not be";
                    Found::violated(Blame::Harness, title, format!("{path} is there"), record)
                }
            };
        }
        let every = self.wanted.count == Count::default();
        let wrong = choice.wrong.first().filter(|_| every || !self.wanted.count.holds(choice.fit));
        match wrong {
            Some(wrong) => {
                let title = "a file of the state directory is not as it must be";
                Found::violated(Blame::Harness, title, wrong.clone(), record)
            }
            None if self.wanted.count.holds(choice.fit) => {
                Found::held(format!("{} of them", choice.fit))
            }
            None => {
                let title = "the state directory does not hold the files that it must";
                let label = format!("{} fit, asked for {}", choice.fit, self.wanted.count);
                Found::violated(Blame::Harness, title, label, record)
            }
        }
    }
}

impl Watch for FileWatch {
    fn see(&mut self, _moment: &Moment<'_>, _facts: &Facts) -> Option<Bind> {
        None
    }

    fn unmet(&self, _facts: &Facts) -> bool {
        false
    }

    fn close(&mut self, facts: &Facts, stretch: &Stretch) {
        self.found = Some(self.judge(facts, stretch));
    }

    fn found(&self, _facts: &Facts) -> Found {
        self.found.clone().unwrap_or_else(|| Found::inconclusive("its step never ended"))
    }
}

/// The looks at the disk in this step: of one state directory, or of all.
pub(super) fn looks<'f>(
    name: Option<&Text>,
    facts: &'f Facts,
    stretch: &Stretch,
) -> Vec<(usize, &'f StateFacts, Arc<Snapshot>)> {
    let names = facts.states.names().filter(|state| name.is_none_or(|name| name == *state));
    let states = names.filter_map(|name| facts.states.get(name));
    let looked = states.filter_map(|state| {
        let (record, snapshot) = state.disk.as_ref()?;
        stretch.holds(*record).then(|| (*record, state, snapshot.clone()))
    });
    looked.collect()
}

/// Bytes that hold other bytes.
pub(super) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    match (std::str::from_utf8(bytes), std::str::from_utf8(part)) {
        (Ok(bytes), Ok(part)) => bytes.contains(part),
        _ => part.is_empty() || bytes.windows(part.len()).any(|window| window == part),
    }
}

/// A path against a pattern in which `*` stands for any run of characters.
fn glob(pattern: &str, path: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == path };
    let Some(path) = path.strip_prefix(head) else { return false };
    let ends = path.char_indices().map(|(at, _)| at).chain([path.len()]);
    ends.into_iter().any(|at| glob(rest, &path[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        assert!(glob("*.tmp*", "sessions.tmp.7"));
        assert!(glob("sessions-*.json", "sessions-ab.json"));
        assert!(glob("*", "."));
        assert!(!glob("*.tmp", "sessions.json"));
        assert!(!glob("a*b", "ac"));
    }
}
