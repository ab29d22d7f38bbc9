//! Files that are not as they should be: S-30 to S-33.

use skep_trace::EntryKind;

use super::case::{
    Case, NOW, contains, demand, get, got, put, remove, replaced, same, violated, with_version,
};
use super::host::{Edit, Failure, Host, STATE, Step, Verdict};
use crate::ops::StoreAnswer;

/// A file may have so many bytes and no more.
const MOST_BYTES: usize = 16 << 20;

/// What can be wrong with a file as a whole, and the file that is wrong in that way.
fn damages(good: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let with_tail = |tail: &[u8]| [good, tail].concat();
    let mut oversized = good.to_vec();
    oversized.resize(MOST_BYTES + 1, b' ');
    let mut damages = vec![
        ("empty", Vec::new()),
        ("truncated", good[..good.len() / 2].to_vec()),
        ("without its last bytes", good[..good.len() - 4].to_vec()),
        ("NUL-tailed", with_tail(&[0; 64])),
        ("all NUL", vec![0; good.len()]),
        ("with garbage behind it", with_tail(b"{\"half\":")),
        ("not text", b"\xff\xfe\x00\x01".to_vec()),
        ("nested without end", vec![b'['; 200_000]),
        ("a list", b"[]".to_vec()),
        ("a number", b"7".to_vec()),
        ("null", b"null".to_vec()),
        ("oversized", oversized),
    ];
    if with_version(good, "1").is_some() {
        // A file that shows no version may be an object with nothing in it.
        damages.push(("an empty object", b"{}".to_vec()));
    }
    let versions = ["0", "\"x\"", "null", "-1"];
    let wrong = versions.into_iter().filter_map(|version| with_version(good, version));
    damages.extend(wrong.map(|bytes| ("of a wrong version", bytes)));
    damages
}

/// S-30.
pub(super) fn a_damaged_file_opens_as_empty<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "session-1")])?;
    let file = host.file_with("session-1")?;
    let damages = damages(&host.bytes(&file)?);
    for (what, bytes) in &damages {
        host.given(&[("a", "session-1")])?;
        host.edit(Edit::File(&file, bytes, 0o600))?;
        let process = host.opened()?;
        is_warned(host, process, &file, what)?;
        let answer = host.apply(process, get("a"), NOW)?;
        same(&format!("a get from a file that is {what}"), &answer, &got(None))?;
        let answer = host.apply(process, put("b", "session-2"), NOW)?;
        same(&format!("a put to a file that is {what}"), &answer, &StoreAnswer::Done)?;
        host.found_anew("b", Some("session-2"))?;
    }
    Ok(format!("{} kinds of damage", damages.len()))
}

fn is_warned<H: Host>(host: &mut H, process: usize, file: &str, what: &str) -> Result<(), Failure> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let warnings = host.warnings(process);
    let names_it = warnings.iter().any(|warning| warning.contains(name));
    demand(&format!("no warning names a file that is {what}: {warnings:?}"), names_it)
}

/// S-31: at every moment of the write that replaces it, the damaged file is there.
pub(super) fn a_damaged_file_is_kept<H: Host>(host: &mut H) -> Verdict {
    let (mut moments, mut disks) = (0, 0);
    for mode in [0o600, 0o644] {
        let damaged = truncated(host, mode)?;
        let process = host.opened()?;
        let write = put("b", "session-2");
        if let Err(Failure::NotApplicable(_)) = host.begin(process, write.clone(), NOW) {
            // Nobody can stop inside the write; then it is looked at when it is done.
            host.done(process, write)?;
            is_kept(host, &damaged, mode)?;
            continue;
        }
        loop {
            let step = host.step(process);
            is_kept(host, &damaged, mode)?;
            disks += host.cut(&mut |host| is_kept(host, &damaged, mode))?;
            moments += 1;
            if let Step::Done(answer) = step {
                same("a put over a damaged file", &answer, &StoreAnswer::Done)?;
                break;
            }
        }
        host.found_anew("b", Some("session-2"))?;
    }
    Ok(format!("kept after two puts, in {moments} moments and on {disks} disks in between"))
}

fn truncated<H: Host>(host: &mut H, mode: u32) -> Result<Vec<u8>, Failure> {
    host.given(&[("a", "session-1"), ("keep", "kept-session")])?;
    let file = host.file_with("session-1")?;
    let damaged = host.rewrite(&file, |bytes| bytes[..bytes.len() - 4].to_vec())?;
    host.edit(Edit::Chmod(&file, mode))?;
    Ok(damaged)
}

fn is_kept<H: Host>(host: &mut H, damaged: &[u8], mode: u32) -> Result<(), Failure> {
    let snapshot = host.look();
    let mut kept = snapshot.files().filter(|(_, _, bytes)| *bytes == Some(damaged));
    let Some((path, bits, _)) = kept.next() else {
        return violated("the damaged file is gone");
    };
    demand(&format!("{path} has {bits:04o}, the damaged file had {mode:04o}"), bits & !mode == 0)
}

/// S-31.
pub(super) fn one_bad_entry_costs_one_entry<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "session-1"), ("b", "session-2"), ("c", "session-3")])?;
    let file = host.file_with("session-2")?;
    let Some(bytes) = replaced(&host.bytes(&file)?, "\"session-2\"", "7") else {
        let why = "the file does not show its sessions as JSON texts";
        return Err(Failure::NotApplicable(why.to_owned()));
    };
    host.edit(Edit::File(&file, &bytes, 0o600))?;
    let process = host.opened()?;
    is_warned(host, process, &file, "with a bad entry")?;
    for (channel, session) in [("a", Some("session-1")), ("b", None), ("c", Some("session-3"))] {
        host.expect(process, get(channel), &got(session))?;
    }
    host.done(process, put("d", "session-4"))?;
    same("good receipts after a write", &host.listing()?.len(), &3)?;
    is_kept(host, &bytes, 0o600)?;
    Ok("one bad entry among three".to_owned())
}

/// S-32.
pub(super) fn a_newer_file_is_left_alone<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "session-1")])?;
    let file = host.file_with("session-1")?;
    let Some(newer) = with_version(&host.bytes(&file)?, "999") else {
        return Err(Failure::NotApplicable("the file shows no version".to_owned()));
    };
    host.edit(Edit::File(&file, &newer, 0o600))?;
    let before = host.look();
    let process = host.opened()?;
    is_warned(host, process, &file, "newer")?;
    host.apply(process, get("a"), NOW)?;
    let why = host.refused(process, put("b", "session-2"))?;
    host.refused(process, remove("a"))?;
    same("a newer version's file", &host.bytes(&file)?, &newer)?;
    same("its directory", &host.look(), &before)?;
    Ok(format!("refused with: {why}"))
}

/// S-33.
pub(super) fn a_full_disk_keeps_the_old_content<H: Host>(host: &mut H) -> Verdict {
    survives(host, Edit::Full(true), Edit::Full(false))
}

/// S-33.
pub(super) fn a_read_only_directory_keeps_the_old_content<H: Host>(host: &mut H) -> Verdict {
    survives(host, Edit::ReadOnly(true), Edit::ReadOnly(false))
}

/// S-33.
pub(super) fn a_closed_directory_keeps_the_old_content<H: Host>(host: &mut H) -> Verdict {
    survives(host, Edit::Chmod(STATE, 0o500), Edit::Chmod(STATE, 0o700))
}

fn survives<H: Host>(host: &mut H, trouble: Edit<'_>, relief: Edit<'_>) -> Verdict {
    host.given(&[("a", "session-1")])?;
    let process = host.opened()?;
    host.edit(trouble)?;
    let before = host.look();
    let why = host.refused(process, put("b", "session-2"))?;
    host.refused(process, remove("a"))?;
    same("the directory after refused writes", &host.look(), &before)?;
    host.expect(process, get("a"), &got(Some("session-1")))?;
    host.found_anew("a", Some("session-1"))?;
    host.edit(relief)?;
    host.done(process, put("b", "session-2"))?;
    host.found_anew("b", Some("session-2"))?;
    Ok(format!("refused with: {why}"))
}

/// S-33: a file that cannot be read is not replaced either.
pub(super) fn an_unreadable_file_is_not_replaced<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "session-1")])?;
    let file = host.file_with("session-1")?;
    host.edit(Edit::Chmod(&file, 0))?;
    let process = host.opened()?;
    is_warned(host, process, &file, "unreadable")?;
    host.refused(process, get("a"))?;
    let why = host.refused(process, put("b", "session-2"))?;
    host.edit(Edit::Chmod(&file, 0o600))?;
    demand("an unreadable file was replaced", contains(&host.bytes(&file)?, b"session-1"))?;
    demand("it is another kind", matches!(host.kind(&file), Some(EntryKind::File { .. })))?;
    Ok(format!("refused with: {why}"))
}
