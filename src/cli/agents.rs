//! Which agent is meant, and how it is set up: profiles, commands, environments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::trouble::Trouble;
use super::{engine, profiles, select};
use crate::certify::Profile;
use crate::scenario::{SourceFile, parse_agent_profile};

/// Every profile that comes with skep: its name, and its text.
const BUILT_IN: [(&str, &str); 12] = [
    ("generic", include_str!("../certify/profiles/generic.kdl")),
    ("opencode", include_str!("../certify/profiles/opencode.kdl")),
    ("claude", include_str!("../certify/profiles/claude.kdl")),
    ("zed-codex", include_str!("../certify/profiles/zed-codex.kdl")),
    ("gemini", include_str!("../certify/profiles/gemini.kdl")),
    ("hermes", include_str!("../certify/profiles/hermes.kdl")),
    ("pi", include_str!("../certify/profiles/pi.kdl")),
    ("qwen", include_str!("../certify/profiles/qwen.kdl")),
    ("kilo", include_str!("../certify/profiles/kilo.kdl")),
    ("cline", include_str!("../certify/profiles/cline.kdl")),
    ("fast-agent", include_str!("../certify/profiles/fast-agent.kdl")),
    ("vibe", include_str!("../certify/profiles/vibe.kdl")),
];

/// Every profile that comes with skep.
pub fn built_in() -> Vec<Profile> {
    let read = |(name, text): &(&str, &str)| {
        parse_agent_profile(&SourceFile::new(&format!("{name}.kdl"), text))
            .expect("a test reads every profile that comes with skep")
    };
    BUILT_IN.iter().map(read).collect()
}

/// A profile by its name, or a file.
///
/// # Errors
/// When there is none, or the file has mistakes.
pub fn profile(wanted: Option<&str>) -> Result<Profile, Trouble> {
    let Some(wanted) = wanted else { return Ok(Profile::generic()) };
    if let Some(profile) = built_in().into_iter().find(|profile| profile.name == wanted) {
        return Ok(profile);
    }
    let path = Path::new(wanted);
    let is_path = wanted.contains('/') || wanted.ends_with(".kdl");
    if !is_path && !path.exists() {
        let help = match select::nearest(wanted, BUILT_IN.iter().map(|(name, _)| *name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`skep list agents` names them; docs/certify.md says how to write a file of \
                     yours"
                .to_owned(),
        };
        return Err(Trouble::usage(format!("there is no agent profile `{wanted}`")).help(help));
    }
    let file = profiles::read(path, "agent", "`skep list agents` names those that come with skep")?;
    parse_agent_profile(&file).map_err(Trouble::Scenarios)
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
    let words: Vec<_> = profile.start.iter().map(OsString::from).collect();
    // What stands in the home is there when the home is.
    if program.starts_with("{home}/") {
        return Ok(Some(words));
    }
    if !engine::on_path(program) {
        let steps = profile.install.iter().chain(&profile.notes);
        let steps: Vec<_> = steps.map(|step| format!("\n    {step}")).collect();
        return Err(Trouble::usage(format!("`{program}` is not installed"))
            .help(format!("skep installs nothing; this does:{}", steps.concat())));
    }
    engine::anchored(&words).map(Some)
}

/// A profile's variables give way to those that the user names.
pub fn outweigh(profile: &mut Profile, named: &[OsString]) {
    let names: Vec<_> = named.iter().map(|one| one.to_string_lossy()).collect();
    let names: Vec<&str> =
        names.iter().map(|one| one.split_once('=').map_or(&**one, |(name, _)| name)).collect();
    profile.env.retain(|(name, _)| !names.contains(&&**name));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_that_comes_with_skep_is_read_and_has_its_files_name() {
        let profiles = built_in();
        assert!(profiles.iter().map(|it| &*it.name).eq(BUILT_IN.iter().map(|(name, _)| *name)));
        let named = profiles.iter().filter(|profile| profile.name != "generic");
        assert!(named.clone().all(|it| !it.start.is_empty() && !it.install.is_empty()));
    }

    #[test]
    fn a_slip_in_a_name_is_answered() {
        let told = |name| format!("{:?}", profile(Some(name)).unwrap_err());
        assert!(told("opencoed").contains("did you mean `opencode`?"));
        assert!(told("nowhere/at-all.kdl").contains("cannot be read"));
    }
}
