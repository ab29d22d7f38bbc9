//! What a store's process can do wrong before any rule is looked at.

use std::fmt;
use std::time::Duration;

use skep_store::suite::Failure;

/// It does not do what the line protocol asks of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It cannot be started.
    NoStart(String),
    /// It says nothing for so long.
    Silent(Duration),
    /// It does not read what it is asked for so long.
    ReadsNothing(Duration),
    /// It has ended.
    Ended(String),
    /// It has closed its output, or was told to end.
    Closed,
    /// It said something before it was asked.
    Unasked(String),
    /// One line of it is longer than so many bytes.
    LongLine(usize),
    /// Its line is no UTF-8.
    NoText(String),
    /// Its line is no answer: the line, and what is wrong with it.
    NoAnswer(String, String),
    /// It goes on when its input has ended.
    OutlivesInput {
        /// TERM ended it.
        heeds_term: bool,
    },
    /// Processes that it started are still there when it has ended.
    LeavesProcesses,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStart(why) => write!(f, "it cannot be started: {why}"),
            Self::Silent(time) => write!(f, "it says nothing for {}", seconds(*time)),
            Self::ReadsNothing(time) => {
                write!(f, "it does not read its standard input for {}", seconds(*time))
            }
            Self::Ended(how) => write!(f, "its process ended {how}"),
            Self::Closed => f.write_str("it closed its standard output and goes on"),
            Self::Unasked(line) => {
                write!(f, "it says more than one line for one request: `{}`", start_of(line))
            }
            Self::LongLine(most) => write!(f, "one line of it is longer than {} MiB", most >> 20),
            Self::NoText(line) => write!(f, "its line is no UTF-8: `{}`", start_of(line)),
            Self::NoAnswer(line, why) => {
                write!(f, "its line is no answer, since {why}: `{}`", start_of(line))
            }
            Self::OutlivesInput { heeds_term: true } => {
                f.write_str("it goes on when its standard input has ended; TERM ends it")
            }
            Self::OutlivesInput { heeds_term: false } => {
                f.write_str("it goes on when its standard input has ended, and on TERM as well")
            }
            Self::LeavesProcesses => f.write_str("it ends and leaves processes behind"),
        }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Violated(trouble.to_string())
    }
}

fn seconds(time: Duration) -> String {
    format!("{}.{} s", time.as_secs(), time.subsec_millis() / 100)
}

fn start_of(line: &str) -> String {
    crate::report::clean::fit(&crate::report::clean::clean(line), 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_shows_the_line_and_what_is_wrong_with_it() {
        let long = "x".repeat(500);
        let told = Trouble::NoAnswer(long, "it is no JSON".to_owned()).to_string();
        assert!(told.starts_with("its line is no answer, since it is no JSON: `xxx"), "{told}");
        assert!(told.len() < 150);
        let told = Trouble::Silent(Duration::from_millis(2_500)).to_string();
        assert_eq!(told, "it says nothing for 2.5 s");
    }
}
