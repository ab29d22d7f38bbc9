//! Everything of a run in one folder: `--artifacts DIR`.
//!
//! `traces/` has a trace a test, `logs/` what each test's processes wrote, and beside them stand
//! `report.json`, `junit.xml` and `summary.md`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use skep_trace::{Trace, What};

use super::targets::{Kind, Target, write_file};
use super::traces::{file_name, make_folder};
use super::trouble::Trouble;

/// Where traces are, in the folder.
pub const TRACES: &str = "traces";

/// The reports in it.
const REPORTS: [(Kind, &str); 3] =
    [(Kind::Json, "report.json"), (Kind::Junit, "junit.xml"), (Kind::Markdown, "summary.md")];

/// The reports that belong into the folder.
pub fn reports(folder: &Path) -> Vec<Target> {
    REPORTS.into_iter().map(|(kind, name)| Target::new(kind, folder.join(name))).collect()
}

/// What the processes of a test wrote, line by line, as a file beside its trace's folder.
///
/// # Errors
/// When it cannot be written.
pub fn write_log(folder: &Path, test: &str, trace: &Trace) -> Result<(), Trouble> {
    let text = log(trace);
    if text.is_empty() {
        return Ok(());
    }
    let logs: PathBuf = folder.join("logs");
    make_folder(&logs, "--artifacts")?;
    write_file(&logs.join(format!("{}.log", file_name(test))), text.as_bytes())
}

fn log(trace: &Trace) -> String {
    let mut text = String::new();
    for record in &trace.records {
        if let What::Log { actor, line } = &record.what {
            writeln!(text, "{:>8} {actor}  {line}", record.at_ms).expect("a string takes all");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use skep_trace::Record;

    use super::*;

    #[test]
    fn a_log_has_every_line_with_its_time_and_its_writer() {
        let line = |at_ms, actor: &str, line: &str| Record {
            at_ms,
            what: What::Log { actor: actor.into(), line: line.into() },
        };
        let records = vec![line(5, "h#1", "hello"), line(1204, "h#2", "again")];
        let trace = Trace { records, ..Trace::default() };
        assert_eq!(log(&trace), "       5 h#1  hello\n    1204 h#2  again\n");
        assert!(log(&Trace::default()).is_empty());
    }
}
