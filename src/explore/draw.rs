//! From a seed to a workload.
//!
//! A seed first picks a *swarm*: which kinds of operations and which faults there are at all. A
//! workload of everything at once is always the same kind of workload; one without restarts, or
//! with nothing else, comes to places that the other never sees.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::workload::{
    Change, Choice, Damage, Death, Down, Dress, Ground, Kind, LoadFault, Meanwhile, Op, Pair,
    RelayTrouble, Spot, TurnFault, Workload,
};

/// The most operations of a workload.
pub const MOST_OPS: usize = 12;

/// The workload of a seed, and all that it can be made smaller to.
pub fn tree(seed: u64) -> Box<dyn ValueTree<Value = Workload>> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let swarm = draw(&swarm(), &mut runner);
    Box::new(workload(&swarm).new_tree(&mut runner).expect("no strategy here rejects a value"))
}

fn draw<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("no strategy here rejects a value").current()
}

/// What there is in the workload of one seed.
#[derive(Clone, Debug)]
struct Swarm {
    kinds: Vec<Kind>,
    dresses: bool,
    loads: bool,
    turns: bool,
    relays: bool,
}

fn swarm() -> impl Strategy<Value = Swarm> {
    let kinds = vec(any::<bool>(), Kind::ALL.len()).prop_map(|wanted| {
        let drawn = Kind::ALL.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
        // Without a mention nothing ever happens.
        [Kind::Mention].into_iter().chain(drawn.map(|(kind, _)| kind)).collect()
    });
    (kinds, any::<[bool; 4]>()).prop_map(|(kinds, [dresses, loads, turns, relays])| Swarm {
        kinds,
        dresses,
        loads,
        turns,
        relays,
    })
}

fn workload(swarm: &Swarm) -> impl Strategy<Value = Workload> + use<> {
    let ops = vec(op(swarm), 1..=MOST_OPS);
    (ground(), ops, any::<u8>()).prop_map(|(ground, ops, schedule)| Workload {
        ground,
        ops,
        schedule,
    })
}

/// One time in `of` true; smaller is false.
fn seldom(of: u8) -> impl Strategy<Value = bool> {
    (0..of).prop_map(move |drawn| drawn + 1 == of)
}

fn ground() -> impl Strategy<Value = Ground> {
    use Choice::{Models, Modes, Nothing, RefusedModels};
    let choice = select(vec![Nothing, Nothing, Models, Models, Modes, RefusedModels]);
    let pair = select(vec![
        Pair::One,
        Pair::One,
        Pair::One,
        Pair::One,
        Pair::Twins,
        Pair::Strangers,
        Pair::Neighbours,
    ]);
    let max_turns = select(vec![0, 0, 0, 2, 3]);
    let spread_ms = select(vec![0, 0, 3, 20]);
    (seldom(3), seldom(3), seldom(2), choice, max_turns, seldom(6), pair, spread_ms).prop_map(
        |(threads, tools, feed, choice, max_turns, heartbeat, pair, spread_ms)| Ground {
            threads,
            tools,
            feed,
            choice,
            max_turns,
            heartbeat,
            pair,
            spread_ms,
        },
    )
}

fn spot() -> impl Strategy<Value = Spot> {
    // Few places, often the same: what comes back to a conversation is what this is about.
    let channel = select(vec![0, 0, 0, 0, 1, 1, 2, 3, 4]);
    (channel, 0..4_u8, 0..2_u8).prop_map(|(channel, thread, harness)| Spot {
        channel,
        thread,
        harness,
    })
}

/// Nothing at all, or one time in two one of these.
fn perhaps<T: Clone + Default + std::fmt::Debug + 'static>(
    wanted: bool,
    faults: Vec<T>,
) -> BoxedStrategy<T> {
    if wanted {
        prop_oneof![Just(T::default()), select(faults)].boxed()
    } else {
        Just(T::default()).boxed()
    }
}

fn op(swarm: &Swarm) -> BoxedStrategy<Op> {
    let swarm = swarm.clone();
    let kinds = swarm.kinds.clone();
    // Mentions and restarts are what everything else is about.
    let weighted = kinds.into_iter().map(|kind| {
        let weight = match kind {
            Kind::Mention => 4,
            Kind::Restart => 3,
            _ => 2,
        };
        (weight, of_kind(kind, &swarm))
    });
    proptest::strategy::Union::new_weighted(weighted.collect()).boxed()
}

fn of_kind(kind: Kind, swarm: &Swarm) -> BoxedStrategy<Op> {
    match kind {
        Kind::Mention => mention(swarm),
        Kind::Burst => [spot(), spot(), spot()].prop_map(|spots| Op::Burst { spots }).boxed(),
        Kind::Busy => {
            use Meanwhile::{Cancel, Mention, Rotate, Switch};
            let then = select(vec![Mention, Rotate, Cancel, Switch]);
            (spot(), then).prop_map(|(spot, then)| Op::Busy { spot, then }).boxed()
        }
        Kind::Rotate => {
            (spot(), seldom(4)).prop_map(|(spot, full)| Op::Rotate { spot, full }).boxed()
        }
        Kind::Leave => (0..5_u8).prop_map(|channel| Op::Leave { channel }).boxed(),
        Kind::Switch => spot().prop_map(|spot| Op::Switch { spot }).boxed(),
        Kind::Restart => restart(),
        Kind::Crash => {
            use Death::{Answered, Early, PowerLoss, PromptSent, Renamed, Stored, TempWritten};
            let at =
                select(vec![Early, Answered, PromptSent, TempWritten, Renamed, Stored, PowerLoss]);
            (spot(), at).prop_map(|(spot, at)| Op::Crash { spot, at }).boxed()
        }
        Kind::Disk => {
            use Damage::{
                Chmod, Corrupt, Delete, Garbage, Newer, NulTail, Precious, Symlink, Truncate,
            };
            let damage = select(vec![
                Delete, Corrupt, Truncate, NulTail, Garbage, Chmod, Newer, Symlink, Precious,
            ]);
            (spot(), damage).prop_map(|(spot, damage)| Op::Disk { damage, spot }).boxed()
        }
        Kind::Full => (spot(), any::<bool>())
            .prop_map(|(spot, read_only)| Op::Full { spot, read_only })
            .boxed(),
        Kind::Idle => Just(Op::Idle).boxed(),
        Kind::Overtaken => spot().prop_map(|spot| Op::Overtaken { spot }).boxed(),
    }
}

fn mention(swarm: &Swarm) -> BoxedStrategy<Op> {
    use Dress::{
        GuestsCommand, MixedRoot, Nested, Positional, ReplyOnly, RootOnly, Unmarked, UpperRoot,
    };
    use LoadFault::{
        Asks, Exit, Hang, Late, NotFound, Null, OtherId, Refused, Talks, TalksForEver, Trickles,
        Twice,
    };
    use RelayTrouble::{
        Away, CloseSubscription, Delay, Disconnect, Duplicate, RateLimit, ReAuth, SlowEose,
    };
    use TurnFault::{Dies, DiesAfter, Error, MaxRequests, MaxTokens};
    let dress = perhaps(
        swarm.dresses,
        vec![
            UpperRoot,
            MixedRoot,
            RootOnly,
            ReplyOnly,
            Unmarked,
            Positional,
            Nested,
            GuestsCommand,
        ],
    );
    let load = perhaps(
        swarm.loads,
        vec![
            NotFound,
            Refused,
            Null,
            OtherId,
            Hang(1),
            Exit(1),
            Exit(2),
            Hang(2),
            Hang(3),
            Exit(3),
            Late,
            Talks,
            TalksForEver,
            Asks,
            Trickles,
            Twice,
        ],
    );
    let turn = perhaps(swarm.turns, vec![Error, MaxTokens, MaxRequests, Dies, DiesAfter]);
    let relay = perhaps(
        swarm.relays,
        vec![Duplicate, Disconnect, Away, Delay, ReAuth, RateLimit, SlowEose, CloseSubscription],
    );
    (spot(), dress, load, turn, relay)
        .prop_map(|(spot, dress, load, turn, relay)| Op::Mention { spot, dress, load, turn, relay })
        .boxed()
}

fn restart() -> BoxedStrategy<Op> {
    let down = select(vec![Down::Killed, Down::Killed, Down::Stopped, Down::Long]);
    let change = select(vec![
        Change::None,
        Change::None,
        Change::None,
        Change::Choice,
        Change::Title,
        Change::Resume,
        Change::LoadSession,
    ]);
    (0..2_u8, down, change)
        .prop_map(|(harness, down, change)| Op::Restart { harness, down, change })
        .boxed()
}
