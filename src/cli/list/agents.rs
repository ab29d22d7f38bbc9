//! Agent profiles in a list: what each starts, how that is installed, and which login it uses.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::certify::Profile;
use crate::report::Paint;
use crate::report::clean::clean;
use crate::report::paint::Tone;

/// The profiles, for people.
pub(super) fn text(profiles: &[Profile], paint: Paint) -> String {
    profiles.iter().map(|profile| profile_text(profile, paint)).collect::<Vec<_>>().join("\n")
}

fn profile_text(profile: &Profile, paint: Paint) -> String {
    let start = match &*profile.start {
        [] => "starts what stands after `--`".to_owned(),
        words => clean(&words.join(" ")),
    };
    let mut text = format!("{}  {start}\n", paint.paint(Tone::Strong, clean(&profile.name)));
    let install = profile.install.iter().map(|step| ("install", step));
    let notes = profile.notes.iter().map(|note| ("note", note));
    let login = profile.login.iter().map(|method| ("login", method));
    for (key, value) in install.chain(notes).chain(login) {
        writeln!(text, "  {key:<8} {}", paint.paint(Tone::Faint, clean(value)))
            .expect("a string takes all");
    }
    text
}

/// One profile, for programs.
pub(super) fn document(profile: &Profile) -> Value {
    let names: Vec<_> = profile.env.iter().map(|(name, _)| name).collect();
    let files: Vec<_> = profile.files.iter().map(|file| &file.path).collect();
    json!({
        "name": profile.name, "start": profile.start, "install": profile.install, "notes": profile.notes,
        "login": profile.login, "env": names, "files": files,
    })
}
