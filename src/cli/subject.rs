//! Which harness a command is about, and with which profile.

use super::trouble::Trouble;
use super::{profiles, program};
use crate::profile::HarnessProfile;

/// A harness, as a command line names it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The command, if it names one.
    pub harness: Option<&'a str>,
    /// Its profile, if it names one.
    pub profile: Option<&'a str>,
    /// What it is claimed to do besides.
    pub has: &'a [String],
}

/// The harness and the profile that are meant.
///
/// # Errors
/// When there is no such profile, or nothing to start.
pub fn tested(subject: &Subject<'_>) -> Result<(Option<Vec<String>>, HarnessProfile), Trouble> {
    let profile = profile(subject)?;
    Ok((harness(subject, &profile)?, profile))
}

/// The profile that is meant: the named one, or the usual one of a harness that is not ours.
fn profile(subject: &Subject<'_>) -> Result<HarnessProfile, Trouble> {
    let usual = if subject.harness.is_some() { profiles::USUAL } else { profiles::REFERENCE };
    let mut profile = profiles::load(subject.profile.unwrap_or(usual))?;
    profiles::claim(&mut profile, subject.has)?;
    Ok(profile)
}

/// The harness that is meant: the named one, or the one that the profile starts; `None` is ours.
fn harness(
    subject: &Subject<'_>,
    profile: &HarnessProfile,
) -> Result<Option<Vec<String>>, Trouble> {
    if let Some(command) = subject.harness {
        return command_words(command).and_then(program::found).map(Some);
    }
    if !profile.start.is_empty() {
        let words = profile.start.iter().map(ToString::to_string).collect();
        return program::found(words).map(Some);
    }
    if subject.profile.is_some() && &*profile.name != profiles::REFERENCE {
        let title = format!("the profile `{}` does not say what to start", profile.name);
        return Err(Trouble::usage(title).help("name the program: `--harness ./my-harness`"));
    }
    Ok(None)
}

/// A command line as its words, quoted as a shell would have them.
fn command_words(command: &str) -> Result<Vec<String>, Trouble> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        Trouble::usage(format!("`--harness '{command}'` is no command"))
            .help("write the program and its arguments: `--harness './buzz-acp --flag'`")
    })
}
