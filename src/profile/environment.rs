//! The variables that a harness is started with.

use std::collections::BTreeMap;

use skep_plan::Settings;
use skep_trace::Text;

use super::{Form, HarnessProfile};

/// Where a harness finds what it needs, by the words of [`PLACES`](super::PLACES).
pub type Place = BTreeMap<&'static str, String>;

/// Everything that a harness with this profile is told. Nothing is inherited.
///
/// A value that cannot be written is left out: [`refuses`](super::refuses) has set the scenario aside
/// that asks for one.
pub fn environment(
    profile: &HarnessProfile,
    settings: &Settings,
    place: &Place,
) -> BTreeMap<Text, Text> {
    let mut env: BTreeMap<Text, Text> = profile.env.iter().cloned().collect();
    let settings = settings.texts();
    let values = settings.iter().map(|(key, value)| (*key, value));
    for (key, value) in values.chain(place.iter().map(|(key, value)| (*key, value))) {
        if let Some(way) = profile.ways.get(key)
            && let Some(text) = written(&way.form, value)
        {
            env.insert(way.env.clone(), text.as_str().into());
        }
    }
    env
}

/// A setting that is not made is a variable that is not there.
fn written(form: &Form, value: &str) -> Option<String> {
    let text = if value.is_empty() { None } else { form.write(value) };
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::Way;
    use super::*;

    #[test]
    fn a_harness_is_told_what_it_has_a_name_for_and_nothing_else() {
        let mut profile = HarnessProfile::new("mine");
        profile.env.push(("ALWAYS".into(), "1".into()));
        let mut way = |key: &str, env: &str, form| {
            profile.ways.insert(key.into(), Way { env: env.into(), form });
        };
        way("model", "MODEL", Form::Plain);
        way("title", "TITLE", Form::Plain);
        way("heartbeat", "BEAT", Form::Seconds);
        way("state-dir", "STORE", Form::Below("s.json".into()));
        let mut settings = Settings::default();
        settings.set("model", "m1").unwrap();
        let place = Place::from([("state-dir", "/d".to_owned()), ("owner", "o".to_owned())]);
        let env = environment(&profile, &settings, &place);
        let told: Vec<_> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(told, ["ALWAYS=1", "BEAT=0", "MODEL=m1", "STORE=/d/s.json"]);
    }
}
