//! The words that the checks are written in.

use skep_trace::{EntryKind, Hex32, Receipt};

use super::host::{Edit, Failure, Host, Process, STATE, Scope, Step};
use crate::ops::{Config, Key, Lookup, StoreAnswer, StoreOp};

/// The instant at which checks begin: well away from 0, so that clocks can go backwards.
pub const NOW: u64 = 1_780_000_000_000;

/// More steps than any operation takes that need not wait.
pub(super) const MOST_STEPS: usize = 1_000;

/// The most disks that are looked at after one power cut. Operations on a few receipts stay far
/// below.
pub(crate) const MOST_DISKS: usize = 20_000;

/// The scope of most checks.
pub fn scope() -> Scope {
    Scope { relay: "wss://relay.example".into(), pubkey: Hex32([0xa7; 32]) }
}

/// The key of a channel, without a thread.
pub fn key(channel: &str) -> Key {
    Key { channel: channel.into(), root: None }
}

/// A put under the default configuration.
pub fn put(channel: &str, session: &str) -> StoreOp {
    StoreOp::Put { key: key(channel), session: session.into(), config: Config::default() }
}

/// A get under the default configuration.
pub fn get(channel: &str) -> StoreOp {
    StoreOp::Get { key: key(channel), config: Config::default() }
}

/// A remove.
pub fn remove(channel: &str) -> StoreOp {
    StoreOp::Remove { key: key(channel) }
}

/// A conditional remove.
pub fn remove_if(channel: &str, expected: &str) -> StoreOp {
    StoreOp::RemoveIf { key: key(channel), expected: expected.into() }
}

/// The answer to a [`get`]: this session, or none.
pub(super) fn got(session: Option<&str>) -> StoreAnswer {
    StoreAnswer::Got(match session {
        Some(session) => Lookup::Found { session: session.into() },
        None => Lookup::Absent,
    })
}

/// Channel and session of each receipt.
pub(crate) type Listing = Vec<(String, String)>;

/// The rule is broken, in this way.
///
/// # Errors
/// Always.
pub fn violated<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Violated(what.into()))
}

/// Demands that two values are equal.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    seen: &T,
    expected: &T,
) -> Result<(), Failure> {
    if seen == expected {
        return Ok(());
    }
    violated(format!("{what}: {seen:?}, not {expected:?}"))
}

/// Demands an answer.
pub(super) fn answered(
    what: &str,
    answer: &StoreAnswer,
    expected: &StoreAnswer,
) -> Result<(), Failure> {
    if answer == expected {
        return Ok(());
    }
    violated(format!("`{what}` is answered `{answer}`, not `{expected}`"))
}

/// Demands that something is so.
pub(super) fn demand(what: &str, is_so: bool) -> Result<(), Failure> {
    if is_so { Ok(()) } else { violated(what) }
}

/// What checks say to a host.
pub(crate) trait Case: Host {
    /// A store of the usual scope, in a process of its own.
    fn opened(&mut self) -> Result<Process, Failure> {
        self.open(&scope(), NOW)
    }

    /// Carries out an operation that must have this answer.
    fn expect(
        &mut self,
        process: Process,
        op: StoreOp,
        expected: &StoreAnswer,
    ) -> Result<(), Failure> {
        let what = op.to_string();
        answered(&what, &self.apply(process, op, NOW)?, expected)
    }

    /// Carries out an operation that must succeed.
    fn done(&mut self, process: Process, op: StoreOp) -> Result<(), Failure> {
        self.expect(process, op, &StoreAnswer::Done)
    }

    /// Carries out an operation that must fail, and say why.
    fn refused(&mut self, process: Process, op: StoreOp) -> Result<String, Failure> {
        let what = op.to_string();
        match self.apply(process, op, NOW)? {
            StoreAnswer::Failed(why) if !why.is_empty() => Ok(why.to_string()),
            answer => violated(format!("`{what}` is not refused: `{answer}`")),
        }
    }

    /// A fresh disk with these receipts, written by a process that is gone again.
    fn given(&mut self, receipts: &[(&str, &str)]) -> Result<(), Failure> {
        self.fresh();
        let process = self.opened()?;
        for (channel, session) in receipts {
            self.done(process, put(channel, session))?;
        }
        self.kill(process);
        Ok(())
    }

    /// What a new process lists. It must have nothing to warn of.
    fn listing(&mut self) -> Result<Listing, Failure> {
        let process = self.opened()?;
        let listed = self.list(process, NOW)?;
        let warnings = self.warnings(process);
        self.kill(process);
        if !warnings.is_empty() {
            return violated(format!("a new process is warned: {warnings:?}"));
        }
        Ok(channels(&listed))
    }

    /// What a new process finds.
    fn found_anew(&mut self, channel: &str, session: Option<&str>) -> Result<(), Failure> {
        let process = self.opened()?;
        self.expect(process, get(channel), &got(session))?;
        self.kill(process);
        Ok(())
    }

    /// The path of the file that holds this text.
    fn file_with(&mut self, text: &str) -> Result<String, Failure> {
        let snapshot = self.look();
        let holds = |bytes: &[u8]| contains(bytes, text.as_bytes());
        let mut files = snapshot.files();
        match files.find(|(_, _, bytes)| bytes.is_some_and(holds)) {
            Some((path, ..)) => Ok(path.to_owned()),
            None => violated(format!("no file holds {text:?}")),
        }
    }

    /// The bytes of a file.
    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, Failure> {
        match self.look().bytes(path) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => violated(format!("{path} is gone")),
        }
    }

    /// The names in the state directory.
    fn names(&mut self) -> Vec<String> {
        let below = format!("{STATE}/");
        let snapshot = self.look();
        let names = snapshot.entries.keys().filter_map(|path| path.strip_prefix(&below));
        names.map(str::to_owned).collect()
    }

    /// The kind of what stands at a path.
    fn kind(&mut self, path: &str) -> Option<EntryKind> {
        self.look().entries.get(path).map(|entry| entry.kind.clone())
    }

    /// Changes a file's bytes and keeps its bits.
    fn rewrite(
        &mut self,
        path: &str,
        change: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Failure> {
        let bytes = change(self.bytes(path)?);
        let mode = self.look().entries[path].mode;
        self.edit(Edit::File(path, &bytes, mode))?;
        Ok(bytes)
    }

    /// Steps through the begun operation to its end.
    fn finish(&mut self, process: Process) -> Result<StoreAnswer, Failure> {
        for _ in 0..MOST_STEPS {
            if let Step::Done(answer) = self.step(process) {
                return Ok(answer);
            }
        }
        violated(format!("an operation is not done after {MOST_STEPS} steps"))
    }

    /// Looks at every disk that a power cut can leave now, and says how many there are; none where
    /// nobody can cut the power.
    fn cut(
        &mut self,
        look: &mut dyn FnMut(&mut Self) -> Result<(), Failure>,
    ) -> Result<usize, Failure> {
        match self.power_losses(MOST_DISKS, &mut |host, _| look(host)) {
            Err(Failure::NotApplicable(_)) => Ok(0),
            other => other,
        }
    }

    /// A process that has the lock and goes no further.
    fn holder(&mut self) -> Result<Process, Failure> {
        let process = self.opened()?;
        self.begin(process, put("holder", "held"), NOW)?;
        while !self.holds_lock(process) {
            if let Step::Done(_) = self.step(process) {
                return violated("a put takes no lock");
            }
        }
        Ok(process)
    }
}

impl<H: Host> Case for H {}

pub(super) fn channels(receipts: &[Receipt]) -> Listing {
    let pair = |receipt: &Receipt| (receipt.channel.to_string(), receipt.session.to_string());
    receipts.iter().map(pair).collect()
}

pub(super) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Replaces the first occurrence of a text.
pub(crate) fn replaced(bytes: &[u8], from: &str, to: &str) -> Option<Vec<u8>> {
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes())?;
    Some([&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat())
}

/// The file with another version in it; `None` where it shows none as JSON.
pub(super) fn with_version(bytes: &[u8], version: &str) -> Option<Vec<u8>> {
    let spellings = ["\"version\":1", "\"version\": 1"];
    let other = |spelling: &&str| replaced(bytes, spelling, &format!("\"version\":{version}"));
    spellings.iter().find_map(other)
}
