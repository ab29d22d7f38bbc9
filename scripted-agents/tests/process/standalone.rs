//! A process on its own: a well-behaved agent whose sessions are files.
#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::harness::{Harness, program, really};

async fn start(home: &Path) -> Harness {
    let mut command = Command::new(program());
    let mut harness = Harness::start(command.env_clear().env("HOME", home));
    harness.initialize().await;
    harness
}

fn home() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn files(home: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.path().join(".skep-agent")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_session_survives_a_kill_and_is_loaded_by_the_next_process() {
    really(async {
        let home = home();
        let mut first = start(home.path()).await;
        let session = first.open().await;
        first.prompt(&session, "hello\u{2028}there").await;
        first.answer().await;
        first.child.kill().await.unwrap();

        let mut second = start(home.path()).await;
        let (answer, told) = second.load(&session).await;
        assert_eq!(answer["result"]["modes"]["currentModeId"], "ask");
        let said = told.concat();
        assert_eq!(said, "hello\u{2028}therereply to hello\u{2028}there (turn 1)");
        second.prompt(&session, "more").await;
        assert_eq!(second.answer().await.1.concat(), "reply to more (turn 2)");
        assert_eq!(second.close().await, Some(0));
    });
}

#[test]
fn what_it_keeps_is_for_its_user_alone_and_whole() {
    really(async {
        let home = home();
        let mut agent = start(home.path()).await;
        let session = agent.open().await;
        assert_eq!(mode(&home.path().join(".skep-agent")), 0o700);
        let files = files(&home);
        for file in &files {
            assert_eq!(mode(file), 0o600, "{}", file.display());
        }
        let names: Vec<_> = files.iter().filter_map(|file| file.file_name()?.to_str()).collect();
        assert!(names.contains(&&*format!("{session}.jsonl")), "{names:?}");
    });
}

#[test]
fn processes_that_share_a_home_mint_no_id_twice_and_see_each_others_sessions() {
    really(async {
        let home = home();
        let (mut one, mut two) = (start(home.path()).await, start(home.path()).await);
        let (first, second) = (one.open().await, two.open().await);
        assert_ne!(first, second);
        assert!(two.load(&first).await.0["result"].is_object());
        one.ask("session/list", json!({})).await;
        let listed = one.answer().await.0["result"]["sessions"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");

        one.ask("session/delete", json!({"sessionId": second})).await;
        one.answer().await;
        assert_eq!(two.load(&second).await.0["error"]["code"], -32002);
        two.ask("session/list", json!({})).await;
        let listed = two.answer().await.0["result"]["sessions"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    });
}

#[test]
fn ids_that_are_paths_and_files_that_are_torn_are_unknown_sessions() {
    really(async {
        let home = home();
        let mut agent = start(home.path()).await;
        let session = agent.open().await;
        let folder = home.path().join(".skep-agent");
        let secret = home.path().join("secret.jsonl");
        for path in [&secret, &folder.join("Torn-1.jsonl")] {
            #[expect(clippy::disallowed_methods, reason = "a test's own file")]
            fs::write(path, r#"{"facts":{"born"#).unwrap();
        }
        fs::copy(folder.join(format!("{session}.jsonl")), &secret).unwrap();
        for id in ["../secret", "Torn-1", "", ".", "a/b", &"x".repeat(5000)] {
            assert_eq!(agent.load(id).await.0["error"]["code"], -32002, "{id}");
        }
        assert!(agent.load(&session).await.0["result"].is_object());
    });
}

#[test]
fn a_home_that_cannot_be_written_is_said_and_not_survived() {
    really(async {
        let home = home();
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        fs::write(home.path().join(".skep-agent"), "a file").unwrap();
        let mut command = Command::new(program());
        let command = command.env_clear().env("HOME", home.path()).stderr(Stdio::piped());
        let mut agent = Harness::start(command);
        assert_eq!(agent.status().await.code(), Some(74));
        let mut said = String::new();
        agent.child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
        assert!(said.contains(".skep-agent"), "{said}");
    });
}
