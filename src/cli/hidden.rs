//! Verbs that skep calls itself by: in the live world the scripted agent and the reference harness
//! are processes of this very executable, so that an installed skep needs nothing beside it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::engine;
use super::trouble::Trouble;
use crate::certify::server;
use crate::exit_code::ExitCode;

/// Arguments that are handed on as they are.
#[derive(Clone, Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Passed {
    /// Whatever follows the verb.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// What the server of a certificate's sessions is told.
#[derive(Clone, Debug, Args)]
pub struct ServerArguments {
    /// Where it says that it was started.
    #[arg(long)]
    pub socket: PathBuf,
    /// Its name.
    #[arg(long)]
    pub name: String,
}

/// The server that a certificate's sessions bring along, until its input ends.
///
/// # Errors
/// Never: whoever started it is told nothing but what a server says.
pub fn certify_server(arguments: &ServerArguments) -> Result<ExitCode, Trouble> {
    match server::play(&arguments.socket, &arguments.name) {
        Ok(()) => Ok(ExitCode::Held),
        Err(_) => Ok(ExitCode::Inconclusive),
    }
}

/// The process of a scripted agent.
///
/// # Errors
/// When it cannot run.
pub fn scripted_agent(passed: &Passed) -> Result<ExitCode, Trouble> {
    engine::scripted_agent(&passed.arguments)
}

/// The process of the reference harness.
///
/// # Errors
/// When it cannot run.
pub fn reference_harness(passed: &Passed) -> Result<ExitCode, Trouble> {
    engine::reference_harness(&passed.arguments)
}
