//! The command line of the process.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use thiserror::Error;

/// What the command line of the process says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioArgs {
    /// Who tells the process what to do; `None`: it behaves well on its own.
    pub director: Option<DirectorAddress>,
    /// Where a process on its own keeps its sessions, in a folder `.skep-agent`.
    pub home: PathBuf,
}

/// Where the director listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorAddress {
    /// Its Unix socket.
    pub socket: PathBuf,
    /// Which agent of which harness the process is, in the director's own words.
    pub token: String,
}

/// A command line that names half a director.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("`--socket PATH` and `--token TOKEN` come together, or not at all")]
pub struct HalfDirector;

impl StdioArgs {
    /// Reads the words after `scripted-agent`. Words that nobody knows are passed over: many
    /// harnesses add their own.
    ///
    /// # Errors
    /// When one of `--socket` and `--token` is there and the other is not, or has no value.
    pub fn read(words: &[OsString], home: PathBuf) -> Result<Self, HalfDirector> {
        let after = |flag: &str| {
            let at = words.iter().position(|word| word == flag)?;
            Some(words.get(at + 1).map(OsString::as_os_str))
        };
        let director = match (after("--socket"), after("--token")) {
            (None, None) => None,
            (Some(Some(socket)), Some(Some(token))) => Some(DirectorAddress::new(socket, token)),
            _ => return Err(HalfDirector),
        };
        Ok(Self { director, home })
    }
}

impl DirectorAddress {
    fn new(socket: &OsStr, token: &OsStr) -> Self {
        Self { socket: socket.into(), token: token.to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Option<DirectorAddress>, HalfDirector> {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        StdioArgs::read(&words, PathBuf::from("/home")).map(|args| args.director)
    }

    #[test]
    fn a_director_has_a_socket_and_a_token() {
        let director = DirectorAddress { socket: "/s".into(), token: "t".to_owned() };
        assert_eq!(read(&["--socket", "/s", "--token", "t", "acp"]), Ok(Some(director)));
        assert_eq!(read(&["acp", "--stdio"]), Ok(None));
        assert_eq!(read(&["--socket", "/s"]), Err(HalfDirector));
        assert_eq!(read(&["--token", "t", "--socket"]), Err(HalfDirector));
    }
}
