//! `skep relay`: the simulated relay on a port, for a harness that somebody starts by hand.

use clap::Args;
use skep_plan::ChannelKind;

use super::console::Console;
use super::trouble::Trouble;
use super::{engine, help};
use crate::exit_code::ExitCode;

/// `skep relay`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::RELAY)]
pub struct RelayArguments {
    /// The port on 127.0.0.1; 0 lets the system choose one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// A channel, and its kind if it is no public one: `NAME=private`, `NAME=dm`.
    #[arg(long = "channel", value_name = "NAME[=KIND]", value_parser = parse_channel,
          default_value = "general")]
    pub channels: Vec<(String, ChannelKind)>,
    /// The name that the agent's keys are made from.
    #[arg(long, value_name = "NAME", default_value = "h")]
    pub agent: String,
    /// The name that the owner's keys are made from.
    #[arg(long, value_name = "NAME", default_value = "owner")]
    pub owner: String,
}

fn parse_channel(text: &str) -> Result<(String, ChannelKind), String> {
    let (name, kind) = text.split_once('=').unwrap_or((text, "stream"));
    let kind = match kind {
        "stream" => ChannelKind::Stream,
        "private" => ChannelKind::Private,
        "dm" => ChannelKind::Dm,
        _ => return Err("the kinds are `stream`, `private` and `dm`".to_owned()),
    };
    if name.is_empty() {
        Err("a channel has a name".to_owned())
    } else {
        Ok((name.to_owned(), kind))
    }
}

/// Serves until it is stopped.
///
/// # Errors
/// When it cannot serve, such as on a port in use.
pub fn relay(arguments: &RelayArguments, console: &Console) -> Result<ExitCode, Trouble> {
    engine::relay(arguments, console)
}
