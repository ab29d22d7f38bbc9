//! `skep certify`: what an agent's `loadSession` is worth.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skep_trace::jsonl;

use super::certify_reports::{self, CertifyTarget};
use super::console::Console;
use super::interrupt::Interrupt;
use super::options::{Format, OutputOptions, parse_instant};
use super::targets::write_file;
use super::trouble::Trouble;
use super::{agents, engine, help};
use crate::certify::{self, Bounds, Certificate, Order, Standing, Tier};
use crate::exit_code::ExitCode;
use crate::report::certificate::{json, terminal};
use crate::report::clean::{clean, fit};

/// `skep certify`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::CERTIFY)]
pub struct CertifyArguments {
    /// How the agent is set up: a name of `skep list agents`, or a file of yours. Its command need
    /// not be given then.
    #[arg(long, value_name = "NAME|FILE")]
    pub agent_profile: Option<String>,
    /// Compare certificates instead: documents that `--format json` wrote. Shown as Markdown.
    #[arg(long, num_args = 1.., value_name = "PATH", conflicts_with_all = ["command", "agent_profile"])]
    pub compare: Vec<PathBuf>,
    /// Also write a report: `json`, `markdown`, `html` or `badge`, as `html=page.html`; `-` is
    /// standard output. May be given several times.
    #[arg(long, value_name = "KIND=PATH")]
    pub report: Vec<CertifyTarget>,
    /// The agent's command, after `--`: the program with its arguments.
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
    /// Leave out the minute's pause, and hold fewer turns.
    #[arg(long)]
    pub quick: bool,
    /// How long an answer may take.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub answer: Option<u64>,
    /// How long everything may take together; what is not done by then is inconclusive.
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub time: Option<u64>,
    /// Also write the trace, for `skep replay`.
    #[arg(long, value_name = "PATH")]
    pub trace: Option<PathBuf>,
    /// A variable of the environment for the agent: `NAME=VALUE`, or `NAME` for your own value.
    /// May be given several times.
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<OsString>,
    /// The tier that the agent must reach, for the exit code; the default is `robust`.
    #[arg(long, value_name = "TIER", value_parser = parse_tier)]
    pub level: Option<Tier>,
    /// Show every row.
    #[arg(long)]
    pub all: bool,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Reads a tier's name.
fn parse_tier(word: &str) -> Result<Tier, String> {
    let tier = Tier::ALL.into_iter().find(|tier| tier.to_string() == word);
    let words = Tier::ALL.map(|tier| tier.to_string()).join("`, `");
    tier.ok_or_else(|| format!("the tiers are `{words}`"))
}

/// Certifies an agent.
///
/// # Errors
/// When there is no command, or a report cannot be written.
pub fn certify(arguments: &CertifyArguments, console: &Console) -> Result<ExitCode, Trouble> {
    if !arguments.compare.is_empty() {
        return certify_reports::compare(&arguments.compare, &arguments.report, console);
    }
    arguments.report.iter().try_for_each(CertifyTarget::check)?;
    let order = order(arguments)?;
    let interrupt = Interrupt::watch(engine::clean_up)?;
    let progress = Progress::new(console);
    let tell = |what: &str| progress.tell(what);
    let certificate = certify::certify(&order, &tell, &|| interrupt.is_wanted());
    progress.finish();
    if let Some(path) = &arguments.trace {
        write_file(path, jsonl::write(&certificate.trace).as_bytes())?;
    }
    if interrupt.is_wanted() {
        return Ok(ExitCode::Interrupted);
    }
    show(&certificate, arguments.all, console)?;
    arguments.report.iter().try_for_each(|target| target.write(&certificate, console))?;
    Ok(exit_code(&certificate, arguments.level.unwrap_or(Tier::Robust)))
}

/// Shows a certificate as the console wants it.
///
/// # Errors
/// When it cannot be written.
pub fn show(certificate: &Certificate, all: bool, console: &Console) -> Result<(), Trouble> {
    let told = terminal::Told { quiet: console.quiet, all };
    let shown = match console.format {
        Format::Json => json::report(certificate).to_string() + "\n",
        Format::Text => terminal::story(certificate, told, console.paint),
    };
    console.say(&shown)
}

/// What a certificate comes to: violated where a MUST is broken on the way to the tier,
/// inconclusive where it is not reached for another reason.
pub fn exit_code(certificate: &Certificate, wanted: Tier) -> ExitCode {
    let broken = certificate
        .rows
        .iter()
        .any(|row| row.standing == Standing::Violated && row.requirement.tier <= wanted);
    match certificate.tier {
        _ if broken => ExitCode::Violated,
        Some(tier) if tier >= wanted => ExitCode::Held,
        _ => ExitCode::Inconclusive,
    }
}

fn order(arguments: &CertifyArguments) -> Result<Order, Trouble> {
    let mut profile = agents::profile(arguments.agent_profile.as_deref())?;
    agents::outweigh(&mut profile, &arguments.env);
    let command = agents::command(&arguments.command, &profile)?.ok_or_else(no_agent)?;
    let mut bounds = if arguments.quick { Bounds::quick() } else { Bounds::default() };
    if let Some(answer_ms) = arguments.answer {
        bounds.answer = std::time::Duration::from_millis(answer_ms);
        bounds.start = bounds.answer;
    }
    if let Some(time_ms) = arguments.time {
        bounds.whole = std::time::Duration::from_millis(time_ms);
    }
    bounds.start = profile.start_takes.unwrap_or(bounds.start);
    Ok(Order {
        command,
        profile,
        env: agents::environment(&arguments.env),
        bounds,
        server: engine::executable()?,
    })
}

fn no_agent() -> Trouble {
    Trouble::usage("there is no agent to certify")
        .help("write its command after `--`: `skep certify -- my-agent acp`")
}

/// A line that says what is being done, in each lane: on a terminal only.
struct Progress {
    bar: ProgressBar,
    latest: Mutex<()>,
}

impl Progress {
    fn new(console: &Console) -> Self {
        let shown = console.watched && !console.quiet;
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("{elapsed:.dim} {msg:.dim}");
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style.expect("the template is ours"));
        Self { bar, latest: Mutex::new(()) }
    }

    fn tell(&self, what: &str) {
        let _one_at_a_time = self.latest.lock();
        self.bar.set_message(fit(&clean(what), 70));
        self.bar.tick();
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
