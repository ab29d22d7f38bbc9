//! The program that a command line means: found before anything is played, and from where the
//! user stands, since what it tests runs in a folder of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::engine::current_dir;
use super::trouble::Trouble;

/// The words of a command with its program as a path that holds everywhere.
///
/// # Errors
/// When there is no such program, or it may not be run.
pub(super) fn found(mut words: Vec<String>) -> Result<Vec<String>, Trouble> {
    let Some(program) = words.first() else { return Ok(words) };
    let path = if program.contains('/') {
        current_dir()?.join(program.strip_prefix("./").unwrap_or(program))
    } else {
        on_path(program).ok_or_else(|| missing(program))?
    };
    let metadata = fs::metadata(&path).map_err(|_| missing(program))?;
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        let title = format!("`{program}` cannot be started: it is no program");
        return Err(Trouble::usage(title).help("is it built, and may it be executed?"));
    }
    words[0] = path.to_string_lossy().into_owned();
    Ok(words)
}

fn missing(program: &str) -> Trouble {
    let trouble = Trouble::usage(format!("there is no program `{program}`"));
    if !program.contains('/') && Path::new(program).is_file() {
        return trouble.help(format!("one in this folder is written `./{program}`"));
    }
    trouble.help("a path is meant from where you stand; a bare name is looked up in PATH")
}

/// Where a bare name is found.
#[expect(clippy::disallowed_methods, reason = "the command line reads the user's environment")]
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
