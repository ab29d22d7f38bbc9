//! Lines on standard output: what operators read, and what tests read.

use std::io::Write;

use skep_trace::{Note, Text};

use super::environment::EnvironmentError;
use crate::shell::Watch;

/// Writes a line for everything worth one. A note is `note` and its JSON.
#[derive(Debug)]
pub(super) struct Journal;

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
