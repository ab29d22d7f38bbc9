//! The command line, one file a verb.
//!
//! The only part of skep that reads the environment, the command line and the user's files, and
//! the only one that prints. Each verb takes its arguments apart, has the work done by the
//! [`director`](crate::director), and shows what came out.
//!
//! - [`run`], [`certify`], [`prove`], [`explore`], [`store`], [`crashes`], [`list`], [`harness`],
//!   [`relay`], [`model_stub`], [`replay`], [`completions`]: the verbs; [`explore_store`] is a half
//!   of one.
//! - [`hidden`]: verbs that skep calls itself by.
//! - [`discover`], [`corpus`], [`select`], [`subject`], [`profiles`], [`known`]: which tests of
//!   which harness are meant, and what is known of them.
//! - [`agents`]: which agent is meant, and how it is set up.
//! - [`engine`]: the one place that asks the rest of skep to do something.
//! - [`shards`]: which part of many seeds is meant.
//! - [`suite`], [`interrupt`]: many tests at once, and how they are stopped.
//! - [`against`]: two builds side by side. [`teeth`]: can scenarios fail on a foreign harness?
//! - [`console`], [`progress`], [`targets`], [`traces`], [`artifacts`], [`github`]: where output
//!   goes.
//! - [`trouble`]: what a user is told when nothing can be run.

pub mod against;
pub mod agents;
pub mod artifacts;
pub mod certify;
pub mod certify_reports;
pub mod completions;
pub mod console;
pub mod corpus;
pub mod crashes;
pub mod discover;
pub mod engine;
pub mod explore;
pub mod explore_store;
pub mod github;
pub mod harness;
pub mod help;
pub mod hidden;
pub mod interrupt;
pub mod known;
pub mod list;
pub mod model_stub;
pub mod options;
pub mod profiles;
mod program;
pub mod progress;
pub mod prove;
pub mod prove_certify;
pub mod relay;
pub mod replay;
pub mod run;
pub mod select;
pub mod shards;
pub mod store;
pub mod subject;
pub mod suite;
pub mod targets;
pub mod teeth;
pub mod traces;
pub mod trouble;

use std::ffi::OsString;
use std::panic;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::console::Console;
use self::trouble::Trouble;
use crate::exit_code::ExitCode;

/// skep runs a session-keeping system on purpose through its worst days, and says exactly who
/// broke what. It tests programs that speak the Agent Client Protocol.
#[derive(Debug, Parser)]
#[command(
    name = "skep",
    version,
    about = "Tests programs that speak the Agent Client Protocol: what they lose, and who lost it",
    long_about = help::LONG_ABOUT,
    after_long_help = help::EXIT_CODES,
    after_help = "`skep help COMMAND` explains each with examples.",
    styles = help::STYLES,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = false,
    max_term_width = 100,
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Play scenarios and say what held.
    Run(run::RunArguments),
    /// Say what an agent's `loadSession` is worth.
    Certify(certify::CertifyArguments),
    /// Play every scenario against every named fault: can each one fail?
    Prove(prove::ProveArguments),
    /// Play many seeds of random workloads, and write the smallest scenario of what fails.
    Explore(explore::ExploreArguments),
    /// Put a session store to the S-rules, whatever language it is written in.
    Store(store::StoreArguments),
    /// Kill and fail a harness at every call on its store.
    Crashes(crashes::CrashesArguments),
    /// List what there is: scenarios, rules, mutants, profiles, agents.
    List(list::ListArguments),
    /// Write a profile for a harness of yours.
    Harness(harness::HarnessArguments),
    /// Judge a recorded trace again, or show its wire.
    Replay(replay::ReplayArguments),
    /// Serve the simulated relay on a port, for a harness that you start yourself.
    Relay(relay::RelayArguments),
    /// Serve the model stub on a port, or start an agent that is led to it.
    ModelStub(model_stub::ModelStubArguments),
    /// Print a completion script for your shell.
    Completions(completions::CompletionsArguments),
    /// The scripted agent's process.
    #[command(hide = true)]
    ScriptedAgent(hidden::Passed),
    /// The reference harness's process.
    #[command(hide = true)]
    ReferenceHarness(hidden::Passed),
    /// The reference store's process.
    #[command(hide = true)]
    ReferenceStore(store::ReferenceStoreArguments),
    /// The server that a certificate's sessions bring along.
    #[command(hide = true)]
    CertifyServer(hidden::ServerArguments),
}

/// The whole program, from the command line to the exit code.
pub fn main() -> ExitCode {
    announce_faults_of_ours();
    // A fault of ours is told by the hook; what is left to do is to end with its code, and to leave
    // nothing behind that nobody came to end.
    panic::catch_unwind(|| from_words(std::env::args_os())).unwrap_or_else(|_| {
        engine::clean_up();
        ExitCode::Ours
    })
}

fn from_words(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed = Arguments::command()
        .try_get_matches_from(words)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(arguments) => dispatch(arguments.verb),
        Err(error) => explain(&error),
    }
}

/// Help and version are answers; anything else is a mistake in the command line.
fn explain(error: &clap::Error) -> ExitCode {
    // Where nobody listens any more there is nobody to tell.
    let _closed = error.print();
    if error.use_stderr() { ExitCode::Usage } else { ExitCode::Held }
}

fn dispatch(verb: Verb) -> ExitCode {
    let (console, done): (Console, Result<ExitCode, Trouble>) = match verb {
        Verb::Run(arguments) => {
            with(arguments.output.console(), |console| run::run(&arguments, console))
        }
        Verb::Certify(arguments) => {
            with(arguments.output.console(), |console| certify::certify(&arguments, console))
        }
        Verb::Prove(arguments) => {
            with(arguments.output.console(), |console| prove::prove(&arguments, console))
        }
        Verb::Explore(arguments) => {
            with(arguments.console(), |console| explore::explore(&arguments, console))
        }
        Verb::Store(arguments) => {
            with(arguments.output.console(), |console| store::store(&arguments, console))
        }
        Verb::Crashes(arguments) => {
            with(arguments.output.console(), |console| crashes::crashes(&arguments, console))
        }
        Verb::List(arguments) => {
            with(arguments.output.console(), |console| list::list(&arguments, console))
        }
        Verb::Replay(arguments) => {
            with(arguments.output.console(), |console| replay::replay(&arguments, console))
        }
        Verb::Relay(arguments) => {
            with(Console::plain(), |console| relay::relay(&arguments, console))
        }
        Verb::ModelStub(arguments) => {
            with(Console::plain(), |console| model_stub::model_stub(&arguments, console))
        }
        Verb::Harness(arguments) => {
            with(Console::plain(), |console| harness::harness(&arguments, console))
        }
        Verb::Completions(arguments) => {
            with(Console::plain(), |console| completions::completions(&arguments, console))
        }
        Verb::ScriptedAgent(passed) => with(Console::plain(), |_| hidden::scripted_agent(&passed)),
        Verb::CertifyServer(arguments) => {
            with(Console::plain(), |_| hidden::certify_server(&arguments))
        }
        Verb::ReferenceStore(arguments) => with(Console::plain(), |_| store::reference(&arguments)),
        Verb::ReferenceHarness(passed) => {
            with(Console::plain(), |_| hidden::reference_harness(&passed))
        }
    };
    done.unwrap_or_else(|trouble| trouble.tell(&console))
}

fn with(
    console: Console,
    work: impl FnOnce(&Console) -> Result<ExitCode, Trouble>,
) -> (Console, Result<ExitCode, Trouble>) {
    let done = work(&console);
    (console, done)
}

/// A panic is never the user's fault, and says so.
fn announce_faults_of_ours() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |fault| {
        usual(fault);
        console::complain(
            "skep itself failed: this is our fault, not yours.\n\
             Please report it with the command that you gave and the lines above.",
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
