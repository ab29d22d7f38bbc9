//! The reference store by itself: what the rules do not ask for but its users rely on.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::pin::pin;
use std::task::Poll;

use skep_plan::Point;
use skep_store::poll::{poll, run};
use skep_store::{
    Config, Key, Lookup, Op, SimDisk, SimVolume, Store, StoreAnswer, StoreConfig, StoreOp,
    store_file,
};
use skep_trace::Hex32;

/// More polls than any operation of these tests takes.
const MOST: usize = 1_000;

const PUBKEY: Hex32 = Hex32([7; 32]);

fn key(channel: &str) -> Key {
    Key { channel: channel.into(), root: None }
}

fn open(disk: &SimDisk) -> Store<SimVolume> {
    let config = StoreConfig::new("/deep/state", "wss://relay.example", PUBKEY);
    run(Store::open(disk.process(), config, 0), MOST).unwrap().0
}

fn put(channel: &str, session: &str) -> StoreOp {
    StoreOp::Put { key: key(channel), session: session.into(), config: Config::default() }
}

fn get(disk: &SimDisk, channel: &str) -> Lookup {
    run(open(disk).get(&key(channel), &Config::default(), 0), MOST).unwrap().unwrap()
}

fn found(session: &str) -> Lookup {
    Lookup::Found { session: session.into() }
}

#[test]
fn a_put_makes_the_directories_above_it() {
    let disk = SimDisk::new();
    let store = open(&disk);
    assert_eq!(run(store.apply(put("c", "s"), 0), MOST).unwrap(), StoreAnswer::Done);
    assert_eq!(get(&disk, "c"), found("s"));
    assert_eq!(disk.snapshot("/deep").entries["."].mode, 0o700);
    assert!(disk.bytes(&store_file("/deep/state", PUBKEY)).is_some());
}

#[test]
fn a_directory_that_shuts_its_owner_out_is_not_opened_again() {
    let disk = SimDisk::new();
    run(open(&disk).apply(put("c", "s"), 0), MOST).unwrap();
    disk.chmod("/deep/state", 0o555).unwrap();
    let answer = run(open(&disk).apply(put("d", "t"), 0), MOST).unwrap();
    assert!(matches!(answer, StoreAnswer::Failed(why) if why.contains("permission")));
    assert_eq!(disk.snapshot("/deep/state").entries["."].mode, 0o500);
    assert_eq!(get(&disk, "c"), found("s"));
}

#[test]
fn a_shared_directory_keeps_its_bits() {
    let disk = SimDisk::new();
    disk.make_dir("/deep", 0o755).unwrap();
    disk.make_dir("/deep/state", 0o1777).unwrap();
    run(open(&disk).apply(put("c", "s"), 0), MOST).unwrap();
    assert_eq!(disk.snapshot("/deep/state").entries["."].mode, 0o1777);
}

#[test]
fn a_path_through_a_dangling_link_ends() {
    let disk = SimDisk::new();
    disk.put_link("/deep", "/nowhere").unwrap();
    let answer = run(open(&disk).apply(put("c", "s"), 0), MOST).unwrap();
    assert!(matches!(answer, StoreAnswer::Failed(_)));
}

/// Traps a process inside its second put, kills it there, and says what the next one finds.
fn killed_at(point: Point, pending: Op) -> Lookup {
    let disk = SimDisk::new();
    run(open(&disk).apply(put("c", "before"), 0), MOST).unwrap();
    let store = open(&disk);
    let pid = store.volume().pid();
    disk.trap(pid, Some(point));
    let mut putting = pin!(store.apply(put("c", "after"), 0));
    assert_eq!(poll(putting.as_mut()), Poll::Pending);
    assert!(disk.trapped(pid));
    assert_eq!(disk.pending(pid), Some(pending));
    disk.kill(pid);
    get(&disk, "c")
}

#[test]
fn a_process_can_be_killed_on_either_side_of_the_rename() {
    assert_eq!(killed_at(Point::TempWritten, Op::Rename), found("before"));
    assert_eq!(killed_at(Point::Renamed, Op::SyncDir), found("after"));
}

#[test]
fn a_dropped_operation_gives_its_lock_back() {
    let disk = SimDisk::new();
    let store = open(&disk);
    disk.stepwise(store.volume().pid(), true);
    {
        let mut putting = pin!(store.apply(put("c", "s"), 0));
        while !disk.holds_lock(store.volume().pid()) {
            assert!(poll(putting.as_mut()).is_pending());
        }
    }
    assert!(!disk.holds_lock(store.volume().pid()));
    assert_eq!(run(open(&disk).apply(put("c", "t"), 0), MOST).unwrap(), StoreAnswer::Done);
}

#[test]
fn an_operation_in_steps_shows_each_of_them() {
    let disk = SimDisk::new();
    run(open(&disk).apply(put("c", "s"), 0), MOST).unwrap();
    let store = open(&disk);
    run(store.apply(put("c", "t"), 0), MOST).unwrap();
    let pid = store.volume().pid();
    disk.stepwise(pid, true);
    let mut steps = Vec::new();
    let mut putting = pin!(store.apply(put("c", "u"), 0));
    while poll(putting.as_mut()).is_pending() {
        steps.extend(disk.pending(pid));
    }
    let expected = [
        Op::Lstat, // the directory
        Op::Open,  // the lock
        Op::Stat,
        Op::TryLock,
        Op::Lstat, // the lock's name, again
        Op::Lstat, // the directory, again
        Op::Open,  // the file
        Op::Stat,
        Op::Read,
        Op::Create, // the temporary file
        Op::Write,
        Op::Sync,
        Op::Rename,
        Op::SyncDir,
        Op::Unlock,
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_removed_channel_takes_all_its_threads_along_and_no_other_channel() {
    let disk = SimDisk::new();
    let store = open(&disk);
    let thread = |channel: &str| Key { root: Some(Hex32([1; 32])), ..key(channel) };
    for key in [key("a"), thread("a"), key("b"), thread("b")] {
        let op = StoreOp::Put { key, session: "s".into(), config: Config::default() };
        assert_eq!(run(store.apply(op, 0), MOST).unwrap(), StoreAnswer::Done);
    }
    let op = StoreOp::RemoveChannel { channel: "a".into() };
    assert_eq!(run(store.apply(op, 0), MOST).unwrap(), StoreAnswer::Done);
    let look = |key: Key| run(open(&disk).get(&key, &Config::default(), 0), MOST).unwrap().unwrap();
    assert_eq!([look(key("a")), look(thread("a"))], [Lookup::Absent, Lookup::Absent]);
    assert_eq!([look(key("b")), look(thread("b"))], [found("s"), found("s")]);
}
