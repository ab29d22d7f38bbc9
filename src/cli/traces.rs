//! Traces as files: `--trace DIR`, one a test.

use std::path::{Path, PathBuf};

use skep_trace::jsonl;

use super::artifacts;
use super::targets::write_file;
use super::trouble::Trouble;
use crate::outcome::TestOutcome;

/// The folder that traces are written to.
#[derive(Clone, Debug)]
pub struct TraceFolder {
    folder: PathBuf,
    /// Where logs are wanted as well: the folder of artifacts.
    logs: Option<PathBuf>,
}

impl TraceFolder {
    /// Makes the folder if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(folder: &Path) -> Result<Self, Trouble> {
        make_folder(folder, "--trace")?;
        Ok(Self { folder: folder.to_owned(), logs: None })
    }

    /// The traces of a folder of artifacts, which has the logs as well.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn with_logs(artifacts: &Path) -> Result<Self, Trouble> {
        let folder = artifacts.join(artifacts::TRACES);
        make_folder(&folder, "--artifacts")?;
        Ok(Self { folder, logs: Some(artifacts.to_owned()) })
    }

    /// Writes the trace of a test; one that was not played has none. A test that is repeated
    /// carries its seed in the name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, test: &TestOutcome, repeated: bool) -> Result<(), Trouble> {
        if test.trace.records.is_empty() {
            return Ok(());
        }
        let seed = if repeated { format!(".seed-{}", test.seed) } else { String::new() };
        let test_name = format!("{}{seed}", test.test);
        if let Some(artifacts) = &self.logs {
            artifacts::write_log(artifacts, &test_name, &test.trace)?;
        }
        let name = format!("{}{seed}.jsonl", file_name(&test.test));
        write_file(&self.folder.join(name), jsonl::write(&test.trace).as_bytes())
    }
}

/// Makes a folder, and those above it.
pub(super) fn make_folder(folder: &Path, option: &str) -> Result<(), Trouble> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let title = format!("the folder `{}` cannot be made: {error}", folder.display());
        Trouble::usage(title).help(format!("`{option}` names a folder; each test writes one file"))
    })
}

/// A test's name as a file's: whatever could lead elsewhere becomes `_`.
pub(super) fn file_name(test: &str) -> String {
    let safe = |letter: char| letter.is_alphanumeric() || "-_[]=,".contains(letter);
    test.chars().map(|letter| if safe(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_the_folder() {
        assert_eq!(
            file_name("rotation[kind=idle,then=restart]"),
            "rotation[kind=idle,then=restart]"
        );
        assert_eq!(file_name("../../etc/x"), "______etc_x");
    }
}
