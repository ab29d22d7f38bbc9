//! Harness profiles: those that come with skep, and the user's own files.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::select;
use super::trouble::Trouble;
use crate::profile::HarnessProfile;
use crate::scenario::{MAX_BYTES, SourceFile, capability_fault, parse_profile};

/// The profile that the reference harness follows.
pub const REFERENCE: &str = "reference";

/// The profile of a harness of which the command line says nothing.
pub const USUAL: &str = "buzz-acp";

/// Every profile that comes with skep: its name, and its text.
const BUILT_IN: &[(&str, &str)] = &[
    ("buzz-acp", include_str!("../../profiles/harness/buzz-acp.kdl")),
    ("buzz-acp-session-store", include_str!("../../profiles/harness/buzz-acp-session-store.kdl")),
    ("buzz-acp-state-dir", include_str!("../../profiles/harness/buzz-acp-state-dir.kdl")),
    (REFERENCE, include_str!("../../profiles/harness/reference.kdl")),
];

/// Every profile that comes with skep, by name.
pub fn built_in() -> Vec<HarnessProfile> {
    let read = |(name, text): &(&str, &str)| {
        parse_profile(&SourceFile::new(&format!("{name}.kdl"), text))
            .expect("a test reads every profile that comes with skep")
    };
    BUILT_IN.iter().map(read).collect()
}

/// The profile of the reference harness.
pub fn reference() -> HarnessProfile {
    let found = built_in().into_iter().find(|profile| &*profile.name == REFERENCE);
    found.expect("it stands in the list above")
}

/// The profile of that name, or in that file.
///
/// # Errors
/// When there is none, or the file has mistakes.
pub fn load(name: &str) -> Result<HarnessProfile, Trouble> {
    if let Some(profile) = built_in().into_iter().find(|profile| &*profile.name == name) {
        return Ok(profile);
    }
    let path = Path::new(name);
    let is_path = name.contains('/') || name.ends_with(".kdl");
    if !is_path && fs::metadata(path).is_err() {
        let names = BUILT_IN.iter().map(|(name, _)| *name);
        let help = match select::nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`skep list profiles` names them; a file of yours ends in `.kdl`".to_owned(),
        };
        return Err(Trouble::usage(format!("there is no harness profile `{name}`")).help(help));
    }
    let file = read(path, "harness", "`skep list profiles` names those that come with skep")?;
    parse_profile(&file).map_err(Trouble::Scenarios)
}

/// Adds what the user claims that a harness can do besides.
///
/// # Errors
/// When a claim is a slip of a word that is known.
pub fn claim(profile: &mut HarnessProfile, claims: &[String]) -> Result<(), Trouble> {
    for claim in claims {
        if let Some((title, help)) = capability_fault(claim) {
            return Err(Trouble::usage(format!("`--has`: {title}")).help(help));
        }
        profile.has.insert(claim.as_str().into());
    }
    Ok(())
}

/// Reads at most one byte more than such a file may have.
///
/// # Errors
/// When it cannot be read, or is no text.
#[expect(clippy::disallowed_methods, reason = "the command line reads the user's files")]
pub(super) fn read(path: &Path, whose: &str, help: &str) -> Result<Arc<SourceFile>, Trouble> {
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    let all = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    if let Err(error) = all {
        let title = format!("the {whose} profile `{}` cannot be read: {error}", path.display());
        return Err(Trouble::usage(title).help(help));
    }
    SourceFile::from_bytes(&path.to_string_lossy(), &bytes)
        .map_err(|mistake| Trouble::Scenarios(vec![mistake]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_that_comes_with_skep_is_read_and_has_its_files_name() {
        let profiles = built_in();
        assert!(profiles.iter().map(|it| &*it.name).eq(BUILT_IN.iter().map(|(name, _)| *name)));
        assert!(profiles.iter().any(|it| &*it.name == USUAL));
        assert!(profiles.iter().all(|it| !it.about.is_empty()));
    }

    #[test]
    fn the_reference_can_be_told_everything() {
        let profile = reference();
        let keys = skep_plan::Settings::KEYS;
        assert_eq!(keys.iter().find(|key| !profile.ways.contains_key(**key)), None);
        let all = crate::profile::CAPABILITIES;
        assert_eq!(all.iter().find(|word| !profile.has.contains(**word)), None);
    }

    #[test]
    fn a_slip_is_answered_and_a_word_of_ones_own_is_taken() {
        let mut profile = reference();
        assert!(claim(&mut profile, &["durable-sesions".to_owned()]).is_err());
        assert!(claim(&mut profile, &["my-own".to_owned()]).is_ok());
        assert!(profile.has.contains("my-own"));
        assert!(load("buzz-acq").is_err() && load("buzz-acp").is_ok());
    }
}
