//! The agent's process by itself, for the tests of this crate: real pipes need a real process.
//! What is installed is the verb `scripted-agent` of the `skep` binary, which does the same.

use std::path::PathBuf;
use std::process::ExitCode;

use skep_agent::{DirectorAddress, StdioArgs};

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let code = runtime.expect("a runtime").block_on(skep_agent::main(args()));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// `scripted-agent --socket PATH --token TOKEN`, or nothing.
fn args() -> StdioArgs {
    let words: Vec<String> = std::env::args().collect();
    let after = |flag: &str| words.iter().position(|word| word == flag).map(|at| &words[at + 1]);
    let director = after("--socket").zip(after("--token"));
    let director = director
        .map(|(socket, token)| DirectorAddress { socket: socket.into(), token: token.clone() });
    StdioArgs { director, home: home() }
}

#[expect(clippy::disallowed_methods, reason = "this is a binary: it reads its environment")]
fn home() -> PathBuf {
    std::env::var_os("HOME").unwrap_or_default().into()
}
