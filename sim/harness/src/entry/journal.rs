//! Lines on standard output: what operators read, and what tests read.

use std::io::Write;

use skep_trace::{Note, Text};

use super::environment::EnvironmentError;
use crate::shell::{Status, Watch};

/// Writes a line for everything worth one. A note is `note` and its JSON; whenever nothing is under
/// way, and somebody wants to know, `rest` and the JSON of what was exchanged so far.
#[derive(Debug)]
pub(super) struct Journal {
    tells_rest: bool,
    told: String,
}

impl Journal {
    pub(super) fn new(tells_rest: bool) -> Self {
        Self { tells_rest, told: String::new() }
    }
}

impl Watch for Journal {
    fn note(&mut self, note: &Note) {
        line(&format!("note {}", note.to_json()));
    }

    fn log(&mut self, text: &Text) {
        line(text);
    }

    fn ready(&mut self) {
        line("ready");
    }

    fn rest(&mut self, status: &Status) {
        if self.tells_rest {
            let text = format!("rest {}", status.rest_to_json());
            if text != self.told {
                line(&text);
                self.told = text;
            }
        }
    }
}

/// Says why the process does not start.
pub(super) fn complain(error: &EnvironmentError) {
    line(&format!("error: {error}"));
}

fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody reads: then nobody misses it.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
