//! On the disk, between two lives.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use skep_trace::Snapshot;

use crate::live::states::{empty, lay_out, set_mode, store_files, write};
use crate::tampering::Tampering;

/// Tampers with a state directory that nobody uses now. `first` is what it looked like when it
/// first held anything. Where there is nothing to tamper with, nothing happens.
pub(in crate::live) fn tamper(
    dir: &Path,
    first: Option<&Snapshot>,
    tampering: Tampering,
) -> io::Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    match tampering {
        Tampering::DiskEmpty => empty(dir),
        Tampering::DiskStale => match first {
            Some(first) => empty(dir).and_then(|()| lay_out(first, dir)),
            None => Ok(()),
        },
        Tampering::DiskDropsEntry => store_files(dir)?.iter().try_for_each(|file| thin_out(file)),
        Tampering::DiskOpen => {
            store_files(dir)?.iter().try_for_each(|file| set_mode(file, 0o644))?;
            set_mode(dir, 0o755)
        }
        _ => Ok(()),
    }
}

/// Takes one entry of several out of a file that is JSON.
#[expect(clippy::disallowed_methods, reason = "the live world's disk is the real one")]
fn thin_out(file: &Path) -> io::Result<()> {
    let Ok(mut value) = serde_json::from_slice::<Value>(&fs::read(file)?) else { return Ok(()) };
    match drop_one(&mut value) {
        true => write(file, value.to_string().as_bytes()),
        false => Ok(()),
    }
}

/// Drops the first entry of the first list or map that has several, all of them objects.
fn drop_one(value: &mut Value) -> bool {
    match value {
        Value::Array(all) if all.len() > 1 && all.iter().all(Value::is_object) => {
            all.remove(0);
            true
        }
        Value::Object(all) if all.len() > 1 && all.values().all(Value::is_object) => {
            let first = all.keys().next().cloned();
            first.is_some_and(|first| all.remove(&first).is_some())
        }
        Value::Array(all) => all.iter_mut().any(drop_one),
        Value::Object(all) => all.values_mut().any(drop_one),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dropped(mut value: Value) -> (bool, Value) {
        let any = drop_one(&mut value);
        (any, value)
    }

    #[test]
    fn one_entry_of_several_goes_whatever_the_format() {
        let list = json!({"version": 1, "entries": [{"c": 1}, {"c": 2}]});
        assert_eq!(dropped(list), (true, json!({"version": 1, "entries": [{"c": 2}]})));
        let map = json!({"relay": {"a": {"s": 1}, "b": {"s": 2}}});
        assert_eq!(dropped(map), (true, json!({"relay": {"b": {"s": 2}}})));
        let single = json!({"version": 1, "entries": [{"c": 1}]});
        assert_eq!(dropped(single.clone()), (false, single));
    }

    #[test]
    fn a_stale_directory_looks_as_it_did_and_an_empty_one_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("s.json");
        write(&file, b"one").unwrap();
        let first = skep_store::real::snapshot(&dir.path().to_string_lossy());
        write(&file, b"two").unwrap();
        tamper(dir.path(), Some(&first), Tampering::DiskStale).unwrap();
        assert_eq!(store_files(dir.path()).unwrap(), std::slice::from_ref(&file));
        assert_eq!(skep_store::real::snapshot(&dir.path().to_string_lossy()), first);
        tamper(dir.path(), Some(&first), Tampering::DiskEmpty).unwrap();
        assert!(!file.exists());
    }
}
