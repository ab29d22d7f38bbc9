//! `skep certify`: what an agent's `loadSession` is worth.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
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
use super::{discover, engine, help};
use crate::certify::{self, Bounds, Certificate, Order, Profile, Standing, Tier};
use crate::exit_code::ExitCode;
use crate::report::certificate::{json, terminal};
use crate::report::clean::{clean, fit};

/// `skep certify`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = help::CERTIFY)]
pub struct CertifyArguments {
    /// How the agent is set up: generic, opencode, claude, zed-codex, gemini, hermes, pi, or a
    /// file of yours. Its command need not be given then.
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
    let profile = profile(arguments.agent_profile.as_deref())?;
    let command = command(&arguments.command, &profile)?;
    let mut bounds = if arguments.quick { Bounds::quick() } else { Bounds::default() };
    if let Some(answer_ms) = arguments.answer {
        bounds.answer = std::time::Duration::from_millis(answer_ms);
        bounds.start = bounds.start.min(bounds.answer);
    }
    Ok(Order {
        command,
        profile,
        env: environment(&arguments.env),
        bounds,
        server: engine::executable()?,
    })
}

/// A profile by its name, or a file.
fn profile(wanted: Option<&str>) -> Result<Profile, Trouble> {
    let Some(wanted) = wanted else { return Ok(Profile::generic()) };
    if let Some(profile) = Profile::built_in(wanted) {
        return Ok(profile);
    }
    let path = Path::new(wanted);
    if !path.exists() {
        let names: Vec<_> = Profile::names().collect();
        return Err(Trouble::usage(format!("there is no agent profile `{wanted}`")).help(format!(
            "the names are {}; or write a file: see docs/certify.md",
            names.join(", ")
        )));
    }
    let text = discover::text(path, certify_reports::MOST_BYTES)?;
    Profile::parse(&text).map_err(|why| Trouble::usage(format!("`{wanted}`: {why}")))
}

/// The user's command, else the profile's, where that program is there.
fn command(given: &[OsString], profile: &Profile) -> Result<Vec<OsString>, Trouble> {
    if !given.is_empty() {
        return engine::anchored(given);
    }
    let Some(program) = profile.start.first() else {
        return Err(Trouble::usage("there is no agent to certify")
            .help("write its command after `--`: `skep certify -- my-agent acp`"));
    };
    if !engine::on_path(program) {
        let steps: Vec<_> = profile.install.iter().map(|step| format!("\n    {step}")).collect();
        return Err(Trouble::usage(format!("`{program}` is not installed"))
            .help(format!("skep installs nothing; this does:{}", steps.concat())));
    }
    engine::anchored(&profile.start.iter().map(OsString::from).collect::<Vec<_>>())
}

/// What every program needs, and what the user names.
fn environment(named: &[OsString]) -> BTreeMap<OsString, OsString> {
    const NEEDED: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT"];
    let mut env: BTreeMap<_, _> = NEEDED
        .into_iter()
        .filter_map(|name| Some((name.into(), engine::variable(name)?)))
        .collect();
    for one in named {
        let text = one.to_string_lossy();
        match text.split_once('=') {
            Some((name, value)) => {
                env.insert(name.into(), value.into());
            }
            None => env.extend(engine::variable(&text).map(|value| (one.clone(), value))),
        }
    }
    env
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
