//! Harness profiles in a list: what each can do, and the policies that it follows.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skep_trace::policy::{
    Cancel, Compatibility, Delivery, ErrorClass, InFlight, Indeterminate, Overlap, Policies,
    SessionScope,
};

use crate::profile::HarnessProfile;
use crate::report::Paint;
use crate::report::paint::Tone;

/// Each policy, the value that is followed, and all values there are.
fn policies(policies: &Policies) -> [(&'static str, String, &'static [&'static str]); 8] {
    [
        ("session-scope", policies.session_scope.to_string(), SessionScope::WORDS),
        ("indeterminate", policies.indeterminate.to_string(), Indeterminate::WORDS),
        ("error-class", policies.error_class.to_string(), ErrorClass::WORDS),
        ("compatibility", policies.compatibility.to_string(), Compatibility::WORDS),
        ("overlap", policies.overlap.to_string(), Overlap::WORDS),
        ("cancel", policies.cancel.to_string(), Cancel::WORDS),
        ("in-flight", policies.in_flight.to_string(), InFlight::WORDS),
        ("delivery", policies.delivery.to_string(), Delivery::WORDS),
    ]
}

/// The profiles, for people.
pub(super) fn text(profiles: &[HarnessProfile], paint: Paint) -> String {
    let one = |profile: &HarnessProfile| profile_text(profile, paint);
    profiles.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn profile_text(profile: &HarnessProfile, paint: Paint) -> String {
    let about = paint.paint(Tone::Faint, &profile.about);
    let mut text = format!("{}  {about}\n", paint.paint(Tone::Strong, &profile.name));
    let has: Vec<&str> = profile.has.iter().map(|word| &**word).collect();
    let has = if has.is_empty() { "nothing".to_owned() } else { has.join(", ") };
    writeln!(text, "  {:<14} {has}", "has").expect("a string takes all");
    for (policy, value, words) in policies(&profile.policies()) {
        let others: Vec<_> = words.iter().copied().filter(|word| *word != value).collect();
        let others = paint.paint(Tone::Faint, format!("else {}", others.join(", ")));
        writeln!(text, "  {policy:<14} {value:<12} {others}").expect("a string takes all");
    }
    text
}

/// One profile, for programs.
pub(super) fn document(profile: &HarnessProfile) -> Value {
    let policies = policies(&profile.policies());
    let policies: Value = policies
        .into_iter()
        .map(|(policy, value, _)| (policy.to_owned(), Value::from(value)))
        .collect();
    let has: Value = profile.has.iter().map(|word| &**word).collect();
    json!({
        "name": &*profile.name, "about": &*profile.about, "has": has, "policies": policies,
    })
}
