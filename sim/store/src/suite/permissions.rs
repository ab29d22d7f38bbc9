//! Bits, links, strangers and things that are no files: S-40 to S-42.

use skep_trace::{Entry, EntryKind, Snapshot};

use super::case::{Case, NOW, demand, get, put, same, violated};
use super::host::{Edit, Failure, Host, STATE, Verdict};
use crate::ops::StoreAnswer;

/// Outside the state directory, and no business of the store.
const PRECIOUS: &str = "precious";

/// S-40.
pub(super) fn nobody_else_may_look<H: Host>(host: &mut H) -> Verdict {
    let umasks = [0o000, 0o022, 0o077, 0o177, 0o777];
    for umask in umasks {
        host.fresh();
        host.edit(Edit::Umask(umask))?;
        let process = host.opened()?;
        host.done(process, put("a", "session-1"))?;
        is_private(host, &format!("under umask {umask:03o}"))?;
        let file = host.file_with("session-1")?;
        host.edit(Edit::Chmod(STATE, 0o755))?;
        for name in host.names() {
            host.edit(Edit::Chmod(&format!("{STATE}/{name}"), 0o644))?;
        }
        host.done(process, put("b", "session-2"))?;
        is_private(host, &format!("rewritten under umask {umask:03o}"))?;
        demand("the file has another name", host.kind(&file).is_some())?;
    }
    Ok(format!("{} umasks, new and rewritten", umasks.len()))
}

fn is_private<H: Host>(host: &mut H, when: &str) -> Result<(), Failure> {
    let snapshot = host.look();
    for (path, entry) in state(&snapshot) {
        let mode = if entry.kind == EntryKind::Dir { 0o700 } else { 0o600 };
        let seen = format!("{:04o}", entry.mode);
        same(&format!("{path} {when}"), &seen, &format!("{mode:04o}"))?;
    }
    Ok(())
}

/// The state directory and what is in it.
fn state(snapshot: &Snapshot) -> impl Iterator<Item = (&str, &Entry)> {
    let entries = snapshot.entries.iter().map(|(path, entry)| (&**path, entry));
    entries.filter(|(path, _)| path.starts_with(STATE))
}

/// S-41: the file.
pub(super) fn a_linked_file_is_refused<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "session-1")])?;
    let file = host.file_with("session-1")?;
    let bytes = host.bytes(&file)?;
    host.edit(Edit::File(PRECIOUS, &bytes, 0o644))?;
    host.edit(Edit::Link(&file, PRECIOUS))?;
    let why = refuses_all(host)?;

    host.edit(Edit::Remove(PRECIOUS))?;
    refuses_all(host)?;
    demand("the target of a dangling link was made", host.kind(PRECIOUS).is_none())?;
    Ok(format!("refused with: {why}"))
}

/// S-41: the directory.
pub(super) fn a_linked_directory_is_refused<H: Host>(host: &mut H) -> Verdict {
    host.fresh();
    host.edit(Edit::Dir(PRECIOUS, 0o755))?;
    host.edit(Edit::Link(STATE, PRECIOUS))?;
    let why = refuses_all(host)?;
    Ok(format!("refused with: {why}"))
}

/// Gets and puts fail at once, and nothing anywhere changes.
fn refuses_all<H: Host>(host: &mut H) -> Result<String, Failure> {
    let before = host.look();
    let process = host.opened()?;
    demand("nothing is warned of", !host.warnings(process).is_empty())?;
    host.refused(process, get("a"))?;
    let why = host.refused(process, put("b", "session-2"))?;
    same("the ground after refusals", &host.look(), &before)?;
    Ok(why)
}

/// S-42: what stands at the file's path is no file, or a stranger's.
pub(super) fn only_own_files_are_read<H: Host>(host: &mut H) -> Verdict {
    let mut refusals = Vec::new();
    for what in ["directory", "fifo", "stranger"] {
        host.given(&[("a", "session-1")])?;
        let file = host.file_with("session-1")?;
        if let Err(Failure::NotApplicable(_)) = become_one(host, &file, what) {
            continue;
        }
        refuses_all(host)?;
        refusals.push(what);
    }
    told(&refusals)
}

/// S-41 and S-42 for every other file that the store keeps, its lock above all: a write fails
/// cleanly, or does without.
pub(super) fn only_own_files_are_locked<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "session-1")])?;
    let file = host.file_with("session-1")?;
    let others: Vec<String> =
        host.names().iter().map(|name| format!("{STATE}/{name}")).filter(|p| *p != file).collect();
    let mut refusals = Vec::new();
    for other in &others {
        for what in ["directory", "fifo", "link", "stranger"] {
            host.given(&[("a", "session-1")])?;
            host.edit(Edit::File(PRECIOUS, b"precious", 0o644))?;
            if let Err(Failure::NotApplicable(_)) = become_one(host, other, what) {
                continue;
            }
            let before = host.look();
            let process = host.opened()?;
            match host.apply(process, put("b", "session-2"), NOW)? {
                StoreAnswer::Failed(_) => same("the ground", &host.look(), &before)?,
                answer => return violated(format!("{other} is a {what}, and a put {answer:?}")),
            }
            refusals.push(what);
        }
    }
    told(&refusals)
}

fn told(refusals: &[&str]) -> Verdict {
    if refusals.is_empty() {
        return Err(Failure::NotApplicable("nothing of the kind can be made here".to_owned()));
    }
    Ok(format!("refused: {}", refusals.join(", ")))
}

fn become_one<H: Host>(host: &mut H, path: &str, what: &str) -> Result<(), Failure> {
    match what {
        "directory" => {
            host.edit(Edit::Remove(path))?;
            host.edit(Edit::Dir(path, 0o700))
        }
        "fifo" => host.edit(Edit::Fifo(path)),
        "link" => host.edit(Edit::Link(path, PRECIOUS)),
        _ => {
            // Its bits would let us in.
            host.edit(Edit::Chmod(path, 0o666))?;
            host.edit(Edit::GiveAway(path))
        }
    }
}
