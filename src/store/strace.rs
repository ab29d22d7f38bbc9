//! What `strace` tells of a process: its calls on the disk, one a line; and how it is asked to make
//! one of them fail.
//!
//! `strace` is not needed by skep. Where it is not installed, what rests on it is not applicable.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::program::Launch;

/// The calls that are looked at: what makes, writes, syncs, renames and removes.
const CALLS: &str = "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,\
    fsync,fdatasync,sync_file_range,syncfs,sync,msync,rename,renameat,renameat2,link,linkat,\
    unlink,unlinkat,mkdir,mkdirat";
/// How much of a text is shown: the beginning of an answer.
const SHOWN_BYTES: &str = "160";

/// One call that has returned, or never will.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// The thread.
    pub(crate) thread: String,
    /// Which call: `fsync`.
    pub(crate) name: String,
    /// The files that it is about: handles and names, as absolute paths where they can be known.
    pub(crate) paths: Vec<String>,
    /// Its arguments and its result, as written.
    pub(crate) text: String,
    /// It did not work.
    pub(crate) failed: bool,
    /// `strace` made it fail, or more.
    pub(crate) injected: bool,
    /// It is the so-manieth of this name in its thread, from 1: what `when=` counts.
    pub(crate) nth: usize,
}

impl Call {
    /// One of its paths is this directory or below it.
    pub(super) fn is_below(&self, dir: &str) -> bool {
        self.paths.iter().any(|path| below(path, dir))
    }

    /// It writes a JSON object to standard output.
    pub(super) fn is_answer(&self) -> bool {
        let content = self.text.split_once(", ").map_or("", |(_, content)| content);
        self.name.starts_with("write")
            && self.text.starts_with("1<")
            && content.trim_start_matches("[{iov_base=").starts_with("\"{")
    }

    pub(super) fn has_flag(&self, flag: &str) -> bool {
        self.text.contains(flag)
    }
}

/// A path is this directory, or in it.
pub(super) fn below(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The same process under `strace`, which writes to `log`; `inject` is what it is to do to a call.
pub(super) fn traced(launch: &Launch, strace: &Path, log: &Path, inject: Option<&str>) -> Launch {
    let mut command = words(strace, log, inject);
    command.extend(launch.command.iter().cloned());
    Launch { command, ..launch.clone() }
}

/// The words that stand before a command to have it traced.
pub(crate) fn words(strace: &Path, log: &Path, inject: Option<&str>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![strace.into()];
    words.extend(["-f", "-y", "-s", SHOWN_BYTES, "-o"].map(OsString::from));
    words.push(log.into());
    words.extend(["-e".into(), format!("trace={CALLS}").into()]);
    if let Some(inject) = inject {
        words.extend(["-e".into(), format!("inject={inject}").into()]);
    }
    words.push("--".into());
    words
}

/// Reads what `strace -f -y` wrote; relative names are meant from `cwd`.
pub(crate) fn calls(log: &str, cwd: &str) -> Vec<Call> {
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix("<unfinished ...>") {
            begun.insert(thread, start);
            continue;
        }
        let joined = match rest.strip_prefix("<... ").and_then(|rest| rest.split_once("resumed>")) {
            Some((_, end)) => begun.remove(thread).map(|start| format!("{start}{end}")),
            None => Some(rest.to_owned()),
        };
        let Some(mut call) = joined.as_deref().and_then(|text| one(text, cwd)) else { continue };
        let count = counts.entry((thread.to_owned(), call.name.clone())).or_default();
        *count += 1;
        call.nth = *count;
        call.thread = thread.to_owned();
        calls.push(call);
    }
    calls
}

fn one(text: &str, cwd: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().trim_end_matches(')');
    // What follows the handle of a write is its content, and no name.
    let about = if name.contains("write") { parts(arguments)[0] } else { arguments };
    let mut paths = paths(about, cwd);
    if let Some((_, opened)) = result.split_once('<').filter(|_| name.starts_with("open")) {
        paths = vec![opened.split('>').next().unwrap_or(opened).to_owned()];
    }
    Some(Call {
        name: name.to_owned(),
        paths,
        text: format!("{arguments}) = {result}"),
        failed: result.starts_with('-') || result.starts_with('?'),
        injected: result.contains("(INJECTED)"),
        ..Call::default()
    })
}

/// The handles and names among arguments. A name belongs to the directory handle before it.
fn paths(arguments: &str, cwd: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut dir: Option<String> = None;
    for part in parts(arguments) {
        if let Some(name) = part.strip_prefix('"') {
            let name = name.split('"').next().unwrap_or(name);
            let from = dir.take().unwrap_or_else(|| cwd.to_owned());
            paths.push(if name.starts_with('/') {
                name.to_owned()
            } else {
                format!("{from}/{name}")
            });
        } else if let Some((_, path)) = part.split_once('<') {
            if let Some(handle) = dir.replace(path.trim_end_matches('>').to_owned()) {
                paths.push(handle);
            }
        } else if let Some(handle) = dir.take() {
            paths.push(handle);
        }
    }
    paths.extend(dir);
    paths
}

/// The arguments, apart; a comma in a text or in a path is none between them.
fn parts(arguments: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, letter) in arguments.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(arguments[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(arguments[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"7 openat(AT_FDCWD</t>, "/t/state/x.tmp", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3</t/state/x.tmp>
7 write(3</t/state/x.tmp>, "{\"a\":1, \"b\"}", 12) = 12
8 fsync(3</t/state/x.tmp> <unfinished ...>
7 write(1<pipe:[1]>, "{\"ok\":true}\n", 12) = 12
8 <... fsync resumed>) = -1 EIO (Input/output error) (INJECTED)
7 renameat(4</t/state>, "x.tmp", 4</t/state>, "x") = 0
7 rename("state/x.tmp", "state/x") = ?
7 +++ killed by SIGKILL +++
7 --- SIGCHLD {si_signo=SIGCHLD} ---
"#;

    #[test]
    fn calls_are_read_with_their_files() {
        let calls = calls(LOG, "/t");
        let shown: Vec<_> =
            calls.iter().map(|call| (&*call.name, call.paths.join(" "), call.nth)).collect();
        let tmp = "/t/state/x.tmp".to_owned();
        assert_eq!(
            shown,
            [
                ("openat", tmp.clone(), 1),
                ("write", tmp.clone(), 1),
                ("write", "pipe:[1]".to_owned(), 2),
                ("fsync", tmp, 1),
                ("renameat", "/t/state/x.tmp /t/state/x".to_owned(), 1),
                ("rename", "/t/state/x.tmp /t/state/x".to_owned(), 1),
            ]
        );
        assert!(calls[0].has_flag("O_EXCL"));
        assert!(calls[2].is_answer() && !calls[1].is_answer());
        assert!(calls[3].injected && calls[3].failed && calls[3].thread == "8");
        assert!(calls[5].failed && calls[4].is_below("/t/state") && !calls[2].is_below("/t"));
    }
}
