//! A process that obeys a director.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::json;
use skep_agent::{
    Agent, AgentDisk, AgentLink, AgentPort, DirectorAddress, Ended, Seen, Shell, Watch,
    wrapper_script,
};
use skep_plan::{Action, AgentCast, Rule};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::harness::{Harness, program, really};

/// A director's side: a port, a disk, and what was seen.
struct Director {
    folder: TempDir,
    port: AgentPort,
    disk: Rc<RefCell<AgentDisk>>,
    log: Rc<RefCell<Vec<Seen>>>,
    processes: u32,
}

impl Director {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = AgentPort::bind(&folder.path().join("port")).unwrap();
        let disk = Rc::new(RefCell::new(AgentDisk::new("a", 7)));
        Self { folder, port, disk, log: Rc::default(), processes: 0 }
    }

    /// The generated script, started as the worst harness starts it: no environment, and words
    /// that nobody asked for.
    fn command(&self) -> Command {
        let socket = self.port.path().to_owned();
        let director = DirectorAddress { socket, token: "h's/a,1".into() };
        let script = self.folder.path().join("an agent.sh");
        let text = wrapper_script(program(), &director);
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
        let mut command = Command::new(script);
        command.env_clear().args(["acp", "--socket", "/nowhere"]);
        command
    }

    /// Starts a process and serves it.
    async fn start(&mut self, cast: AgentCast) -> (Harness, JoinHandle<Ended>) {
        let log = Rc::clone(&self.log);
        self.start_watched(cast, move |seen| log.borrow_mut().push(seen)).await
    }

    async fn start_watched(
        &mut self,
        cast: AgentCast,
        watch: impl Watch + 'static,
    ) -> (Harness, JoinHandle<Ended>) {
        let harness = Harness::start(&mut self.command());
        let link = self.port.accept().await.unwrap();
        (harness, self.serve(cast, watch, link))
    }

    fn serve(
        &mut self,
        cast: AgentCast,
        watch: impl Watch + 'static,
        link: AgentLink,
    ) -> JoinHandle<Ended> {
        self.processes += 1;
        let agent = Agent::new(Arc::new(cast), self.processes);
        let shell = Shell::new(agent, Rc::clone(&self.disk), watch);
        tokio::task::spawn_local(shell.serve(link))
    }

    /// One whose prompts do this, with an open session.
    async fn prompting(&mut self, actions: Vec<Action>) -> (Harness, JoinHandle<Ended>, String) {
        let (mut harness, serving) = self.start(on_prompt(actions)).await;
        harness.initialize().await;
        let session = harness.open().await;
        (harness, serving, session)
    }
}

fn on_prompt(actions: Vec<Action>) -> AgentCast {
    let method = "session/prompt".into();
    let mut cast = AgentCast::new("a");
    cast.script.rules = vec![Rule { method, nth: None, from: None, process: None, actions }];
    cast
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_harness_that_cleans_the_environment_and_adds_arguments_gets_its_agent() {
    really(async {
        let mut director = Director::new();
        let mut harness = Harness::start(&mut director.command());
        let link = director.port.accept().await.unwrap();
        assert_eq!(&**link.token(), "h's/a,1");
        assert_eq!(link.pid(), harness.pid(), "the script becomes the agent");
        assert_eq!(link.parent(), std::process::id());

        let log = Rc::clone(&director.log);
        let watch = move |seen| log.borrow_mut().push(seen);
        let serving = director.serve(AgentCast::new("a"), watch, link);
        harness.initialize().await;
        let session = harness.open().await;
        harness.prompt(&session, "hello").await;
        let (answer, told) = harness.answer().await;
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        assert_eq!(told, ["reply to hello (turn 1)"]);
        assert_eq!(harness.close().await, Some(0));
        assert_eq!(serving.await.unwrap(), Ended::Exit(0));
        let log = director.log.borrow();
        assert_eq!(log.len(), 9, "three requests, four frames, two ends: {log:?}");
        assert_eq!(log[7..], [Seen::StdinEnded, Seen::Ended(Ended::Exit(0))]);
    });
}

#[test]
fn the_disk_is_written_before_the_harness_has_its_answer() {
    really(async {
        let mut director = Director::new();
        let disk = Rc::clone(&director.disk);
        let early = Rc::new(RefCell::new(Vec::new()));
        let seen_early = Rc::clone(&early);
        let watch = move |seen| {
            if let Seen::Sending(frame) = seen {
                let line = frame.to_line();
                if line.contains("sessionId") {
                    seen_early.borrow_mut().push(disk.borrow().sessions().count());
                }
            }
        };
        let (mut harness, _serving) = director.start_watched(AgentCast::new("a"), watch).await;
        harness.initialize().await;
        harness.open().await;
        assert_eq!(*early.borrow(), [1]);
    });
}

/// Holds the agent for good before it answers a prompt, and says when it does.
struct Holder(Rc<Notify>);

impl Watch for Holder {
    async fn seen(&mut self, seen: Seen) {
        if matches!(&seen, Seen::Sending(frame) if frame.to_line().contains("stopReason")) {
            self.0.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

#[test]
fn a_process_that_is_held_and_killed_never_answers() {
    really(async {
        let mut director = Director::new();
        let held = Rc::new(Notify::new());
        let (mut harness, serving) =
            director.start_watched(AgentCast::new("a"), Holder(Rc::clone(&held))).await;
        harness.initialize().await;
        let session = harness.open().await;
        harness.prompt(&session, "hello").await;
        held.notified().await;
        kill(harness.pid());
        assert_eq!(serving.await.unwrap(), Ended::Gone);
        assert_eq!(harness.status().await.signal(), Some(9));
        let update = harness.line().await.expect("what was sent before the hold");
        assert!(update.contains("reply to hello"), "{update}");
        assert_eq!(harness.line().await, None);
        let disk = director.disk.borrow();
        assert_eq!(disk.session(&session).unwrap().turns().len(), 1);
    });
}

#[test]
fn a_process_that_is_killed_while_nobody_reads_what_it_writes_is_gone() {
    really(async {
        let mut director = Director::new();
        let text = "long ".repeat(1 << 20);
        director.disk.borrow_mut().give("old", &[(&text, "")]);
        let (mut harness, serving) = director.start(AgentCast::new("a")).await;
        harness.initialize().await;
        let params = json!({"sessionId": "old", "cwd": "/w", "mcpServers": []});
        harness.ask("session/load", params).await;
        // The first bytes have come, and five million do not fit into a pipe.
        let mut first = [0];
        harness.stdout.get_mut().read_exact(&mut first).await.unwrap();
        kill(harness.pid());
        assert_eq!(serving.await.unwrap(), Ended::Gone);
    });
}

#[test]
fn a_process_whose_director_goes_away_ends_by_itself() {
    really(async {
        let mut director = Director::new();
        let (mut harness, serving, _) = director.prompting(vec![]).await;
        serving.abort();
        assert_eq!(harness.line().await, None);
        assert_eq!(harness.status().await.code(), Some(70));
    });
}

#[test]
fn a_process_that_finds_no_director_ends_at_once() {
    really(async {
        let director = Director::new();
        let mut command = director.command();
        let path = director.port.path().to_owned();
        drop(director.port);
        assert!(!path.exists(), "the port cleans up after itself");
        assert_eq!(Harness::start(&mut command).status().await.code(), Some(70));
    });
}

#[test]
fn a_closed_input_is_closed_for_the_harness_and_the_process_lives() {
    really(async {
        let mut director = Director::new();
        let actions = vec![Action::CloseStdin, Action::Delay { ms: 200 }];
        let (mut harness, serving, session) = director.prompting(actions).await;
        harness.prompt(&session, "hello").await;
        while !director.log.borrow().contains(&Seen::ClosingStdin) {
            tokio::task::yield_now().await;
        }
        let request = harness.request("session/new", &json!({}));
        let broken = loop {
            // Until the process has obeyed, its pipe takes what is written.
            match harness.write(&request).await {
                Ok(()) => tokio::task::yield_now().await,
                Err(error) => break error.kind(),
            }
        };
        assert_eq!(broken, std::io::ErrorKind::BrokenPipe);
        let line = harness.line().await.expect("an update");
        assert!(line.contains("reply to hello"), "{line}");
        assert!(!serving.is_finished());
    });
}

#[test]
fn a_closed_output_is_at_its_end_for_the_harness_and_the_process_lives() {
    really(async {
        let mut director = Director::new();
        let (mut harness, serving, session) = director.prompting(vec![Action::CloseStdout]).await;
        harness.prompt(&session, "hello").await;
        assert_eq!(harness.line().await, None);
        assert!(!serving.is_finished());
        assert_eq!(harness.close().await, Some(0));
    });
}

#[test]
fn an_exit_code_and_a_signal_are_what_the_harness_sees() {
    really(async {
        for (action, code, signal) in [
            (Action::Exit { code: 3 }, Some(3), None),
            (Action::Die { signal: 15 }, None, Some(15)),
            (Action::Die { signal: 9 }, None, Some(9)),
            (Action::Die { signal: 11 }, None, Some(11)),
            (Action::Die { signal: 0 }, Some(128), None),
        ] {
            let mut director = Director::new();
            let (mut harness, serving, session) = director.prompting(vec![action]).await;
            harness.prompt(&session, "hello").await;
            let status = harness.status().await;
            assert_eq!((status.code(), status.signal()), (code, signal));
            assert!(!status.core_dumped());
            assert_ne!(serving.await.unwrap(), Ended::Gone);
        }
    });
}

#[test]
fn half_a_frame_has_no_end_of_line() {
    really(async {
        let mut director = Director::new();
        let half = vec![Action::HalfFrame, Action::Exit { code: 0 }];
        let (mut harness, _serving, session) = director.prompting(half).await;
        harness.prompt(&session, "hello").await;
        let mut rest = String::new();
        harness.stdout.into_inner().read_to_string(&mut rest).await.unwrap();
        let (update, half) = rest.split_once('\n').unwrap();
        assert!(update.contains("reply to hello"), "{update}");
        assert!(half.starts_with(r#"{"id":3,"#) && !half.ends_with('}'), "{half}");
    });
}

#[test]
fn a_flood_is_counted_to_the_byte() {
    really(async {
        let mut director = Director::new();
        let flood = on_prompt(vec![Action::StderrFlood { bytes: 300_001 }]);
        let mut harness = Harness::start(director.command().stderr(Stdio::piped()));
        let link = director.port.accept().await.unwrap();
        let _serving = director.serve(flood, |_| {}, link);
        harness.initialize().await;
        let session = harness.open().await;
        harness.prompt(&session, "hello").await;
        let mut stderr = harness.child.stderr.take().unwrap();
        let mut flood = vec![0; 300_001];
        stderr.read_exact(&mut flood).await.unwrap();
        assert_eq!(flood.last(), Some(&b'\n'));
        assert_eq!(harness.answer().await.0["result"]["stopReason"], "end_turn");
        harness.close().await;
        assert_eq!(stderr.read(&mut flood).await.unwrap(), 0, "not a byte more");
    });
}

#[test]
fn a_process_that_floods_a_pipe_which_nobody_reads_still_ends_with_its_director() {
    really(async {
        let mut director = Director::new();
        let flood = on_prompt(vec![Action::StderrFlood { bytes: u64::MAX }]);
        let mut harness = Harness::start(director.command().stderr(Stdio::piped()));
        let link = director.port.accept().await.unwrap();
        let serving = director.serve(flood, |_| {}, link);
        harness.initialize().await;
        let session = harness.open().await;
        harness.prompt(&session, "hello").await;
        let mut stderr = harness.child.stderr.take().unwrap();
        stderr.read_exact(&mut [0; 80]).await.unwrap();
        serving.abort();
        assert_eq!(harness.status().await.code(), Some(70));
    });
}

#[test]
fn two_processes_share_one_disk_at_the_director() {
    really(async {
        let mut director = Director::new();
        let (mut one, _first) = director.start(AgentCast::new("a")).await;
        let (mut two, _second) = director.start(AgentCast::new("a")).await;
        one.initialize().await;
        two.initialize().await;
        let (first, second) = (one.open().await, two.open().await);
        assert_ne!(first, second);
        one.prompt(&first, "hello").await;
        one.answer().await;
        assert_eq!(two.load(&first).await.1, ["hello", "reply to hello (turn 1)"]);
    });
}

#[test]
fn a_harness_that_writes_without_reading_stops_nobody() {
    really(async {
        let mut director = Director::new();
        let (mut harness, _serving, session) = director.prompting(vec![]).await;
        let text = "long ".repeat(2000);
        for _ in 0..200 {
            harness.prompt(&session, &text).await;
        }
        let (_, told) = harness.answer().await;
        assert_eq!(told.len(), 200);
        let (_, told) = harness.load(&session).await;
        assert_eq!(told.iter().map(String::len).max(), Some(text.len()));
    });
}

#[test]
fn a_caller_that_says_nothing_holds_up_nobody() {
    really(async {
        let mut director = Director::new();
        let _silent = UnixStream::connect(director.port.path()).await.unwrap();
        let mut rude = UnixStream::connect(director.port.path()).await.unwrap();
        rude.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let (mut harness, _serving) = director.start(AgentCast::new("a")).await;
        harness.initialize().await;
    });
}

#[test]
fn sockets_for_pipes_will_do() {
    really(async {
        let mut director = Director::new();
        let (ours, theirs) = StdUnixStream::pair().unwrap();
        let again = theirs.try_clone().unwrap();
        let mut command = director.command();
        let command = command.stdin(Stdio::from(OwnedFd::from(theirs))).kill_on_drop(true);
        let mut child = command.stdout(Stdio::from(OwnedFd::from(again))).spawn().unwrap();
        let link = director.port.accept().await.unwrap();
        let serving = director.serve(AgentCast::new("a"), |_| {}, link);
        ours.set_nonblocking(true).unwrap();
        let mut ours = UnixStream::from_std(ours).unwrap();
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
        ours.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let mut answer = [0; 64];
        ours.read_exact(&mut answer).await.unwrap();
        assert!(String::from_utf8_lossy(&answer).starts_with(r#"{"id":1,"#));
        ours.shutdown().await.unwrap();
        assert_eq!(serving.await.unwrap(), Ended::Exit(0));
        assert_eq!(child.wait().await.unwrap().code(), Some(0));
    });
}
