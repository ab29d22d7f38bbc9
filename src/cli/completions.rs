//! `skep completions`: a script that teaches a shell our words.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::console::Console;
use super::{Arguments, help};
use crate::exit_code::ExitCode;

/// `skep completions`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::COMPLETIONS)]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// When it cannot be written.
pub fn completions(
    arguments: &CompletionsArguments,
    console: &Console,
) -> Result<ExitCode, super::trouble::Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "skep", &mut script);
    console.say(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::Held)
}
