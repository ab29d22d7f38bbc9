//! The suite, and the exploration, on a store of one's own: `cargo run -p skep-store --example
//! own_store`.
//!
//! The store is the simplest there is: one line a receipt, the whole file read and written in place.
//! It is generic over the volume, and that is all that the suite asks: each of its calls to the disk
//! is a point where another process may run, or the power go out.

#![expect(clippy::print_stdout, reason = "it tells what it found")]

use std::collections::BTreeMap;

use skep_store::explore::{questions, walk};
use skep_store::suite::{Failure, Handle, LocalHost, Scope, SimGround, Subject, checks};
use skep_store::{Create, DiskError, Errno, Lookup, Open, StoreAnswer, StoreOp, Volume};
use skep_trace::{Receipt, Text};

/// The kind of store.
#[derive(Clone, Copy)]
struct Lines;

/// An open one.
struct LinesStore<V> {
    volume: V,
    dir: String,
    scope: Scope,
}

impl Subject for Lines {
    type Store<V: Volume + 'static> = LinesStore<V>;

    async fn open<V: Volume + 'static>(
        &self,
        volume: V,
        dir: &str,
        scope: &Scope,
        _now_ms: u64,
    ) -> (LinesStore<V>, Vec<Text>) {
        (LinesStore { volume, dir: dir.to_owned(), scope: scope.clone() }, Vec::new())
    }

    fn life_ms(&self) -> Option<u64> {
        None
    }

    fn bulk(&self, _: &Scope, _: usize) -> Option<(String, Vec<u8>)> {
        None
    }
}

type Sessions = BTreeMap<String, String>;

impl<V: Volume> LinesStore<V> {
    fn file(&self) -> String {
        format!("{}/sessions.txt", self.dir)
    }

    async fn read(&self) -> Result<Sessions, DiskError> {
        let file = match self.volume.open(&self.file(), Open::READ).await {
            Err(error) if error.errno == Errno::NotFound => return Ok(Sessions::new()),
            opened => opened?,
        };
        let bytes = self.volume.read(&file, 1 << 20).await?;
        let text = String::from_utf8_lossy(&bytes);
        let line =
            |line: &str| line.split_once('\t').map(|(key, id)| (key.to_owned(), id.to_owned()));
        Ok(text.lines().filter_map(line).collect())
    }

    async fn write(&self, sessions: &Sessions) -> Result<(), DiskError> {
        match self.volume.mkdir(&self.dir, Some(0o700)).await {
            Err(error) if error.errno != Errno::Exists => return Err(error),
            _ => {}
        }
        let how = Open { create: Create::IfAbsent, ..Open::OVERWRITE.with_mode(Some(0o600)) };
        let file = self.volume.open(&self.file(), how).await?;
        let text: String = sessions.iter().map(|(key, id)| format!("{key}\t{id}\n")).collect();
        self.volume.write(&file, text.as_bytes()).await?;
        self.volume.sync(&file).await
    }

    async fn carry_out(&self, op: StoreOp) -> Result<StoreAnswer, DiskError> {
        let mut sessions = self.read().await?;
        let answer = match op {
            StoreOp::Get { key, .. } => {
                let session = sessions.get(&*key.channel).map(|id| id.as_str().into());
                let found = session.map_or(Lookup::Absent, |session| Lookup::Found { session });
                return Ok(StoreAnswer::Got(found));
            }
            StoreOp::Put { key, session, .. } => {
                sessions.insert(key.channel.to_string(), session.to_string());
                StoreAnswer::Done
            }
            StoreOp::Remove { key } => {
                sessions.remove(&*key.channel);
                StoreAnswer::Done
            }
            StoreOp::RemoveIf { key, expected } => {
                let fits = sessions.get(&*key.channel).is_some_and(|id| **id == *expected);
                if !fits {
                    return Ok(StoreAnswer::Removed(false));
                }
                sessions.remove(&*key.channel);
                StoreAnswer::Removed(true)
            }
            StoreOp::RemoveChannel { channel } => {
                sessions.remove(&*channel);
                StoreAnswer::Done
            }
        };
        self.write(&sessions).await.map(|()| answer)
    }
}

impl<V: Volume> Handle for LinesStore<V> {
    async fn apply(&self, op: StoreOp, _now_ms: u64) -> StoreAnswer {
        let done = self.carry_out(op).await;
        done.unwrap_or_else(|error| StoreAnswer::Failed(error.to_string().into()))
    }

    async fn list(&self, _now_ms: u64) -> Result<Vec<Receipt>, Text> {
        let sessions = self.read().await.map_err(|error| Text::from(error.to_string()))?;
        let receipt = |(channel, session): (&String, &String)| Receipt {
            relay: self.scope.relay.clone(),
            pubkey: self.scope.pubkey,
            channel: channel.as_str().into(),
            root: None,
            session: session.as_str().into(),
            model: None,
            mode: None,
        };
        Ok(sessions.iter().map(receipt).collect())
    }

    fn warnings(&self) -> Vec<Text> {
        Vec::new()
    }
}

fn main() {
    for check in checks::<LocalHost<Lines, SimGround>>() {
        let mut host = LocalHost::new(Lines, SimGround::default());
        let word = match (check.run)(&mut host) {
            Ok(_) => "holds",
            Err(Failure::Violated(_)) => "broken",
            Err(Failure::NotApplicable(_)) => "not applicable",
        };
        println!("{:5} {}: {word}", check.rule, check.name);
    }
    for question in questions() {
        match walk(&Lines, &question, &|| false) {
            Ok(figures) => println!("{}: {figures:?}", question.what),
            Err(failure) => println!("{}: {failure:?}", question.what),
        }
    }
}
