//! What a director and a puppet say to each other over a Unix socket.
//!
//! A message is a kind (one byte), a length (four bytes, big endian) and that many bytes. The
//! puppet speaks first and says who it is; from then on it only answers: `Stdin` to a `Read`, and
//! `Done` or `Failed` to anything else, in order. It reads nothing that it was not asked to read,
//! so that neither side ever has to keep more than one portion of the other's.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The version of all this. Both sides are the same program, unless someone mixes two builds.
const VERSION: u64 = 1;

/// The longest message; a line of an agent has no bound of its own.
const MOST_MESSAGE_BYTES: usize = 64_000_000;

/// Kind and length.
const HEAD_BYTES: usize = 5;

/// What the director wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Read a portion of standard input.
    Read,
    /// Write this to standard output, all of it.
    Write(Vec<u8>),
    CloseStdin,
    CloseStdout,
    /// Write so many bytes to standard error.
    Stderr(u64),
    Exit(i32),
    Die(i32),
}

/// What the puppet answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Hello {
        token: String,
        parent: u32,
    },
    /// What was read; nothing is the end.
    Stdin(Vec<u8>),
    Done,
    /// Nobody reads standard output any more.
    Failed,
}

impl Order {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Read => message(b'R', &[]),
            Self::Write(bytes) => message(b'W', bytes),
            Self::CloseStdin => message(b'I', &[]),
            Self::CloseStdout => message(b'O', &[]),
            Self::Stderr(bytes) => message(b'E', &bytes.to_be_bytes()),
            Self::Exit(code) => message(b'X', &code.to_be_bytes()),
            Self::Die(signal) => message(b'D', &signal.to_be_bytes()),
        }
    }

    pub(super) fn read(kind: u8, body: Vec<u8>) -> io::Result<Self> {
        Ok(match kind {
            b'R' => Self::Read,
            b'W' => Self::Write(body),
            b'I' => Self::CloseStdin,
            b'O' => Self::CloseStdout,
            b'E' => Self::Stderr(u64::from_be_bytes(number(&body)?)),
            b'X' => Self::Exit(i32::from_be_bytes(number(&body)?)),
            b'D' => Self::Die(i32::from_be_bytes(number(&body)?)),
            _ => return Err(strange()),
        })
    }
}

impl Report {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Hello { token, parent } => {
                let hello = json!({"skep_agent_link": VERSION, "token": token, "parent": parent});
                message(b'H', hello.to_string().as_bytes())
            }
            Self::Stdin(bytes) => message(b'S', bytes),
            Self::Done => message(b'K', &[]),
            Self::Failed => message(b'F', &[]),
        }
    }

    pub(super) fn read(kind: u8, body: Vec<u8>) -> io::Result<Self> {
        match kind {
            b'H' => read_hello(&body).ok_or_else(strange),
            b'S' => Ok(Self::Stdin(body)),
            b'K' => Ok(Self::Done),
            b'F' => Ok(Self::Failed),
            _ => Err(strange()),
        }
    }
}

fn read_hello(body: &[u8]) -> Option<Report> {
    let hello: Value = serde_json::from_slice(body).ok()?;
    (hello["skep_agent_link"].as_u64()? == VERSION).then_some(())?;
    let parent = u32::try_from(hello["parent"].as_u64()?).ok()?;
    Some(Report::Hello { token: hello["token"].as_str()?.to_owned(), parent })
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("no message comes near four gigabytes");
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.push(kind);
    bytes.extend(length.to_be_bytes());
    bytes.extend(body);
    bytes
}

fn number<const N: usize>(body: &[u8]) -> io::Result<[u8; N]> {
    body.try_into().map_err(|_| strange())
}

fn strange() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no message of this version of the agent link")
}

/// The messages that come in on one half of the socket.
pub(super) struct Inbox<R> {
    stream: R,
    bytes: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Inbox<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, bytes: Vec::new() }
    }

    /// The next message's kind and body. The end of the stream is an error too: nobody leaves
    /// without being told to. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<(u8, Vec<u8>)> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            if self.stream.read_buf(&mut self.bytes).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn take(&mut self) -> io::Result<Option<(u8, Vec<u8>)>> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let [kind, length @ ..] = *head;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > MOST_MESSAGE_BYTES {
            return Err(strange());
        }
        if rest.len() < length {
            // Room for the rest at once: a long line is not read in small portions.
            let missing = length - rest.len();
            self.bytes.reserve(missing);
            return Ok(None);
        }
        let body = rest[..length].to_vec();
        self.bytes.drain(..HEAD_BYTES + length);
        Ok(Some((kind, body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(bytes: &[u8]) -> (u8, Vec<u8>) {
        let mut inbox = Inbox::new(tokio::io::empty());
        inbox.bytes.extend(bytes);
        let message = inbox.take().unwrap().expect("a whole message");
        assert!(inbox.bytes.is_empty());
        message
    }

    #[test]
    fn orders_and_reports_survive_the_round_trip() {
        for order in [
            Order::Read,
            Order::Write(b"{}\n\xff".to_vec()),
            Order::CloseStdin,
            Order::CloseStdout,
            Order::Stderr(u64::MAX),
            Order::Exit(-1),
            Order::Die(9),
        ] {
            let (kind, body) = split(&order.to_bytes());
            assert_eq!(Order::read(kind, body).unwrap(), order);
        }
        for report in [
            Report::Hello { token: "h/a \u{e9}".into(), parent: 7 },
            Report::Stdin(vec![]),
            Report::Done,
            Report::Failed,
        ] {
            let (kind, body) = split(&report.to_bytes());
            assert_eq!(Report::read(kind, body).unwrap(), report);
        }
    }

    #[test]
    fn a_message_is_taken_when_it_is_whole_and_no_sooner() {
        let bytes = Order::Write(b"abc".to_vec()).to_bytes();
        for length in 0..bytes.len() {
            let mut inbox = Inbox::new(tokio::io::empty());
            inbox.bytes.extend(&bytes[..length]);
            assert_eq!(inbox.take().unwrap(), None);
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert!(Order::read(b'?', vec![]).is_err());
        assert!(Order::read(b'X', vec![1]).is_err());
        assert!(Report::read(b'H', b"{\"skep_agent_link\":2}".to_vec()).is_err());
        let mut inbox = Inbox::new(tokio::io::empty());
        inbox.bytes.extend([b'W', 0xff, 0xff, 0xff, 0xff]);
        assert!(inbox.take().is_err());
    }
}
