//! Which neighbours in a schedule can change places without anybody noticing.

use crate::volume::Op;
use crate::volume::Op::{
    Chmod, Create, Link, List, Lstat, Mkdir, Open, Read, Rename, Stat, Sync, SyncDir, TryLock,
    Unlink, Unlock, Wait, Write,
};

/// Whether two operations of two processes come to the same in either order. Decided from their
/// kinds alone, so in doubt they do not.
pub(crate) fn commute(one: Op, other: Op) -> bool {
    spares(one, other) && spares(other, one)
}

/// The same, when somebody may cut the power: what a sync makes durable must not be told by what
/// happened around it.
pub(crate) fn commute_durably(one: Op, other: Op) -> bool {
    commute(one, other) && !(syncs(one) && changes(other)) && !(syncs(other) && changes(one))
}

/// Whether a power cut can leave another disk after the operation than before it.
pub(crate) fn leaves_a_mark(op: Op) -> bool {
    syncs(op) || changes(op)
}

fn syncs(op: Op) -> bool {
    matches!(op, Sync | SyncDir)
}

fn changes(op: Op) -> bool {
    matches!(op, Write | Chmod | Create | Rename | Link | Unlink | Mkdir)
}

/// Whether the first leaves everything as the second finds it.
fn spares(one: Op, other: Op) -> bool {
    match one {
        // Looking changes nothing; what is on the disk itself no process can see.
        Open | Read | Stat | Lstat | List | Sync | SyncDir | Wait(_) => true,
        TryLock => !matches!(other, TryLock | Unlock),
        // The end of an operation, most often; whoever sleeps wakes up.
        Unlock => false,
        Write => matches!(other, Open | List | Sync | SyncDir | TryLock | Mkdir | Link | Unlink),
        Chmod | Create | Rename | Link | Unlink | Mkdir => match other {
            Sync | TryLock => true,
            Read | Stat => matches!(one, Rename | Link | Unlink | Mkdir),
            // Of a directory, which these neither make nor remove.
            SyncDir => matches!(one, Create | Link | Unlink),
            Write => matches!(one, Link | Unlink | Mkdir),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{DiskError, Errno};
    use crate::poll::run;
    use skep_trace::Snapshot;

    use crate::sim::{Every, SimDisk, SimFile, SimVolume};
    use crate::volume::{Open as How, Volume};

    /// An operation with its paths; on a handle where there is none.
    type Act = (Op, &'static str, &'static str, How);

    /// What can be told of an operation afterwards.
    type Answer = Result<String, Errno>;

    fn acts() -> Vec<Act> {
        let mut acts = vec![
            (Read, "", "", How::READ),
            (Write, "", "", How::READ),
            (Sync, "", "", How::READ),
            (Stat, "", "", How::READ),
            (TryLock, "", "", How::READ),
            (SyncDir, "/d", "", How::READ),
            (List, "/d", "", How::READ),
        ];
        for (one, other) in [("/d/x", "/d/y"), ("/d/y", "/d/x"), ("/d/x", "/d/z")] {
            acts.extend([Rename, Link].map(|op| (op, one, other, How::READ)));
        }
        for path in ["/d/x", "/d/y", "/d/z"] {
            let ops = [Open, Lstat, Chmod, Unlink, Mkdir, List];
            acts.extend(ops.map(|op| (op, path, "", How::READ)));
            let hows = [How::APPEND, How::CREATE_NEW, How::OVERWRITE];
            acts.extend(hows.map(|how| (Create, path, "", how)));
        }
        acts
    }

    async fn act(volume: &SimVolume, file: &SimFile, act: Act) -> Result<String, DiskError> {
        let (op, path, other, how) = act;
        let told = match op {
            Open | Create => {
                format!("{:?}", volume.stat(&volume.open(path, how).await?).await?.inode)
            }
            Read => format!("{:?}", volume.read(file, 99).await?),
            Write => format!("{:?}", volume.write(file, b"w").await?),
            Sync => format!("{:?}", volume.sync(file).await?),
            Stat => format!("{:?}", volume.stat(file).await?),
            Lstat => format!("{:?}", volume.lstat(path).await?),
            Chmod => format!("{:?}", volume.chmod(path, 0o640).await?),
            Rename => format!("{:?}", volume.rename(path, other).await?),
            Link => format!("{:?}", volume.link(path, other).await?),
            Unlink => format!("{:?}", volume.unlink(path).await?),
            Mkdir => format!("{:?}", volume.mkdir(path, Some(0o700)).await?),
            SyncDir => format!("{:?}", volume.sync_dir(path).await?),
            List => format!("{:?}", volume.list(path).await?),
            TryLock => format!("{:?}", volume.try_lock(file).await?),
            Unlock | Wait(_) => unreachable!("they are in no list"),
        };
        Ok(told)
    }

    /// The answers of two processes and the disk afterwards.
    fn meet(one: Act, other: Act, swapped: bool) -> (Answer, Answer, SimDisk) {
        let disk = SimDisk::new();
        disk.make_dir("/d", 0o700).unwrap();
        disk.put_file("/d/x", b"x", 0o600).unwrap();
        disk.put_file("/d/y", b"y", 0o600).unwrap();
        let open = |volume: &SimVolume| {
            let how = How { read: true, ..How::APPEND };
            run(volume.open("/d/x", how), 1).unwrap().unwrap()
        };
        let (first, second) = (disk.process(), disk.process());
        let files = [open(&first), open(&second)];
        let told = |volume, file, what| {
            run(act(volume, file, what), 1).unwrap().map_err(|error| error.errno)
        };
        let (answer, answer_of_other) = if swapped {
            let later = told(&second, &files[1], other);
            (told(&first, &files[0], one), later)
        } else {
            let sooner = told(&first, &files[0], one);
            (sooner, told(&second, &files[1], other))
        };
        (answer, answer_of_other, disk)
    }

    /// The same, with what processes see.
    fn seen(one: Act, other: Act, swapped: bool) -> (Answer, Answer, Snapshot) {
        let (answer, answer_of_other, disk) = meet(one, other, swapped);
        (answer, answer_of_other, disk.snapshot("/"))
    }

    /// Every disk that a power cut leaves afterwards, each once.
    fn left(one: Act, other: Act, swapped: bool) -> Vec<Snapshot> {
        let (.., disk) = meet(one, other, swapped);
        let mut every = Every::new();
        let mut disks: Vec<Snapshot> = Vec::new();
        while every.next_round() {
            let fork = disk.fork();
            fork.power_loss_by(&mut every);
            let snapshot = fork.snapshot("/");
            if !disks.contains(&snapshot) {
                disks.push(snapshot);
            }
        }
        disks
    }

    #[test]
    fn what_is_said_to_commute_does() {
        let mut pairs = 0;
        for one in acts() {
            for other in acts() {
                if commute(one.0, other.0) {
                    pairs += 1;
                    let (kept, swapped) = (seen(one, other, false), seen(one, other, true));
                    assert_eq!(kept, swapped, "{one:?} and {other:?}");
                }
            }
        }
        assert!(pairs > 400, "{pairs}");
    }

    #[test]
    fn what_is_said_to_commute_durably_leaves_the_same_disks() {
        let mut pairs = 0;
        for one in acts() {
            for other in acts() {
                if commute_durably(one.0, other.0) {
                    pairs += 1;
                    let (kept, swapped) = (left(one, other, false), left(one, other, true));
                    let same = kept.len() == swapped.len()
                        && kept.iter().all(|disk| swapped.contains(disk));
                    assert!(same, "{one:?} and {other:?}: {kept:#?} {swapped:#?}");
                }
            }
        }
        assert!(pairs > 300, "{pairs}");
    }

    /// Every disk that a power cut leaves after one operation.
    fn left_after(one: Act) -> Vec<Snapshot> {
        left(one, (Stat, "", "", How::READ), false)
    }

    #[test]
    fn what_leaves_no_mark_leaves_the_disks_of_before() {
        let before = left_after((Stat, "", "", How::READ));
        for one in acts().into_iter().filter(|one| !leaves_a_mark(one.0)) {
            assert_eq!(left_after(one), before, "{one:?}");
        }
    }

    #[test]
    fn a_sync_and_what_it_makes_durable_do_not_commute() {
        assert!(commute(Sync, Write) || commute(SyncDir, Create));
        assert!(!commute_durably(Sync, Write) && !commute_durably(Create, SyncDir));
        assert_ne!(
            left((SyncDir, "/d", "", How::READ), (Create, "/d/z", "", How::CREATE_NEW), false),
            left((SyncDir, "/d", "", How::READ), (Create, "/d/z", "", How::CREATE_NEW), true),
        );
    }
}
