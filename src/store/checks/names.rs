//! Temporary names, as the system tells of them while a store writes: S-22, S-23.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use skep_store::suite::{Edit, Failure, Host as _, Verdict};
use skep_trace::EntryKind;

use super::super::case::{NOW, demand, not_applicable, put, scope, violated};
use super::super::host::ProgramHost;
use super::super::strace::traced;
use super::kills;
use skep_plan::Dice;
use skep_store::suite::STATE;

/// Writes that are watched.
const WRITES: usize = 4;
/// How often a kill is tried that leaves a temporary file behind.
const TRIES: usize = 40;
/// Older than any write that is still under way, in seconds.
const WEEK_S: i64 = 7 * 86_400;
/// Outside the state directory, and no business of the store.
const PRECIOUS: &str = "precious";

/// S-23: two processes never use a temporary name twice.
pub(in crate::store) fn temporary_names_are_unique(host: &mut ProgramHost) -> Verdict {
    let names = renamed(host)?;
    if names.is_empty() {
        return not_applicable("nothing is renamed into place");
    }
    let mut seen = BTreeSet::new();
    for name in &names {
        host.story.plain(&format!("renamed into place: {name}"));
        if !seen.insert(name) {
            return violated(format!("the temporary name {name} is used again"));
        }
    }
    Ok(format!("{} temporary names in {WRITES} writes", names.len()))
}

/// S-23: what already stands at the temporary name is neither written to nor followed.
pub(in crate::store) fn a_taken_temporary_name_is_left_alone(host: &mut ProgramHost) -> Verdict {
    let names: BTreeSet<String> = renamed(host)?.into_iter().collect();
    if names.len() != 1 {
        return not_applicable("the next temporary name cannot be foretold");
    }
    let path = format!("{STATE}/{}", names.first().expect("there is one"));
    host.given(&[("a", "1")])?;
    host.edit(Edit::File(PRECIOUS, b"precious", 0o640))?;
    host.edit(Edit::Link(&path, PRECIOUS))?;
    let process = host.opened()?;
    // Refused or done in another way: both leave the link's target alone.
    host.apply(process, put("b", "2"), NOW)?;
    let look = host.look();
    let kept = look.entries.get(PRECIOUS).map(|entry| &entry.kind);
    let intact = kept == Some(&EntryKind::file(b"precious"));
    demand(&format!("a link at {path} is followed, and its target written to"), intact)?;
    Ok(format!("a link at {path} was not followed"))
}

/// S-22: a temporary file that a killed writer left is ignored, and goes once it is old.
pub(in crate::store) fn leftovers_are_ignored_and_go(host: &mut ProgramHost) -> Verdict {
    host.given(&[("a", "1")])?;
    let clean = host.names();
    let left = match host.strace.clone() {
        Some(_) => left_before_a_rename(host, &clean)?,
        None => left_by_luck(host, &clean)?,
    };
    let Some(name) = left else {
        return not_applicable("no kill left a file behind; with `strace` one is placed exactly");
    };
    let found = host.found("a")?;
    demand(&format!("beside {name} a get finds {found:?}"), found.as_deref() == Some("1"))?;
    let path = format!("{}/{name}", host.ground.state());
    age(&path)?;
    host.story.act_outside(&format!("{name} gets a week old"));
    let process = host.opened()?;
    host.done(process, put("c", "3"))?;
    host.kill(process);
    let gone = !host.names().contains(&name);
    demand(&format!("{name} is still there after a week and another write"), gone)?;
    Ok(format!("{name} was left by a kill, ignored, and removed"))
}

/// The names that were renamed to others while two processes wrote in turn.
fn renamed(host: &mut ProgramHost) -> Result<Vec<String>, Failure> {
    host.given(&[("a", "1")])?;
    let watch = watch(&host.ground.state())?;
    let processes = [host.opened()?, host.opened()?];
    let mut names = Vec::new();
    for at in 0..WRITES {
        host.done(processes[at % 2], put("b", &at.to_string()))?;
        // At once: the system makes one of two equal events that nobody has read.
        names.extend(moved(&watch));
    }
    Ok(names)
}

fn watch(dir: &str) -> Result<OwnedFd, Failure> {
    let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK);
    let watch =
        watch.map_err(|code| Failure::NotApplicable(format!("nothing is watched: {code}")))?;
    match inotify::add_watch(&watch, dir, WatchFlags::MOVED_FROM) {
        Ok(_) => Ok(watch),
        // It keeps its file in another place, or has not made it yet.
        Err(code) => not_applicable(format!("the state directory cannot be watched: {code}")),
    }
}

/// All that has happened by now.
fn moved(watch: &OwnedFd) -> Vec<String> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = Reader::new(watch, &mut buffer);
    let mut names = Vec::new();
    while let Ok(event) = reader.next() {
        if let Some(name) =
            event.file_name().filter(|_| event.events().contains(ReadFlags::MOVED_FROM))
        {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names
}

fn left_before_a_rename(
    host: &mut ProgramHost,
    clean: &[String],
) -> Result<Option<String>, Failure> {
    let strace = host.strace.clone().expect("the caller looked");
    let log = host.ground.beside().join("calls");
    let inject = "rename,renameat,renameat2:signal=SIGKILL:when=1";
    let launch = traced(&host.launch, &strace, &log, Some(inject));
    let process = host.open_with(&launch, &scope(), NOW)?;
    let within = host.answer;
    let mut opened = host.take(process);
    let op = put("b", "2");
    opened.begin(&op, NOW, within)?;
    let _killed = opened.end(&op, within);
    drop(opened);
    host.story.act(process, "put b=2: SIGKILL before its first rename");
    Ok(host.names().into_iter().find(|name| !clean.contains(name)))
}

fn left_by_luck(host: &mut ProgramHost, clean: &[String]) -> Result<Option<String>, Failure> {
    let mut dice = Dice::new(host.seed ^ 22);
    for round in 0..TRIES {
        kills::killed_within(host, &put("b", &round.to_string()), &mut dice)?;
        if let Some(name) = host.names().into_iter().find(|name| !clean.contains(name)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn age(path: &str) -> Result<(), Failure> {
    let text =
        |code: rustix::io::Errno| Failure::NotApplicable(format!("it cannot be aged: {code}"));
    let stat = rustix::fs::lstat(path).map_err(text)?;
    let old = Timespec { tv_sec: stat.st_mtime - WEEK_S, tv_nsec: 0 };
    let times = Timestamps { last_access: old, last_modification: old };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(text)
}

impl ProgramHost {
    /// The names in the state directory.
    fn names(&mut self) -> Vec<String> {
        let below = format!("{STATE}/");
        let look = self.look();
        let names = look.entries.keys().filter_map(|path| path.strip_prefix(&below));
        names.map(str::to_owned).collect()
    }
}
