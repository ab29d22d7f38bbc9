//! Which agent is meant, and how it is set up: profiles, commands, environments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::trouble::Trouble;
use super::{certify_reports, discover, engine, select};
use crate::certify::Profile;

/// A profile by its name, or a file.
///
/// # Errors
/// When there is none, or the file has mistakes.
pub fn profile(wanted: Option<&str>) -> Result<Profile, Trouble> {
    let Some(wanted) = wanted else { return Ok(Profile::generic()) };
    if let Some(profile) = Profile::built_in(wanted) {
        return Ok(profile);
    }
    let path = Path::new(wanted);
    if !path.exists() {
        let help = match select::nearest(wanted, Profile::names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`skep list agents` names them; docs/certify.md says how to write a file of \
                     yours"
                .to_owned(),
        };
        return Err(Trouble::usage(format!("there is no agent profile `{wanted}`")).help(help));
    }
    let text = discover::text(path, certify_reports::MOST_BYTES)?;
    Profile::parse(&text).map_err(|why| Trouble::usage(format!("`{wanted}`: {why}")))
}

/// The user's command, else the profile's, where that program is there; `None` where neither says
/// one.
///
/// # Errors
/// When the profile's program is not installed.
pub fn command(given: &[OsString], profile: &Profile) -> Result<Option<Vec<OsString>>, Trouble> {
    if !given.is_empty() {
        return engine::anchored(given).map(Some);
    }
    let Some(program) = profile.start.first() else { return Ok(None) };
    if !engine::on_path(program) {
        let steps: Vec<_> = profile.install.iter().map(|step| format!("\n    {step}")).collect();
        return Err(Trouble::usage(format!("`{program}` is not installed"))
            .help(format!("skep installs nothing; this does:{}", steps.concat())));
    }
    engine::anchored(&profile.start.iter().map(OsString::from).collect::<Vec<_>>()).map(Some)
}

/// What every program needs, and what the user names.
pub fn environment(named: &[OsString]) -> BTreeMap<OsString, OsString> {
    const NEEDED: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT"];
    let mut env: BTreeMap<_, _> = NEEDED
        .into_iter()
        .filter_map(|name| Some((name.into(), engine::variable(name)?)))
        .collect();
    for one in named {
        let text = one.to_string_lossy();
        match text.split_once('=') {
            Some((name, value)) => {
                env.insert(name.into(), value.into());
            }
            None => env.extend(engine::variable(&text).map(|value| (one.clone(), value))),
        }
    }
    env
}
