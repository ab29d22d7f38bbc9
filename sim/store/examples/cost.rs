//! What an operation costs on the simulated disk: `cargo run --release -p skep-store --example cost`.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it measures and tells")]

use std::time::Instant;

use skep_store::poll::run;
use skep_store::{Config, Key, SimDisk, Store, StoreConfig};
use skep_trace::Hex32;

fn main() {
    for receipts in [1, 5, 50, 1_000] {
        let rounds = if receipts == 1_000 { 1_000 } else { 20_000 };
        let disk = SimDisk::new();
        let config = StoreConfig::new("/state", "wss://relay.example", Hex32([7; 32]));
        let (store, _) = run(Store::open(disk.process(), config, 0), 9).expect("nothing waits");
        let put = |at: u64| {
            let key = key(at % receipts);
            let put = store.put(&key, "agent-S1-x9Qz".into(), model(), at);
            run(put, 9).expect("nothing waits").expect("the disk is sound");
        };
        (0..receipts).for_each(put);
        let put_us = mean_us(rounds, put);
        let get_us = mean_us(rounds, |at| {
            let got = run(store.get(&key(at % receipts), &model(), at), 9);
            got.expect("nothing waits").expect("the disk is sound");
        });
        println!("{receipts:6} receipts: put {put_us:8.2} µs, get {get_us:8.2} µs");
    }
}

fn key(at: u64) -> Key {
    Key { channel: format!("00000000-0000-4000-8000-{at:012x}").into(), root: None }
}

fn model() -> Config {
    Config { model: Some("model-one".into()), mode: None }
}

fn mean_us(rounds: u64, mut act: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    (0..rounds).for_each(&mut act);
    start.elapsed().as_secs_f64() * 1e6 / rounds as f64
}
