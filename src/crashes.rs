//! Crash points of a harness: every call on its store in the first turn, killed and failed in turn.
//!
//! The harness is any program; its first life runs under `strace`, which does one thing to one call,
//! and later lives do not. What is played is a scenario of two steps, and it is judged like any
//! other: H-72 (a kill leaves a store that can be read), H-92 (trouble with the store is reported and
//! costs no turn), H-90 (the store's rules hold after every step).

use std::ffi::OsString;
use std::path::Path;

use crate::store::point::{Family, Point};
use crate::store::strace::{Call, calls, words};

/// The name of the file that these scenarios do not stand in.
pub const FILE: &str = "crash points";

/// What is done to a first life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The scenario's name: `killed-before-renameat-1`.
    pub name: String,
    /// The scenario.
    pub text: String,
    /// What `strace` is told; `None`: nothing is disturbed.
    pub inject: Option<String>,
}

impl Crash {
    /// The turn that nothing disturbs.
    pub fn none() -> Self {
        let name = "undisturbed".to_owned();
        Self { text: survived(&name, "H-90", ""), name, inject: None }
    }

    /// What was to be done was done to a call on the store, as the first life's log shows. Calls are
    /// counted over all that the process does, and no two runs of a process are alike.
    pub fn hit(&self, log: &str) -> bool {
        let disturbed = |call: &Call| call.injected || call.text.ends_with("= ?");
        self.inject.is_none()
            || calls(log, "/").iter().any(|call| disturbed(call) && is_of_the_store(call))
    }

    /// All that is done, one after the other, at the points that an undisturbed life's log shows.
    pub fn all(log: &str) -> Vec<Self> {
        let calls = calls(log, "/");
        let points = Point::of(calls.iter().filter(|call| is_of_the_store(call)));
        // A name counts the calls on the store alone: those are the same in every run.
        let nth =
            |at: usize| points[..=at].iter().filter(|one| one.name == points[at].name).count();
        let place = |at: usize| format!("{}-{}", points[at].name, nth(at));
        points.iter().enumerate().flat_map(|(at, point)| of_point(point, &place(at))).collect()
    }
}

fn of_point(point: &Point, place: &str) -> Vec<Crash> {
    let name = format!("killed-before-{place}");
    let mut crashes = vec![Crash { text: killed(&name), name, inject: Some(point.killed()) }];
    for error in point.errors() {
        let name = format!("{}-from-{place}", error.to_lowercase());
        let text = survived(&name, "H-92", "expect store-trouble");
        crashes.push(Crash { text, name, inject: Some(point.failing(error)) });
    }
    if point.family == Family::Sync {
        let name = format!("a-lie-from-{place}");
        crashes.push(Crash {
            text: survived(&name, "H-90", ""),
            name,
            inject: Some(point.lying()),
        });
    }
    crashes
}

/// The live world keeps state directories in `state` below a folder of the run's own.
fn is_of_the_store(call: &Call) -> bool {
    call.paths.iter().any(|path| {
        let mut parts = path.split('/').skip_while(|part| !part.starts_with("skep-"));
        parts.next().is_some() && parts.next() == Some("state")
    })
}

fn killed(name: &str) -> String {
    format!(
        r#"scenario "{name}" {{
    rules "H-72" "H-90"
    needs "durable-sessions"
    agent "a" load-session=#true
    harness "h" agent="a"
    step "the harness dies as it remembers a session" {{
        mention channel="general"
    }}
    step "the next life reads what is left, and works" {{
        start "h"
        mention channel="general"
        expect turn="done"
    }}
}}
"#
    )
}

fn survived(name: &str, rule: &str, told: &str) -> String {
    format!(
        r#"scenario "{name}" {{
    rules "{rule}"
    needs "durable-sessions"
    agent "a" load-session=#true
    harness "h" agent="a"
    step "a session is to be remembered" {{
        mention channel="general"
        expect turn="done"
        {told}
    }}
    step "the next life works" {{
        restart "h"
        mention channel="general"
        expect turn="done"
    }}
}}
"#
    )
}

/// A command that is traced the first time that it is started and plain ever after. `mark` is the
/// directory that says so; it must not be there yet.
pub fn first_life_traced(
    command: &[String],
    strace: &Path,
    mark: &Path,
    log: &Path,
    inject: Option<&str>,
) -> Vec<String> {
    let mut tracer = words(strace, log, inject);
    // The harness is to be the process that was started, so that it can be killed; the tracer stands
    // aside, and ends when the last of those that it traces has.
    tracer.insert(1, "-DD".into());
    let quoted: Vec<_> = tracer
        .iter()
        .map(|word: &OsString| crate::report::again::shell_word(&word.to_string_lossy()))
        .collect();
    let script = format!(
        "if mkdir \"$0\" 2>/dev/null; then exec {} \"$@\"; else exec \"$@\"; fi",
        quoted.join(" ")
    );
    let shell = ["/bin/sh".to_owned(), "-c".to_owned(), script];
    let mark = mark.to_string_lossy().into_owned();
    shell.into_iter().chain([mark]).chain(command.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{self, SourceFile};

    const LOG: &str = "\
7 write(1<pipe:[1]>, \"ready\\n\", 6) = 6
7 write(5</tmp/skep-x/state/h/s.tmp>, \"{}\", 2) = 2
7 fsync(5</tmp/skep-x/state/h/s.tmp>) = 0
7 rename(\"/tmp/skep-x/state/h/s.tmp\", \"/tmp/skep-x/state/h/s\") = 0
";

    #[test]
    fn every_call_on_the_store_is_killed_and_failed() {
        let crashes = Crash::all(LOG);
        let names: Vec<_> = crashes.iter().map(|crash| &*crash.name).collect();
        assert_eq!(
            names,
            [
                "killed-before-write-1",
                "enospc-from-write-1",
                "eio-from-write-1",
                "killed-before-fsync-1",
                "eio-from-fsync-1",
                "a-lie-from-fsync-1",
                "killed-before-rename-1",
                "enospc-from-rename-1",
                "eio-from-rename-1",
            ]
        );
        assert_eq!(crashes[0].inject.as_deref(), Some("write:signal=SIGKILL:when=2"));
    }

    #[test]
    fn a_crash_that_hits_another_call_is_none() {
        let crash = &Crash::all(LOG)[1];
        let with = |line: &str| format!("{LOG}{line}\n");
        let failed = "= -1 ENOSPC (No space left on device) (INJECTED)";
        assert!(!crash.hit(LOG));
        assert!(!crash.hit(&with(&format!("7 write(1<pipe:[1]>, \"x\", 1) {failed}"))));
        assert!(crash.hit(&with(&format!("7 write(5</tmp/skep-x/state/h/t>, \"x\", 1) {failed}"))));
        assert!(
            crash.hit(&with("7 rename(\"/tmp/skep-x/state/h/t\", \"/tmp/skep-x/state/h/s\") = ?"))
        );
    }

    #[test]
    fn what_is_played_are_scenarios() {
        for crash in Crash::all(LOG).into_iter().chain([Crash::none()]) {
            let (found, wrong) = scenario::parse(&SourceFile::new(FILE, &crash.text));
            assert!(wrong.is_empty(), "{}: {wrong:#?}", crash.name);
            assert_eq!(&*found[0].name, crash.name);
        }
    }
}
