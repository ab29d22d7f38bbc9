//! `skep explore`: what a few tests do not meet.

use clap::{Args, Subcommand};

use super::console::Console;
use super::explore_store::{self, ExploreStoreArguments};
use super::help;
use super::trouble::Trouble;
use crate::exit_code::ExitCode;

/// `skep explore`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::EXPLORE)]
pub struct ExploreArguments {
    /// What is explored.
    #[command(subcommand)]
    pub what: Option<ExploreWhat>,
}

/// What can be explored.
#[derive(Clone, Debug, Subcommand)]
pub enum ExploreWhat {
    /// The store: every order of system calls, every crash point, every disk.
    Store(ExploreStoreArguments),
}

impl ExploreArguments {
    /// The console that the arguments ask for.
    pub(super) fn console(&self) -> Console {
        match &self.what {
            Some(ExploreWhat::Store(arguments)) => arguments.output.console(),
            None => Console::plain(),
        }
    }
}

/// Explores.
///
/// # Errors
/// When it cannot be done as it stands.
pub fn explore(arguments: &ExploreArguments, console: &Console) -> Result<ExitCode, Trouble> {
    match &arguments.what {
        Some(ExploreWhat::Store(arguments)) => explore_store::explore_store(arguments, console),
        None => {
            Err(Trouble::usage("`skep explore` needs to know what")
                .help("write `skep explore store`"))
        }
    }
}
