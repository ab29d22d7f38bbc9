#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it measures and tells")]
use skep_store::explore::{Outcome, questions, shortest, walk};
use skep_store::model::*;
use skep_store::suite::{Reference, Subject};
fn one<S: Subject>(name: &str, s: &S) {
    for q in questions() {
        let start = std::time::Instant::now();
        let f = walk(s, &q, &|| false);
        println!("{name} {}: {f:?} {:.2}s", q.name, start.elapsed().as_secs_f64());
        if let Ok(f) = f {
            for o in Outcome::FAULTS {
                if f.of(o) > 0 {
                    let start = std::time::Instant::now();
                    println!(
                        "    {:?} {:?} {:.2}",
                        o,
                        shortest(s, &q, o),
                        start.elapsed().as_secs_f64()
                    );
                }
            }
        }
    }
}
fn main() {
    one("reference", &Reference::default());
    one("receipt", &Receipt);
    one("snapshot-map", &SnapshotMap);
    one("binding", &Binding::default());
    one("keyed-ttl", &KeyedTtl);
}
