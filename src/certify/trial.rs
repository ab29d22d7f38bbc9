//! An agent by hand: a home and the model stub, and a command in it whose input and output are our
//! own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_process, kill_process_group, waitpid,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use super::{Profile, home};
use crate::live::groups::{Folder, Group};
use crate::profile::Places;

/// How long a command may take to end once it was asked to.
const PARTING: Duration = Duration::from_secs(3);

/// A command and what it is given.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The program and its arguments; places in them are filled in.
    pub command: Vec<OsString>,
    /// How its home is set up.
    pub profile: Profile,
    /// What of the user's environment it is given.
    pub env: BTreeMap<OsString, OsString>,
}

/// Something that ends a trial, or may.
#[derive(Debug)]
pub enum Event {
    /// The user wants to stop.
    Stop,
    /// The command is gone: its exit code, or 128 and the signal.
    Gone(i32),
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The command ended, with this code.
    Code(i32),
    /// The user stopped it.
    Stopped,
}

/// A home that is gone when this is dropped, unless it is kept.
#[derive(Debug)]
pub struct Ground {
    root: PathBuf,
    folder: Option<Folder>,
}

impl Ground {
    /// Makes a home; `keep`: it stays.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(keep: bool) -> io::Result<Self> {
        let folder = if keep { None } else { Some(Folder::new()?) };
        let root = match &folder {
            Some(folder) => folder.path().to_owned(),
            None => tempfile::Builder::new().prefix("skep-").tempdir()?.keep(),
        };
        fs::create_dir(root.join("home"))?;
        fs::create_dir(root.join("tmp"))?;
        Ok(Self { root, folder })
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// It stays.
    pub fn is_kept(&self) -> bool {
        self.folder.is_none()
    }

    fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }
}

impl Trial {
    /// Runs the command in a home with a model, until it ends or the user stops it.
    ///
    /// # Errors
    /// When the home cannot be set up, or the program cannot be started.
    pub fn run(
        &self,
        ground: &Ground,
        url: String,
        (events, heard): (Sender<Event>, &Receiver<Event>),
    ) -> io::Result<Ended> {
        let home = ground.home();
        let places = Places { url, home: home.to_string_lossy().into_owned() };
        home::set_up(&home, &self.profile, &places)
            .map_err(|error| io::Error::other(format!("its home cannot be set up: {error}")))?;
        let (pid, group) = self.start(&places, &ground.tmp())?;
        hand_over(pid);
        thread::spawn(move || await_end(pid, &events));
        Ok(ended(&group, heard))
    }

    #[expect(clippy::disallowed_methods, reason = "an agent is a process in a group of its own")]
    fn start(&self, places: &Places, tmp: &Path) -> io::Result<(Pid, Group)> {
        let words = places.fill_words(&self.command);
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let env = home::environment(&self.env, &self.profile, places, tmp);
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(env);
        let (child, group) = Group::start(&mut command)?;
        // From here on it is known by its id: a stop is seen as well as an end.
        Ok((Pid::from_child(&child), group))
    }
}

/// Waits for the end of the command, however it comes.
fn ended(group: &Group, heard: &Receiver<Event>) -> Ended {
    match heard.recv() {
        Ok(Event::Gone(code)) => Ended::Code(code),
        Ok(Event::Stop) | Err(_) => {
            group.signal_all(Signal::TERM);
            // What is still there then is killed with its group; so it is where the user asks twice.
            let _parted = heard.recv_timeout(PARTING);
            Ended::Stopped
        }
    }
}

/// Waits for the process, and stops with it.
fn await_end(pid: Pid, events: &Sender<Event>) {
    while let Ok(Some((_, status))) = waitpid(Some(pid), WaitOptions::UNTRACED) {
        if status.stopped() {
            stop_too(pid);
            continue;
        }
        let signalled = status.terminating_signal().map(|signal| 128 + signal);
        // Nobody may be interested any more.
        let _ = events.send(Event::Gone(status.exit_status().or(signalled).unwrap_or(1)));
        return;
    }
}

/// The user's shell knows of our group only: where the command was stopped at a terminal, we stop
/// as well, and go on when the shell gives us the terminal again.
fn stop_too(pid: Pid) {
    // No event tells who has the terminal.
    const LOOK: Duration = Duration::from_millis(20);
    if !io::stdin().is_terminal() {
        return;
    }
    let _refused = kill_process(getpid(), Signal::STOP);
    // Another thread may take the signal, so that this one runs on a little before it stops.
    while tcgetpgrp(io::stdin()).is_ok_and(|owner| owner != getpgrp()) {
        thread::park_timeout(LOOK);
    }
    hand_over(pid);
}

/// Gives the terminal to the command's group, if there is one and it is ours to give: who is in
/// another group may not read it. Nobody gives it back: the user's shell takes it when we end.
fn hand_over(pid: Pid) {
    let terminal = io::stdin();
    if terminal.is_terminal() && tcgetpgrp(&terminal).is_ok_and(|owner| owner == getpgrp()) {
        // Without it the command stops as soon as it reads, and that is seen.
        let _refused = tcsetpgrp(&terminal, pid);
        // It may have read before.
        let _gone = kill_process_group(pid, Signal::CONT);
    }
}
