//! A harness's end of a real child.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::LocalSet;
use tokio::time::timeout;

/// Far more than anything here takes: reaching it is a hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// A child with its pipes. It is killed when the test is done with it, whatever the outcome.
pub(crate) struct Harness {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Lines<BufReader<ChildStdout>>,
    next: i64,
}

impl Harness {
    pub(crate) fn start(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = loop {
            match piped.spawn() {
                // A child that another test is just forking still holds the script open.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                child => break child.expect("the program starts"),
            }
        };
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, stdin, stdout, next: 0 }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it was not waited for")
    }

    pub(crate) async fn write(&mut self, line: &str) -> std::io::Result<()> {
        let stdin = self.stdin.as_mut().expect("an open pipe");
        stdin.write_all(format!("{line}\n").as_bytes()).await
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> String {
        self.next += 1;
        let id = self.next;
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) {
        let request = self.request(method, &params);
        self.write(&request).await.expect("the agent listens");
    }

    /// The next line; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        timeout(PATIENCE, self.stdout.next_line()).await.expect("no hang").expect("a pipe")
    }

    /// The answer to what was asked last, and the texts of the updates before it.
    pub(crate) async fn answer(&mut self) -> (Value, Vec<String>) {
        let mut told = Vec::new();
        loop {
            let line = self.line().await.expect("an answer");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == self.next {
                return (message, told);
            }
            let text = message["params"]["update"]["content"]["text"].as_str();
            told.extend(text.map(str::to_owned));
        }
    }

    pub(crate) async fn initialize(&mut self) {
        self.ask("initialize", json!({"protocolVersion": 2})).await;
        assert_eq!(self.answer().await.0["result"]["protocolVersion"], 1);
    }

    pub(crate) async fn open(&mut self) -> String {
        self.ask("session/new", json!({"cwd": "/w", "mcpServers": []})).await;
        self.answer().await.0["result"]["sessionId"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn prompt(&mut self, session: &str, text: &str) {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask("session/prompt", json!({"sessionId": session, "prompt": prompt})).await;
    }

    pub(crate) async fn load(&mut self, session: &str) -> (Value, Vec<String>) {
        let params = json!({"sessionId": session, "cwd": "/w", "mcpServers": []});
        self.ask("session/load", params).await;
        self.answer().await
    }

    pub(crate) async fn status(&mut self) -> ExitStatus {
        timeout(PATIENCE, self.child.wait()).await.expect("no hang").expect("a status")
    }

    /// Closes the pipe, as a harness does that is done, and waits for the exit code.
    pub(crate) async fn close(&mut self) -> Option<i32> {
        self.stdin = None;
        self.status().await.code()
    }
}

/// The program under test.
pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_agent-process"))
}

/// Runs a test in real time, on one thread.
pub(crate) fn really(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let bounded = async { timeout(2 * PATIENCE, test).await };
    let ran = runtime.expect("a runtime").block_on(LocalSet::new().run_until(bounded));
    ran.expect("the test hangs");
}
