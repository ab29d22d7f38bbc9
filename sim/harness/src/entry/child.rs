//! Agents as child processes, each in a process group of its own: whatever an agent started goes
//! with it.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use skep_trace::Text;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::shell::{Agents, Process, Started};

/// Starts agents as children.
#[derive(Debug)]
pub(super) struct Children {
    command: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Text,
}

impl Children {
    pub(super) fn new(command: Vec<String>, env: BTreeMap<String, String>, cwd: &Text) -> Self {
        Self { command, env, cwd: cwd.clone() }
    }
}

impl Agents for Children {
    type Stdin = ChildStdin;
    type Stdout = ChildStdout;
    type Process = ChildProcess;

    fn start(&mut self) -> io::Result<Started<ChildStdin, ChildStdout, ChildProcess>> {
        let (program, args) = self.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(&self.env)
            .current_dir(&*self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Started { stdin, stdout, process: ChildProcess { child, group } })
    }
}

/// A child and the group that it leads. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct ChildProcess {
    child: Child,
    group: Option<Pid>,
}

impl Process for ChildProcess {
    fn kill(&mut self) {
        // Once: later the number may be another's.
        if let Some(group) = self.group.take() {
            // A group that is gone already is what was wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    async fn exited(&mut self) {
        // Whatever the code was: an agent that has exited is gone.
        let _ = self.child.wait().await;
    }

    fn id(&self) -> Option<u32> {
        self.child.id()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
