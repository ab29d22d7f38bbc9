//! The agent over byte streams, in virtual time: what a simulated host's child is.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skep_agent::{Agent, AgentDisk, Ended, MOST_LINE_BYTES, Seen, Shell, Watch};
use skep_plan::{Action, AgentCast, Rule};
use skep_trace::{Call, Frame};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::Instant;

type Log = Rc<RefCell<Vec<Seen>>>;

/// A harness's end of a child.
struct Child {
    stdin: DuplexStream,
    stdout: Lines<BufReader<DuplexStream>>,
    disk: Rc<RefCell<AgentDisk>>,
    log: Log,
    released: Arc<Notify>,
    task: JoinHandle<Ended>,
    next: i64,
}

impl Child {
    fn start(cast: AgentCast) -> Self {
        let log = Log::default();
        let seen = Rc::clone(&log);
        Self::watched(cast, log, move |what| seen.borrow_mut().push(what))
    }

    fn watched(cast: AgentCast, log: Log, watch: impl Watch + 'static) -> Self {
        // Small pipes: whoever does not read stands in the way.
        let (stdin, agent_stdin) = tokio::io::duplex(1024);
        let (agent_stdout, stdout) = tokio::io::duplex(1024);
        let disk = Rc::new(RefCell::new(AgentDisk::new("a", 7)));
        let released = Arc::new(Notify::new());
        let shell = Shell::new(Agent::new(Arc::new(cast), 1), Rc::clone(&disk), watch)
            .released_by(Arc::clone(&released));
        let task = tokio::task::spawn_local(shell.run(agent_stdin, agent_stdout));
        let stdout = BufReader::new(stdout).lines();
        Self { stdin, stdout, disk, log, released, task, next: 0 }
    }

    async fn write(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.expect("the agent listens");
    }

    async fn ask(&mut self, method: &str, params: Value) {
        self.next += 1;
        let id = self.next;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&request.to_string()).await;
    }

    async fn read(&mut self) -> Value {
        let line = self.stdout.next_line().await.expect("a pipe").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// The result of what was asked last, updates passed over.
    async fn result(&mut self) -> Value {
        loop {
            let message = self.read().await;
            if message["id"] == self.next {
                return message["result"].clone();
            }
        }
    }

    async fn initialize(&mut self) {
        self.ask("initialize", json!({"protocolVersion": 1})).await;
        assert_eq!(self.result().await["protocolVersion"], 1);
    }

    async fn open(&mut self) -> String {
        self.ask("session/new", json!({"cwd": "/w", "mcpServers": []})).await;
        self.result().await["sessionId"].as_str().expect("an id").to_owned()
    }

    async fn prompt(&mut self, session: &str, text: &str) {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
    }

    /// Initialized, with one open session.
    async fn ready(cast: AgentCast) -> (Self, String) {
        let mut child = Self::start(cast);
        child.initialize().await;
        let session = child.open().await;
        (child, session)
    }

    async fn at_end(&mut self) -> bool {
        self.stdout.next_line().await.expect("a pipe").is_none()
    }

    async fn ended(self) -> Ended {
        self.task.await.expect("the shell does not panic")
    }
}

fn scripted(method: &str, actions: Vec<Action>) -> AgentCast {
    let rule = Rule { method: method.into(), nth: None, from: None, process: None, actions };
    let mut cast = AgentCast::new("a");
    cast.script.rules = vec![rule];
    cast
}

/// Runs a test in virtual time: idle waiting is free, and an hour of it is a hang.
fn virtually(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let bounded = async { tokio::time::timeout(Duration::from_secs(3600), test).await };
    runtime.block_on(LocalSet::new().run_until(bounded)).expect("the test hangs");
}

#[test]
fn a_conversation_goes_over_the_pipes_and_is_seen_in_its_order() {
    virtually(async {
        let (mut child, session) = Child::ready(AgentCast::new("a")).await;
        child.prompt(&session, "hello").await;
        let update = child.read().await;
        assert_eq!(update["params"]["update"]["content"]["text"], "reply to hello (turn 1)");
        assert_eq!(child.result().await, json!({"stopReason": "end_turn"}));
        drop(child.stdin);
        let log = child.log.borrow().iter().map(word).collect::<Vec<_>>();
        assert_eq!(
            log.join(" "),
            "initialize result session/new result session/prompt \
            session/update result"
        );
        assert_eq!(child.task.await.unwrap(), Ended::Exit(0));
        let log = child.log.borrow();
        assert_eq!(log[log.len() - 2..], [Seen::StdinEnded, Seen::Ended(Ended::Exit(0))]);
    });
}

fn word(seen: &Seen) -> String {
    let (Seen::Received { frame, .. } | Seen::Sending(frame)) = seen else {
        return format!("{seen:?}");
    };
    frame.call().map_or("result", Call::method).to_owned()
}

#[test]
fn a_received_line_is_seen_as_it_stood_on_the_pipe() {
    virtually(async {
        let mut child = Child::start(AgentCast::new("a"));
        let line = r#"{ "id":7,"method":"initialize", "jsonrpc":"2.0","params":{}}"#;
        child.write(line).await;
        child.read().await;
        let Seen::Received { raw, frame } = child.log.borrow()[0].clone() else { panic!() };
        assert_eq!(&*raw, line);
        assert!(matches!(&*frame, Frame::Request { .. }));
    });
}

#[test]
fn half_a_frame_is_half_a_line_on_the_pipe() {
    virtually(async {
        let half = vec![Action::HalfFrame, Action::Exit { code: 1 }];
        let mut child = Child::start(scripted("session/new", half));
        child.initialize().await;
        child.ask("session/new", json!({"cwd": "/w", "mcpServers": []})).await;
        let mut rest = Vec::new();
        child.stdout.into_inner().read_to_end(&mut rest).await.unwrap();
        let text = String::from_utf8(rest).unwrap();
        assert!(text.starts_with(r#"{"id":2,"#) && !text.contains('\n'), "{text}");
        assert_eq!(child.task.await.unwrap(), Ended::Exit(1));
    });
}

#[test]
fn garbage_is_a_line_of_its_own_on_the_pipe() {
    virtually(async {
        let garbage = vec![Action::Garbage("npm warn old".into())];
        let mut child = Child::start(scripted("initialize", garbage));
        child.ask("initialize", json!({})).await;
        assert_eq!(child.stdout.next_line().await.unwrap().unwrap(), "npm warn old");
        assert_eq!(child.result().await["protocolVersion"], 1);
    });
}

#[test]
fn a_closed_output_is_the_end_for_its_reader_and_not_for_the_agent() {
    virtually(async {
        let (mut child, session) =
            Child::ready(scripted("session/prompt", vec![Action::CloseStdout])).await;
        child.prompt(&session, "hello").await;
        assert!(child.at_end().await);
        child.prompt(&session, "again").await;
        drop(child.stdin);
        assert_eq!(child.task.await.unwrap(), Ended::Exit(0));
        let disk = child.disk.borrow();
        assert_eq!(disk.session(&session).unwrap().turns().len(), 2);
    });
}

#[test]
fn a_closed_input_breaks_the_writers_pipe_and_the_agent_finishes() {
    virtually(async {
        let deaf = vec![Action::CloseStdin, Action::Delay { ms: 1000 }];
        let (mut child, session) = Child::ready(scripted("session/prompt", deaf)).await;
        child.prompt(&session, "hello").await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        let error = child.stdin.write_all(b"{}\n").await.expect_err("nobody reads");
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        assert_eq!(child.result().await["stopReason"], "end_turn");
        assert!(!child.task.is_finished());
    });
}

#[test]
fn delays_take_virtual_time() {
    virtually(async {
        let (mut child, session) =
            Child::ready(scripted("session/prompt", vec![Action::Delay { ms: 600_000 }])).await;
        let start = Instant::now();
        child.prompt(&session, "hello").await;
        assert_eq!(child.result().await["stopReason"], "end_turn");
        assert_eq!(start.elapsed(), Duration::from_secs(600));
    });
}

/// Notes how long it is until the next timer whenever the agent has nothing to do.
struct Idler(Rc<RefCell<Vec<Option<Duration>>>>);

impl Watch for Idler {
    async fn seen(&mut self, _: Seen) {}

    fn idle(&mut self, timer: Option<Duration>) {
        self.0.borrow_mut().push(timer);
    }
}

#[test]
fn a_hastened_agent_waits_so_many_times_shorter_and_says_how_long() {
    virtually(async {
        let idle = Rc::new(RefCell::new(Vec::new()));
        let disk = Rc::new(RefCell::new(AgentDisk::new("a", 7)));
        let cast = scripted("initialize", vec![Action::Delay { ms: 6000 }]);
        let agent = Agent::new(Arc::new(cast), 1);
        let shell = Shell::new(agent, disk, Idler(Rc::clone(&idle))).hastened(60);
        let (mut stdin, agent_stdin) = tokio::io::duplex(1024);
        let (agent_stdout, mut stdout) = tokio::io::duplex(1024);
        tokio::task::spawn_local(shell.run(agent_stdin, agent_stdout));
        let start = Instant::now();
        let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n";
        stdin.write_all(request.as_bytes()).await.unwrap();
        stdout.read_exact(&mut [0; 8]).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_millis(100));
        assert_eq!(*idle.borrow(), [None, Some(Duration::from_millis(100)), None]);
    });
}

#[test]
fn exit_and_die_end_the_shell_and_close_its_pipes() {
    virtually(async {
        for (action, ended) in [
            (Action::Exit { code: 3 }, Ended::Exit(3)),
            (Action::Die { signal: 11 }, Ended::Signal(11)),
        ] {
            let (mut child, session) = Child::ready(scripted("session/prompt", vec![action])).await;
            child.prompt(&session, "hello").await;
            assert!(child.at_end().await);
            assert_eq!(child.ended().await, ended);
        }
    });
}

#[test]
fn a_dropped_shell_is_a_killed_agent() {
    virtually(async {
        let (mut child, session) =
            Child::ready(scripted("session/prompt", vec![Action::Delay { ms: 10 }])).await;
        child.prompt(&session, "hello").await;
        tokio::task::yield_now().await;
        child.task.abort();
        assert!(child.at_end().await);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let disk = child.disk.borrow();
        let turns = disk.session(&session).unwrap().turns();
        assert_eq!((turns.len(), &*turns[0].agent_text()), (1, ""), "heard, and not answered");
    });
}

#[test]
fn a_line_over_the_bound_ends_the_agent_and_says_so() {
    virtually(async {
        let mut child = Child::start(AgentCast::new("a"));
        let long = vec![b'x'; MOST_LINE_BYTES + 1];
        // The agent ends before it has all of it.
        let _ = child.stdin.write_all(&long).await;
        assert!(child.at_end().await);
        let finding = format!("a line of more than {MOST_LINE_BYTES} bytes");
        assert_eq!(child.log.borrow()[0], Seen::Finding(finding.into()));
        assert_eq!(child.ended().await, Ended::Exit(74));
    });
}

#[test]
fn a_harness_that_writes_without_reading_does_not_stop_the_agent() {
    virtually(async {
        let (mut child, session) = Child::ready(AgentCast::new("a")).await;
        for _ in 0..200 {
            child.prompt(&session, &"long ".repeat(200)).await;
        }
        assert_eq!(child.result().await["stopReason"], "end_turn");
    });
}

#[test]
fn a_harness_that_stops_reading_for_good_ends_the_agent() {
    virtually(async {
        let (mut child, session) = Child::ready(AgentCast::new("a")).await;
        drop(child.stdout);
        let prompt = json!([{"type": "text", "text": "hello"}]);
        let params = json!({"sessionId": session, "prompt": prompt});
        let request =
            json!({"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": params});
        child.stdin.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        assert_eq!(child.task.await.unwrap(), Ended::Exit(0));
    });
}

#[test]
fn a_gate_opens_when_the_director_says_so() {
    virtually(async {
        let (mut child, session) =
            Child::ready(scripted("session/prompt", vec![Action::Gate])).await;
        child.prompt(&session, "hello").await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(child.log.borrow().last(), Some(&Seen::AtGate));
        child.released.notify_one();
        assert_eq!(child.result().await["stopReason"], "end_turn");
    });
}

/// Holds the agent before each prompt's answer until it is told to go on.
struct Holder {
    log: Log,
    go: Rc<Notify>,
}

impl Watch for Holder {
    async fn seen(&mut self, seen: Seen) {
        self.log.borrow_mut().push(seen.clone());
        if matches!(&seen, Seen::Sending(frame) if frame.to_line().contains("stopReason")) {
            self.go.notified().await;
        }
    }
}

#[test]
fn a_watcher_that_takes_its_time_holds_the_agent_there() {
    virtually(async {
        let (log, go) = (Log::default(), Rc::new(Notify::new()));
        let holder = Holder { log: Rc::clone(&log), go: Rc::clone(&go) };
        let mut child = Child::watched(AgentCast::new("a"), log, holder);
        child.initialize().await;
        let session = child.open().await;
        child.prompt(&session, "hello").await;
        assert_eq!(child.read().await["method"], "session/update");
        let held = tokio::time::timeout(Duration::from_secs(60), child.read()).await;
        assert!(held.is_err(), "the answer is held back: {held:?}");
        go.notify_one();
        assert_eq!(child.result().await["stopReason"], "end_turn");
    });
}

#[test]
fn a_shell_that_checks_the_schema_tells_what_it_finds_and_serves_all_the_same() {
    virtually(async {
        let line = r#"{"id":1,"method":"initialize","params":{}}"#;
        for (checking, wanted) in [(false, 0), (true, 2)] {
            let log = Log::default();
            let seen = Rc::clone(&log);
            let disk = Rc::new(RefCell::new(AgentDisk::new("a", 7)));
            let agent = Agent::new(Arc::new(AgentCast::new("a")), 1);
            let shell = Shell::new(agent, disk, move |what| seen.borrow_mut().push(what));
            let shell = if checking { shell.checking_schema() } else { shell };
            let mut answer = Vec::new();
            shell.run(format!("{line}\n").as_bytes(), &mut answer).await;
            assert!(String::from_utf8_lossy(&answer).contains("protocolVersion"));
            let finding = |seen: &&Seen| matches!(seen, Seen::Finding(_));
            assert_eq!(log.borrow().iter().filter(finding).count(), wanted);
        }
    });
}

#[test]
fn two_runs_of_one_script_are_one_run() {
    fn run() -> Vec<Seen> {
        let log = Log::default();
        let kept = Rc::clone(&log);
        virtually(async move {
            let kind = "agent_thought_chunk".into();
            let chatter = Action::Chatter { kind, text: "hm".into(), gap_ms: 5, count: 10 };
            let actions = vec![chatter, Action::Delay { ms: 20 }];
            let (mut child, session) = Child::ready(scripted("session/prompt", actions)).await;
            child.prompt(&session, "hello").await;
            child.result().await;
            drop(child.stdin);
            child.task.await.unwrap();
            *kept.borrow_mut() = child.log.take();
        });
        log.take()
    }
    let first = run();
    assert!(first.len() > 10, "{first:?}");
    assert_eq!(first, run());
}
