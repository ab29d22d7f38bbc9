//! `skep harness init`: a profile to begin with.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::console::Console;
use super::help;
use super::trouble::Trouble;
use crate::exit_code::ExitCode;

/// A commented profile, with every word there is.
const EXAMPLE: &str = include_str!("../../profiles/example.kdl");

/// `skep harness`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::HARNESS)]
pub struct HarnessArguments {
    /// What is to be done.
    #[command(subcommand)]
    pub verb: HarnessVerb,
}

/// What can be done about harnesses.
#[derive(Clone, Debug, Subcommand)]
pub enum HarnessVerb {
    /// Write a commented profile for a harness of yours; never over a file that is there.
    Init {
        /// The file; without one it goes to standard output.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// Does what the arguments ask for.
///
/// # Errors
/// When the file is there already, or cannot be written.
pub fn harness(arguments: &HarnessArguments, console: &Console) -> Result<ExitCode, Trouble> {
    match &arguments.verb {
        HarnessVerb::Init { file: None } => console.say(EXAMPLE)?,
        HarnessVerb::Init { file: Some(path) } => {
            write(path)?;
            let text =
                format!("{0} is written; try `skep run --harness-profile {0}`\n", path.display());
            console.say(&text)?;
        }
    }
    Ok(ExitCode::Held)
}

fn write(path: &Path) -> Result<(), Trouble> {
    let file = File::options().write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(EXAMPLE.as_bytes()));
    written.map_err(|error| {
        let shown = path.display();
        match error.kind() {
            ErrorKind::AlreadyExists => Trouble::usage(format!("`{shown}` is there already"))
                .help("name another file, or remove it first"),
            _ => Trouble::usage(format!("`{shown}` cannot be written: {error}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{SourceFile, parse_profile, render};

    #[test]
    fn the_example_is_a_profile() {
        let read = parse_profile(&SourceFile::new("example.kdl", EXAMPLE));
        let profile = read.map_err(|mistakes| render(&mistakes, false)).unwrap();
        assert_eq!(&*profile.name, "my-harness");
        assert!(!profile.start.is_empty() && !profile.has.is_empty());
    }
}
