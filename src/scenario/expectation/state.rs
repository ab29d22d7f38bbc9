//! What a state directory holds once a step is settled.

use skep_check::expectation::{WantedFile, WantedReceipt};

use super::count;
use crate::scenario::cast::path;
use crate::scenario::line::Line;
use crate::scenario::scope::Scope;

pub(super) const RECEIPT: &[&str] =
    &["channel", "root", "session", "harness", "model", "mode", "count", "at-least", "at-most"];

pub(super) const FILE: &[&str] =
    &["path", "state", "mode", "unchanged", "symlink", "text", "count", "at-least", "at-most"];

pub(super) fn receipt(line: &Line<'_>, scope: &mut Scope) -> WantedReceipt {
    WantedReceipt {
        harness: scope.harness_prop(line, "harness"),
        channel: scope.known_channel(line),
        root: scope.known_root(line),
        session: scope.known_session(line, "session"),
        model: line.text_prop("model"),
        mode: line.text_prop("mode"),
        count: count::read(line),
    }
}

pub(super) fn file(line: &Line<'_>, scope: &mut Scope) -> WantedFile {
    if let Some(value) = line.node.prop("unchanged").filter(|value| !line.switch(value)) {
        let help = "remove it: files are not compared unless it is `#true`";
        line.at.error(value.span, "`unchanged=#false` looks at nothing", "no effect", help);
    }
    WantedFile {
        state: line.name_prop("state").map(|word| scope.states.refer(line.at, &word)),
        path: path(line),
        mode: line.node.prop("mode").map(|value| line.mode(value)),
        unchanged: line.switch_prop("unchanged"),
        symlink: line.node.prop("symlink").map(|value| line.switch(value)),
        text: line.text_prop("text"),
        count: count::read(line),
    }
}
