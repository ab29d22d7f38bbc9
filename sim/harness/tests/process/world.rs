//! A relay on a real port, an agent in a shell script, a temporary directory.

use std::collections::BTreeMap;
use std::future::Future;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use skep_plan::ChannelKind;
use skep_relay::{
    Channel, ConnId, Host, Keys, Party, Relay, RelayConfig, RelayEvent, RelayHandle, Seen, server,
};
use skep_trace::{NostrEvent, Text};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

/// Far more than anything here takes: reaching it is a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a process is looked for in the system's table, which tells nobody when it changes.
const LOOK: Duration = Duration::from_millis(10);

/// An agent that keeps one session, never answers a prompt that says `hang`, and starts a child of
/// its own.
const AGENT: &str = r#"
sleep 1000 &
echo $! > "$AGENT_DIR/grandchild"
echo $$ > "$AGENT_DIR/agent"
while IFS= read -r line; do
  id=${line#*'"id":'}; id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*) result='{"agentCapabilities":{"loadSession":true}}' ;;
    *'"method":"session/new"'*) result='{"sessionId":"s1"}' ;;
    *'"method":"session/load"'*) result='{}' ;;
    *'Content: hang'*) continue ;;
    *'"method":"session/prompt"'*) result='{"stopReason":"end_turn"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
kill $!
"#;

/// Runs a test on real sockets.
pub(crate) fn promptly(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let bounded = async { timeout(PATIENCE, test).await };
    let local = LocalSet::new();
    runtime.expect("a runtime").block_on(local.run_until(bounded)).expect("the test hangs");
}

/// Everything around the processes.
pub(crate) struct World {
    dir: TempDir,
    env: BTreeMap<String, String>,
    relay: RelayHandle<Ear>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let url = format!("ws://127.0.0.1:{port}");
        let relay = relay(&url);
        let serving = relay.clone();
        tokio::task::spawn_local(async move {
            let accept = async || listener.accept().await.map(|(io, _)| (io, Party(1)));
            server::serve(serving, accept).await.expect("the listener never fails");
        });
        let script = dir.path().join("agent.sh");
        tokio::fs::write(&script, AGENT).await.expect("a script");
        let path = |name: &str| dir.path().join(name).display().to_string();
        let env = [
            ("BUZZ_RELAY_URL", url),
            ("BUZZ_PRIVATE_KEY", Keys::named("agent").nsec()),
            ("BUZZ_ACP_AGENT_OWNER", Keys::named("owner").pubkey.to_string()),
            ("BUZZ_ACP_AGENT_COMMAND", "/bin/sh".to_owned()),
            ("BUZZ_ACP_AGENT_ARGS", path("agent.sh")),
            ("BUZZ_ACP_STATE_DIR", path("state")),
            ("AGENT_DIR", path("")),
            ("PATH", "/usr/bin:/bin".to_owned()),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value)).into();
        Self { dir, env, relay }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.insert(name.to_owned(), value.to_owned());
    }

    /// Starts a harness.
    pub(crate) fn spawn(&self) -> Harness {
        let mut child = Command::new(env!("CARGO_BIN_EXE_harness-process"))
            .env_clear()
            .envs(&self.env)
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Harness { child, stdout }
    }

    /// Starts a harness and waits until it is ready.
    pub(crate) async fn start(&self) -> Harness {
        for name in ["agent", "grandchild"] {
            // There is none before the first start.
            let _ = tokio::fs::remove_file(self.dir.path().join(name)).await;
        }
        let mut harness = self.spawn();
        harness.line("ready").await;
        harness
    }

    pub(crate) fn say(&self, text: &str) {
        let agent = Keys::named("agent").pubkey.to_string();
        let tags = vec![tag(&["h", "general"]), tag(&["p", &agent])];
        let owner = Keys::named("owner").pubkey;
        let event = NostrEvent::new(owner, unix_ms() / 1000, 9, tags, text.into()).into();
        self.relay.step(RelayEvent::Publish { event, to: None });
    }

    /// The agent's process.
    pub(crate) async fn agent(&self) -> Pid {
        self.pid("agent").await
    }

    /// The process that the agent started.
    pub(crate) async fn grandchild(&self) -> Pid {
        self.pid("grandchild").await
    }

    async fn pid(&self, name: &str) -> Pid {
        let path = self.dir.path().join(name);
        loop {
            let text = tokio::fs::read_to_string(&path).await.unwrap_or_default();
            if let Some(pid) = text.trim().parse().ok().and_then(Pid::from_raw) {
                return pid;
            }
            sleep(LOOK).await;
        }
    }
}

/// A harness process.
pub(crate) struct Harness {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Harness {
    /// Waits for a line that holds a text.
    pub(crate) async fn line(&mut self, text: &str) {
        let mut read = Vec::new();
        while let Some(line) = self.stdout.next_line().await.expect("a pipe") {
            if line.contains(text) {
                return;
            }
            read.push(line);
        }
        panic!("no line holds {text:?}: {read:#?}");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        let pid = id.and_then(Pid::from_raw).expect("it runs");
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits for its end; `None` where a signal ended it.
    pub(crate) async fn exit(&mut self) -> Option<i32> {
        self.child.wait().await.expect("it was started").code()
    }
}

pub(crate) fn kill(pid: Pid) {
    kill_process(pid, Signal::KILL).expect("it lives");
}

/// The process is there and not just waiting to be collected.
pub(crate) fn lives(pid: Pid) -> bool {
    let stat = std::path::PathBuf::from(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let zombie = fs_text(&stat).is_some_and(|stat| stat.contains(") Z "));
    test_kill_process(pid).is_ok() && !zombie
}

#[expect(clippy::disallowed_methods, reason = "the system's own table of processes is no volume")]
fn fs_text(path: &std::path::Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

pub(crate) async fn until(met: impl Fn() -> bool) {
    while !met() {
        sleep(LOOK).await;
    }
}

fn relay(url: &str) -> RelayHandle<Ear> {
    let (owner, agent) = (Keys::named("owner").pubkey, Keys::named("agent").pubkey);
    let mut config = RelayConfig::new(url, owner);
    config.channels = vec![Channel {
        id: "general".into(),
        name: "general".into(),
        kind: ChannelKind::Stream,
        archived: false,
        members: vec![owner, agent],
    }];
    RelayHandle::new(Relay::new(config), Ear(0))
}

/// Counts connections; what is told is not asked for here.
struct Ear(u32);

impl Host for Ear {
    fn now_ms(&mut self) -> u64 {
        unix_ms()
    }

    fn number(&mut self) -> ConnId {
        self.0 += 1;
        ConnId(self.0)
    }

    fn seen(&mut self, _: Seen) {}
}

#[expect(clippy::disallowed_methods, reason = "a relay among real processes lives in their time")]
fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from(since.as_millis()).expect("within an age")
}

fn tag(parts: &[&str]) -> Vec<Text> {
    parts.iter().map(|part| Text::from(*part)).collect()
}
