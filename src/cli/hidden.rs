//! Verbs that skep calls itself by: in the live world the scripted agent and the reference harness
//! are processes of this very executable, so that an installed skep needs nothing beside it.

use std::ffi::OsString;

use clap::Args;

use super::engine;
use super::trouble::Trouble;
use crate::exit_code::ExitCode;

/// Arguments that are handed on as they are.
#[derive(Clone, Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Passed {
    /// Whatever follows the verb.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
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
