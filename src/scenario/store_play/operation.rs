//! An operation on a store, as a line.

use skep_store::play::{OPS, Operation};
use skep_store::{Config, Key, StoreOp};

use super::super::line::Line;
use super::super::suggest;
use super::super::tree::Node;
use super::super::value::shortened;
use super::place;

/// Reads the operations in a block.
pub(super) fn all(line: &Line<'_>) -> Vec<Operation> {
    let nodes = line.node.children().iter().filter(|node| !node.reported);
    nodes.filter_map(|node| one(&Line::new(node, line.at))).collect()
}

fn one(line: &Line<'_>) -> Option<Operation> {
    let Node { name, span, .. } = line.node;
    let word = &*name.text;
    if !OPS.contains(&word) {
        let title = format!("`{}` is no operation of a store", shortened(word));
        line.at.error(name.span, title, "unknown", suggest::instead(word, OPS));
        return None;
    }
    let line = Line::new(line.node, line.at);
    line.no_block();
    let key = Key { channel: line.first_text("a channel", "\"general\""), root: None };
    let config = Config { model: line.text_prop("model"), mode: None };
    let session = || {
        let value = line.needs("session", "\"s1\"");
        value.map_or("".into(), |value| line.some_text(value, "the session"))
    };
    let op = match word {
        "get" => {
            line.takes(1, &["model", "answers"]);
            StoreOp::Get { key, config }
        }
        "put" => {
            line.takes(1, &["session", "model", "answers"]);
            StoreOp::Put { key, session: session(), config }
        }
        "remove" => {
            line.takes(1, &["answers"]);
            StoreOp::Remove { key }
        }
        _ => {
            line.takes(1, &["session", "answers"]);
            StoreOp::RemoveIf { key, expected: session() }
        }
    };
    Some(Operation { place: place(*span), op, answers: line.text_prop("answers") })
}
