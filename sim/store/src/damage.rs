//! What a scenario's act makes of a file's bytes, on any disk.

use skep_plan::DiskOp;

/// What an act makes of a file's bytes; an act that changes no bytes leaves them.
pub fn damaged(mut bytes: Vec<u8>, op: &DiskOp) -> Vec<u8> {
    let len = bytes.len();
    match op {
        DiskOp::Corrupt => bytes[len / 3..len * 2 / 3].fill(b'#'),
        DiskOp::Truncate { bytes: cut } => {
            bytes.truncate(len.saturating_sub(usize::try_from(*cut).unwrap_or(len)));
        }
        DiskOp::NulTail { bytes: more } => {
            bytes.resize(len + usize::try_from(*more).unwrap_or(0), 0);
        }
        DiskOp::AppendGarbage => bytes.extend_from_slice(b"{\"half\":"),
        DiskOp::Write(new) => bytes = new.to_vec(),
        _ => {}
    }
    bytes
}
