//! Where output goes: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal as _, Write as _};

use super::options::{ColorWhen, Format};
use super::trouble::Trouble;
use crate::report::Paint;
use crate::report::clean::COLUMNS;

/// What the terminal and the user want to see.
#[derive(Clone, Debug)]
pub struct Console {
    /// Colour on standard output.
    pub paint: Paint,
    /// Colour on standard error.
    pub error_paint: Paint,
    /// The format of results.
    pub format: Format,
    /// Only what did not hold.
    pub quiet: bool,
    /// Somebody watches standard error.
    pub watched: bool,
    /// How wide a picture may be: as wide as the terminal, but no narrower than any report.
    pub columns: usize,
}

impl Console {
    /// For verbs whose output is for other programs.
    pub fn plain() -> Self {
        Self {
            paint: Paint::PLAIN,
            error_paint: Paint::PLAIN,
            format: Format::Text,
            quiet: false,
            watched: false,
            columns: COLUMNS,
        }
    }

    /// What the options, the environment and the terminal come to.
    pub fn new(color: ColorWhen, format: Format, quiet: bool) -> Self {
        let wishes = Wishes::from_environment();
        let paint = |terminal: bool| Paint::new(wishes.colour(color, terminal));
        let watched = io::stderr().is_terminal();
        Self {
            paint: paint(io::stdout().is_terminal() && format == Format::Text),
            error_paint: paint(watched),
            format,
            quiet,
            watched,
            columns: terminal_columns().max(COLUMNS),
        }
    }

    /// Writes a result. A reader that went away (`| head`) is no fault.
    ///
    /// # Errors
    /// When the text cannot be written for another reason, such as a full disk.
    pub fn say(&self, text: &str) -> Result<(), Trouble> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Trouble::usage(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Tells the user something that is no result.
    pub fn tell(&self, text: &str) {
        complain(text.trim_end_matches('\n'));
    }
}

/// How wide the terminal on standard output is; 0 where there is none.
fn terminal_columns() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(0, |(width, _)| width.0.into())
}

/// Writes lines to standard error; when even that fails, nobody can be told.
pub(super) fn complain(text: &str) {
    let _closed = writeln!(io::stderr().lock(), "{text}");
}

/// What the environment says about colour.
#[derive(Clone, Copy, Debug, Default)]
struct Wishes {
    no_color: bool,
    force: bool,
    dumb: bool,
}

impl Wishes {
    #[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
    fn from_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let force = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { no_color: set("NO_COLOR"), force: force && set("CLICOLOR_FORCE"), dumb }
    }

    /// The option decides; then `NO_COLOR`, then `CLICOLOR_FORCE`, then the terminal.
    fn colour(self, color: ColorWhen, terminal: bool) -> bool {
        match color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => !self.no_color && (self.force || terminal && !self.dumb),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_outweighs_the_environment_and_that_the_terminal() {
        let colour = |wishes: Wishes, color, terminal| wishes.colour(color, terminal);
        let none = Wishes::default();
        assert!(colour(none, ColorWhen::Auto, true));
        assert!(!colour(none, ColorWhen::Auto, false));
        assert!(!colour(Wishes { no_color: true, force: true, ..none }, ColorWhen::Auto, true));
        assert!(colour(Wishes { no_color: true, ..none }, ColorWhen::Always, false));
        assert!(colour(Wishes { force: true, ..none }, ColorWhen::Auto, false));
        assert!(!colour(Wishes { dumb: true, ..none }, ColorWhen::Auto, true));
    }
}
