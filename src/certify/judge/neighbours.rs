//! Resume, list, close, delete, directories, fork: rows 89, 90, 93 to 109.

use std::collections::BTreeSet;

use serde_json::Value;

use super::prompt::ends_badly;
use super::replay::is_history;
use super::{answered, asked, good, outcome};
use crate::certify::evidence::{Evidence, Exchange};
use crate::certify::lane::MOST_PAGES;
use crate::certify::probe::Probe;
use crate::certify::said::{Judged, Said, apart, broken, counted, remark, unknown};
use crate::certify::transcript::Transcript;

/// A request that must succeed.
fn succeeds(e: &Evidence, probe: Probe) -> Result<(&Exchange, &Value), Said> {
    let exchange = asked(e, probe)?;
    match e.result(exchange) {
        Some(result) => Ok((exchange, result)),
        None if e.code(exchange) == Some(-32601) => unknown("the method is not there"),
        None => broken(format!("{} {}", probe.word(), outcome(e, exchange)), e.moment(exchange)),
    }
}

/// 89: a resume replays nothing.
pub(in crate::certify) fn silent_resume(e: &Evidence) -> Judged {
    let mut count = 0;
    for probe in [Probe::Resume, Probe::ResumeFresh] {
        let Ok((resume, _)) = good(e, probe) else { continue };
        count += 1;
        if let Some((at, _)) = e.updates(resume).into_iter().find(|(_, one)| is_history(one)) {
            return broken("a resume replays history", e.record(at));
        }
    }
    if count == 0 { unknown("no resume succeeded") } else { Ok(counted(count, "resume")) }
}

/// 90: a resume needs no servers.
pub(in crate::certify) fn resume_without_servers(e: &Evidence) -> Judged {
    succeeds(e, Probe::Resume).map(|_| "it succeeds".to_owned())
}

fn entries<'e>(e: &'e Evidence, list: &Exchange) -> Vec<&'e Value> {
    let entries = e.result(list).and_then(|result| result["sessions"].as_array());
    entries.into_iter().flatten().collect()
}

/// All entries of the list of all sessions, with the page that each is on.
fn all_entries(e: &Evidence) -> Result<Vec<(&Exchange, &Value)>, Said> {
    let (first, _) = good(e, Probe::List)?;
    let pages = std::iter::once(first).chain(e.all(Probe::ListPage));
    Ok(pages.flat_map(|page| entries(e, page).into_iter().map(move |one| (page, one))).collect())
}

/// 93: a list has its sessions, each with its id and directory.
pub(in crate::certify) fn list_shape(e: &Evidence) -> Judged {
    let (list, result) = succeeds(e, Probe::List)?;
    if !result["sessions"].is_array() {
        return broken("the list has no `sessions`", e.moment(list));
    }
    let all = all_entries(e)?;
    let half =
        |(_, one): &&(&Exchange, &Value)| !(one["sessionId"].is_string() && one["cwd"].is_string());
    match all.iter().find(half) {
        Some((page, _)) => {
            broken("a session is listed without its id or directory", e.moment(page))
        }
        None => Ok(counted(all.len(), "session")),
    }
}

/// 94: where nothing fits, the list is empty.
pub(in crate::certify) fn empty_list(e: &Evidence) -> Judged {
    let (list, result) = succeeds(e, Probe::ListUnused)?;
    match result["sessions"].as_array() {
        Some(sessions) if sessions.is_empty() => Ok("it is empty".to_owned()),
        _ => broken("the list of a directory without sessions is not empty", e.moment(list)),
    }
}

/// 95: a list by directory has that directory's sessions.
pub(in crate::certify) fn by_directory(e: &Evidence) -> Judged {
    let (list, _) = good(e, Probe::ListCwd)?;
    let wanted = &e.request(list)["params"]["cwd"];
    let entries = entries(e, list);
    match entries.iter().find(|entry| entry.get("cwd").is_some_and(|cwd| cwd != wanted)) {
        Some(entry) => {
            broken(format!("a session of {} is listed for {wanted}", entry["cwd"]), e.moment(list))
        }
        None => Ok(counted(entries.len(), "session")),
    }
}

/// 96: a cursor that was never given out is refused.
pub(in crate::certify) fn bad_cursor(e: &Evidence) -> Judged {
    good(e, Probe::List)?;
    let list = answered(e, Probe::BadCursor)?;
    match e.code(list) {
        Some(code) => Ok(format!("it fails with {code}")),
        None => broken("a cursor that was never given out is taken", e.moment(list)),
    }
}

/// 97: cursors are texts and come to an end.
pub(in crate::certify) fn cursors(e: &Evidence) -> Judged {
    let (first, _) = good(e, Probe::List)?;
    let mut seen = BTreeSet::new();
    for page in std::iter::once(first).chain(e.all(Probe::ListPage)) {
        let Some(result) = e.result(page) else {
            return broken(format!("a further page {}", outcome(e, page)), e.moment(page));
        };
        match &result["nextCursor"] {
            Value::Null => return Ok(counted(seen.len() + 1, "page")),
            Value::String(cursor) if seen.insert(cursor) => {}
            _ => return broken("a cursor is no text, or comes again", e.moment(page)),
        }
    }
    match seen.len() > MOST_PAGES {
        true => broken("the list has no end", e.moment(first)),
        false => unknown("its last page was not seen"),
    }
}

/// 98: what is listed can be loaded.
pub(in crate::certify) fn loadable(e: &Evidence) -> Judged {
    let loads = e.all(Probe::LoadListed);
    // A session without a prompt is a matter of its own.
    let failed = loads.iter().find(|load| {
        let empty = e.first(Probe::NewEmpty).and_then(|new| e.result(new));
        let empty = empty.is_some_and(|result| result["sessionId"] == e.session(load));
        e.result(load).is_none() && !empty
    });
    match failed {
        Some(load) if e.result(asked(e, Probe::LoadSame)?).is_none() => {
            unknown(format!("no load succeeds in this process: {}", outcome(e, load)))
        }
        Some(load) => broken(format!("a listed session {}", outcome(e, load)), e.moment(load)),
        None if loads.is_empty() => unknown("nothing was listed"),
        None => Ok(counted(loads.len(), "session")),
    }
}

/// 99: the time of a session is written as ISO 8601 has it.
pub(in crate::certify) fn times(e: &Evidence) -> Judged {
    const LONGEST_TITLE: usize = 500;
    let all = all_entries(e)?;
    let mut count = 0;
    for (page, entry) in &all {
        if let Some(time) = entry["updatedAt"].as_str() {
            count += 1;
            if !is_instant(time) {
                return broken(format!("`updatedAt` is {time:?}"), e.moment(page));
            }
        }
        if entry["title"].as_str().is_some_and(|title| title.chars().count() > LONGEST_TITLE) {
            return broken("a title is longer than any list", e.moment(page));
        }
    }
    if count == 0 { apart("no session says when it was used") } else { Ok(counted(count, "time")) }
}

/// `2026-01-31T23:59:59`, with a zone and a fraction or without.
fn is_instant(text: &str) -> bool {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd";
    let bytes = text.as_bytes();
    bytes.len() >= SHAPE.len()
        && SHAPE.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'd' => byte.is_ascii_digit(),
            shape => shape == byte,
        })
}

/// 100: a list changes nothing.
pub(in crate::certify) fn no_effect(e: &Evidence) -> Judged {
    let ((one, _), (two, _)) = (good(e, Probe::ListCwd)?, good(e, Probe::ListAgain)?);
    for entry in entries(e, one) {
        let again =
            entries(e, two).into_iter().find(|other| other["sessionId"] == entry["sessionId"]);
        if again.is_none_or(|again| again["updatedAt"] != entry["updatedAt"]) {
            return broken("a second list differs from the first", e.moment(two));
        }
    }
    Ok("two lists are the same".to_owned())
}

/// 101: a close ends what runs.
pub(in crate::certify) fn close(e: &Evidence) -> Judged {
    let (close, result) = succeeds(e, Probe::Close)?;
    if !result.is_object() {
        return broken("the result of a close is no object", e.moment(close));
    }
    let turn = asked(e, Probe::ClosingTurn)?;
    if turn.answers.first().is_some_and(|answer| *answer < close.request) {
        return unknown("the turn was over before the close");
    }
    match ends_badly(e, turn) {
        Some(how) => broken(format!("its turn {how}"), e.moment(turn)),
        None => Ok("its turn is over".to_owned()),
    }
}

/// 102: a close of what is not open.
pub(in crate::certify) fn close_unknown(e: &Evidence) -> Judged {
    good(e, Probe::Close).map(|_| "either answer is right".to_owned())
}

/// 103: a load after a close.
pub(in crate::certify) fn after_close(e: &Evidence) -> Judged {
    let load = asked(e, Probe::LoadClosed)?;
    let messages = Transcript::replayed(e, load).messages.len();
    Ok(format!("{}, {}", outcome(e, load), counted(messages, "message")))
}

/// 104: what is deleted is not listed.
pub(in crate::certify) fn deleted(e: &Evidence) -> Judged {
    let (delete, result) = succeeds(e, Probe::Delete)?;
    if !result.is_object() {
        return broken("the result of a deletion is no object", e.moment(delete));
    }
    let (list, _) = good(e, Probe::ListDeleted)?;
    let session = e.session(delete);
    match entries(e, list).iter().any(|entry| entry["sessionId"] == session) {
        true => broken("a deleted session is listed", e.moment(list)),
        false => Ok("it is not listed".to_owned()),
    }
}

/// 105: a second deletion is fine, and so is one of what never was.
pub(in crate::certify) fn delete_again(e: &Evidence) -> Judged {
    if e.first(Probe::ListDeleted).is_none() {
        // Without a list nothing else looks at the first one.
        succeeds(e, Probe::Delete)?;
    }
    good(e, Probe::Delete)?;
    succeeds(e, Probe::DeleteAgain)?;
    match e.all(Probe::DeleteUnknown).iter().find(|one| e.result(one).is_none()) {
        Some(one) => {
            let why = format!("the deletion of an id that nobody gave {}", outcome(e, one));
            broken(why, e.moment(one))
        }
        None => Ok("both succeed".to_owned()),
    }
}

/// 106: a load after a deletion.
pub(in crate::certify) fn after_delete(e: &Evidence) -> Judged {
    super::odd::recorded(e, Probe::LoadDeleted)
}

/// 107: an additional directory is an absolute path.
pub(in crate::certify) fn directories(e: &Evidence) -> Judged {
    for probe in [Probe::RelativeDirectory, Probe::EmptyDirectory] {
        let load = answered(e, probe)?;
        match e.code(load) {
            None => return broken(format!("{} succeeded", probe.word()), e.moment(load)),
            Some(-32602) => {}
            Some(code) => return remark(format!("the code is {code}, not -32602"), e.moment(load)),
        }
    }
    Ok("-32602 for both".to_owned())
}

/// 108: directories are not remembered.
pub(in crate::certify) fn no_old_directories(e: &Evidence) -> Judged {
    succeeds(e, Probe::NewDirectories)?;
    let (load, _) = good(e, Probe::LoadDirectories)?;
    let (list, _) = good(e, Probe::ListDirectories)?;
    let session = e.session(load);
    let entry = entries(e, list).into_iter().find(|entry| entry["sessionId"] == session);
    let named = entry.and_then(|entry| entry["additionalDirectories"].as_array());
    match named {
        Some(paths) if !paths.is_empty() => {
            broken("directories of an earlier setup are there again", e.moment(list))
        }
        _ => Ok("none are left".to_owned()),
    }
}

/// 109: a fork is another session.
pub(in crate::certify) fn fork(e: &Evidence) -> Judged {
    let (fork, result) = succeeds(e, Probe::Fork)?;
    let source = e.session(fork);
    if result["sessionId"] == source || !result["sessionId"].is_string() {
        return broken("the fork has the id of its source", e.moment(fork));
    }
    if e.first(Probe::LoadSource).is_none() {
        return Ok("it has another id".to_owned());
    }
    let Ok((load, _)) = good(e, Probe::LoadSource) else {
        return unknown("the source was not loaded after the fork");
    };
    let live = Transcript::live(e, load);
    let told = Transcript::replayed(e, load);
    match live.messages.len() == told.messages.len() || told.messages.is_empty() {
        true => Ok("it has another id, and the source is as before".to_owned()),
        false => remark("the source is not as before", e.moment(load)),
    }
}
