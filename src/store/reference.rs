//! The reference store behind the line protocol: the adapter that needs no other language, and, with
//! one of its named faults, the broken subject of our own tests.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};
use skep_mutant::{Mutant, Mutants};
use skep_store::ops::{Config, Key, Lookup, StoreAnswer, StoreOp};
use skep_store::poll::run;
use skep_store::store::{LIFE_MS, Store, StoreConfig};
use skep_store::{RealVolume, Warning};
use skep_trace::{Hex32, Receipt};

use super::protocol::PROTOCOL;

/// The real disk's futures are ready at once.
const READY: &str = "the real volume's futures are ready at once";

/// Serves requests until the input ends.
///
/// # Errors
/// When a line cannot be read or an answer not written.
pub fn serve(
    input: impl BufRead,
    mut output: impl Write,
    mutant: Option<Mutant>,
) -> io::Result<()> {
    let mutants = mutant.map_or(Mutants::NONE, Mutants::only);
    let mut store = None;
    for line in input.lines() {
        let mut answer = answer(&line?, &mut store, mutants);
        if answer.get("ok").is_none() {
            answer["ok"] = true.into();
        }
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

fn answer(line: &str, store: &mut Option<Store<RealVolume>>, mutants: Mutants) -> Value {
    let Ok(request) = serde_json::from_str::<Value>(line) else {
        return refused("a request is one JSON object a line");
    };
    if request["op"] == "open" {
        return open(&request, store, mutants).unwrap_or_else(|| {
            refused("open needs `protocol` 1, `dir`, `relay`, `pubkey` and `now`")
        });
    }
    if request["op"] == "close" {
        *store = None;
        return json!({});
    }
    let Some(open) = store else { return refused("the first request is `open`") };
    let now_ms = request["now"].as_u64().unwrap_or_default();
    let mut answer = match (request["op"].as_str(), operation(&request)) {
        (Some("list"), _) => match run(open.list(now_ms), 1).expect(READY) {
            Ok(receipts) => json!({"receipts": receipts.iter().map(receipt).collect::<Vec<_>>()}),
            Err(error) => refused(&error.to_string()),
        },
        (_, Some(op)) => said(&run(open.apply(op, now_ms), 1).expect(READY)),
        (op, None) => refused(&format!("`{}` is no request", op.unwrap_or_default())),
    };
    warned(&mut answer, &open.take_warnings());
    answer
}

fn open(request: &Value, store: &mut Option<Store<RealVolume>>, mutants: Mutants) -> Option<Value> {
    if request["protocol"].as_u64() != Some(PROTOCOL) {
        return None;
    }
    let (dir, relay) = (request["dir"].as_str()?, request["relay"].as_str()?);
    let pubkey = Hex32::parse(request["pubkey"].as_str()?)?;
    let config = StoreConfig::new(dir, relay, pubkey).with_mutants(mutants);
    let opening = Store::open(RealVolume::new(0), config, request["now"].as_u64()?);
    let (opened, warnings) = run(opening, 1).expect(READY);
    *store = Some(opened);
    let mut answer = json!({
        "protocol": PROTOCOL,
        "name": "the reference store",
        "offers": ["remove_if", "list", "threads", "configuration"],
        "life_ms": LIFE_MS,
    });
    warned(&mut answer, &warnings);
    Some(answer)
}

fn operation(request: &Value) -> Option<StoreOp> {
    let text = |name: &str| request[name].as_str().map(Into::into);
    let root = match &request["root"] {
        Value::Null => None,
        root => Some(Hex32::parse(root.as_str()?)?),
    };
    let key = Key { channel: text("channel")?, root };
    let config = Config { model: text("model"), mode: text("mode") };
    Some(match request["op"].as_str()? {
        "get" => StoreOp::Get { key, config },
        "put" => StoreOp::Put { key, session: text("session")?, config },
        "remove" => StoreOp::Remove { key },
        "remove_if" => StoreOp::RemoveIf { key, expected: text("expected")? },
        _ => return None,
    })
}

fn said(answer: &StoreAnswer) -> Value {
    match answer {
        StoreAnswer::Got(Lookup::Found { session }) => json!({"session": **session}),
        StoreAnswer::Got(Lookup::Absent) => json!({"session": null}),
        StoreAnswer::Got(Lookup::Incompatible { session }) => {
            json!({"session": **session, "incompatible": true})
        }
        StoreAnswer::Done => json!({}),
        StoreAnswer::Removed(removed) => json!({"removed": removed}),
        StoreAnswer::Failed(why) => refused(why),
    }
}

fn receipt(receipt: &Receipt) -> Value {
    json!({
        "channel": *receipt.channel,
        "root": receipt.root.map(|root| root.to_string()),
        "session": *receipt.session,
        "model": receipt.model.as_deref(),
        "mode": receipt.mode.as_deref(),
    })
}

fn warned(answer: &mut Value, warnings: &[Warning]) {
    if !warnings.is_empty() {
        answer["warnings"] = warnings.iter().map(ToString::to_string).collect();
    }
}

fn refused(why: &str) -> Value {
    json!({"ok": false, "error": why})
}
