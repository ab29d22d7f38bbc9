//! The whole wire up to an instant, step by step, for whoever wants to see for themselves.

use skep_trace::{Receipt, Record, Settled, Trace, What};

use super::lines;
use crate::report::clean::{COLUMNS, clean, fit, pad, width};
use crate::report::disk;
use crate::report::instant;
use crate::report::names::Names;
use crate::report::paint::{Paint, Tone};

/// Everything that a trace tells up to and including an instant.
pub fn listing(trace: &Trace, names: &Names, until_ms: Option<u64>, paint: Paint) -> String {
    let wire = lines(trace, names);
    let who = wire.iter().flatten().map(|line| width(&line.who)).max().unwrap_or(0).min(32);
    let mut text = String::new();
    for (index, (record, line)) in trace.records.iter().zip(&wire).enumerate() {
        if until_ms.is_some_and(|until| record.at_ms > until) {
            text.push_str(&paint.paint(Tone::Faint, "  … the rest comes later"));
            text.push('\n');
            break;
        }
        let said = match line {
            Some(line) => Some(format!("{}   {}", pad(&line.who, who), line.text)),
            None => ours(record, names),
        };
        if let What::Step { index, title } = &record.what {
            let heading = format!("step {}: {}", index + 1, clean(title));
            text.push_str(&format!("\n{}\n", paint.paint(Tone::Strong, heading)));
        }
        if let What::Disk { state, .. } = &record.what {
            let time = paint.paint(Tone::Faint, format!("{:>9}", instant::show(record.at_ms)));
            for change in disk::changes(&trace.records[..=index], state) {
                let line = fit(&format!("{}: {change}", clean(state)), COLUMNS - 11);
                text.push_str(&format!("{time}  {line}\n"));
            }
        }
        if let Some(said) = said {
            let time = paint.paint(Tone::Faint, format!("{:>9}", instant::show(record.at_ms)));
            text.push_str(&format!("{time}  {}\n", fit(said.trim_end(), COLUMNS - 11)));
        }
    }
    text.trim_start_matches('\n').to_owned()
}

/// What the director and the world say between the frames.
fn ours(record: &Record, names: &Names) -> Option<String> {
    Some(match &record.what {
        What::Act { text, .. } => format!("▸ {}", clean(text)),
        What::HarnessReady(life) => format!("{life} is ready"),
        What::Held { messages, .. } if messages.is_empty() => return None,
        What::Held { harness, messages } => {
            let held: Vec<_> = messages.iter().map(|id| names.hex(*id)).collect();
            format!("{harness} still holds {}", held.join(", "))
        }
        What::Receipts { state, receipts } => {
            let receipts: Vec<_> = receipts.iter().map(|one| receipt(one, names)).collect();
            let receipts = if receipts.is_empty() { "nothing".into() } else { receipts.join("; ") };
            format!("the store in {} remembers {receipts}", clean(state))
        }
        What::Settled { how, .. } => settled(how),
        _ => return None,
    })
}

/// A receipt in a few words: `general: s1`.
pub fn receipt(receipt: &Receipt, names: &Names) -> String {
    let mut text = names.show(&receipt.channel);
    if let Some(root) = receipt.root {
        text.push_str(&format!("/{}", names.hex(root)));
    }
    text.push_str(&format!(": {}", names.show(&receipt.session)));
    for (word, value) in [("model", &receipt.model), ("mode", &receipt.mode)] {
        if let Some(value) = value {
            text.push_str(&format!(", {word} {}", fit(&clean(value), 24)));
        }
    }
    text
}

fn settled(how: &Settled) -> String {
    match how {
        Settled::Drained => "settled: nothing is left to do".to_owned(),
        Settled::Event(event) => format!("settled: {}", clean(event)),
        Settled::Quiet(ms) => format!("settled: quiet for {}", instant::show(*ms)),
        Settled::Bound(awaited) => format!("gave up waiting for {}", clean(awaited)),
    }
}
