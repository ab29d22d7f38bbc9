//! Where agent processes call their director.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::task::JoinSet;

use super::link::AgentLink;

/// How long a process may take to say who it is. One that was stopped may never say it.
const HELLO_TIME: Duration = Duration::from_secs(10);

/// A listening Unix socket. It is removed when the port is dropped.
pub struct AgentPort {
    listener: UnixListener,
    path: PathBuf,
    callers: JoinSet<io::Result<AgentLink>>,
}

impl AgentPort {
    /// Listens at this path, for this user alone. A path of more than about a hundred bytes is
    /// too long for a socket.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        let port = Self { listener, path: path.to_owned(), callers: JoinSet::new() };
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(port)
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next process that said who it is. One that is killed or stopped before it does so
    /// holds up nobody else. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn accept(&mut self) -> io::Result<AgentLink> {
        loop {
            tokio::select! {
                biased;
                Some(caller) = self.callers.join_next() => {
                    if let Ok(Ok(link)) = caller {
                        return Ok(link);
                    }
                }
                caller = self.listener.accept() => {
                    let answer = AgentLink::answer(caller?.0);
                    self.callers.spawn(async {
                        tokio::time::timeout(HELLO_TIME, answer).await?
                    });
                }
            }
        }
    }
}

impl Drop for AgentPort {
    fn drop(&mut self) {
        // Gone already is gone.
        let _ = fs::remove_file(&self.path);
    }
}
