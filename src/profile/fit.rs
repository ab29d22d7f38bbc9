//! What a scenario asks for, held against what a harness has.

use skep_plan::{Act, Cast, HarnessCast, Settings};
use skep_trace::Text;

use super::HarnessProfile;

/// Why a scenario does not apply to a harness, if it does not: it needs what the harness has not.
pub fn lacks(profile: &HarnessProfile, needs: &[Text]) -> Option<String> {
    let need = needs.iter().find(|need| !profile.has.contains(*need))?;
    Some(format!("needs {need}, which the profile `{}` has not", profile.name))
}

/// Why a scenario does not apply to a harness, if it does not: it needs a setting that the harness
/// cannot be told and has not by itself.
pub fn refuses<'a>(
    profile: &HarnessProfile,
    cast: &Cast,
    acts: impl IntoIterator<Item = &'a Act>,
) -> Option<String> {
    let name = &profile.name;
    let asked = cast.harnesses.iter().flat_map(|harness| {
        let texts = harness.settings.texts();
        let told = texts.into_iter().filter(|(key, _)| harness.tells(key));
        told.map(|(key, value)| (key.to_owned(), value))
    });
    let later = acts.into_iter().filter_map(|act| match act {
        Act::Set { key, value, .. } => Some((key.to_string(), value.to_string())),
        _ => None,
    });
    let refused = |(key, value): &(String, String)| !takes(profile, key, value);
    let (key, value) = asked.chain(later).find(refused)?;
    let shown = shown(&value);
    Some(match profile.follows.get(key.as_str()) {
        Some(own) => format!("needs {key}={shown}, and the profile `{name}` follows {own}"),
        None => format!("needs {key}={shown}, which the profile `{name}` cannot be told"),
    })
}

/// A harness can be told a value, or has it anyway.
fn takes(profile: &HarnessProfile, key: &str, value: &str) -> bool {
    if let Some(way) = profile.ways.get(key) {
        return value.is_empty() || way.form.write(value).is_some();
    }
    let as_read = |value: &str| {
        let mut settings = Settings::default();
        settings.set(key, value).is_ok().then_some(settings)
    };
    let own = match profile.follows.get(key) {
        Some(own) => as_read(own),
        None => Some(Settings::default()),
    };
    as_read(value) == own
}

/// Milliseconds are read as seconds where they are some.
fn shown(value: &str) -> String {
    match value.strip_suffix("000ms") {
        Some(seconds) if !seconds.is_empty() => format!("{seconds}s"),
        _ => value.to_owned(),
    }
}

/// A cast whose harnesses have their profile's values wherever the scenario tells them none.
pub fn adapted(mut cast: Cast, profile: &HarnessProfile) -> Cast {
    if profile.follows.is_empty() {
        return cast;
    }
    for harness in &mut cast.harnesses {
        harness.settings = settings(harness, profile);
    }
    cast
}

fn settings(harness: &HarnessCast, profile: &HarnessProfile) -> Settings {
    let mut settings = profile.settings();
    for (key, value) in harness.settings.texts() {
        if harness.tells(key) {
            settings.set(key, &value).expect("it was read from such a setting");
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::super::{Form, Way};
    use super::*;

    fn cast(settings: &[(&str, &str)]) -> Cast {
        let mut harness = HarnessCast {
            name: "h".into(),
            agent: "a".into(),
            relay: "relay".into(),
            state: "h".into(),
            key: "agent".into(),
            started: true,
            settings: Settings::default(),
            said: settings.iter().map(|(key, _)| Text::from(*key)).collect(),
        };
        settings.iter().for_each(|(key, value)| harness.settings.set(key, value).unwrap());
        Cast { harnesses: vec![harness], ..Cast::default() }
    }

    fn profile() -> HarnessProfile {
        let mut profile = HarnessProfile::new("mine");
        profile.has.insert("rotate".into());
        profile.follows.insert("indeterminate".into(), "retain".into());
        profile.ways.insert("heartbeat".into(), Way { env: "B".into(), form: Form::Seconds });
        profile
    }

    #[test]
    fn what_it_has_not_is_named() {
        assert_eq!(lacks(&profile(), &["rotate".into()]), None);
        let why = lacks(&profile(), &["rotate".into(), "observer".into()]).unwrap();
        assert_eq!(why, "needs observer, which the profile `mine` has not");
    }

    #[test]
    fn a_setting_is_told_or_followed_or_refused() {
        let refused = |settings: &[(&str, &str)]| refuses(&profile(), &cast(settings), []);
        assert_eq!(refused(&[]), None);
        assert_eq!(refused(&[("heartbeat", "30s"), ("indeterminate", "retain")]), None);
        // What the reference has by default is assumed of everybody.
        assert_eq!(refused(&[("load-timeout", "60s")]), None);
        let why = refused(&[("load-timeout", "10s")]).unwrap();
        assert_eq!(why, "needs load-timeout=10s, which the profile `mine` cannot be told");
        let why = refused(&[("heartbeat", "1500ms")]).unwrap();
        assert_eq!(why, "needs heartbeat=1500ms, which the profile `mine` cannot be told");
        let why = refused(&[("indeterminate", "bounded(3)")]).unwrap();
        assert_eq!(why, "needs indeterminate=bounded(3), and the profile `mine` follows retain");
    }

    #[test]
    fn a_setting_that_changes_later_is_refused_as_well() {
        let set = Act::Set { harness: "h".into(), key: "model".into(), value: "m2".into() };
        let why = refuses(&profile(), &cast(&[]), [&set]).unwrap();
        assert!(why.starts_with("needs model=m2"), "{why}");
    }

    #[test]
    fn where_the_scenario_says_nothing_the_harness_has_its_own_values() {
        let own = |settings: &[(&str, &str)]| {
            let cast = adapted(cast(settings), &profile());
            cast.harnesses[0].settings.policies.indeterminate.to_string()
        };
        assert_eq!(own(&[]), "retain");
        assert_eq!(own(&[("indeterminate", "fork")]), "fork");
    }
}
