//! The agent's process by itself, for the tests of this crate: real pipes need a real process.
//! What is installed is the verb `scripted-agent` of the `skep` binary, which does the same.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use skep_agent::StdioArgs;

/// The exit code of a command line that cannot be understood.
const USAGE: u8 = 1;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Ok(args) = StdioArgs::read(&words, home(), birthplace()) else { return USAGE.into() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let code = runtime.expect("a runtime").block_on(skep_agent::main(args));
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

#[expect(clippy::disallowed_methods, reason = "this is a binary: it knows where it was started")]
fn birthplace() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "this is a binary: it reads its environment")]
fn home() -> PathBuf {
    std::env::var_os("HOME").unwrap_or_default().into()
}
