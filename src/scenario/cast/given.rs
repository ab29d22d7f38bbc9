//! `given`: what an earlier life left behind.

use skep_plan::{Given, GivenFile, GivenReceipt};
use skep_trace::hex;

use crate::scenario::line::Line;
use crate::scenario::scope::Scope;
use crate::scenario::value;
use crate::scenario::verb::{self, Verb};

/// Everything that can be given.
pub(in crate::scenario) const GIVEN: &[Verb<Given>] = &[
    Verb::new("receipt", 0, RECEIPT, |line, scope| Given::Receipt(receipt(line, scope))),
    Verb::new("file", 0, FILE, |line, scope| Given::File(file(line, scope))),
];

const RECEIPT: &[&str] = &["channel", "session", "root", "harness", "model", "mode", "known"];
const FILE: &[&str] = &["text", "hex", "path", "state", "mode"];

/// Private, as a store must write it.
const MODE: u32 = 0o600;

pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> Option<Given> {
    verb::second_word(GIVEN, "nothing that can be given", line, scope)
}

fn receipt(line: &Line<'_>, scope: &mut Scope) -> GivenReceipt {
    let channel = scope.used_channel(line, "\"general\"");
    if let Some(root) = line.name_prop("root") {
        scope.threads.touch(line.at, &root);
    }
    let session = line.needs("session", "\"s1\"").map(|value| line.name(value));
    if let Some(session) = &session {
        scope.sessions.define(line.at, session);
    }
    GivenReceipt {
        harness: scope.harnesses.given_or_only(line, line.node.prop("harness")),
        channel,
        root: line.name_prop("root").map(|word| word.text),
        session: session.map_or_else(|| "".into(), |word| word.text),
        model: line.text_prop("model"),
        mode: line.text_prop("mode"),
        known: line.node.prop("known").is_none_or(|value| line.switch(value)),
    }
}

fn file(line: &Line<'_>, scope: &mut Scope) -> GivenFile {
    GivenFile {
        state: scope.states.given_or_only(line, line.node.prop("state")),
        path: path(line),
        bytes: bytes(line),
        mode: line.node.prop("mode").map_or(MODE, |value| line.mode(value)),
    }
}

/// A path below a state directory.
pub(in crate::scenario) fn path(line: &Line<'_>) -> Option<skep_trace::Text> {
    let value = line.node.prop("path")?;
    let path = line.text(value);
    if let (Some(fault), Some(_)) = (value::path_fault(&path), value.text()) {
        let help = "write a path such as `\"sub/file.json\"`";
        line.at.error(value.span, fault, "not below the directory", help);
    }
    Some(path)
}

/// The bytes of a file: `text="…"`, or `hex="…"`.
pub(in crate::scenario) fn bytes(line: &Line<'_>) -> Box<[u8]> {
    match (line.node.prop("text"), line.node.prop("hex")) {
        (Some(text), None) => line.text(text).as_bytes().into(),
        (None, Some(digits)) => from_hex(line, digits),
        (None, None) => {
            let title = format!("`{}` does not say what is in the file", line.verb());
            let help = "write `text=\"…\"`, or `hex=\"00ff\"` for bytes that are no text";
            line.at.error(line.node.span, title, "no content", help);
            Box::default()
        }
        (Some(_), Some(digits)) => {
            let title = "the content is given twice";
            line.at.error(digits.span, title, "again", "keep `text=` or `hex=`");
            Box::default()
        }
    }
}

fn from_hex(line: &Line<'_>, value: &crate::scenario::tree::Value) -> Box<[u8]> {
    let digits = line.text(value);
    let mut bytes = vec![0; digits.len() / 2];
    if !hex::decode_into(&digits, &mut bytes) {
        let help = "write two hex digits a byte: `\"00ff\"`";
        line.at.error(value.span, "this is no hex", "not understood", help);
    }
    bytes.into()
}
