//! Harness profiles: the same language, other words.
//!
//! A file holds one profile, `harness-profile "name" { … }`. What the words mean stands in
//! `words`; what a profile comes to is [`HarnessProfile`].

mod words;

use std::sync::Arc;

use super::diagnostic::{Diagnostic, Findings, Reporter};
use super::line::Line;
use super::scope::Scope;
use super::single::only_line;
use super::source::SourceFile;
use super::tree::Node;
use super::{suggest, verb};
use crate::profile::HarnessProfile;

pub use words::capability_fault;
pub(super) use words::variable;

/// The line that a file consists of.
const HEAD: &str = "harness-profile";

/// How such a file is begun.
const BEGIN: &str = "write `harness-profile \"name\" { … }`; `skep harness init` shows one";

/// What no harness can do without being told.
const NEEDED: &[&str] = &["relay-url", "private-key", "agent-command"];

/// Reads a file that holds a harness profile. Nothing comes of it where something is wrong with
/// it.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn parse_profile(file: &Arc<SourceFile>) -> Result<HarnessProfile, Vec<Diagnostic>> {
    let findings = Findings::default();
    let at = Reporter { file, findings: &findings };
    let profile = only_line(at, HEAD, BEGIN).map(|head| read(&head, at));
    let complaints = findings.into_sorted();
    match profile {
        Some(profile) if complaints.is_empty() => Ok(profile),
        _ => Err(complaints),
    }
}

fn read(head: &Node, at: Reporter<'_>) -> HarnessProfile {
    let before = at.findings.count();
    let line = Line::new(head, at);
    line.takes(1, &[]);
    line.needs_block("…");
    let mut profile = HarnessProfile::new(&line.first_name("profile").text);
    let mut scope = Scope::default();
    let mut ready = false;
    for node in head.children() {
        let line = Line::new(node, at);
        if &*node.name.text == "ready" && !(node.args.is_empty() && node.props.is_empty()) {
            words::refuse_second(std::mem::replace(&mut ready, true), "ready", &line);
        }
        match verb::find(words::WORDS, &node.name.text) {
            Some(verb) => verb.read(&line, &mut scope).enter(&mut profile, &line),
            None => unknown(&line),
        }
    }
    // What is missing is probably what is not understood.
    let understood = head.children().iter().all(|node| !node.reported);
    if head.block.is_some() && at.findings.count() == before && understood {
        complete(&profile, &line);
    }
    profile
}

fn unknown(line: &Line<'_>) {
    if line.node.reported {
        return;
    }
    let word = &line.node.name.text;
    let title = format!("`{}` is no word of a profile", super::value::shortened(word));
    let help = suggest::instead(word, verb::words(words::WORDS));
    line.at.error(line.node.name.span, title, "unknown", help);
}

fn complete(profile: &HarnessProfile, line: &Line<'_>) {
    for needed in NEEDED.iter().filter(|needed| !profile.ways.contains_key(**needed)) {
        let title = format!("the profile does not say how the harness is told its {needed}");
        let help = format!("write `setting \"{needed}\" env=\"…\"`");
        line.at.error(line.node.span, title, "incomplete", help);
    }
}
