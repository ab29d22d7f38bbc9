//! The command line of the process.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use thiserror::Error;

use crate::solo::{Capability, Defect};

/// What the command line of the process says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioArgs {
    /// Who tells the process what to do; `None`: it behaves well on its own.
    pub director: Option<DirectorAddress>,
    /// Where a process on its own keeps its sessions, in a folder `.skep-agent`.
    pub home: PathBuf,
    /// The directory that it was started in.
    pub birthplace: PathBuf,
    /// `--broken NAME`: what a process on its own does wrong.
    pub defect: Option<Defect>,
    /// `--without NAME`: what such a process does not offer.
    pub lacks: Option<Capability>,
}

/// Where the director listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectorAddress {
    /// Its Unix socket.
    pub socket: PathBuf,
    /// Which agent of which harness the process is, in the director's own words.
    pub token: String,
}

/// A command line that cannot be carried out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadArgs {
    /// It names half a director.
    #[error("`--socket PATH` and `--token TOKEN` come together, or not at all")]
    HalfDirector,
    /// It names a defect that nobody has.
    #[error("there is no broken agent `{0}`; `skep list requirements` names them")]
    Defect(String),
    /// It names a capability that no agent has.
    #[error("an agent may be without {names}, not `{0}`", names = capabilities())]
    Capability(String),
}

impl StdioArgs {
    /// Reads the words after `scripted-agent`. Words that nobody knows are passed over: many
    /// harnesses add their own.
    ///
    /// # Errors
    /// When one of `--socket` and `--token` is there and the other is not, or has no value, or
    /// when `--broken` names no defect or `--without` no capability.
    pub fn read(words: &[OsString], home: PathBuf, birthplace: PathBuf) -> Result<Self, BadArgs> {
        let after = |flag: &str| {
            let at = words.iter().position(|word| word == flag)?;
            Some(words.get(at + 1).map(OsString::as_os_str))
        };
        let director = match (after("--socket"), after("--token")) {
            (None, None) => None,
            (Some(Some(socket)), Some(Some(token))) => Some(DirectorAddress::new(socket, token)),
            _ => return Err(BadArgs::HalfDirector),
        };
        let defect = after("--broken").map(defect).transpose()?;
        let lacks = after("--without").map(capability).transpose()?;
        Ok(Self { director, home, birthplace, defect, lacks })
    }
}

fn defect(name: Option<&OsStr>) -> Result<Defect, BadArgs> {
    let name = name.unwrap_or_default().to_string_lossy();
    Defect::parse(&name).ok_or_else(|| BadArgs::Defect(name.into_owned()))
}

fn capability(name: Option<&OsStr>) -> Result<Capability, BadArgs> {
    let name = name.unwrap_or_default().to_string_lossy();
    Capability::parse(&name).ok_or_else(|| BadArgs::Capability(name.into_owned()))
}

fn capabilities() -> String {
    Capability::ALL.map(Capability::name).join(", ")
}

impl DirectorAddress {
    fn new(socket: &OsStr, token: &OsStr) -> Self {
        Self { socket: socket.into(), token: token.to_string_lossy().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Result<StdioArgs, BadArgs> {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        StdioArgs::read(&words, PathBuf::from("/home"), PathBuf::from("/"))
    }

    fn read(words: &[&str]) -> Result<Option<DirectorAddress>, BadArgs> {
        args(words).map(|args| args.director)
    }

    #[test]
    fn a_broken_agent_is_named() {
        let defect = args(&["acp", "--broken", "null-result"]).map(|args| args.defect);
        assert_eq!(defect, Ok(Some(Defect::NullResult)));
        assert_eq!(args(&["--broken", "x"]), Err(BadArgs::Defect("x".to_owned())));
        assert_eq!(args(&["--broken"]), Err(BadArgs::Defect(String::new())));
        let lacks = args(&["--without", "list"]).map(|args| args.lacks);
        assert_eq!(lacks, Ok(Some(Capability::List)));
        let wrong = args(&["--without", "lists"]).unwrap_err().to_string();
        assert!(wrong.contains("list, resume") && wrong.ends_with("not `lists`"), "{wrong}");
    }

    #[test]
    fn a_director_has_a_socket_and_a_token() {
        let director = DirectorAddress { socket: "/s".into(), token: "t".to_owned() };
        assert_eq!(read(&["--socket", "/s", "--token", "t", "acp"]), Ok(Some(director)));
        assert_eq!(read(&["acp", "--stdio"]), Ok(None));
        assert_eq!(read(&["--socket", "/s"]), Err(BadArgs::HalfDirector));
        assert_eq!(read(&["--token", "t", "--socket"]), Err(BadArgs::HalfDirector));
    }
}
