//! What an operation may cost: S-50.

use super::case::{Case, NOW, demand, get, got, put, remove, scope};
use super::host::{Failure, Host, Verdict};
use crate::sim::Traffic;

/// The store that the rule speaks of.
const RECEIPTS: usize = 10_000;

/// The file is read once and written once; twice would still be a small constant.
const MOST_TIMES: u64 = 2;

/// No operation needs more calls than this, however many receipts there are.
const MOST_OPERATIONS: u64 = 60;

/// S-50.
pub(super) fn an_operation_costs_one_reading_and_one_writing<H: Host>(host: &mut H) -> Verdict {
    host.fresh();
    host.bulk(&scope(), RECEIPTS)?;
    let bytes = host.look();
    let size = size_of_files(&bytes);
    let process = host.opened()?;
    host.expect(process, get("bulk-77"), &got(Some("bulk-session-77")))?;
    let mut spent = Vec::new();
    for op in [get("bulk-9999"), put("bulk-5000", "new"), put("another", "new"), remove("bulk-1")] {
        let writes = !matches!(op, crate::ops::StoreOp::Get { .. });
        let before = counted(host)?;
        let what = format!("{op:?}");
        host.apply(process, op, NOW)?;
        let cost = difference(counted(host)?, before);
        let most = if writes { MOST_TIMES * size } else { 0 };
        let told = format!("{what} with {RECEIPTS} receipts in {size} bytes costs {cost:?}");
        demand(&told, cost.read <= MOST_TIMES * size && cost.written <= most)?;
        demand(&told, cost.operations <= MOST_OPERATIONS)?;
        spent.push(format!("{}+{}", cost.read, cost.written));
    }
    Ok(format!("{size} bytes in the file; read and written: {}", spent.join(", ")))
}

fn counted<H: Host>(host: &H) -> Result<Traffic, Failure> {
    let why = "nobody counts what this store reads and writes";
    host.traffic().ok_or_else(|| Failure::NotApplicable(why.to_owned()))
}

fn difference(after: Traffic, before: Traffic) -> Traffic {
    Traffic {
        read: after.read - before.read,
        written: after.written - before.written,
        operations: after.operations - before.operations,
    }
}

fn size_of_files(snapshot: &skep_trace::Snapshot) -> u64 {
    let sizes = snapshot.entries.values().map(|entry| match &entry.kind {
        skep_trace::EntryKind::File { len, .. } => *len,
        _ => 0,
    });
    sizes.sum()
}
