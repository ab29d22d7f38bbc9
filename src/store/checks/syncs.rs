//! What a store makes durable before it answers, as its system calls show: S-21, and S-23.

use std::collections::BTreeMap;
use std::path::PathBuf;

use skep_store::ops::StoreOp;
use skep_store::suite::{Failure, Verdict};

use super::super::case::{NOW, not_applicable, put, scope, violated};
use super::super::host::ProgramHost;
use super::super::strace::{Call, calls, traced};

/// Why nothing is known without a tracer.
pub(in crate::store) const NO_STRACE: &str =
    "`strace` is not installed, or may not trace here: nobody sees what is synced";

/// S-21: content first, then the name, then the directory, then the answer.
pub(in crate::store) fn what_is_acknowledged_is_synced(host: &mut ProgramHost) -> Verdict {
    let calls = calls_of_a_put(host, &put("b", "a-session"))?;
    let state = host.ground.state();
    let mut durable = Durable::default();
    let mut writes = 0;
    for call in calls.iter().filter(|call| !call.failed) {
        writes += usize::from(durable.take(call, &state));
    }
    if writes == 0 {
        return not_applicable("no write to the directory was seen; it may write through memory");
    }
    show(host, &calls);
    match durable.missing() {
        Some(what) => violated(what),
        None => Ok(format!("{writes} writes, each synced before its name, all before the answer")),
    }
}

/// S-23: what is renamed into place was made with `O_EXCL`, or under a name of the system's.
pub(in crate::store) fn temporary_files_are_made_exclusively(host: &mut ProgramHost) -> Verdict {
    let calls = calls_of_a_put(host, &put("b", "a-session"))?;
    let state = host.ground.state();
    let renames = calls.iter().filter(|call| call.name.starts_with("rename") && !call.failed);
    let sources: Vec<&String> = renames
        .filter(|call| call.is_below(&state))
        .filter_map(|call| call.paths.first())
        .collect();
    if sources.is_empty() {
        return not_applicable("nothing is renamed into place");
    }
    for source in &sources {
        let mut makers = calls.iter().filter(|call| {
            call.paths.first() == Some(source) && call.has_flag("O_CREAT") && !call.failed
        });
        let exclusive = |call: &Call| call.has_flag("O_EXCL") || call.has_flag("O_TMPFILE");
        if let Some(call) = makers.find(|call| !exclusive(call)) {
            let call = call.clone();
            show(host, &[call]);
            let name = source.rsplit('/').next().unwrap_or(source);
            return violated(format!(
                "{name} is opened without O_EXCL: whatever stands there is used"
            ));
        }
    }
    Ok(format!("{} renamed, made with O_EXCL", sources.len()))
}

/// The calls between the answer to `open` and the answer to a put.
pub(in crate::store) fn calls_of_a_put(
    host: &mut ProgramHost,
    op: &StoreOp,
) -> Result<Vec<Call>, Failure> {
    let Some(strace) = host.strace.clone() else { return not_applicable(NO_STRACE) };
    host.given(&[("a", "1"), ("b", "2")])?;
    let log = host.ground.beside().join("calls");
    let launch = traced(&host.launch, &strace, &log, None);
    let process = host.open_with(&launch, &scope(), NOW)?;
    host.done(process, op.clone())?;
    let within = host.answer;
    host.take(process).retire(within)?;
    let calls = read(host, &log)?;
    let mut answers = calls.iter().enumerate().filter(|(_, call)| call.is_answer());
    let (Some((opened, _)), Some((put, _))) = (answers.next(), answers.next()) else {
        return not_applicable("the answers are not seen among the calls");
    };
    Ok(calls[opened + 1..put].to_vec())
}

/// The calls that a process made.
pub(in crate::store) fn read(host: &ProgramHost, log: &PathBuf) -> Result<Vec<Call>, Failure> {
    #[expect(clippy::disallowed_methods, reason = "strace tells in a file")]
    let text = std::fs::read(log).unwrap_or_default();
    let calls = calls(&String::from_utf8_lossy(&text), &host.launch.cwd.to_string_lossy());
    if calls.is_empty() { not_applicable(NO_STRACE) } else { Ok(calls) }
}

/// The calls on the state directory, for the story.
pub(in crate::store) fn show(host: &mut ProgramHost, calls: &[Call]) {
    let root = format!("{}/", host.ground.root());
    let state = host.ground.state();
    for call in calls.iter().filter(|call| call.is_below(&state)) {
        host.story.plain(&format!("{}({}", call.name, call.text.replace(&root, "")));
    }
}

/// What is written and not yet durable.
#[derive(Default)]
struct Durable {
    /// Files with unsynced content, and whether every write to them is synced by itself.
    files: BTreeMap<String, bool>,
    /// Directories with an unsynced name.
    dirs: BTreeMap<String, String>,
    /// What can no longer be put right.
    wrong: Option<String>,
}

impl Durable {
    /// Takes a call in; `true`: it wrote content.
    fn take(&mut self, call: &Call, state: &str) -> bool {
        let Some(path) = call.paths.first().filter(|_| call.is_below(state)).cloned() else {
            if matches!(&*call.name, "sync") {
                self.files.clear();
                self.dirs.clear();
            }
            return false;
        };
        match &*call.name {
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" => {
                self.files.insert(path, false);
                return true;
            }
            "fsync" | "fdatasync" | "msync" => {
                self.files.remove(&path);
                self.dirs.remove(&path);
            }
            "syncfs" => {
                self.files.clear();
                self.dirs.clear();
            }
            "rename" | "renameat" | "renameat2" => self.rename(&path, call),
            "unlink" | "unlinkat" => {
                self.files.remove(&path);
            }
            _ => {}
        }
        false
    }

    fn rename(&mut self, from: &str, call: &Call) {
        let Some(to) = call.paths.get(1) else { return };
        if self.files.remove(from).is_some() {
            let name = from.rsplit('/').next().unwrap_or(from);
            self.wrong.get_or_insert(format!("{name} is renamed into place before it is synced"));
        }
        if let Some((dir, name)) = to.rsplit_once('/') {
            self.dirs.insert(dir.to_owned(), name.to_owned());
        }
    }

    fn missing(&self) -> Option<String> {
        let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
        let file = self
            .files
            .keys()
            .next()
            .map(|path| format!("{} is written and not synced before the answer", name(path)));
        let dir = self.dirs.values().next().map(|name| {
            format!("{name} is renamed into place, and the directory not synced before the answer")
        });
        self.wrong.clone().or(file).or(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(log: &str) -> Option<String> {
        let mut durable = Durable::default();
        for call in calls(log, "/t") {
            durable.take(&call, "/t/state");
        }
        durable.missing()
    }

    const WRITE: &str = "1 write(3</t/state/x.tmp>, \"{}\", 2) = 2\n";
    const SYNC: &str = "1 fsync(3</t/state/x.tmp>) = 0\n";
    const RENAME: &str = "1 rename(\"/t/state/x.tmp\", \"/t/state/x\") = 0\n";
    const SYNC_DIR: &str = "1 fsync(4</t/state>) = 0\n";

    #[test]
    fn each_step_towards_durability_is_missed() {
        assert_eq!(missing(&[WRITE, SYNC, RENAME, SYNC_DIR].concat()), None);
        let early = missing(&[WRITE, RENAME, SYNC_DIR].concat()).unwrap();
        assert!(early.contains("before it is synced"), "{early}");
        let name = missing(&[WRITE, SYNC, RENAME].concat()).unwrap();
        assert!(name.contains("directory not synced"), "{name}");
        let content = missing(WRITE).unwrap();
        assert!(content.contains("x.tmp is written and not synced"), "{content}");
    }
}
