//! The agent as a process that a real harness starts.
//!
//! The process is a puppet: it owns the pipes and obeys. The agent itself, its script and its
//! disk are at the director's, who is asked for every byte and thereby can hold or kill the
//! process at any point, has the true order of things, and has the disk on its side before the
//! harness has its answer. Nothing in the environment or on the command line matters but a path
//! and a token, and both stand in a generated script.
//!
//! - [`main`]: the process, [`StdioArgs`]: its command line; start here. Without a director it is
//!   the agent of `solo`.
//! - [`AgentPort`], [`AgentLink`]: the director's side; [`Shell::serve`] runs an agent over a link.
//! - `wire`: what the two say. `puppet`: how the process obeys. `stdio`: its real pipes.
//!
//! [`Shell::serve`]: crate::Shell::serve

mod args;
mod link;
mod port;
mod puppet;
mod stdio;
mod wire;

use std::path::Path;

use tokio::net::UnixStream;

pub use args::{BadArgs, DirectorAddress, StdioArgs};
pub use link::AgentLink;
pub use port::AgentPort;

use crate::solo::Character;
use puppet::Last;

/// The exit code of a process whose director is gone, or was never there.
const NO_DIRECTOR: i32 = 70;

/// Runs the process to its end and says its exit code. Needs a runtime with input, output and
/// time. The caller must exit with the code at once: a thread may hang in a full pipe.
pub async fn main(args: StdioArgs) -> i32 {
    match args.director {
        None => {
            let character = Character { defect: args.defect, lacks: args.lacks };
            crate::solo::main(&args.home, &args.birthplace, character)
        }
        Some(director) => run_stdio(&director).await,
    }
}

async fn run_stdio(director: &DirectorAddress) -> i32 {
    let Ok(socket) = UnixStream::connect(&director.socket).await else { return NO_DIRECTOR };
    let (Ok(stdin), Ok(stdout)) = (stdio::take_stdin(), stdio::take_stdout()) else {
        return NO_DIRECTOR;
    };
    match puppet::obey(socket, &director.token, stdin, stdout).await {
        Last::Exit(code) => code,
        Last::Die(signal) => stdio::die(signal),
        Last::Lost => NO_DIRECTOR,
    }
}

/// The script that a harness is given as its agent's command. It needs no argument and ignores
/// what the harness adds; it needs nothing of the environment either. The program must take
/// `scripted-agent --socket PATH --token TOKEN`.
pub fn wrapper_script(program: &Path, director: &DirectorAddress) -> String {
    format!(
        "#!/bin/sh\nexec {} scripted-agent --socket {} --token {}\n",
        quoted(&program.to_string_lossy()),
        quoted(&director.socket.to_string_lossy()),
        quoted(&director.token),
    )
}

/// One word of a POSIX shell, whatever it holds.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
