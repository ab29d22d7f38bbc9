//! Reports of a certificate, and several of them beside each other.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::console::Console;
use super::discover;
use super::options::Format;
use super::targets::write_file;
use super::trouble::Trouble;
use crate::certify::Certificate;
use crate::exit_code::ExitCode;
use crate::report::certificate::compare::{self, Column};
use crate::report::certificate::{badge, html, json, markdown, matrix};

/// A longer document is no certificate.
pub(super) const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A kind of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Json,
    Markdown,
    Html,
    Badge,
}

impl Kind {
    const WORDS: [(Self, &'static str); 4] = [
        (Self::Json, "json"),
        (Self::Markdown, "markdown"),
        (Self::Html, "html"),
        (Self::Badge, "badge"),
    ];
}

/// A report that is wanted, and where; `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifyTarget {
    kind: Kind,
    path: PathBuf,
}

impl FromStr for CertifyTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = Kind::WORDS.map(|(_, word)| word).join("`, `");
        let Some((kind, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            return Err("write a kind and a path: `html=page.html`".to_owned());
        };
        let known = Kind::WORDS.into_iter().find(|(_, word)| *word == kind);
        let (kind, _) = known.ok_or_else(|| format!("the kinds are `{words}`"))?;
        Ok(Self { kind, path: path.into() })
    }
}

impl CertifyTarget {
    /// The folder that it goes to is there: better said before a long run than after it.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self) -> Result<(), Trouble> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.unwrap_or(Path::new(".")) {
            folder if folder.is_dir() => Ok(()),
            folder => Err(Trouble::usage(format!("there is no folder `{}`", folder.display()))),
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, certificate: &Certificate, console: &Console) -> Result<(), Trouble> {
        let text = match self.kind {
            Kind::Json => json::report(certificate).to_string() + "\n",
            Kind::Markdown => markdown::table(certificate),
            Kind::Html => html::page(certificate),
            Kind::Badge => badge::svg(certificate),
        };
        self.put(&text, console)
    }

    fn put(&self, text: &str, console: &Console) -> Result<(), Trouble> {
        if self.path.as_os_str() == "-" {
            return console.say(text);
        }
        write_file(&self.path, text.as_bytes())
    }
}

/// Shows certificates beside each other, and writes the reports that can be made of several.
///
/// # Errors
/// When one cannot be read, or a report is none that can be made of several.
pub fn compare(
    paths: &[PathBuf],
    targets: &[CertifyTarget],
    console: &Console,
) -> Result<ExitCode, Trouble> {
    let columns: Vec<_> = paths.iter().map(|path| column(path)).collect::<Result<_, _>>()?;
    for target in targets {
        match target.kind {
            Kind::Markdown => target.put(&compare::table(&columns), console)?,
            Kind::Html => target.put(&matrix::page(&columns), console)?,
            Kind::Json | Kind::Badge => {
                return Err(Trouble::usage("a comparison is Markdown or HTML")
                    .help("write `--report html=page.html`"));
            }
        }
    }
    if console.format == Format::Json {
        return Err(Trouble::usage("a comparison is Markdown or HTML, not JSON"));
    }
    if !console.quiet {
        console.say(&compare::table(&columns))?;
    }
    Ok(ExitCode::Held)
}

fn column(path: &Path) -> Result<Column, Trouble> {
    let document = serde_json::from_str(&discover::text(path, MOST_BYTES)?).ok();
    document.as_ref().and_then(Column::read).ok_or_else(|| {
        Trouble::usage(format!("`{}` is no certificate", path.display()))
            .help("`skep certify --format json` writes one")
    })
}
