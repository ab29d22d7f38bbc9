//! Processes that left their group to live on, found by the folder that they belong to.
//!
//! On Linux every process can be asked where it stands and what its environment was when it was
//! started. Elsewhere nothing is looked for, and nothing is found.

use std::path::Path;
use std::time::{Duration, Instant};

/// A process that belongs to a folder, held so that no other can be taken for it: where it has
/// ended and its number was given to somebody else, a signal reaches nobody.
#[derive(Debug)]
pub(crate) struct Stray {
    #[cfg(target_os = "linux")]
    held: rustix::fd::OwnedFd,
    group: i32,
    command: String,
}

impl Stray {
    /// Its command line, as far as it is needed to know it again.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// The number of its group.
    pub(crate) fn group(&self) -> i32 {
        self.group
    }
}

/// What belongs to a folder: it stands there, or a variable of its environment is a path there,
/// as `HOME` and `TMPDIR` are of everything that is started in a run's folder. What is older than
/// this very program is somebody else's, wherever it stands.
pub(crate) fn of(folder: &Path) -> Vec<Stray> {
    system::of(folder)
}

/// Kills everything that belongs to a folder, and sees its end. Gives the command lines.
pub(crate) fn stop_all(folder: &Path) -> Vec<String> {
    // What starts others while it is being killed is found in the next round.
    const ROUNDS: usize = 10;
    const DYING: Duration = Duration::from_secs(1);
    let mut stopped = Vec::new();
    for _ in 0..ROUNDS {
        let strays = of(folder);
        if strays.is_empty() {
            break;
        }
        strays.iter().for_each(Stray::kill);
        await_ends(&strays, DYING);
        stopped.extend(strays.into_iter().map(|stray| stray.command));
    }
    stopped
}

/// Waits until all of them have ended, or for so long; gives how many live.
#[expect(clippy::disallowed_methods, reason = "real processes end in real time")]
pub(crate) fn await_ends(strays: &[Stray], within: Duration) -> usize {
    let deadline = Instant::now() + within;
    let lives =
        |stray: &&Stray| !stray.ends_within(deadline.saturating_duration_since(Instant::now()));
    strays.iter().filter(lives).count()
}

/// As Linux tells it: `/proc`, and handles of processes.
#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, getpgid, pidfd_open, pidfd_send_signal};

    use super::Stray;

    /// What is kept of a command line, in bytes.
    const MOST_COMMAND: usize = 100;

    impl Stray {
        /// Ends it by the signal that cannot be refused.
        pub(crate) fn kill(&self) {
            let _gone = pidfd_send_signal(&self.held, Signal::KILL);
        }

        /// Waits for its end; false where it lives on.
        pub(crate) fn ends_within(&self, time: Duration) -> bool {
            let time = Timespec::try_from(time).ok();
            // A handle can be read once its process has ended.
            let mut handle = [PollFd::new(&self.held, PollFlags::IN)];
            poll(&mut handle, time.as_ref()).is_ok_and(|ended| ended > 0)
        }
    }

    pub(super) fn of(folder: &Path) -> Vec<Stray> {
        let folder = Folder::at(folder);
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter_map(|pid| folder.hold(pid)).collect()
    }

    /// A folder, by its names, and when this program was started.
    struct Folder {
        name: Vec<u8>,
        real: std::path::PathBuf,
        since: u64,
    }

    impl Folder {
        fn at(folder: &Path) -> Self {
            let name = folder.as_os_str().as_encoded_bytes().to_vec();
            // Where a process stands is told without symbolic links.
            let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            Self { name, real, since: started(std::process::id()).unwrap_or(0) }
        }

        /// The process, where it belongs to the folder. It is held first and looked at then: what
        /// is seen is true of the one that is held, or that one has ended.
        fn hold(&self, pid: u32) -> Option<Stray> {
            if pid == std::process::id() || !self.owns(pid) {
                return None;
            }
            let number = Pid::from_raw(i32::try_from(pid).ok()?)?;
            let held = pidfd_open(number, PidfdFlags::empty()).ok()?;
            let group = getpgid(Some(number)).ok()?.as_raw_nonzero().get();
            let command = command(pid);
            self.owns(pid).then_some(Stray { held, group, command })
        }

        fn owns(&self, pid: u32) -> bool {
            let stands_there = || {
                let cwd = fs::read_link(format!("/proc/{pid}/cwd"));
                cwd.is_ok_and(|cwd| cwd.starts_with(&self.real))
            };
            (stands_there() || self.is_named(&read(pid, "environ")))
                && started(pid).is_some_and(|started| started >= self.since)
        }

        /// A variable is a path in the folder, or the folder itself.
        fn is_named(&self, environment: &[u8]) -> bool {
            environment.split(|byte| *byte == 0).any(|variable| {
                let value = variable.iter().position(|byte| *byte == b'=').map(|at| at + 1);
                let value = value.and_then(|at| variable.get(at..)).unwrap_or_default();
                let rest = value.strip_prefix(self.name.as_slice());
                rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
            })
        }
    }

    /// When a process was started, in the system's own ticks.
    fn started(pid: u32) -> Option<u64> {
        const PLACE: usize = 19;
        let stat = String::from_utf8_lossy(&read(pid, "stat")).into_owned();
        // The name, which may hold anything, ends with the last parenthesis.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_ascii_whitespace().nth(PLACE)?.parse().ok()
    }

    fn command(pid: u32) -> String {
        let mut line = read(pid, "cmdline");
        line.truncate(MOST_COMMAND);
        let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        words.join(" ").trim_end().to_owned()
    }

    #[expect(clippy::disallowed_methods, reason = "the table is the system's, not a file")]
    fn read(pid: u32, what: &str) -> Vec<u8> {
        fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_a_variable_that_is_a_path_in_the_folder_names_it() {
            let folder = Folder::at(Path::new("/t/skep-a"));
            for named in ["HOME=/t/skep-a/home\0", "A=b\0TMPDIR=/t/skep-a\0"] {
                assert!(folder.is_named(named.as_bytes()), "{named}");
            }
            for other in ["HOME=/t/skep-ab\0", "A=see /t/skep-a/x\0", "/t/skep-a\0", "=\0", ""] {
                assert!(!folder.is_named(other.as_bytes()), "{other}");
            }
        }

        #[test]
        fn nobody_is_younger_than_himself_and_the_first_process_is_older() {
            let own = started(std::process::id()).unwrap();
            assert!(started(1).unwrap() <= own);
            assert_eq!(started(0), None);
        }
    }
}

/// Nobody tells.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;
    use std::time::Duration;

    use super::Stray;

    impl Stray {
        pub(crate) fn kill(&self) {}

        pub(crate) fn ends_within(&self, _: Duration) -> bool {
            true
        }
    }

    pub(super) fn of(_: &Path) -> Vec<Stray> {
        Vec::new()
    }
}
