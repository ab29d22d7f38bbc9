//! Files of known failures: one line an entry.

use std::sync::Arc;

use super::diagnostic::{Diagnostic, Findings, Reporter};
use super::limits::MAX_BYTES;
use super::line::Line;
use super::source::SourceFile;
use super::value::shortened;
use super::{suggest, syntax};
use crate::known::{KnownFailure, Standing};

/// The word that begins every line.
const HEAD: &str = "known-failure";

/// Reads a file of known failures. `rules` are those that an entry may name.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn parse_known(
    file: &Arc<SourceFile>,
    rules: &[&str],
) -> Result<Vec<KnownFailure>, Vec<Diagnostic>> {
    let findings = Findings::default();
    let entries = read_file(Reporter { file, findings: &findings }, rules);
    match findings.into_sorted() {
        none if none.is_empty() => Ok(entries),
        complaints => Err(complaints),
    }
}

fn read_file(at: Reporter<'_>, rules: &[&str]) -> Vec<KnownFailure> {
    if at.file.text.len() > MAX_BYTES {
        at.put(Diagnostic::too_long(at.file));
        return Vec::new();
    }
    let nodes = syntax::read(&at.file.text, 0, at).unwrap_or_default();
    let mut entries: Vec<KnownFailure> = Vec::new();
    for node in nodes.iter().filter(|node| !node.reported) {
        if &*node.name.text != HEAD {
            let title = format!("`{}` is no word of this file", shortened(&node.name.text));
            let help = suggest::instead(&node.name.text, [HEAD]);
            at.error(node.name.span, title, "unknown", help);
            continue;
        }
        let entry = entry(&Line::new(node, at), rules);
        let known = |other: &KnownFailure| {
            (&other.test, &other.rule, &other.profile) == (&entry.test, &entry.rule, &entry.profile)
        };
        if let Some(first) = entries.iter().find(|other| known(other)) {
            let title = format!("`{}` is listed twice", shortened(&entry.test));
            let earlier = super::source::Span::new(first.span.start, first.span.end);
            let twice = at.fault(node.span, title).label("again").other(earlier, "listed here");
            at.put(twice.help("keep one of the two lines"));
        }
        entries.push(entry);
    }
    entries
}

fn entry(line: &Line<'_>, rules: &[&str]) -> KnownFailure {
    line.takes(1, &["rule", "reason", "profile"]);
    line.no_block();
    let test = line.first_text("the name of a test", "\"restart-resumes-the-session\"");
    let reason = line.needs("reason", "\"block/buzz#5342\"");
    let span = line.args().first().map_or(line.node.span, |value| value.span);
    KnownFailure {
        file: line.at.file.name.clone(),
        source: line.at.file.text.clone(),
        span: span.start..span.end,
        test,
        rule: rule(line, rules),
        reason: reason.map_or("".into(), |value| line.some_text(value, "the reason")),
        profile: line.text_prop("profile"),
        standing: Standing::Unjudged,
    }
}

fn rule(line: &Line<'_>, rules: &[&str]) -> Option<skep_trace::Text> {
    let value = line.node.prop("rule")?;
    let rule = line.some_text(value, "the rule");
    if !rule.is_empty() && !rules.contains(&&*rule) {
        let title = format!("there is no rule `{}`", shortened(&rule));
        let help = match suggest::nearest(&rule, rules.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`skep list rules` names them".to_owned(),
        };
        line.at.error(value.span, title, "unknown", help);
    }
    Some(rule)
}
