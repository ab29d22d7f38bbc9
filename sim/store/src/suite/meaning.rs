//! What the operations mean: S-1 to S-8.

use skep_trace::{Hex32, Text};

use super::case::{
    Case, NOW, answered, demand, get, got, key, put, remove, remove_if, replaced, same, scope,
    violated,
};
use super::host::{Edit, Failure, Feature, Host, STATE, Scope, Verdict};
use crate::ops::{Config, Key, Lookup, StoreAnswer, StoreOp};

/// Texts that a careless writer trips over.
const AWKWARD: [&str; 6] =
    ["plain", "two words", "\"quoted\\\"", "line\nbreak", "\u{2028}\u{85}", "ключ 🐝"];

/// S-1.
pub(super) fn a_put_is_read_here_and_after_a_reopen<H: Host>(host: &mut H) -> Verdict {
    host.fresh();
    let process = host.opened()?;
    for text in AWKWARD {
        let session = format!("S-{text}");
        host.expect(process, get(text), &got(None))?;
        host.done(process, put(text, &session))?;
        host.expect(process, get(text), &got(Some(&session)))?;
        host.found_anew(text, Some(&session))?;
    }
    if !host.offers(Feature::Threads) {
        return Ok(format!("{} keys; the store keeps no threads", AWKWARD.len()));
    }
    threads_are_keys_of_their_own(host)?;
    Ok(format!("{} keys", AWKWARD.len() + 2))
}

fn threads_are_keys_of_their_own<H: Host>(host: &mut H) -> Result<(), Failure> {
    let process = host.opened()?;
    for byte in [1, 2] {
        let op = StoreOp::Put {
            key: thread("plain", byte),
            session: format!("thread-{byte}").into(),
            config: Config::default(),
        };
        host.done(process, op)?;
    }
    let process = host.opened()?;
    for byte in [1, 2] {
        let op = StoreOp::Get { key: thread("plain", byte), config: Config::default() };
        host.expect(process, op, &got(Some(&format!("thread-{byte}"))))?;
    }
    host.expect(process, get("plain"), &got(Some("S-plain")))
}

fn thread(channel: &str, byte: u8) -> Key {
    Key { root: Some(Hex32([byte; 32])), ..key(channel) }
}

/// S-2.
pub(super) fn a_remove_forgets_for_good<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1"), ("b", "2")])?;
    let process = host.opened()?;
    host.done(process, remove("a"))?;
    host.expect(process, get("a"), &got(None))?;
    host.found_anew("a", None)?;
    host.found_anew("b", Some("2"))?;
    host.done(process, remove("a"))?;
    host.done(process, remove("never there"))?;
    Ok("one receipt removed, two that were not there".to_owned())
}

/// S-3.
pub(super) fn a_conditional_remove_looks_first<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "old")])?;
    let process = host.opened()?;
    host.expect(process, get("a"), &got(Some("old")))?;
    let other = host.opened()?;
    host.done(other, put("a", "new"))?;
    host.expect(process, remove_if("a", "old"), &StoreAnswer::Removed(false))?;
    host.found_anew("a", Some("new"))?;
    host.expect(process, remove_if("absent", "x"), &StoreAnswer::Removed(false))?;
    host.expect(process, remove_if("a", "new"), &StoreAnswer::Removed(true))?;
    host.found_anew("a", None)?;
    Ok("a receipt that another process changed stays".to_owned())
}

/// S-4.
pub(super) fn scopes_do_not_meet<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("general", "of-us")])?;
    let file = host.file_with("of-us")?;
    let other_relay = Scope { relay: "wss://other.example".into(), ..scope() };
    let other_agent = Scope { pubkey: Hex32([0xb8; 32]), ..scope() };
    for (other, session) in [(&other_relay, "of-relay"), (&other_agent, "of-agent")] {
        let before = host.bytes(&file)?;
        let process = host.open(other, NOW)?;
        host.expect(process, get("general"), &got(None))?;
        same("another scope's list", &host.list(process, NOW)?, &Vec::new())?;
        same("the file that another scope read", &host.bytes(&file)?, &before)?;
        host.done(process, put("general", session))?;
        host.expect(process, get("general"), &got(Some(session)))?;
        host.found_anew("general", Some("of-us"))?;
        let process = host.open(other, NOW)?;
        host.expect(process, get("general"), &got(Some(session)))?;
    }
    a_file_under_another_name_stays_its_own(host, &other_agent)?;
    Ok("another relay and another agent with the same channel".to_owned())
}

fn a_file_under_another_name_stays_its_own<H: Host>(
    host: &mut H,
    other: &Scope,
) -> Result<(), Failure> {
    host.given(&[("general", "of-us")])?;
    let file = host.file_with("of-us")?;
    let moved = file.replace(&scope().pubkey.to_string(), &other.pubkey.to_string());
    if moved == file {
        return Ok(());
    }
    let bytes = host.bytes(&file)?;
    host.edit(Edit::File(&moved, &bytes, 0o600))?;
    let process = host.open(other, NOW)?;
    host.expect(process, get("general"), &got(None))?;
    same("the file of another agent, after a read", &host.bytes(&moved)?, &bytes)?;
    host.apply(process, put("general", "of-agent"), NOW)?;
    same("the file of another agent, after a write", &host.bytes(&moved)?, &bytes)
}

/// S-5.
pub(super) fn another_configuration_is_incompatible<H: Host>(host: &mut H) -> Verdict {
    host.fresh();
    let process = host.opened()?;
    let configs = [config(None, None), config(Some("m"), None), config(Some("m"), Some("ask"))];
    for stored in &configs {
        let session: Text = "s".into();
        let op = StoreOp::Put { key: key("c"), session: session.clone(), config: stored.clone() };
        host.done(process, op)?;
        for wanted in &configs {
            let op = StoreOp::Get { key: key("c"), config: wanted.clone() };
            let answer = host.apply(process, op, NOW)?;
            let fits = matches!(answer, StoreAnswer::Got(Lookup::Found { .. }));
            let refused = matches!(answer, StoreAnswer::Got(Lookup::Incompatible { .. }));
            let what = format!("a receipt of {stored:?} asked for {wanted:?} is {answer:?}");
            demand(&what, if stored == wanted { fits } else { refused })?;
        }
    }
    Ok(format!("{} pairs of configurations", configs.len().pow(2)))
}

fn config(model: Option<&str>, mode: Option<&str>) -> Config {
    Config { model: model.map(Into::into), mode: mode.map(Into::into) }
}

/// S-6.
pub(super) fn looking_changes_nothing<H: Host>(host: &mut H) -> Verdict {
    host.given(&[("a", "1"), ("b", "2")])?;
    let before = host.look();
    let later = NOW + 60_000;
    let process = host.open(&scope(), later)?;
    for channel in ["a", "b", "c"] {
        host.apply(process, get(channel), later)?;
    }
    host.list(process, later)?;
    host.kill(process);
    same("the directory after a look", &host.look(), &before)?;
    Ok("open, get, list, close".to_owned())
}

/// S-7.
pub(super) fn keys_have_values_and_ids_have_bytes<H: Host>(host: &mut H) -> Verdict {
    let lower = "9f0c1d2e-0000-4abc-8def-00000000000a";
    let upper = lower.to_uppercase();
    host.given(&[(lower, "Session-x9Qz")])?;
    let process = host.opened()?;
    host.expect(process, get(&upper), &got(Some("Session-x9Qz")))?;
    host.done(process, put(&upper, "Session-x9QZ"))?;
    host.expect(process, get(lower), &got(Some("Session-x9QZ")))?;
    same("receipts under two spellings", &host.list(process, NOW)?.len(), &1)?;
    if host.offers(Feature::RemoveIf) {
        let folded = remove_if(lower, "session-x9qz");
        host.expect(process, folded, &StoreAnswer::Removed(false))?;
    }
    host.done(process, remove(&upper))?;
    host.found_anew(lower, None)?;

    let process = host.opened()?;
    host.done(process, put("CAFE", "upper"))?;
    host.done(process, put("cafe", "lower"))?;
    host.found_anew("CAFE", Some("upper"))?;
    if host.offers(Feature::Threads) {
        a_root_is_found_in_any_spelling(host)?;
    }
    Ok("channels and roots in both cases, a name that only looks like hex".to_owned())
}

fn a_root_is_found_in_any_spelling<H: Host>(host: &mut H) -> Result<(), Failure> {
    host.fresh();
    let process = host.opened()?;
    let key = thread("c", 0xab);
    let put =
        StoreOp::Put { key: key.clone(), session: "of-root".into(), config: Config::default() };
    host.done(process, put)?;
    let file = host.file_with("of-root")?;
    let root = Hex32([0xab; 32]);
    let spelled = replaced(&host.bytes(&file)?, &root.to_string(), &root.to_upper());
    let Some(spelled) = spelled else { return Ok(()) };
    host.edit(Edit::File(&file, &spelled, 0o600))?;
    let process = host.opened()?;
    let get = StoreOp::Get { key, config: Config::default() };
    host.expect(process, get, &got(Some("of-root")))
}

/// S-8.
pub(super) fn only_time_that_passed_forgets<H: Host>(host: &mut H) -> Verdict {
    let Some(life) = host.life_ms() else {
        return Err(Failure::NotApplicable("entries live for ever".to_owned()));
    };
    host.fresh();
    let process = host.opened()?;
    at(host, process, put("old", "1"), NOW, &StoreAnswer::Done)?;
    let almost = NOW + life - 1_000;
    at(host, process, put("young", "2"), almost, &StoreAnswer::Done)?;
    at(host, process, get("old"), almost, &got(Some("1")))?;
    let after = NOW + life + 1_000;
    at(host, process, get("old"), after, &got(None))?;
    at(host, process, get("young"), after, &got(Some("2")))?;
    at(host, process, put("new", "3"), after, &StoreAnswer::Done)?;
    same("receipts that are left", &host.list(process, after)?.len(), &2)?;
    a_clock_that_jumps_forgets_nothing(host, life)?;
    Ok("one receipt too old, four jumps of the clock".to_owned())
}

fn a_clock_that_jumps_forgets_nothing<H: Host>(host: &mut H, life: u64) -> Result<(), Failure> {
    for jump in [NOW - 2 * life, 1_000, NOW + 2 * life, 4 * NOW] {
        host.given(&[("a", "1"), ("b", "2")])?;
        let process = host.open(&scope(), jump)?;
        at(host, process, get("a"), jump, &got(Some("1")))?;
        at(host, process, put("c", "3"), jump, &StoreAnswer::Done)?;
        for now in [jump + 1, NOW, jump + 2] {
            at(host, process, get("a"), now, &got(Some("1")))?;
            at(host, process, put("c", "3"), now, &StoreAnswer::Done)?;
            at(host, process, get("b"), now, &got(Some("2")))?;
        }
    }
    Ok(())
}

fn at<H: Host>(
    host: &mut H,
    process: usize,
    op: StoreOp,
    now_ms: u64,
    expected: &StoreAnswer,
) -> Result<(), Failure> {
    let what = format!("{op} at {now_ms}");
    answered(&what, &host.apply(process, op, now_ms)?, expected)
}

/// S-6, too: a directory that is not there is not made by looking.
pub(super) fn looking_makes_nothing<H: Host>(host: &mut H) -> Verdict {
    host.fresh();
    let before = host.look();
    let process = host.opened()?;
    host.expect(process, get("a"), &got(None))?;
    if !host.list(process, NOW)?.is_empty() {
        return violated("an empty store lists something");
    }
    same("the ground after a look", &host.look(), &before)?;
    demand("a look makes the state directory", host.kind(STATE).is_none())?;
    Ok("open, get, list on nothing".to_owned())
}
