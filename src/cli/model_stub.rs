//! `skep model-stub`: the model of certificates by itself, and an agent that is led to it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde_json::json;

use super::console::Console;
use super::trouble::Trouble;
use super::{agents, engine, help, interrupt};
use crate::certify::{Asked, Ear, Ended, Event, Ground, Stub, Trial};
use crate::exit_code::ExitCode;
use crate::report::clean::{COLUMNS, clean, fit, pad, quote};

/// `skep model-stub`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::MODEL_STUB)]
pub struct ModelStubArguments {
    /// The port on 127.0.0.1; 0 lets the system choose one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// How the home of the command is set up: a name of `skep list agents`, or a file of yours.
    /// Its command need not be given then.
    #[arg(long, value_name = "NAME|FILE")]
    pub agent_profile: Option<String>,
    /// A variable of the environment for the command: `NAME=VALUE`, or `NAME` for your own value.
    /// `{url}`, `{key}` and `{home}` are filled in. May be given several times.
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<OsString>,
    /// Keep the home when the command has ended.
    #[arg(long)]
    pub keep: bool,
    /// Also write every request whole, one JSON document a line.
    #[arg(long, value_name = "PATH")]
    pub requests: Option<PathBuf>,
    /// No line for each request.
    #[arg(short, long)]
    pub quiet: bool,
    /// The command, after `--`: the program with its arguments. `{url}`, `{key}` and `{home}` are
    /// filled in.
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Serves until it is stopped, or until the command ends.
///
/// # Errors
/// When it cannot serve, such as on a port in use, or the command cannot be started.
pub fn model_stub(arguments: &ModelStubArguments, console: &Console) -> Result<ExitCode, Trouble> {
    let mut profile = agents::profile(arguments.agent_profile.as_deref())?;
    agents::outweigh(&mut profile, &arguments.env);
    let command = agents::command(&arguments.command, &profile)?;
    if command.is_none() && (arguments.agent_profile.is_some() || !arguments.env.is_empty()) {
        return Err(Trouble::usage("there is no command to set a home up for")
            .help("write it after `--`: `skep model-stub --agent-profile mine.kdl -- my-agent`"));
    }
    // Whoever has read the address may already ask for the end.
    let (events, heard) = mpsc::channel();
    let stops = events.clone();
    interrupt::at_each(move || drop(stops.send(Event::Stop)))?;
    let teller = teller(arguments, command.is_some(), console)?;
    let stub = Stub::listen(arguments.port, Arc::new(teller)).map_err(|error| {
        Trouble::usage(format!("the model cannot be served: {error}"))
            .help("without `--port` the system chooses a free one")
    })?;
    match command {
        Some(command) => {
            let env = agents::environment(&arguments.env);
            let trial = Trial { command, profile, env };
            attended(&trial, &stub, arguments.keep, (events, &heard), console)
        }
        None => {
            console.say(&format!("{}\n", stub.url()))?;
            let _stopped = heard.recv();
            Ok(ExitCode::Interrupted)
        }
    }
}

/// A command that is led to the stub, in a home of its own.
fn attended(
    trial: &Trial,
    stub: &Stub,
    keep: bool,
    (events, heard): (Sender<Event>, &Receiver<Event>),
    console: &Console,
) -> Result<ExitCode, Trouble> {
    let ground = Ground::new(keep)
        .map_err(|error| Trouble::usage(format!("the home cannot be made: {error}")))?;
    console.tell(&format!("model {}\nhome  {}", stub.url(), ground.home().display()));
    let ended = trial.run(&ground, stub.url(), (events, heard)).map_err(|error| {
        let program = trial.command[0].to_string_lossy();
        Trouble::usage(format!("`{}` cannot be started: {error}", clean(&program)))
    });
    if ground.is_kept() {
        console.tell(&format!("kept  {}", ground.home().display()));
    }
    // What left its group to live on is stopped before its home is gone.
    engine::clean_up();
    drop(ground);
    match ended? {
        Ended::Stopped => Ok(ExitCode::Interrupted),
        Ended::Code(code) => engine::end_with(code),
    }
}

fn teller(
    arguments: &ModelStubArguments,
    attends: bool,
    console: &Console,
) -> Result<Teller, Trouble> {
    let requests = arguments.requests.as_deref().map(create).transpose()?.map(Mutex::new);
    let quiet = arguments.quiet;
    Ok(Teller { console: console.clone(), attends, quiet, requests })
}

#[expect(clippy::disallowed_methods, reason = "the command line writes the user's files")]
fn create(path: &Path) -> Result<File, Trouble> {
    File::create(path)
        .map_err(|error| Trouble::usage(format!("`{}` cannot be written: {error}", path.display())))
}

/// Tells the user what the stub is asked.
#[derive(Debug)]
struct Teller {
    console: Console,
    /// A command speaks on standard output: nothing of ours may stand between its lines.
    attends: bool,
    quiet: bool,
    requests: Option<Mutex<File>>,
}

impl Ear for Teller {
    fn hears(&self, asked: &Asked<'_>) {
        if let Some(Err(error)) = self.requests.as_ref().map(|file| write(file, asked)) {
            self.console.tell(&format!("a request cannot be written: {error}"));
        }
        if self.quiet {
            return;
        }
        if self.attends {
            self.console.tell(&line(asked));
        } else {
            // A reader that went away stops nothing: an agent may still be there.
            let _closed = self.console.say(&(line(asked) + "\n"));
        }
    }
}

/// A request in a line.
fn line(asked: &Asked<'_>) -> String {
    let text = match asked {
        Asked::Talk { api, said, tools, answer, .. } => {
            let counts = format!("{:>3} said {:>3} tools", said.len(), tools.len());
            let last = pad(&quote(said.last().unwrap_or(&""), 30), 32);
            format!("{}  {counts}  {last} → {}", pad(api, 16), clean(answer))
        }
        Asked::Aside { method, path, status } => {
            format!("{}  {} → {status}", pad("aside", 16), clean(&format!("{method} {path}")))
        }
    };
    fit(&text, COLUMNS)
}

/// The version of what is written of a request.
const VERSION: u64 = 1;

/// A request whole.
fn write(file: &Mutex<File>, asked: &Asked<'_>) -> io::Result<()> {
    let document = match asked {
        Asked::Talk { api, said, tools, answer, body } => json!({
            "skep_request": VERSION, "api": api, "said": said, "tools": tools, "answer": answer,
            "body": body,
        }),
        Asked::Aside { method, path, status } => json!({
            "skep_request": VERSION, "method": method, "path": path, "status": status,
        }),
    };
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.write_all(format!("{document}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_in_a_line() {
        let long = "and then? ".repeat(20);
        let body = json!({});
        let talk = |said: &[&str], answer: &str| {
            let tools = &["bash"][..];
            line(&Asked::Talk { api: "anthropic", said, tools, answer, body: &body })
        };
        assert_eq!(
            talk(&["a", "Add a\nnote"], "calls bash"),
            "anthropic           2 said   1 tools  \"Add a\\nnote\"                    → calls bash"
        );
        assert!(talk(&[&long], &long).chars().count() <= COLUMNS);
        let aside = Asked::Aside { method: "GET", path: "/v1/models", status: 200 };
        assert_eq!(line(&aside), "aside             GET /v1/models → 200");
    }
}
