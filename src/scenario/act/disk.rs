//! What happens to a state directory behind the harness's back.

use skep_plan::{Act, DiskOp};

use crate::scenario::cast::bytes;
use crate::scenario::line::Line;
use crate::scenario::scope::Scope;
use crate::scenario::tree::Word;
use crate::scenario::verb::{self, Verb};

/// Everything that can happen.
pub(in crate::scenario) const OPS: &[Verb<DiskOp>] = &[
    Verb::new("corrupt", 0, &["state"], |_, _| DiskOp::Corrupt),
    Verb::new("truncate", 0, &["bytes", "state"], |line, _| DiskOp::Truncate {
        bytes: byte_count(line, 1),
    }),
    Verb::new("nul-tail", 0, &["bytes", "state"], |line, _| DiskOp::NulTail {
        bytes: byte_count(line, PAGE),
    }),
    Verb::new("append-garbage", 0, &["state"], |_, _| DiskOp::AppendGarbage),
    Verb::new("chmod", 0, &["mode", "state"], |line, _| DiskOp::Chmod {
        mode: line.needs("mode", "\"0644\"").map_or(0, |value| line.mode(value)),
    }),
    Verb::new("symlink", 0, &["state"], |_, _| DiskOp::Symlink),
    Verb::new("fill", 1, &["state"], |line, _| DiskOp::Fill(switched(line))),
    Verb::new("read-only", 1, &["state"], |line, _| DiskOp::ReadOnly(switched(line))),
    Verb::new("snapshot", 1, &["state"], |line, scope| {
        let word = line.first_name("snapshot");
        scope.snapshots.define(line.at, &word);
        DiskOp::Snapshot(word.text)
    }),
    Verb::new("restore", 1, &["state"], |line, scope| DiskOp::Restore(remembered(line, scope))),
    Verb::new("delete", 0, &["state"], |_, _| DiskOp::Delete),
    Verb::new("write", 0, &["text", "hex", "state"], |line, _| DiskOp::Write(bytes(line))),
];

/// What a crash leaves behind a file: the rest of its last block.
const PAGE: u64 = 4096;

pub(super) fn read(line: &Line<'_>, scope: &mut Scope) -> Act {
    let state = scope.states.given_or_only(line, line.node.prop("state"));
    let op = verb::second_word(OPS, "nothing that happens to a disk", line, scope);
    Act::Disk { state, op: op.unwrap_or(DiskOp::Delete) }
}

fn byte_count(line: &Line<'_>, default: u64) -> u64 {
    line.number_prop("bytes").unwrap_or(default)
}

/// `disk fill` begins it, `disk fill #false` ends it.
fn switched(line: &Line<'_>) -> bool {
    line.args().first().is_none_or(|value| line.switch(value))
}

fn remembered(line: &Line<'_>, scope: &Scope) -> skep_trace::Text {
    let word: Word = line.first_name("snapshot");
    scope.snapshots.refer(line.at, &word)
}
