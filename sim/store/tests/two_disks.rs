//! Whole stores on the simulated disk and on the real one: in the same order of steps they take the
//! same steps and give the same answers. One test in a process of its own: it changes the umask and
//! the user.

use skep_store::model::{Binding, KeyedTtl, Receipt, SnapshotMap};
use skep_store::play::answer_word;
use skep_store::sim::{Choose, Seeded};
use skep_store::suite::{
    Failure, Host, LocalHost, RealGround, Reference, Scope, SimGround, Step, Subject,
};
use skep_store::{Config, Key, Op, StoreOp};
use skep_trace::Hex32;

/// Orders that are tried of each pair; each of them syncs a real disk a few times.
const SEEDS: u64 = 6;

/// More steps than two operations take that wait for each other.
const MOST_STEPS: usize = 2_000;

const NOW: u64 = 1_780_000_000_000;

fn key(channel: &str) -> Key {
    Key { channel: channel.into(), root: None }
}

fn put(channel: &str, session: &str) -> StoreOp {
    StoreOp::Put { key: key(channel), session: session.into(), config: Config::default() }
}

fn pairs() -> [[StoreOp; 2]; 3] {
    [
        [put("b", "2"), put("c", "3")],
        [put("a", "2"), StoreOp::RemoveIf { key: key("a"), expected: "1".into() }],
        [
            StoreOp::Remove { key: key("a") },
            StoreOp::Get { key: key("a"), config: Config::default() },
        ],
    ]
}

fn scope() -> Scope {
    Scope { relay: "wss://relay.example".into(), pubkey: Hex32([7; 32]) }
}

/// Every step of two operations in an order that the seed chooses, their answers, and what is left.
fn course<H: Host>(host: &mut H, ops: &[StoreOp; 2], seed: u64) -> Result<Vec<String>, Failure> {
    host.fresh();
    let first = host.open(&scope(), NOW)?;
    host.apply(first, put("a", "1"), NOW)?;
    host.kill(first);
    let processes = [host.open(&scope(), NOW)?, host.open(&scope(), NOW)?];
    let mut told = Vec::new();
    let mut before: Vec<Option<Op>> = vec![None; 2];
    for (at, op) in ops.iter().enumerate() {
        host.begin(processes[at], op.clone(), NOW)?;
        before[at] = step(host, processes[at], at, &mut told);
    }
    let mut choice = Seeded::new(seed);
    for _ in 0..MOST_STEPS {
        let going: Vec<usize> = (0..2).filter(|at| before[*at].is_some()).collect();
        // Who waits for a lock lets the other one go first: on the real disk a wait takes its time.
        let eager = going.iter().filter(|at| !matches!(before[**at], Some(Op::Wait(_))));
        let eager: Vec<usize> = eager.copied().collect();
        let ready = if eager.is_empty() { going } else { eager };
        let Some(ways) = std::num::NonZeroUsize::new(ready.len()) else { break };
        let at = ready[choice.choose(ways.get())];
        before[at] = step(host, processes[at], at, &mut told);
    }
    let last = host.open(&scope(), NOW)?;
    let left = host.list(last, NOW)?;
    told.extend(left.iter().map(|one| format!("{}={}", one.channel, one.session)));
    Ok(told)
}

fn step<H: Host>(host: &mut H, process: usize, at: usize, told: &mut Vec<String>) -> Option<Op> {
    match host.step(process) {
        Step::Before(op) => {
            told.push(format!("{at} {}", op.word()));
            Some(op)
        }
        Step::Done(answer) => {
            told.push(format!("{at} answered {}", answer_word(&answer)));
            None
        }
    }
}

fn agree<S: Subject>(subject: &S, root: &str) {
    let mut simulated = LocalHost::new(subject.clone(), SimGround::default());
    let mut real = LocalHost::new(subject.clone(), RealGround::new(root));
    for ops in pairs() {
        for seed in 0..SEEDS {
            let expected = course(&mut real, &ops, seed);
            assert_eq!(course(&mut simulated, &ops, seed), expected, "{ops:?}, seed {seed}");
        }
    }
}

#[test]
fn whole_stores_take_the_same_steps_on_both_disks() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().to_str().expect("a path that is text");
    agree(&Reference::default(), root);
    agree(&Receipt, root);
    agree(&SnapshotMap, root);
    agree(&Binding::default(), root);
    agree(&KeyedTtl, root);
}
