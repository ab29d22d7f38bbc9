//! What the simulated disk promises, by behaviour.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::pin::pin;
use std::task::Poll;

use skep_store::poll::{poll, run};
use skep_store::sim::Every;
use skep_store::{DiskError, Errno, Op, Open, SimDisk, SimVolume, Volume};

/// More polls than any operation of these tests takes.
const MOST: usize = 100;

fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.make_dir("/state", 0o700).unwrap();
    disk
}

async fn write(volume: &SimVolume, path: &str, text: &str) -> Result<(), DiskError> {
    let file = volume.open(path, Open::OVERWRITE.with_mode(Some(0o600))).await?;
    volume.write(&file, text.as_bytes()).await?;
    volume.sync(&file).await
}

async fn read(volume: &SimVolume, path: &str) -> Result<Vec<u8>, DiskError> {
    let file = volume.open(path, Open::READ).await?;
    volume.read(&file, u64::MAX).await
}

/// Every disk that a power loss can leave after these operations, as the bytes of one file.
fn possible(
    path: &str,
    operations: &impl AsyncFn(&SimVolume) -> Result<(), DiskError>,
) -> BTreeSet<Option<Vec<u8>>> {
    let disk = disk();
    let volume = disk.process();
    run(operations(&volume), MOST).unwrap().unwrap();
    let mut every = Every::new();
    let mut outcomes = BTreeSet::new();
    while every.next_round() {
        let disk = disk.fork();
        disk.power_loss_by(&mut every);
        outcomes.insert(disk.bytes(path));
    }
    outcomes
}

fn some(text: &str) -> Option<Vec<u8>> {
    Some(text.as_bytes().to_vec())
}

#[test]
fn one_process_reads_what_another_wrote_before_any_sync() {
    let disk = disk();
    let (one, other) = (disk.process(), disk.process());
    let file = run(one.open("/state/x", Open::CREATE_NEW), MOST).unwrap().unwrap();
    run(one.write(&file, b"page cache"), MOST).unwrap().unwrap();
    assert_eq!(run(read(&other, "/state/x"), MOST).unwrap(), Ok(b"page cache".to_vec()));
}

#[test]
fn a_handle_stays_on_its_file_when_the_name_moves_on() {
    let disk = disk();
    let volume = disk.process();
    let check = async {
        write(&volume, "/state/x", "old").await?;
        let old = volume.open("/state/x", Open::READ).await?;
        write(&volume, "/state/y", "new").await?;
        volume.rename("/state/y", "/state/x").await?;
        let through_handle = volume.read(&old, u64::MAX).await?;
        Ok::<_, DiskError>((through_handle, read(&volume, "/state/x").await?))
    };
    assert_eq!(run(check, MOST).unwrap(), Ok((b"old".to_vec(), b"new".to_vec())));
}

#[test]
fn hard_links_share_one_file() {
    let disk = disk();
    let volume = disk.process();
    let check = async {
        write(&volume, "/state/x", "old").await?;
        volume.link("/state/x", "/state/y").await?;
        write(&volume, "/state/x", "new").await?;
        read(&volume, "/state/y").await
    };
    assert_eq!(run(check, MOST).unwrap(), Ok(b"new".to_vec()));
}

#[test]
fn a_kill_keeps_the_page_cache_and_ends_everything_else() {
    let disk = disk();
    let (victim, other) = (disk.process(), disk.process());
    disk.stepwise(victim.pid(), true);
    {
        let mut writing = pin!(write(&victim, "/state/x", "kept"));
        for _ in 0..3 {
            assert!(poll(writing.as_mut()).is_pending());
        }
        assert_eq!(disk.pending(victim.pid()), Some(Op::Sync));
        disk.kill(victim.pid());
        assert!(poll(writing.as_mut()).is_pending(), "the dead do not even fail");
    }
    assert_eq!(run(read(&other, "/state/x"), MOST).unwrap(), Ok(b"kept".to_vec()));
}

#[test]
fn a_lock_dies_with_its_process() {
    let disk = disk();
    let (holder, other) = (disk.process(), disk.process());
    let lock = |volume: &SimVolume| {
        let file = run(volume.open("/state/lock", Open::APPEND), MOST).unwrap().unwrap();
        let locked = run(volume.try_lock(&file), MOST).unwrap().unwrap();
        (file, locked)
    };
    let (held, locked) = lock(&holder);
    assert!(locked);
    assert!(!lock(&other).1);
    disk.kill(holder.pid());
    assert!(lock(&other).1);
    drop(held);
}

#[test]
fn two_handles_of_one_process_exclude_each_other() {
    let disk = disk();
    let volume = disk.process();
    let check = async {
        let one = volume.open("/state/lock", Open::APPEND).await?;
        let other = volume.open("/state/lock", Open::APPEND).await?;
        let first = volume.try_lock(&one).await?;
        let second = volume.try_lock(&other).await?;
        volume.unlock(one).await;
        Ok::<_, DiskError>((first, second, volume.try_lock(&other).await?))
    };
    assert_eq!(run(check, MOST).unwrap(), Ok((true, false, true)));
}

#[test]
fn an_unsynced_new_file_may_be_gone_or_empty_or_there() {
    let outcomes = possible("/state/x", &async |volume: &SimVolume| {
        let file = volume.open("/state/x", Open::CREATE_NEW).await?;
        volume.write(&file, b"a").await
    });
    assert_eq!(outcomes, BTreeSet::from([None, some(""), some("\0"), some("a")]));
}

#[test]
fn a_rename_without_a_sync_of_the_file_can_install_an_empty_one() {
    let outcomes = possible("/state/x", &async |volume: &SimVolume| {
        write(volume, "/state/x", "old").await?;
        volume.sync_dir("/state").await?;
        let file = volume.open("/state/new", Open::CREATE_NEW).await?;
        volume.write(&file, b"new").await?;
        volume.rename("/state/new", "/state/x").await?;
        volume.sync_dir("/state").await
    });
    assert_eq!(outcomes, BTreeSet::from([some(""), some("\0\0\0"), some("new")]));
}

#[test]
fn a_synced_file_renamed_into_a_synced_directory_is_there() {
    let outcomes = possible("/state/x", &async |volume: &SimVolume| {
        write(volume, "/state/new", "new").await?;
        volume.rename("/state/new", "/state/x").await?;
        volume.sync_dir("/state").await
    });
    assert_eq!(outcomes, BTreeSet::from([some("new")]));
}

#[test]
fn a_rename_without_a_sync_of_the_directory_may_not_have_happened() {
    let outcomes = possible("/state/x", &async |volume: &SimVolume| {
        write(volume, "/state/x", "old").await?;
        volume.sync_dir("/state").await?;
        write(volume, "/state/new", "new").await?;
        volume.rename("/state/new", "/state/x").await
    });
    assert_eq!(outcomes, BTreeSet::from([some("old"), some("new")]));
}

#[test]
fn a_full_directory_takes_half_and_refuses() {
    let disk = disk();
    let volume = disk.process();
    disk.fill("/state", true).unwrap();
    let refused = run(write(&volume, "/state/x", "0123"), MOST).unwrap().unwrap_err();
    assert_eq!(refused.errno, Errno::NoSpace);
    assert_eq!(disk.bytes("/state/x").unwrap(), b"01");
}

#[test]
fn a_read_only_directory_is_read_and_not_written() {
    let disk = disk();
    let volume = disk.process();
    disk.put_file("/state/x", b"old", 0o600).unwrap();
    disk.read_only("/state", true).unwrap();
    assert_eq!(run(read(&volume, "/state/x"), MOST).unwrap(), Ok(b"old".to_vec()));
    let refused = run(write(&volume, "/state/x", "new"), MOST).unwrap().unwrap_err();
    assert_eq!(refused.errno, Errno::ReadOnly);
    let refused = run(write(&volume, "/state/y", "new"), MOST).unwrap().unwrap_err();
    assert_eq!(refused.errno, Errno::ReadOnly);
}

#[test]
fn a_stranger_is_kept_out_by_the_bits() {
    let disk = disk();
    let stranger = disk.process_as(2000, 0o022);
    disk.put_file("/x", b"mine", 0o600).unwrap();
    let refused = run(read(&stranger, "/x"), MOST).unwrap().unwrap_err();
    assert_eq!(refused.errno, Errno::PermissionDenied);
    disk.chmod("/x", 0o604).unwrap();
    assert_eq!(run(read(&stranger, "/x"), MOST).unwrap(), Ok(b"mine".to_vec()));
}

#[test]
fn a_fifo_is_waited_for_only_on_request() {
    let disk = disk();
    let volume = disk.process();
    disk.put_fifo("/state/x", 0o600).unwrap();
    let waiting = Open { wait: true, ..Open::READ };
    assert!(run(volume.open("/state/x", waiting), MOST).is_none());
    assert!(run(volume.open("/state/x", Open::READ), MOST).unwrap().is_ok());
}

#[test]
fn a_pause_is_pending_once_even_without_steps() {
    let disk = disk();
    let volume = disk.process();
    let mut wait = pin!(volume.wait(20));
    assert!(poll(wait.as_mut()).is_pending());
    assert_eq!(disk.pending(volume.pid()), Some(Op::Wait(20)));
    assert_eq!(poll(wait.as_mut()), Poll::Ready(()));
}
