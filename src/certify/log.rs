//! What a process writes to its standard error: the beginning of it is kept, and its last lines,
//! for the reason why a program gives up stands at the end.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use skep_trace::{Process, What};

use super::bounds::{LAST_LOG_LINES, MOST_LOG_LINE_BYTES, MOST_LOG_LINES};
use super::tape::Tape;

/// Reads a log in a thread of its own. Nothing ever comes of the receiver but its end, which is
/// the log's.
pub(super) fn read(
    mut stderr: impl Read + Send + 'static,
    name: &Process,
    tape: Arc<Tape>,
) -> Receiver<()> {
    let (open, ended) = mpsc::channel();
    let name = name.to_string();
    thread::spawn(move || {
        let mut log = Log::new(|line| {
            tape.note(What::Log { actor: name.as_str().into(), line: line.into() });
        });
        let mut portion = vec![0; 16 * 1024];
        while let Ok(count) = stderr.read(&mut portion)
            && count > 0
        {
            portion[..count].iter().for_each(|byte| log.take(*byte));
        }
        log.end();
        drop(open);
    });
    ended
}

/// Bytes to the lines that are kept.
struct Log<F: FnMut(String)> {
    keep: F,
    kept: usize,
    line: Vec<u8>,
    last: VecDeque<String>,
}

impl<F: FnMut(String)> Log<F> {
    fn new(keep: F) -> Self {
        Self { keep, kept: 0, line: Vec::new(), last: VecDeque::new() }
    }

    fn take(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line(),
            _ if self.line.len() < MOST_LOG_LINE_BYTES => self.line.push(byte),
            _ => {}
        }
    }

    fn line(&mut self) {
        let text = String::from_utf8_lossy(&self.line).trim_end().to_owned();
        self.line.clear();
        if self.kept < MOST_LOG_LINES {
            self.kept += 1;
            (self.keep)(text);
            return;
        }
        self.last.push_back(text);
        if self.last.len() > LAST_LOG_LINES {
            self.last.pop_front();
        }
    }

    /// The last line may have no end.
    fn end(mut self) {
        if !self.line.is_empty() {
            self.line();
        }
        self.last.into_iter().for_each(self.keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: &[u8]) -> Vec<String> {
        let mut kept = Vec::new();
        let mut log = Log::new(|line| kept.push(line));
        bytes.iter().for_each(|byte| log.take(*byte));
        log.end();
        kept
    }

    #[test]
    fn the_beginning_is_kept_and_the_end() {
        assert_eq!(kept(b"a\r\n\nb"), ["a", "", "b"]);
        let long: String = (0..1000).map(|number| format!("{number}\n")).collect();
        let lines = kept(long.as_bytes());
        assert_eq!(lines.len(), MOST_LOG_LINES + LAST_LOG_LINES);
        assert_eq!(lines.last().map(String::as_str), Some("999"));
    }
}
