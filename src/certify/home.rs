//! An agent's home: the files and the environment that a profile asks for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Profile;
use crate::profile::Places;

/// Writes the files of a profile.
#[expect(clippy::disallowed_methods, reason = "an agent's home is made of real files")]
pub(super) fn set_up(home: &Path, profile: &Profile, places: &Places) -> io::Result<()> {
    for file in &profile.files {
        let path = home.join(&file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, places.fill(&file.content))?;
        if let Some(mode) = file.mode {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

/// The whole environment of an agent: what the user gives it, what its profile says, and where its
/// home is.
pub(super) fn environment(
    given: &BTreeMap<OsString, OsString>,
    profile: &Profile,
    places: &Places,
    tmp: &Path,
) -> BTreeMap<OsString, OsString> {
    let filled = |(name, value): (&OsString, &OsString)| (name.clone(), places.fill_word(value));
    let mut env: BTreeMap<_, _> = given.iter().map(filled).collect();
    for (name, value) in &profile.env {
        env.insert(name.into(), places.fill(value).into());
    }
    env.insert("HOME".into(), places.home.clone().into());
    env.insert("TMPDIR".into(), tmp.into());
    env
}
