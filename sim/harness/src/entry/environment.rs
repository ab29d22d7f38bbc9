//! What the environment's variables mean: those of `buzz-acp` under their own names, and under
//! `SKEP_…` everything that it has no name for.
//!
//! | variable | meaning |
//! |---|---|
//! | `BUZZ_RELAY_URL`, `BUZZ_PRIVATE_KEY` | the relay (`ws://host:port`), the identity (`nsec1…` or hex); needed |
//! | `BUZZ_ACP_AGENT_COMMAND`, `BUZZ_ACP_AGENT_ARGS` | the agent; arguments split at commas |
//! | `BUZZ_ACP_AGENT_OWNER`, `BUZZ_ACP_RESPOND_TO` | the owner's key in hex; `anyone`, `owner-only`, `nobody` |
//! | `BUZZ_ACP_STATE_DIR`, `BUZZ_ACP_NO_RESUME_SESSIONS` | where receipts are kept (`.buzz-acp`), whether they are |
//! | `BUZZ_ACP_SESSION_POLICY`, `BUZZ_ACP_MODEL`, `BUZZ_ACP_PERMISSION_MODE`, `BUZZ_ACP_SESSION_TITLE`, `BUZZ_ACP_MAX_TURNS_PER_SESSION`, `BUZZ_ACP_RELAY_OBSERVER`, `BUZZ_ACP_MULTIPLE_EVENT_HANDLING`, `BUZZ_ACP_MCP_COMMAND`, `BUZZ_ACP_NO_TYPING` | as their names say |
//! | `BUZZ_ACP_IDLE_TIMEOUT`, `BUZZ_ACP_HEARTBEAT_INTERVAL` | in seconds |
//! | `SKEP_LOAD_TIMEOUT`, `SKEP_INDETERMINATE`, … | any setting of a scenario, by its name there |
//! | `SKEP_MUTANT` | the fault that is switched on, by its id |
//! | `SKEP_HASTE` | all time limits are so many times shorter |
//! | `SKEP_AHEAD` | the clock is so many milliseconds ahead, or behind where negative |
//! | `SKEP_REST` | `true`: the log tells whenever nothing is under way |

use std::collections::BTreeMap;
use std::path::Path;

use skep_mutant::{Mutant, Mutants};
use skep_plan::{SettingError, Settings};
use skep_relay::Keys;
use skep_trace::{Hex32, Text};
use thiserror::Error;

use crate::config::{HarnessConfig, McpServer, RespondTo};

/// A variable does not say what it should.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EnvironmentError {
    /// It must be there.
    #[error("{0} is not set")]
    Missing(&'static str),
    /// Its value does not fit.
    #[error("{name} is {wanted}, not `{value}`")]
    Value {
        /// The variable.
        name: String,
        /// What it takes.
        wanted: String,
        /// What it has; a secret is not repeated.
        value: String,
    },
}

/// What the environment says.
#[derive(Debug)]
pub struct Environment {
    /// How the harness is configured.
    pub config: HarnessConfig,
    /// The keys of the agent identity.
    pub keys: &'static Keys,
    /// The relay's host and port.
    pub address: String,
    /// The agent's program and arguments.
    pub agent: Vec<String>,
    /// Where receipts are kept.
    pub state_dir: Text,
    /// By how many milliseconds the clock is ahead.
    pub ahead_ms: i64,
    /// The log tells whenever nothing is under way.
    pub tells_rest: bool,
}

/// The variables, read one by one.
struct Variables<'a>(&'a BTreeMap<String, String>);

/// The settings that public builds have a name for, where the value needs no translation.
const SETTINGS: [(&str, &str); 5] = [
    ("BUZZ_ACP_SESSION_POLICY", "session-scope"),
    ("BUZZ_ACP_MODEL", "model"),
    ("BUZZ_ACP_PERMISSION_MODE", "permission-mode"),
    ("BUZZ_ACP_SESSION_TITLE", "title"),
    ("BUZZ_ACP_MAX_TURNS_PER_SESSION", "max-turns"),
];

/// The same, in seconds.
const SECONDS: [(&str, &str); 2] =
    [("BUZZ_ACP_IDLE_TIMEOUT", "idle-timeout"), ("BUZZ_ACP_HEARTBEAT_INTERVAL", "heartbeat")];

impl Environment {
    /// Reads the environment of a harness that works in an absolute directory.
    ///
    /// # Errors
    /// When a variable that is needed is missing, or one has a value that does not fit.
    pub fn read(env: &BTreeMap<String, String>, cwd: &str) -> Result<Self, EnvironmentError> {
        let variables = Variables(env);
        let relay = variables.needed("BUZZ_RELAY_URL")?;
        let secret = variables.needed("BUZZ_PRIVATE_KEY")?;
        let keys = Keys::from_secret(secret).ok_or_else(|| EnvironmentError::Value {
            name: "BUZZ_PRIVATE_KEY".into(),
            wanted: "a secret key, `nsec1…` or 64 hex digits".into(),
            value: "…".into(),
        })?;
        // A relative directory is one below where the harness works; joining keeps an absolute one.
        let state_dir = variables.get("BUZZ_ACP_STATE_DIR").unwrap_or(".buzz-acp");
        let state_dir = Path::new(cwd).join(state_dir);
        Ok(Self {
            address: address(relay)?,
            config: variables.config(relay, secret, keys.pubkey, cwd)?,
            keys,
            agent: variables.agent()?,
            state_dir: state_dir.to_string_lossy().into(),
            ahead_ms: variables.ahead_ms()?,
            tells_rest: variables.switch("SKEP_REST")?,
        })
    }
}

impl Variables<'_> {
    /// The variable, if it says anything.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn needed(&self, name: &'static str) -> Result<&str, EnvironmentError> {
        self.get(name).ok_or(EnvironmentError::Missing(name))
    }

    fn parsed<T>(
        &self,
        name: &str,
        wanted: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, EnvironmentError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let wrong = || EnvironmentError::Value {
            name: name.into(),
            wanted: wanted.into(),
            value: value.into(),
        };
        parse(value).map(Some).ok_or_else(wrong)
    }

    /// A switch takes the two words only: `1` may mean either to whoever wrote it.
    fn switch(&self, name: &str) -> Result<bool, EnvironmentError> {
        let parsed = self.parsed(name, "`true` or `false`", |value| value.parse().ok())?;
        Ok(parsed.unwrap_or(false))
    }

    fn ahead_ms(&self) -> Result<i64, EnvironmentError> {
        let ahead = self.parsed("SKEP_AHEAD", "a whole number", |value| value.parse().ok())?;
        Ok(ahead.unwrap_or(0))
    }

    fn config(
        &self,
        relay: &str,
        secret: &str,
        pubkey: Hex32,
        cwd: &str,
    ) -> Result<HarnessConfig, EnvironmentError> {
        let config = HarnessConfig::new(relay, pubkey, pubkey, cwd);
        let owner = self.parsed("BUZZ_ACP_AGENT_OWNER", "64 hex digits", Hex32::parse)?;
        let words = "one of `anyone`, `owner-only`, `nobody`";
        let respond_to = self.parsed("BUZZ_ACP_RESPOND_TO", words, RespondTo::parse)?;
        let mutant = self.parsed("SKEP_MUTANT", "the id of a fault", Mutant::parse)?;
        let positive = |value: &str| value.parse().ok().filter(|number| *number > 0);
        let haste = self.parsed("SKEP_HASTE", "a whole number from 1", positive)?;
        Ok(HarnessConfig {
            owner,
            settings: self.settings()?,
            mutants: mutant.map_or(Mutants::NONE, Mutants::only),
            respond_to: respond_to.unwrap_or(RespondTo::Owner),
            mcp: self.mcp(relay, secret),
            typing: !self.switch("BUZZ_ACP_NO_TYPING")?,
            haste: haste.unwrap_or(1),
            ..config
        })
    }

    fn settings(&self) -> Result<Settings, EnvironmentError> {
        let mut settings = Settings::default();
        let mut set = |name: &str, key: &str, value: &str| {
            settings.set(key, value).map_err(|error| bad_setting(name, error))
        };
        for (name, key) in SETTINGS {
            self.get(name).map_or(Ok(()), |value| set(name, key, value))?;
        }
        for (name, key) in SECONDS {
            self.get(name).map_or(Ok(()), |value| set(name, key, &format!("{value}s")))?;
        }
        if let Some(word) = self.get("BUZZ_ACP_MULTIPLE_EVENT_HANDLING") {
            set("BUZZ_ACP_MULTIPLE_EVENT_HANDLING", "in-flight", word)?;
        }
        for key in Settings::KEYS {
            let name = format!("SKEP_{}", key.to_ascii_uppercase().replace('-', "_"));
            self.get(&name).map_or(Ok(()), |value| set(&name, key, value))?;
        }
        settings.observer |= self.switch("BUZZ_ACP_RELAY_OBSERVER")?;
        settings.resume &= !self.switch("BUZZ_ACP_NO_RESUME_SESSIONS")?;
        settings.mcp |= self.get("BUZZ_ACP_MCP_COMMAND").is_some();
        Ok(settings)
    }

    /// The MCP server speaks for the agent by itself, so it gets the key.
    fn mcp(&self, relay: &str, secret: &str) -> McpServer {
        let mut server = McpServer::relay_tools(relay);
        server.env.push(("BUZZ_PRIVATE_KEY".into(), secret.into()));
        if let Some(command) = self.get("BUZZ_ACP_MCP_COMMAND") {
            server.command = command.into();
        }
        server
    }

    fn agent(&self) -> Result<Vec<String>, EnvironmentError> {
        let command = self.needed("BUZZ_ACP_AGENT_COMMAND")?.to_owned();
        let args = self.get("BUZZ_ACP_AGENT_ARGS").unwrap_or_default();
        let args = args.split(',').map(str::trim).filter(|arg| !arg.is_empty());
        Ok([command].into_iter().chain(args.map(str::to_owned)).collect())
    }
}

fn bad_setting(name: &str, error: SettingError) -> EnvironmentError {
    match error {
        SettingError::Value { wanted, value, .. } => {
            EnvironmentError::Value { name: name.into(), wanted, value }
        }
        SettingError::Unknown(key) => {
            let wanted = format!("a setting's name, and `{key}` is none");
            EnvironmentError::Value { name: name.into(), wanted, value: key }
        }
    }
}

/// Host and port of a `ws://` URL. There is no TLS: what this talks to runs on the same machine.
fn address(relay: &str) -> Result<String, EnvironmentError> {
    let wrong = || EnvironmentError::Value {
        name: "BUZZ_RELAY_URL".into(),
        wanted: "a URL such as `ws://127.0.0.1:4000`".into(),
        value: relay.into(),
    };
    let rest = relay.strip_prefix("ws://").ok_or_else(wrong)?;
    let host = rest.split(['/', '?']).next().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { host.to_owned() } else { format!("{host}:80") })
}

#[cfg(test)]
mod tests {
    use skep_trace::policy::{Indeterminate, SessionScope};

    use super::*;

    fn read(extra: &[(&str, &str)]) -> Result<Environment, EnvironmentError> {
        let secret = Keys::named("environment").nsec();
        let needed = [
            ("BUZZ_RELAY_URL", "ws://127.0.0.1:4000"),
            ("BUZZ_PRIVATE_KEY", &*secret),
            ("BUZZ_ACP_AGENT_COMMAND", "/bin/agent"),
        ];
        let pairs = needed.iter().chain(extra);
        let env = pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment::read(&env.collect(), "/w")
    }

    #[test]
    fn the_settings_of_public_builds_are_read_under_their_names() {
        let environment = read(&[
            ("BUZZ_ACP_AGENT_ARGS", "acp, --fast"),
            ("BUZZ_ACP_SESSION_POLICY", "thread"),
            ("BUZZ_ACP_IDLE_TIMEOUT", "30"),
            ("BUZZ_ACP_NO_RESUME_SESSIONS", "true"),
            ("BUZZ_ACP_RESPOND_TO", "anyone"),
        ])
        .unwrap();
        assert_eq!(environment.agent, ["/bin/agent", "acp", "--fast"]);
        assert_eq!(environment.address, "127.0.0.1:4000");
        assert_eq!(&*environment.state_dir, "/w/.buzz-acp");
        let config = environment.config;
        assert_eq!(config.settings.policies.session_scope, SessionScope::Thread);
        assert_eq!((config.settings.idle_timeout_ms, config.settings.resume), (30_000, false));
        assert_eq!((config.respond_to, config.owner), (RespondTo::Anyone, None));
    }

    #[test]
    fn what_public_builds_have_no_name_for_is_read_as_a_scenario_names_it() {
        let config = read(&[
            ("SKEP_LOAD_TIMEOUT", "250ms"),
            ("SKEP_INDETERMINATE", "retain"),
            ("SKEP_MUTANT", "harness/never-loads"),
            ("SKEP_HASTE", "20"),
            ("SKEP_AHEAD", "-10000"),
        ])
        .unwrap();
        assert_eq!((config.ahead_ms, config.tells_rest), (-10_000, false));
        let config = config.config;
        assert_eq!(config.settings.load_timeout_ms, 250);
        assert_eq!(config.settings.policies.indeterminate, Indeterminate::Retain);
        assert_eq!(config.mutants.get(), Some(Mutant::NeverLoads));
        assert_eq!(config.haste, 20);
    }

    #[test]
    fn a_value_that_does_not_fit_is_named_and_a_secret_is_not_repeated() {
        let error = read(&[("BUZZ_ACP_RELAY_OBSERVER", "1")]).unwrap_err();
        assert_eq!(error.to_string(), "BUZZ_ACP_RELAY_OBSERVER is `true` or `false`, not `1`");
        let error = read(&[("BUZZ_PRIVATE_KEY", "hunter2")]).unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
        let error = read(&[("BUZZ_RELAY_URL", "wss://far.away")]).unwrap_err();
        assert!(error.to_string().starts_with("BUZZ_RELAY_URL is a URL such as"));
        assert_eq!(
            read(&[("BUZZ_ACP_AGENT_COMMAND", "")]).unwrap_err(),
            EnvironmentError::Missing("BUZZ_ACP_AGENT_COMMAND")
        );
    }

    #[test]
    fn every_setting_of_a_scenario_has_a_variable() {
        for key in Settings::KEYS {
            let name = format!("SKEP_{}", key.to_ascii_uppercase().replace('-', "_"));
            let wrong = read(&[(&name, "?")]);
            let free = ["model", "permission-mode", "title"].contains(key);
            assert_eq!(wrong.is_ok(), free, "{name}");
        }
    }
}
