//! Files as the plainest code has them: links are followed, FIFOs waited for, bits left to the
//! umask.

use skep_trace::{Receipt, Text};

use super::conversation;
use crate::error::{DiskError, Errno};
use crate::ops::{Lookup, StoreAnswer};
use crate::suite::Scope;
use crate::volume::{Open, Volume};

// Why a store breaks what it breaks, where several do for one reason.
pub(super) const OLD: &str = "the map is the one from when the store was opened: what another process did since is not in \
     it, and is written over";
pub(super) const NO_LOCK: &str = "it takes no lock: nobody is delayed, and nobody is kept apart";
pub(super) const UNSYNCED: &str = "neither the file nor its directory is synced, so that a power cut leaves an empty file, or none";
pub(super) const NAMES_UNSYNCED: &str = "the directory is never synced, so that a power cut takes back the rename that an acknowledged \
     change rests on";
pub(super) const FIXED: &str =
    "every writer uses the same temporary name, and opens whatever stands there";
pub(super) const SILENT: &str =
    "a file that cannot be read or parsed is an empty one to it, and nobody is warned";
pub(super) const FOLLOWS: &str =
    "it opens what stands there, link or not, and asks neither what it is nor whose";

/// All of a file, however much it is; `None` if it is not there.
pub(super) async fn read<V: Volume>(volume: &V, path: &str) -> Result<Option<Vec<u8>>, DiskError> {
    let how = Open { follow: true, wait: true, ..Open::READ };
    match volume.open(path, how).await {
        Ok(file) => volume.read(&file, u64::MAX).await.map(Some),
        Err(error) if error.errno == Errno::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a directory if it is not there.
pub(super) async fn make_dir<V: Volume>(volume: &V, dir: &str) -> Result<(), DiskError> {
    match volume.mkdir(dir, None).await {
        Err(error) if error.errno != Errno::Exists => Err(error),
        _ => Ok(()),
    }
}

/// Writes a file under a fixed temporary name and renames it into its place. Nothing is synced.
pub(super) async fn replace<V: Volume>(
    volume: &V,
    dir: &str,
    path: &str,
    bytes: &[u8],
) -> Result<(), DiskError> {
    make_dir(volume, dir).await?;
    let temp = format!("{path}.tmp");
    let file = volume.open(&temp, Open { follow: true, wait: true, ..Open::OVERWRITE }).await?;
    volume.write(&file, bytes).await?;
    drop(file);
    volume.rename(&temp, path).await
}

/// A temporary file beside another one that was not there before. A name that is taken is passed
/// over, once: that it is taken at all is somebody's wish.
pub(super) async fn make_temp<V: Volume>(
    volume: &V,
    path: &str,
    mode: Option<u32>,
) -> Result<(String, V::File), DiskError> {
    let how = Open::CREATE_NEW.with_mode(mode);
    let name = || format!("{path}.{}.tmp", volume.unique());
    let first = name();
    match volume.open(&first, how).await {
        Err(error) if error.errno == Errno::Exists => {
            let second = name();
            let file = volume.open(&second, how).await?;
            Ok((second, file))
        }
        opened => Ok((first, opened?)),
    }
}

/// An answer to a get, of a store that remembers no configuration.
pub(super) fn got(session: Option<&Text>) -> StoreAnswer {
    StoreAnswer::Got(match session {
        Some(session) => Lookup::Found { session: session.clone() },
        None => Lookup::Absent,
    })
}

/// An answer to a change.
pub(super) fn done<T>(
    result: Result<T, impl ToString>,
    answer: impl FnOnce(T) -> StoreAnswer,
) -> StoreAnswer {
    result.map_or_else(|error| StoreAnswer::Failed(error.to_string().into()), answer)
}

/// The receipt of an entry, of a store that remembers no configuration.
pub(super) fn receipt(scope: &Scope, key: &str, session: &Text) -> Receipt {
    let key = conversation::read(key);
    Receipt {
        relay: scope.relay.clone(),
        pubkey: scope.pubkey,
        channel: key.channel,
        root: key.root,
        session: session.clone(),
        model: None,
        mode: None,
    }
}
